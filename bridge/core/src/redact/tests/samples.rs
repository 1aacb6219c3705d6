//! Made up, and put together from pieces, so that nobody takes them for secrets that have leaked.

/// The name of a rule, texts of which it finds all but what stands before `|`, and texts in which nothing is found.
pub(super) const SAMPLES: &[(&str, &[&str], &[&str])] = &[
    (
        "age key",
        &[concat!("AGE-SECRET-KEY", "-10A1B2C3D4E5F6G7H8J9K0L1M2N3P4Q5R6S7T8U9V0W1X2Y3Z4A5B6C7D8E")],
        &[concat!("AGE-SECRET-KEY", "-10A1B2C3D4E5F6G7H8J9K0L1M2N3P4Q5R6S7T8U9V0W1X2Y3Z4A5B6C7D8 ")],
    ),
    (
        "anthropic key",
        &[concat!("sk-an", "t-api03-0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-V2w3X_y5Z6a7B8-9D")],
        &[concat!("sk-an", "t-colony is short")],
    ),
    (
        "aws key",
        &[concat!("AK", "IA0A1B2C3D4E5F6G7H"), concat!("AS", "IA4E5F6G7H8J9K0L1M")],
        &[
            concat!("AK", "IA0A1B2C3D4E5F6G7 "),
            concat!("AK", "IA0A1B2C3D4E5F6G7H8"),
            concat!("xAK", "IA0A1B2C3D4E5F6G7H"),
            concat!("AK", "IA0A1B2C3D4E5F6G7H_x"),
            concat!("ak", "ia0A1B2C3D4E5F6G7H"),
        ],
    ),
    (
        "azure storage key",
        &[concat!("AccountKey", "=|0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N/+0aB1==")],
        &[concat!("AccountKe", "y=0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D/run.sh")],
    ),
    (
        "databricks token",
        &[concat!("da", "pi0a1b2c3d4e5f60718293a4b5c6d7e8f9"), concat!("da", "pi0a1b2c3d4e5f60718293a4b5c6d7e8f9-2")],
        &[concat!("da", "pi0a1b2c3d4e5f60718293a4b5c6d7e8f "), concat!("da", "pidefinitions")],
    ),
    (
        "digitalocean token",
        &[concat!("dop_v", "1_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9")],
        &[concat!("dop_v", "1_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d ")],
    ),
    (
        "discord token",
        &[concat!("M", "T1B2c3D4e5F6g7H8i9J0k1L.G0aB1c.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s")],
        &[concat!("M", "T0a1B2c3D4e5F6g7H8i9J0k.Gab.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s")],
    ),
    (
        "discord webhook",
        &[concat!(
            "https://discord.com/api/webhooks",
            "/012345678901234567/|0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-V2w3X_y5Z6a7B8-9D0e_F2g3H"
        )],
        &[concat!("https://discord.com/api/webhook", "s/012345678901234567")],
    ),
    ("docker token", &[concat!("dckr_pa", "t_0a-B2_3D4e5F-g7H8_9J0k1L2m-")], &[concat!("dckr_pa", "t_short ")]),
    (
        "github token",
        &[
            concat!("gh", "p_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"),
            concat!("gh", "s_5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w"),
            concat!("github_pa", "t_0a1B2c3D4e5F6g7H8i9J0k_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9"),
        ],
        &[
            concat!("gh", "p_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o "),
            concat!("gh", "p_is_a_prefix of tokens"),
            concat!("gh", "p_Y3VybCBldmlsLmV4YW1wbGV8c2g7cm0gLXJm"),
        ],
    ),
    (
        "gitlab token",
        &[concat!("glpa", "t-0a-B2_3D4e5F-g7H8_9J"), concat!("glpa", "t-0a-B2_3D4e5F-g7H8_9J0k1L2m-.01.0a1b2c3d4")],
        &[concat!("glpa", "t-tokens "), concat!("glpa", "t-Y3VybCBldmlsLmV4YW1wbGV8c2g")],
    ),
    (
        "google key",
        &[concat!("AI", "za0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7")],
        &[concat!("AI", "za0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q "), concat!("AI", "za0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R")],
    ),
    (
        "google oauth token",
        &[concat!("ya2", "9.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-V2w3X_y5Z6a7B8-9D")],
        &[concat!("ya2", "9.short ")],
    ),
    (
        "google oauth secret",
        &[concat!("GOCSP", "X-0a-B2_3D4e5F-g7H8_9J0k1L2m-N")],
        &[concat!("GOCSP", "X-0a-B2_3D4e5F-g7H8_9J0k1L2m- ")],
    ),
    (
        "grafana token",
        &[concat!("gls", "a_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P_0a1b2c3d")],
        &[concat!("gls", "a_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P ")],
    ),
    (
        "groq key",
        &[concat!("gs", "k_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z")],
        &[concat!("gs", "k_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y ")],
    ),
    (
        "huggingface token",
        &[concat!("h", "f_aBcDeFgHiJkLmNoPqRsTuVwXyZYzAbCdEf"), concat!("h", "f_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q")],
        &[concat!("h", "f_transfer"), concat!("h", "f_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6 ")],
    ),
    (
        "jwt",
        &[concat!("ey", "JhbGciOiJub25lIn0.eyJhIjoxfQ.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-")],
        &[
            concat!("ey", "JhbGciOiJub25lIn0.run-this-file.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-"),
            concat!("e", "yJybSAtcmYgLw.eyJhIjoxfQ.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-"),
            concat!("ey", "JhbGciOiJub25lIn0 "),
        ],
    ),
    (
        "matrix token",
        &[concat!("sy", "t_Ym9i_aBcDeFgHiJkLmNoPqRsT_0aB1c2"), concat!("ma", "t_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o_0aB1c2")],
        &[concat!("sy", "t_config_file"), concat!("ma", "t_mul_kernel ")],
    ),
    (
        "npm token",
        &[concat!("np", "m_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R")],
        &[concat!("np", "m_config_registry "), concat!("np", "m_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7 ")],
    ),
    (
        "openai key",
        &[
            concat!("sk-pro", "j-0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-V2w3X_y5Z6a7B8-9D"),
            concat!("s", "k-0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X"),
        ],
        &[
            concat!("s", "k-learn"),
            concat!("tas", "k-0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X"),
            concat!("s", "k-0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o "),
        ],
    ),
    (
        "pypi token",
        &[concat!("pyp", "i-AgEIcHlwaS5vcmc0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-V2w3X_y5Z6a7B8-9D")],
        &[concat!("pyp", "i-server")],
    ),
    (
        "rubygems key",
        &[concat!("rubygem", "s_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071")],
        &[concat!("rubygem", "s_version")],
    ),
    (
        "sendgrid key",
        &[concat!("S", "G.0a-B2_3D4e5F-g7H8_9J0k.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-")],
        &[concat!("S", "G.0a-B2_3D4e5F-g7H8_9J0k 0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T0u-")],
    ),
    (
        "shopify token",
        &[concat!("shpa", "t_0a1b2c3d4e5f60718293a4b5c6d7e8f9")],
        &[concat!("shpa", "t_0a1b2c3d4e5f60718293a4b5c6d7e8 ")],
    ),
    ("slack token", &[concat!("xox", "b-0123456789-0123456789-0a1B2c3D4e5F6g7H8i9J0k1L")], &[concat!("xox", "b-short ")]),
    (
        "slack webhook",
        &[concat!("https://hooks.slack.com/services", "/T0A1B2C3D/B0A1B2C3D/|0a1B2c3D4e5F6g7H8i9J0k1L")],
        &[concat!("https://hooks.slack.com/service", "s/T0A1B2C3D")],
    ),
    (
        "stripe key",
        &[concat!("sk_liv", "e_0a1B2c3D4e5F6g7H8i9J0k1L"), concat!("rk_tes", "t_0a1B2c3D4e5F6g7H8i9J0k1L")],
        &[concat!("sk_liv", "e_docs ")],
    ),
    ("tailscale key", &[concat!("tskey-aut", "h-0a1B2c3D4e5F-0a1B2c3D4e5F6g7H8i9J0k1L")], &[concat!("tskey-aut", "h-short ")]),
    (
        "telegram token",
        &[concat!("0123456789:", "AA0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_")],
        &[concat!("1234:", "AA0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_"), concat!("0123456789:", "AB0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_")],
    ),
    ("twilio key", &[concat!("S", "K0a1b2c3d4e5f60718293a4b5c6d7e8f9")], &[concat!("S", "K0a1b2c3d4e5f60718293a4b5c6d7e8f ")]),
    (
        "url password",
        &[concat!("https://bob", ":|hunter2|@example.org/x"), concat!("postgres://", ":|a.b-c|@db:5432")],
        &[
            concat!("https://bo", "b:$(id)@example.org"),
            concat!("https://example.or", "g:8080/a@b"),
            concat!("https://bo", "b@example.org"),
            concat!("//bo", "b:x@example.org"),
        ],
    ),
    ("vault token", &[concat!("hv", "s.0a-B2_3D4e5F-g7H8_9J0k1L2m-N4o5P_q7R8s9T")], &[concat!("hv", "s.method ")]),
];
