//! The tokens that are known by their look, as data. Each has its samples among the tests.

use std::ops::RangeInclusive;

use super::inert::{from_base64, is_base64, is_encoded_text, is_word};

type Chars = fn(u8) -> bool;

pub(super) struct Rule {
    /// Plain words: they are shown in the mark.
    pub(super) name: &'static str,
    pub(super) prefixes: &'static [&'static str],
    /// Whether the prefix is no part of the secret.
    pub(super) shows_prefix: bool,
    /// What stands right before the prefix and belongs to the token.
    pub(super) lead: Option<(Chars, RangeInclusive<usize>)>,
    pub(super) parts: &'static [Part],
    /// Asked last, of what follows the prefix.
    pub(super) is_one: fn(&str) -> bool,
}

pub(super) enum Part {
    /// As many such characters as there are.
    Run(Chars, RangeInclusive<usize>),
    Text(&'static str),
    /// The same, but not hidden where it stands at either end.
    Shown(Chars, RangeInclusive<usize>),
    ShownText(&'static str),
}

impl Part {
    pub(super) fn is_shown(&self) -> bool {
        matches!(self, Self::Shown(..) | Self::ShownText(_))
    }
}

use Part::{Run, Shown, ShownText, Text};

const ALNUM: Chars = |byte| byte.is_ascii_alphanumeric();
const ALPHA: Chars = |byte| byte.is_ascii_alphabetic();
const DIGIT: Chars = |byte| byte.is_ascii_digit();
const HEX: Chars = |byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
const HEX_OR_DASH: Chars = |byte| HEX(byte) || byte == b'-';
const UPPER: Chars = |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit();
const ALNUM_OR_DASH: Chars = |byte| byte.is_ascii_alphanumeric() || byte == b'-';
const ALNUM_OR_BAR: Chars = |byte| byte.is_ascii_alphanumeric() || byte == b'_';
const WORD: Chars = is_word;
const BASE64: Chars = is_base64;
const USER: Chars = |byte| is_word(byte) || b".+%".contains(&byte);
const URL_PASSWORD: Chars = |byte| is_word(byte) || b".+%=^".contains(&byte);

/// Not a way to hide something readable behind the beginning of a token.
fn is_opaque(body: &str) -> bool {
    !is_encoded_text(body) && body.rsplit('.').next().is_none_or(|last| !is_encoded_text(last))
}

/// Readable by its nature, and told by how it begins.
fn is_any(_: &str) -> bool {
    true
}

/// Header and claims are objects, and the header names the algorithm. The body lacks the first three characters.
fn is_jwt(body: &str) -> bool {
    let mut parts = body.split('.');
    let header = parts.next().and_then(|header| from_base64(&format!("eyJ{header}")));
    let claims = parts.next().filter(|claims| 4 <= claims.len()).map(from_base64);
    header.is_some_and(|header| header.windows(5).any(|name| name == b"\"alg\""))
        && claims.is_none_or(|claims| claims.is_some_and(|claims| claims.starts_with(b"{")))
}

/// What most tokens have in common.
const TOKEN: Rule = Rule { name: "", prefixes: &[], shows_prefix: false, lead: None, parts: &[], is_one: is_opaque };

const GITLAB: &[&str] =
    &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-"];

pub(super) const RULES: &[Rule] = &[
    Rule { name: "age key", prefixes: &["AGE-SECRET-KEY-1"], parts: &[Run(UPPER, 58..=58)], ..TOKEN },
    Rule { name: "anthropic key", prefixes: &["sk-ant-"], parts: &[Run(WORD, 32..=255)], ..TOKEN },
    Rule { name: "aws key", prefixes: &["AKIA", "ASIA", "ABIA", "ACCA"], parts: &[Run(UPPER, 16..=16)], ..TOKEN },
    Rule {
        name: "azure storage key",
        prefixes: &["AccountKey="],
        parts: &[Run(BASE64, 86..=86), Text("==")],
        shows_prefix: true,
        ..TOKEN
    },
    Rule { name: "databricks token", prefixes: &["dapi"], parts: &[Run(HEX_OR_DASH, 32..=35)], ..TOKEN },
    Rule { name: "digitalocean token", prefixes: &["dop_v1_", "doo_v1_", "dor_v1_"], parts: &[Run(HEX, 64..=64)], ..TOKEN },
    Rule {
        name: "discord token",
        prefixes: &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        parts: &[Run(WORD, 22..=28), Text("."), Run(WORD, 6..=6), Text("."), Run(WORD, 27..=45)],
        ..TOKEN
    },
    Rule {
        name: "discord webhook",
        prefixes: &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        parts: &[Shown(DIGIT, 17..=20), ShownText("/"), Run(WORD, 60..=80)],
        shows_prefix: true,
        ..TOKEN
    },
    Rule { name: "docker token", prefixes: &["dckr_pat_", "dckr_oat_"], parts: &[Run(WORD, 27..=64)], ..TOKEN },
    Rule { name: "github token", prefixes: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], parts: &[Run(ALNUM, 36..=255)], ..TOKEN },
    Rule { name: "github token", prefixes: &["github_pat_"], parts: &[Run(ALNUM_OR_BAR, 40..=255)], ..TOKEN },
    Rule { name: "gitlab token", prefixes: GITLAB, parts: &[Run(WORD, 20..=300)], ..TOKEN },
    Rule {
        name: "gitlab token",
        prefixes: GITLAB,
        parts: &[Run(WORD, 20..=300), Text("."), Run(ALNUM, 2..=2), Text("."), Run(ALNUM, 9..=9)],
        ..TOKEN
    },
    Rule { name: "google key", prefixes: &["AIza"], parts: &[Run(WORD, 35..=35)], ..TOKEN },
    Rule { name: "google oauth token", prefixes: &["ya29."], parts: &[Run(WORD, 20..=2048)], ..TOKEN },
    Rule { name: "google oauth secret", prefixes: &["GOCSPX-"], parts: &[Run(WORD, 28..=28)], ..TOKEN },
    Rule { name: "grafana token", prefixes: &["glsa_"], parts: &[Run(ALNUM, 32..=32), Text("_"), Run(HEX, 8..=8)], ..TOKEN },
    Rule { name: "groq key", prefixes: &["gsk_"], parts: &[Run(ALNUM, 52..=52)], ..TOKEN },
    Rule { name: "huggingface token", prefixes: &["hf_", "api_org_"], parts: &[Run(ALNUM, 34..=40)], ..TOKEN },
    Rule {
        name: "jwt",
        prefixes: &["eyJ"],
        parts: &[Run(WORD, 8..=2048), Text("."), Run(WORD, 8..=8192), Text("."), Run(WORD, 16..=2048)],
        is_one: is_jwt,
        ..TOKEN
    },
    Rule {
        name: "matrix token",
        prefixes: &["syt_"],
        parts: &[Run(BASE64, 1..=340), Text("_"), Run(ALPHA, 20..=20), Text("_"), Run(ALNUM, 6..=6)],
        ..TOKEN
    },
    Rule {
        name: "matrix token",
        prefixes: &["mat_", "mar_", "mct_"],
        parts: &[Run(ALNUM, 30..=32), Text("_"), Run(ALNUM, 6..=6)],
        ..TOKEN
    },
    Rule { name: "npm token", prefixes: &["npm_"], parts: &[Run(ALNUM, 36..=36)], ..TOKEN },
    Rule { name: "openai key", prefixes: &["sk-proj-", "sk-svcacct-", "sk-admin-"], parts: &[Run(WORD, 32..=255)], ..TOKEN },
    Rule { name: "openai key", prefixes: &["sk-"], parts: &[Run(ALNUM, 40..=64)], ..TOKEN },
    Rule {
        name: "pypi token",
        prefixes: &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"],
        parts: &[Run(WORD, 50..=1024)],
        is_one: is_any,
        ..TOKEN
    },
    Rule { name: "rubygems key", prefixes: &["rubygems_"], parts: &[Run(HEX, 48..=48)], ..TOKEN },
    Rule { name: "sendgrid key", prefixes: &["SG."], parts: &[Run(WORD, 22..=22), Text("."), Run(WORD, 43..=43)], ..TOKEN },
    Rule { name: "shopify token", prefixes: &["shpat_", "shpca_", "shppa_", "shpss_"], parts: &[Run(HEX, 32..=32)], ..TOKEN },
    Rule {
        name: "slack token",
        prefixes: &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xapp-"],
        parts: &[Run(ALNUM_OR_DASH, 16..=255)],
        ..TOKEN
    },
    Rule {
        name: "slack webhook",
        prefixes: &["hooks.slack.com/services/"],
        parts: &[Shown(UPPER, 8..=13), ShownText("/"), Shown(UPPER, 8..=13), ShownText("/"), Run(ALNUM, 20..=32)],
        shows_prefix: true,
        ..TOKEN
    },
    Rule {
        name: "stripe key",
        prefixes: &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        parts: &[Run(ALNUM, 16..=255)],
        ..TOKEN
    },
    Rule {
        name: "tailscale key",
        prefixes: &["tskey-auth-", "tskey-api-", "tskey-client-"],
        parts: &[Run(ALNUM_OR_DASH, 20..=100)],
        ..TOKEN
    },
    Rule { name: "telegram token", prefixes: &[":AA"], parts: &[Run(WORD, 33..=33)], lead: Some((DIGIT, 8..=10)), ..TOKEN },
    Rule { name: "twilio key", prefixes: &["SK"], parts: &[Run(HEX, 32..=32)], ..TOKEN },
    Rule {
        name: "url password",
        prefixes: &["://"],
        parts: &[Shown(USER, 0..=128), ShownText(":"), Run(URL_PASSWORD, 1..=256), ShownText("@")],
        shows_prefix: true,
        ..TOKEN
    },
    Rule { name: "vault token", prefixes: &["hvs.", "hvb.", "hvr."], parts: &[Run(WORD, 24..=300)], ..TOKEN },
];
