//! Names that say of a value that it is a secret.

/// Every such name holds one of these.
pub(super) const KEYWORDS: [&str; 8] = ["pass", "pwd", "secret", "token", "key", "credential", "authorization", "cookie"];

/// What makes a secret of a key. A key alone may be that of a map.
const KEYS: [(&str, &str); 11] = [
    ("api", "api key"),
    ("private", "private key"),
    ("access", "access key"),
    ("secret", "secret key"),
    ("signing", "secret key"),
    ("encryption", "secret key"),
    ("auth", "access key"),
    ("account", "access key"),
    ("master", "secret key"),
    ("session", "secret key"),
    ("shared", "secret key"),
];

/// Of what a token is none: of a page, or of a text.
const HARMLESS_TOKENS: [&str; 14] =
    ["public", "page", "next", "continuation", "stop", "pad", "eos", "bos", "unk", "mask", "sep", "cls", "special", "max"];

/// Words that many names end in, and that leave them what they are.
const TAILS: [&str; 2] = ["value", "base"];

/// As names are written: `token`, `Token`, `TOKEN`.
pub(super) fn spellings(keyword: &str) -> [String; 3] {
    let (first, rest) = keyword.split_at(1);
    [keyword.to_owned(), first.to_uppercase() + rest, keyword.to_uppercase()]
}

/// The kind of secret that a value of this name is. Only what the name ends in counts, so that `token_count` and
/// `PASSWORD_FILE` are none.
pub(super) fn kind(name: &str) -> Option<&'static str> {
    let (mut before, mut word) = last_word(name);
    let is_tail = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()) || is_any(&TAILS, word);
    // More than two of them are no name that anybody gives.
    for _ in 0..2 {
        if !before.is_empty() && is_tail(word) {
            (before, word) = last_word(before);
        }
    }
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    let (rest, qualifier) = last_word(before);
    match word.as_str() {
        "pass" | "pwd" => (!qualifier.is_empty()).then_some("password"),
        "passwd" | "passphrase" | "passcode" => Some("password"),
        "token" => (!is_any(&HARMLESS_TOKENS, qualifier)).then_some("token"),
        "authtoken" | "accesstoken" | "sessiontoken" | "refreshtoken" => Some("token"),
        "secret" | "clientsecret" => Some("secret"),
        "apikey" => Some("api key"),
        "accesskey" => Some("access key"),
        "privatekey" => Some("private key"),
        "secretkey" => Some("secret key"),
        "credential" | "credentials" => Some("credential"),
        "authorization" => Some("authorization"),
        "cookie" => Some("cookie"),
        "key" => key_kind(rest, qualifier),
        word => word.ends_with("password").then_some("password"),
    }
}

fn key_kind(rest: &str, qualifier: &str) -> Option<&'static str> {
    let (owner, before) = last_word(rest);
    let is_secret_access = is_any(&["access"], qualifier) && is_any(&["secret"], before);
    if is_secret_access {
        return Some(if is_any(&["aws"], last_word(owner).1) { "aws secret" } else { "secret key" });
    }
    KEYS.iter().find(|(word, _)| is_any(&[word], qualifier)).map(|(_, kind)| *kind)
}

fn is_any(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Splits the last word off a name in snake, kebab or camel case.
fn last_word(name: &str) -> (&str, &str) {
    let name = name.trim_end_matches(is_separator);
    let bytes = name.as_bytes();
    let begins = |at: usize| {
        let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
        let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
        let after_separator = is_separator(char::from(bytes[at - 1]));
        after_separator || is_upper(at) && (!is_upper(at - 1) || is_lower(at + 1))
    };
    let at = (1..bytes.len()).rev().filter(|at| name.is_char_boundary(*at)).find(|at| begins(*at)).unwrap_or(0);
    (name[..at].trim_end_matches(is_separator), name[at..].trim_start_matches(is_separator))
}

fn is_separator(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | ' ')
}
