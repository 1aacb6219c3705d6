//! Tokens that are known by how they begin.

use std::ops::Range;

use super::Secret;
use super::inert::{has, is_mixed, is_word, run, run_before};
use super::rules::{Part, Rule};

/// Fewer characters at the end of a text may be a word as well.
const CUT_MIN: usize = 8;

/// What becomes of a part of a rule at a place in the text.
enum Step {
    To(usize),
    /// It would go on where the text ends.
    Cut,
}

pub(super) fn find(rule: &Rule, text: &str, prefix: Range<usize>) -> Option<Secret> {
    let begin = prefix.start - lead(rule, text, prefix.start)?;
    if is_word(text.as_bytes()[begin]) && is_in_word(text, begin) {
        return None;
    }
    let mut at = prefix.end;
    let mut hidden = if rule.shows_prefix { None } else { Some(begin..prefix.end) };
    for part in rule.parts {
        let Step::To(end) = step(part, text, at)? else {
            return cut(rule, text, begin, prefix.end);
        };
        if !part.is_shown() {
            hidden = Some(hidden.map_or(at, |hidden| hidden.start)..end);
        }
        at = end;
    }
    let hidden = hidden?;
    let body = &text[hidden.start.max(prefix.end)..hidden.end];
    let goes_on = hidden.end == at && run_before(text, at, 1, is_word) + run(text, at, 1, is_word) == 2;
    (!goes_on && (rule.is_one)(body)).then_some(Secret { at: hidden, kind: rule.name })
}

/// How many characters belong to the token before what it is known by.
fn lead(rule: &Rule, text: &str, at: usize) -> Option<usize> {
    let Some((chars, lengths)) = &rule.lead else { return Some(0) };
    let len = run_before(text, at, lengths.end() + 1, chars);
    lengths.contains(&len).then_some(len)
}

/// Whether a word goes on before `at`. The letter of `\n` in a string is none.
fn is_in_word(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let is_escape = matches!(before, [.., b'\\', b'n' | b'r' | b't']);
    before.last().is_some_and(|byte| is_word(*byte)) && !is_escape
}

fn step(part: &Part, text: &str, at: usize) -> Option<Step> {
    let rest = &text[at..];
    match part {
        Part::Run(chars, lengths) | Part::Shown(chars, lengths) => {
            let len = run(text, at, lengths.end() + 1, chars);
            let is_cut = len < *lengths.start() && len == rest.len();
            if is_cut { Some(Step::Cut) } else { lengths.contains(&len).then_some(Step::To(at + len)) }
        }
        Part::Text(expected) | Part::ShownText(expected) => {
            if rest.is_empty() {
                Some(Step::Cut)
            } else {
                rest.starts_with(expected).then_some(Step::To(at + expected.len()))
            }
        }
    }
}

/// A token of which the text ends too early. A prefix that is also a word needs more to be one.
fn cut(rule: &Rule, text: &str, begin: usize, prefix_end: usize) -> Option<Secret> {
    let body = &text[prefix_end..];
    let is_telling = has(body, 1, u8::is_ascii_digit) && has(body, 1, u8::is_ascii_alphabetic) || is_mixed(body);
    let is_random = has(body, 1, u8::is_ascii_digit) && is_mixed(body);
    let is_token = match prefix_end - begin {
        0..3 => false,
        3 => is_random,
        _ => is_telling,
    };
    let is_whole_enough = !rule.shows_prefix && CUT_MIN <= body.len() && is_token;
    (is_whole_enough && (rule.is_one)(body)).then_some(Secret { at: begin..text.len(), kind: rule.name })
}
