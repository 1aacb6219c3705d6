//! What may be hidden: text that neither runs nor steers what runs.

use data_encoding::{BASE64_NOPAD, HEXLOWER_PERMISSIVE};

/// Longer than any key or token, so that the work for each stays bounded.
pub(super) const VALUE_MAX: usize = 4096;

/// No longer name is taken for one.
pub(super) const NAME_MAX: usize = 64;

/// Bytes that are looked at together when it is told whether they are text.
const WINDOW: usize = 48;

/// Whether a shell, a URL and the languages around take the character for no more than a part of a word.
pub(super) fn is_inert(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.+/=:@%^-".contains(&byte)
}

/// What tokens are made of, and so what must not go on before or after one.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Without what pads it.
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// How many of the bytes from `at` on are such, at most `max`.
pub(super) fn run(text: &str, at: usize, max: usize, is_such: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()[at..].iter().take(max).take_while(|byte| is_such(**byte)).count()
}

/// How many of the bytes right before `at` are such, at most `max`.
pub(super) fn run_before(text: &str, at: usize, max: usize, is_such: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()[..at].iter().rev().take(max).take_while(|byte| is_such(**byte)).count()
}

/// Whether a value of any origin may be hidden wherever it stands: neither a flag, a path, an address, a file to read
/// from, nor something encoded that would be readable.
pub(super) fn is_value(value: &str) -> bool {
    let steers = value.starts_with(['-', '/', '.', '@', '=', ':', '+', '%', '^'])
        || ["::", "://", ".."].iter().any(|joint| value.contains(joint));
    let is_inert = !value.is_empty() && value.len() <= VALUE_MAX && value.bytes().all(is_inert);
    is_inert && !steers && !uses_variable(value) && !is_place(value) && !is_encoded_text(value)
}

/// The name that a text begins with, if it is followed by nothing that would make it longer.
pub(super) fn variable(text: &str) -> Option<&str> {
    let len = run(text, 0, NAME_MAX + 1, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins && len <= NAME_MAX).then(|| &text[..len])
}

/// `%NAME%`, other than characters of a URL such as `%20`.
fn uses_variable(value: &str) -> bool {
    let mut between = value.split('%').skip(1).peekable();
    std::iter::from_fn(|| between.next().filter(|_| between.peek().is_some())).any(|name| variable(name) == Some(name))
}

/// `src/run.sh`, `example.org`: base64 has a slash as well, but then it has more than the letters of a name.
fn is_place(value: &str) -> bool {
    let extension = value.rsplit_once('.').map(|(_, extension)| extension);
    let is_random = 16 <= value.len() && has(value, 2, u8::is_ascii_digit) && is_mixed(value);
    extension.is_some_and(|extension| !is_random || extension.len() < 7) || value.contains('/') && !is_random
}

/// A word that may be a command, a name in a program or a placeholder.
pub(super) fn is_plain_word(value: &str) -> bool {
    let is_separator = |byte: u8| byte == b'_' || byte == b'-';
    let separators = value.bytes().filter(|byte| is_separator(*byte)).count();
    value.len() <= 20 && separators < 3 && value.bytes().all(|byte| byte.is_ascii_alphabetic() || is_separator(byte))
}

/// Neither a command nor a name in a program, as far as one can tell by its look.
pub(super) fn is_random(value: &str) -> bool {
    let is_name = value.contains(['.', '/', ':', '@', '=', '+', '%', '^']);
    12 <= value.len() && !is_name && has(value, 3, u8::is_ascii_digit) && has(value, 3, u8::is_ascii_alphabetic)
}

pub(super) fn has(value: &str, least: usize, is_such: impl Fn(&u8) -> bool) -> bool {
    least <= value.bytes().filter(is_such).count()
}

pub(super) fn is_mixed(value: &str) -> bool {
    has(value, 1, u8::is_ascii_uppercase) && has(value, 1, u8::is_ascii_lowercase)
}

/// Whether somebody could read, or a shell run, what it decodes to.
pub(super) fn is_encoded_text(value: &str) -> bool {
    let from_hex = || HEXLOWER_PERMISSIVE.decode(value.as_bytes()).ok();
    8 <= value.len()
        && (from_base64(value).is_some_and(|bytes| is_text(&bytes)) || from_hex().is_some_and(|bytes| is_text(&bytes)))
}

/// Either alphabet, with or without padding, up to the last whole byte.
pub(super) fn from_base64(value: &str) -> Option<Vec<u8>> {
    let mut standard = value.trim_end_matches('=').replace('-', "+").replace('_', "/");
    let len = standard.len() * 6 / 8;
    standard.push_str(&"AAA"[..standard.len().wrapping_neg() % 4]);
    let mut bytes = BASE64_NOPAD.decode(standard.as_bytes()).ok()?;
    bytes.truncate(len);
    Some(bytes)
}

/// Random bytes are printable in a third of all cases; text within them is, too, where most of a window is.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let is_printable = |byte: &&u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    bytes.chunks(WINDOW).any(|window| 5 < window.len() && 4 * window.len() < 5 * window.iter().filter(is_printable).count())
}
