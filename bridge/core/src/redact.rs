//! Finds secrets in text that is about to be shown, and puts a mark such as `[redacted: aws key]` in place of each.
//!
//! An attacker may have written the text, and a person approves what it says. So what is replaced is always something
//! that is sure to be inert: without quotes, whitespace (but for the line breaks of a private key) and whatever a shell or
//! a programming language gives a meaning to, and neither a path, a flag, an address nor readable text in base64. A plain
//! word, which may be a command, is replaced only where nothing could run it. Secrets that hold other characters stay
//! visible, and so does what is merely random: `echo … | base64 -d | sh` is read as it is.
//!
//! The rules are our own. Of the libraries there are, `kingfisher` needs a newer compiler and a C++ engine, and parts
//! of its rules are under a licence that is not permissive; `cribra` and `keyspoor` need a newer compiler too, and
//! `nosecrets` has rules but no scanner; `secretshape` finds tokens, but no named values, no cut ones and only the first
//! line of a private key. `redact-secret` comes closest, and is in its beta: it takes `$(…)` for a part of a password
//! and any base64 for a private key, which would hide code.

mod inert;
mod named;
mod names;
mod pem;
mod rules;
mod tokens;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use rules::{RULES, Rule};

/// A text without the secrets that were found in it.
#[derive(Debug)]
pub(crate) struct Redacted<'a> {
    pub(crate) text: Cow<'a, str>,
    /// How many of each kind.
    pub(crate) found: BTreeMap<&'static str, usize>,
}

/// What stands around the kind of a secret in place of it.
const MARK: [&str; 2] = ["[redacted: ", "]"];

/// A part of a text that is to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Secret {
    at: Range<usize>,
    kind: &'static str,
}

/// What an occurrence of a keyword may be the beginning of.
enum Lead {
    Token(&'static Rule),
    Name,
    PemBegin,
    PemEnd,
}

struct Keywords {
    finder: AhoCorasick,
    leads: Vec<Lead>,
}

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let tokens = RULES.iter().flat_map(|rule| rule.prefixes.iter().map(move |prefix| ((*prefix).to_owned(), Lead::Token(rule))));
    let names = names::KEYWORDS.iter().flat_map(|name| names::spellings(name)).map(|name| (name, Lead::Name));
    let pem = [(pem::BEGIN.to_owned(), Lead::PemBegin), (pem::END.to_owned(), Lead::PemEnd)];
    let (words, leads): (Vec<_>, Vec<_>) = tokens.chain(names).chain(pem).unzip();
    let finder = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words);
    Keywords { finder: finder.expect("the keywords are few and short"), leads }
});

/// What is replaced may have been a part of what stood beside it. More rounds find nothing but in a text that was made
/// for it.
const ROUNDS_MAX: usize = 4;

/// Replaces every secret that is found.
pub(crate) fn redact(text: &str) -> Redacted<'_> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), found: BTreeMap::new() };
    for _ in 0..ROUNDS_MAX {
        let hits = hits(&redacted.text);
        // What is known by its look goes first, and names are read in what is left: else a token that looks like a name
        // would decide what its value is.
        let is_last = hits.known.is_empty();
        redacted.replace(&if is_last { named::all(&redacted.text, &hits.names) } else { hits.known });
        if is_last {
            break;
        }
    }
    redacted
}

/// Replaces the whole value of a variable, a member or a header whose name says that it is a secret, if the value is
/// inert. Any other value is redacted as text.
pub(crate) fn redact_member<'a>(name: &str, value: &'a str) -> Redacted<'a> {
    // A token says more about itself than a name does.
    let whole = names::kind(name).and_then(|kind| named::of_member(kind, value));
    let Some(whole) = whole.filter(|_| hits(value).known.is_empty()) else { return redact(value) };
    let mut redacted = Redacted { text: Cow::Borrowed(value), found: BTreeMap::new() };
    redacted.replace(&[whole]);
    redacted
}

struct Hits {
    /// Tokens and keys, in order, and none within another.
    known: Vec<Secret>,
    /// Where names are that may be those of secrets.
    names: Vec<Range<usize>>,
}

fn hits(text: &str) -> Hits {
    let mut known = Vec::new();
    let mut names = Vec::new();
    for hit in KEYWORDS.finder.find_overlapping_iter(text) {
        match KEYWORDS.leads[hit.pattern().as_usize()] {
            Lead::Token(rule) => known.extend(tokens::find(rule, text, hit.range())),
            Lead::Name => names.push(hit.range()),
            Lead::PemBegin => known.extend(pem::after_begin(text, hit.range())),
            Lead::PemEnd => known.extend(pem::before_end(text, hit.range())),
        }
    }
    known.sort_by_key(|secret: &Secret| (secret.at.start, usize::MAX - secret.at.end));
    let mut end = 0;
    known.retain(|secret| {
        let is_apart = end <= secret.at.start;
        if is_apart {
            end = secret.at.end;
        }
        is_apart
    });
    Hits { known, names }
}

impl Redacted<'_> {
    fn replace(&mut self, secrets: &[Secret]) {
        if secrets.is_empty() {
            return;
        }
        let mut shown = String::with_capacity(self.text.len());
        let mut end = 0;
        for secret in secrets {
            for piece in [&self.text[end..secret.at.start], MARK[0], secret.kind, MARK[1]] {
                shown.push_str(piece);
            }
            end = secret.at.end;
            *self.found.entry(secret.kind).or_default() += 1;
        }
        shown.push_str(&self.text[end..]);
        self.text = Cow::Owned(shown);
    }
}

#[cfg(test)]
mod tests;
