//! Private keys in PEM: what stands between their first and their last line, or what a cut has left of it.

use std::ops::Range;

use super::Secret;
use super::inert::{from_base64, is_base64, is_text, run, run_before};

pub(super) const BEGIN: &str = "-----BEGIN ";
pub(super) const END: &str = "-----END ";
pub(super) const KIND: &str = "private key";

const DASHES: &str = "-----";
const CHECKSUM_LEN: usize = 5;
const LABEL_MAX: usize = 48;
const INDENT_MAX: usize = 64;
const LINE_MAX: usize = 16 * 1024;
const LINES_MAX: usize = 512;
/// The widths in which programs write keys.
const WIDTHS: [usize; 3] = [64, 70, WIDTH_MAX];
const WIDTH_MAX: usize = 76;
/// A shorter rest of a key at the end of a text may be something else.
const REST_MIN: usize = 32;

/// The body behind a first line, up to the last line or to where the key is cut.
pub(super) fn after_begin(text: &str, begin: Range<usize>) -> Option<Secret> {
    let label_end = private_label_end(text, begin.end)?;
    let indent = indent(text, begin.start);
    let mut at = label_end;
    // PGP leaves a line empty.
    for _ in 0..2 {
        at = next_line(text, at, indent).unwrap_or(at);
    }
    at += run(text, at, INDENT_MAX, |byte| byte == b' ');
    let mut lines = lines_after(text, at, indent);
    let end = lines.last()?.end;
    let behind = next_line(text, end, indent).unwrap_or(end + run(text, end, INDENT_MAX, |byte| byte == b' '));
    let is_whole = text[behind..].starts_with(END);
    if !is_whole {
        drop_what_may_not_belong(&mut lines, text.len());
    }
    // PGP closes with a checksum in a line of its own.
    let checksum = lines.pop_if(|line| text[line.clone()].starts_with('='));
    let joined: String = lines.iter().map(|line| &text[line.clone()]).collect();
    let is_key = starts_like_a_key(&from_base64(&joined)?, is_whole) && are_lines_of_a_key(text, &lines);
    lines.extend(checksum.filter(|line| line.len() == CHECKSUM_LEN));
    is_key.then(|| secret(&lines))
}

/// The lines before a last line of which the first one is missing.
pub(super) fn before_end(text: &str, end: Range<usize>) -> Option<Secret> {
    private_label_end(text, end.end)?;
    let indent = indent(text, end.start);
    let lines = lines_before(text, end.start - indent.len(), indent);
    let first = lines.first()?;
    let is_headless = !text[..first.start].trim_end_matches(['\\', 'n', 'r', '\n', '\r', ' ']).ends_with(DASHES);
    let is_known = WIDTHS.contains(&first.len()) && is_headless && are_lines_of_a_key(text, &lines);
    // Counted from the end, since that is where the groups of base64 are whole.
    let joined: String = lines.iter().map(|line| &text[line.clone()]).collect();
    let bytes = from_base64(&joined[joined.len() % 4..])?;
    (is_known && !is_text(&bytes)).then(|| secret(&lines))
}

fn secret(lines: &[Range<usize>]) -> Secret {
    let start = lines.first().map_or(0, |line| line.start);
    Secret { at: start..lines.last().map_or(start, |line| line.end), kind: KIND }
}

/// Where the rest of a first or a last line ends, if it is a private key's.
fn private_label_end(text: &str, at: usize) -> Option<usize> {
    let len = run(text, at, LABEL_MAX, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let label = &text[at..at + len];
    let is_private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    (is_private && text[at + len..].starts_with(DASHES)).then_some(at + len + DASHES.len())
}

/// What stands before each line of a key that is set in, or a part of a diff.
fn indent(text: &str, at: usize) -> &str {
    let len = run_before(text, at, INDENT_MAX, |byte| matches!(byte, b' ' | b'\t' | b'+' | b'-'));
    let begin = at - len;
    let is_line = begin == 0 || text[..begin].ends_with('\n');
    if is_line { &text[begin..at] } else { "" }
}

/// Where the next line begins, if one does: after a line break, be it spelled out as in a string.
fn next_line(text: &str, at: usize, indent: &str) -> Option<usize> {
    let rest = &text[at..];
    if let Some(broken) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
        let is_empty = broken.starts_with('\n') || broken.starts_with("\r\n");
        let line = if is_empty { broken } else { broken.strip_prefix(indent)? };
        return Some(text.len() - line.len());
    }
    let escape = rest.trim_start_matches('\\');
    let escape = escape.strip_prefix('r').map_or(escape, |escape| escape.trim_start_matches('\\'));
    let is_escaped = rest.starts_with('\\') && rest.len() - escape.len() < 12;
    is_escaped.then(|| escape.strip_prefix('n')).flatten().map(|line| text.len() - line.len())
}

fn lines_after(text: &str, at: usize, indent: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut next = Some(at);
    while let Some(at) = next.filter(|_| lines.len() < LINES_MAX) {
        let len = line_len(text, at);
        if len == 0 || !is_closed(&text[at + len..]) {
            break;
        }
        lines.push(at..at + len);
        next = next_line(text, at + len, indent);
    }
    lines
}

/// Whether a line ends where its base64 does.
fn is_closed(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(DASHES) || rest.starts_with(|c: char| c.is_ascii_whitespace() || "\"'`\\,;)<".contains(c))
}

/// One that PGP closes with begins with what pads all others.
fn line_len(text: &str, at: usize) -> usize {
    let checksum = run(text, at, 1, is_padding);
    let len = checksum + run(text, at + checksum, LINE_MAX, is_base64);
    len + run(text, at + len, 2 * (1 - checksum), is_padding)
}

fn is_padding(byte: u8) -> bool {
    byte == b'='
}

/// The lines that end at `at`. All but the last are of one width.
fn lines_before(text: &str, at: usize, indent: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut end = at;
    while lines.len() < LINES_MAX {
        let broken = line_break_before(text, end);
        let padding = run_before(text, broken, 2, is_padding);
        let mut begin = broken - padding - run_before(text, broken - padding, WIDTH_MAX + 2, is_base64);
        let is_escape = text[..begin].ends_with('\\') && text[begin..broken].starts_with('n');
        // The mark of a diff is base64 as well.
        let is_marked = indent == "+" && text[begin..broken].starts_with('+');
        begin += usize::from(is_escape || is_marked);
        let line = begin..broken;
        let is_of_width =
            lines.last().is_none_or(|below| if lines.len() == 1 { below.len() <= line.len() } else { below.len() == line.len() });
        if broken == end || line.is_empty() || !is_of_width || !(is_escape || begins_line(text, begin, indent)) {
            break;
        }
        end = begin - if is_escape { 0 } else { indent.len() };
        lines.push(line);
    }
    lines.reverse();
    lines
}

/// Whether nothing stands before it that could be a part of a token.
fn begins_line(text: &str, at: usize, indent: &str) -> bool {
    let outer = text[..at].strip_suffix(indent);
    outer.is_some_and(|outer| outer.is_empty() || outer.ends_with('\n') || indent.is_empty() && !outer.ends_with(['-', '_', '=']))
}

fn line_break_before(text: &str, end: usize) -> usize {
    let before = &text[..end];
    let broken = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
    let escaped = || before.strip_suffix('n').filter(|rest| rest.ends_with('\\')).map(|rest| rest.trim_end_matches('\\'));
    broken.or_else(escaped).map_or(end, str::len)
}

/// Without a last line nothing says where the key ends: what follows it may be a word as well.
fn drop_what_may_not_belong(lines: &mut Vec<Range<usize>>, text_len: usize) {
    let Some(width) = lines.first().map(Range::len) else { return };
    let whole = lines.iter().take_while(|line| line.len() == width).count();
    let is_rest = |line: &Range<usize>| line.end == text_len && REST_MIN <= line.len() && line.len() < width;
    let rest = usize::from(lines.len() == whole + 1 && lines.get(whole).is_some_and(is_rest));
    lines.truncate(whole + rest);
}

/// As programs break keys into lines, and none that a shell could run: a path, or a word of small letters.
fn are_lines_of_a_key(text: &str, lines: &[Range<usize>]) -> bool {
    let Some(((last, others), width)) = lines.split_last().zip(lines.first().map(Range::len)) else { return false };
    let is_even = others.iter().all(|line| line.len() == width) && last.len() <= width;
    let could_run = |line: &str| {
        let folder = line.strip_prefix('/').and_then(|line| line.split_once('/')).map(|(folder, _)| folder);
        let is_path = folder.is_some_and(|folder| folder.bytes().all(|byte| byte.is_ascii_lowercase()));
        is_path || line.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'/')
    };
    is_even && !lines.iter().any(|line| could_run(&text[line.clone()]))
}

/// `OpenSSH`'s own format, a PGP packet with a secret key, or a DER sequence of a fitting length that begins with a
/// version or, if the key is encrypted, with another sequence.
fn starts_like_a_key(bytes: &[u8], is_whole: bool) -> bool {
    let (header, length) = match bytes {
        [b'o', b'p', b'e', b'n', b's', b's', b'h', b'-', b'k', b'e', b'y', b'-', b'v', b'1', 0, ..]
        | [0x94, _, 4, ..]
        | [0x95, _, _, 4, ..]
        | [0xc5, _, 4 | 6, ..]
        | [0xc5, _, _, 4 | 6, ..] => return !is_text(bytes),
        [0x30, 0x82, high, low, ..] => (4, usize::from(*high) << 8 | usize::from(*low)),
        [0x30, 0x81, length, ..] => (3, usize::from(*length)),
        [0x30, length, ..] if *length < 0x80 => (2, usize::from(*length)),
        _ => return false,
    };
    let is_fitting = if is_whole { header + length == bytes.len() } else { bytes.len() <= header + length };
    let is_versioned = matches!(bytes[header..], [0x02, 0x01, 0 | 1 | 3, ..] | [0x30, ..]);
    is_fitting && is_versioned && !is_text(bytes)
}
