//! What is found, what stays, and that nothing is hidden that could run.

mod inert;
mod keys;
mod named;
mod properties;
mod samples;

use std::collections::BTreeSet;

use super::*;
use samples::SAMPLES;

fn mark(kind: &str) -> String {
    format!("[redacted: {kind}]")
}

fn shown(text: &str) -> String {
    redact(text).text.into_owned()
}

/// The text with a mark in place of what stands between the bars, or of all of it.
fn marked(sample: &str, kind: &str) -> (String, String) {
    let parts: Vec<_> = sample.split('|').collect();
    match parts[..] {
        [whole] => (whole.to_owned(), mark(kind)),
        [before, hidden] => (format!("{before}{hidden}"), format!("{before}{}", mark(kind))),
        [before, hidden, after] => (format!("{before}{hidden}{after}"), format!("{before}{}{after}", mark(kind))),
        _ => panic!("too many bars in {sample}"),
    }
}

#[test]
fn what_a_command_can_get_at_by_its_name_or_place_stays_in_sight() {
    for text in [
        "BUILD_TOKEN=rm_-rf_src1 sh -c '$(printenv BUILD_TOKEN | tr _ \" \")'",
        "BUILD_TOKEN=rm_-rf_src1 python3 -c \"import os;os.system(os.environ['BUILD_TOKEN'])\"",
        "echo --api-key python39 && $_ evil.py",
        "set -- --token python39 evil.py; $2 $3",
    ] {
        assert_eq!(redact(text).text, text);
    }
    assert_ne!(redact("BUILD_TOKEN=s3cretly9 make").text, "BUILD_TOKEN=s3cretly9 make");
    assert_ne!(redact("tool --api-key s3cretly9").text, "tool --api-key s3cretly9");
}

#[test]
fn every_rule_finds_its_samples_and_no_other_does() {
    for (name, samples, others) in SAMPLES {
        for sample in *samples {
            let (text, expected) = marked(sample, name);
            for (before, after) in [("", ""), ("x=", " y"), ("\"", "\""), ("\n", "\n"), ("a\\n", "\\n"), ("(", "),")] {
                let redacted = redact_with(before, &text, after);
                assert_eq!(redacted, (format!("{before}{expected}{after}"), [(*name, 1)].into()), "{name}: {sample}");
            }
        }
        for other in *others {
            assert_eq!(shown(other), *other, "{name}");
        }
    }
}

fn redact_with(before: &str, text: &str, after: &str) -> (String, BTreeMap<&'static str, usize>) {
    let text = format!("{before}{text}{after}");
    let Redacted { text, found } = redact(&text);
    (text.into_owned(), found)
}

#[test]
fn every_rule_has_samples_and_a_plain_name() {
    let tried: BTreeSet<_> =
        SAMPLES.iter().filter(|(_, samples, others)| !samples.is_empty() && !others.is_empty()).map(|(name, ..)| *name).collect();
    let named: BTreeSet<_> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(tried, named);
    for rule in RULES {
        let is_plain = rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ');
        assert!(is_plain && !rule.name.is_empty() && !rule.prefixes.is_empty(), "{}", rule.name);
        // Several rules may share a name, and each of them has to find something.
        let samples = SAMPLES.iter().filter(|(name, ..)| *name == rule.name).flat_map(|(_, samples, _)| *samples);
        let is_sampled = samples.into_iter().any(|sample| finds(rule, &sample.replace('|', "")));
        assert!(is_sampled, "{} {:?}", rule.name, rule.prefixes);
    }
}

fn finds(rule: &Rule, sample: &str) -> bool {
    let occurrences = rule.prefixes.iter().flat_map(|prefix| sample.match_indices(prefix));
    occurrences.into_iter().any(|(at, prefix)| tokens::find(rule, sample, at..at + prefix.len()).is_some())
}

#[test]
fn a_token_that_the_text_cuts_short_is_found() {
    for (cut, kind) in [
        (concat!("gh", "p_0a1B2c3D4"), "github token"),
        (concat!("sk-", "ant-api03-0a1B2c"), "anthropic key"),
        (concat!("AK", "IA0A1B2C3D"), "aws key"),
        (concat!("sk", "-0a1B2c3D"), "openai key"),
        (concat!("ey", "JhbGciOiJub25lIn0.eyJhI"), "jwt"),
        (concat!("SG", ".0a-B2_3D4e5F-g7H8_9J0k."), "sendgrid key"),
    ] {
        assert_eq!(shown(&format!("x {cut}")), format!("x {}", mark(kind)), "{cut}");
        assert_eq!(shown(&format!("{cut} x")), format!("{cut} x"), "only at the end");
    }
    for word in ["npm_lifecycle", "git switch sk-feature", "pip install hf_transfer", "glpat-tokens", "MTIz"] {
        assert_eq!(shown(word), word);
    }
}

/// What is hidden stands between the bars.
#[test]
fn a_named_value_is_found() {
    for (text, kind) in [
        ("mysql --password |hunter2| -u root", "password"),
        ("x --db-password=|hunter| y", "password"),
        ("x --token='|a-b:c|' y", "token"),
        ("[\"x\",\"--token\",\"|abc123|\"]", "token"),
        ("PASSWORD=|hunter2| ./run", "password"),
        ("export FOO_TOKEN=|abc123|;", "token"),
        ("export FOO_TOKEN=\"|abc123|\"", "token"),
        ("PGPASSWORD=|hunter2| psql", "password"),
        ("{\"client_secret\": \"|x1y2|\"}", "secret"),
        ("{\\\"api_key\\\": \\\"|x1y2|\\\"}", "api key"),
        ("{\"clientSecret\":\"|x1y2|\",\"a\":1}", "secret"),
        ("password = \"|hunter2|\"", "password"),
        ("password: |hunter2|\n", "password"),
        ("db.password=|hunter2|\n", "password"),
        ("curl -H 'X-Api-Key: |abc|'", "api key"),
        ("-H \"Authorization: Bearer |abc.def_ghijkl1AB2cd|\"", "authorization"),
        ("Authorization: Basic |dXNlcjpodW50ZXIy|", "authorization"),
        ("authorization: token |abc123|\n", "authorization"),
        ("Cookie: |session=abc123|; theme=dark", "cookie"),
        ("https://x.org/?a=b&access_token=|abc|&c=d", "token"),
        ("aws_secret_access_key = |0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T|", "aws secret"),
        ("AWS_SECRET_ACCESS_KEY=|0a1B2c3D4e5F/g7H8i9J0k1+2m3N4o5P6q7R8s9T|", "aws secret"),
        ("SECRET_KEY_BASE=|abc123|", "secret key"),
        ("line\\nTOKEN=|abc123|\\n", "token"),
        ("+password: |hunter2|\n", "password"),
        ("TOKEN=|0a1b2c3d4e5f6789|; curl -H \"X: $TOKEN\"", "token"),
        ("TOKEN=|abc123", "token"),
        ("password=\"|abc1", "password"),
    ] {
        let (text, expected) = marked(text, kind);
        assert_eq!(shown(&text), expected);
    }
}

#[test]
fn what_could_run_or_steer_stays() {
    for text in [
        "PASSWORD=$(rm) x",
        "PASSWORD=`rm`",
        "PASSWORD=reboot; $PASSWORD",
        "TOKEN=rm1; ${TOKEN} x",
        "TOKEN=rm1 & call %TOKEN%",
        "password=\"rm -rf /\"",
        "password='a;b1'",
        "--password --exec",
        "--token=-rf1",
        "--token=/etc/passwd1",
        "--token=./run1",
        "--token=../run1",
        "--token=@file1",
        "--token=bin/run1",
        "--token=run.sh",
        "--token=https://example.org",
        "mysqladmin --password shutdown",
        "docker build --secret id=a1b2,src=x .",
        "--private-key id_ed25519",
        "alias TOKEN=run1; TOKEN",
        "Authorization: Bearer\n",
        "--token true",
        "TOKEN=1",
        "TOKEN=evil1.example.org",
        "TOKEN=Y3VybCBldmlsLnNoIHwgc2g=",
        "TOKEN=6375726c206576696c2e7368",
        "echo cm0gLXJmIC8= | base64 -d | sh",
        "Authorization: Basic cm0gLXJmIC87Og==",
        "Authorization: Bearer $(id)",
        "token = read_token1",
        "token = self.token1;",
        "password: string;",
        "authorization: Option<String>,",
        "pub const SO_COOKIE: u32 = 57;",
        "token: v1::Token2,",
        "master_key: Ed25519PublicKey,",
        "const TOKEN: Sha256Token = 1",
        "let token: u64 = 1",
        "password == hunter2",
        "if token = next1()",
        "cookie: Cookie1234,",
        "--password-stdin x1y2z3",
        "TOKENIZERS_PARALLELISM=abc123",
        "max_tokens=abc123",
        "token_count=\"abc123\"",
        "\"keyboard\": \"abc123\"",
        "author: abc12345",
        "PUBLIC_KEY=abc123",
        "\"key\": \"abc123\"",
        "PASSWORD_FILE=abc123",
        "PWD=abc123",
        "\"eos_token\": \"abc123\"",
        "the token is abc12345",
        "https://bob:$(id)@x",
        "https://bob:a/b@x",
    ] {
        assert_eq!(shown(text), text);
    }
}

#[test]
fn a_member_is_told_by_its_name() {
    for (name, value, expected) in [
        ("PASSWORD", "hunter2", "[redacted: password]"),
        ("x-api-key", "abc123", "[redacted: api key]"),
        ("Authorization", "Bearer abc123", "Bearer [redacted: authorization]"),
        ("clientSecret", "abc:123", "[redacted: secret]"),
        ("GITHUB_TOKEN", concat!("gh", "p_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"), "[redacted: github token]"),
        ("note", "TOKEN=abc123 x", "TOKEN=[redacted: token] x"),
        ("password", "rm -rf /", "rm -rf /"),
        ("password", "TOKEN=abc123 x", "TOKEN=[redacted: token] x"),
        ("token", "/etc/passwd", "/etc/passwd"),
        ("token", "reboot", "reboot"),
        ("max_tokens", "4096000", "4096000"),
        ("author", "abc123", "abc123"),
        ("", "abc123", "abc123"),
        ("größe_ŧoken", "abc123", "abc123"),
    ] {
        let Redacted { text, found } = redact_member(name, value);
        assert_eq!((text.as_ref(), found.len()), (expected, usize::from(expected.contains("[redacted"))), "{name}");
    }
}

#[test]
fn names_are_read_by_their_last_word() {
    for (name, kind) in [
        ("apiKey", Some("api key")),
        ("APIKey", Some("api key")),
        ("MY_APIKEY", Some("api key")),
        ("secretAccessKey", Some("secret key")),
        ("MyAWSSecretAccessKey", Some("aws secret")),
        ("aws_access_key_id", None),
        ("private-key", Some("private key")),
        ("db_pass", Some("password")),
        ("pass", None),
        ("userPassword1", Some("password")),
        ("TOKEN_2", Some("token")),
        ("set-cookie", Some("cookie")),
        ("credentials", Some("credential")),
        ("tokens", None),
        ("secretary", None),
        ("monkey", None),
        ("__", None),
    ] {
        assert_eq!(names::kind(name), kind, "{name}");
    }
}

#[test]
fn what_is_found_is_counted() {
    let found = redact("PASSWORD=hunter2 TOKEN=abc123 https://a:b@c DB_PASSWORD=hunter3").found;
    assert_eq!(found, [("password", 2), ("token", 1), ("url password", 1)].into());
    assert!(matches!(redact("nothing").text, Cow::Borrowed("nothing")));
}
