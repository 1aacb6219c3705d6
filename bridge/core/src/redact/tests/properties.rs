//! Whatever the text is.

use proptest::prelude::*;

use super::super::{RULES, Secret, hits, named, names, pem, redact, redact_member};
use super::mark;
use super::samples::SAMPLES;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn the_rest_of_a_text_stays_and_what_goes_is_inert(text in prop_oneof![any::<String>(), tricky()]) {
        let mut expected = text.clone();
        let mut count = 0;
        loop {
            let hits = hits(&expected);
            let is_last = hits.known.is_empty();
            let found = if is_last { named::all(&expected, &hits.names) } else { hits.known };
            expected = without(&expected, &found)?;
            count += found.len();
            if is_last {
                break;
            }
        }
        let redacted = redact(&text);
        prop_assert_eq!(redacted.text.as_ref(), expected);
        prop_assert_eq!(redacted.found.values().sum::<usize>(), count);
    }

    #[test]
    fn a_redacted_text_has_no_secrets(text in prop_oneof![any::<String>(), tricky()]) {
        let once = redact(&text);
        let twice = redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(twice.found.is_empty());
    }

    #[test]
    fn a_member_is_hidden_only_where_it_is_inert(name in tricky(), value in prop_oneof![any::<String>(), tricky()]) {
        for name in ["password", &name] {
            let whole = names::kind(name).and_then(|kind| named::of_member(kind, &value));
            without(&value, whole.as_slice())?;
            let once = redact_member(name, &value);
            prop_assert_eq!(&redact_member(name, &once.text).text, &once.text);
        }
    }
}

/// What becomes of a text if these are replaced, provided that they may be.
fn without(text: &str, secrets: &[Secret]) -> Result<String, TestCaseError> {
    let mut end = 0;
    let mut shown = String::new();
    for Secret { at, kind } in secrets {
        prop_assert!(end <= at.start && at.start < at.end);
        prop_assert!(may_be_hidden(&text[at.clone()], kind), "{:?}", &text[at.clone()]);
        shown += &text[end..at.start];
        shown += &mark(kind);
        end = at.end;
    }
    Ok(shown + &text[end..])
}

/// Line breaks, spelled out or not, only in a key, and there only between lines of base64 that are set in. Nothing is
/// asked of the code that is tried here.
fn may_be_hidden(hidden: &str, kind: &str) -> bool {
    let is_all = |text: &str, others: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c));
    let lines = hidden.replace("\\n", "\n").replace(['\\', '\r'], "");
    let is_key = || lines.split('\n').all(|line| is_all(line.trim_start_matches([' ', '\t', '+', '-']), "+/="));
    is_all(hidden, "_.+/=:@%^-") || kind == pem::KIND && is_key()
}

/// Fragments that begin, end, join or break secrets, in any order.
fn tricky() -> impl Strategy<Value = String> {
    let samples: Vec<_> = SAMPLES
        .iter()
        .flat_map(|(_, samples, others)| samples.iter().chain(*others))
        .map(|sample| sample.replace('|', ""))
        .collect();
    let prefixes: Vec<_> = RULES.iter().flat_map(|rule| rule.prefixes).map(|prefix| (*prefix).to_owned()).collect();
    let joints = [
        "password",
        "TOKEN",
        "apiKey",
        "client_secret",
        "--password",
        "--token=",
        "Authorization: Bearer ",
        "Authorization: Basic ",
        "=",
        ":",
        ": ",
        " = ",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\n",
        "\r\n",
        " ",
        "    ",
        "&",
        "?",
        "@",
        "/",
        ".",
        "-",
        "_",
        "+",
        "$",
        "${TOKEN}",
        "$(",
        ")",
        "`",
        ";",
        "|",
        "[",
        "]",
        "[redacted: token]",
        "ü",
        "hunter2",
        "abc123",
        "0a1B2c3D4e5F6g7H8i9J",
        "-----BEGIN ",
        "-----END ",
        "PRIVATE KEY",
        "-----",
        concat!("-----BEGIN ", "PRIVATE KEY-----\n"),
        concat!("-----BEGIN ", "RSA PRIVATE KEY-----\\n"),
        concat!("\n-----END ", "PRIVATE KEY-----"),
        "MIICXAIBAAKBgQC3vNpq0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V",
        "w2X3y4Z5a6B7c8D9e0F1g2H3i4J5k6L7m8N9o0P1q2R3s4T5u6V7w8X9y0Z1a2B3",
        "rm",
        "true",
    ];
    let fragment = prop_oneof![
        4 => proptest::sample::select(joints.to_vec()).prop_map(str::to_owned),
        1 => proptest::sample::select(samples),
        1 => proptest::sample::select(prefixes),
        1 => "[a-zA-Z0-9_./+=:@%^-]{0,12}",
    ];
    proptest::collection::vec(fragment, 0..14).prop_map(|fragments| fragments.concat())
}
