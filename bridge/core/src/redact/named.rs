//! Values that are known by their names: `--password …`, `API_KEY=…`, `"client_secret": "…"`, `?access_token=…`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::Secret;
use super::inert::{self, NAME_MAX, VALUE_MAX, is_inert, run, run_before};
use super::names;

const SPACES_MAX: usize = 8;
const BACKSLASHES_MAX: usize = 4;

const SCHEMES: [&str; 6] = ["Bearer", "Basic", "Token", "ApiKey", "Bot", "Digest"];

/// Values that switch something on or off, or say that there is no secret.
const SWITCHES: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "null", "none", "nil", "undefined"];

/// How a value stands by its name, and so what else could be made of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `--name=value`, a header or a query: nobody but the one that it is given to can name it.
    Given,
    /// In quotes, of a variable or behind a flag: a word may be run by the variable's name, or be what the flag is for.
    Assigned,
    /// `name=value`: may be a program's, and the value a name in it.
    Bare,
    /// `name: value` and nothing behind it: may be a program's too, but most would go on.
    Line,
    /// `name = value`: most probably a program's.
    Code,
}

/// A name, and where the value begins that it is given.
struct Named<'t> {
    name: &'t str,
    kind: &'static str,
    form: Form,
    /// With the backslashes before it.
    quote: &'t str,
    value_at: usize,
    /// Of the environment: a program that knows the name has the value.
    is_variable: bool,
}

/// The values of the names that hold the keywords at `hits`, in order.
pub(super) fn all(text: &str, hits: &[Range<usize>]) -> Vec<Secret> {
    let mut finder = Finder { text, decided_to: 0, expanded: None, words: None };
    hits.iter().filter_map(|hit| finder.find(hit)).collect()
}

struct Finder<'t> {
    text: &'t str,
    /// A name within a value is a part of that value, so that each character is looked at once.
    decided_to: usize,
    expanded: Option<HashSet<&'t str>>,
    /// How often each word stands in the text.
    words: Option<HashMap<&'t str, usize>>,
}

impl Finder<'_> {
    fn find(&mut self, hit: &Range<usize>) -> Option<Secret> {
        let text = self.text;
        let mut named = if hit.start < self.decided_to { None } else { named(text, hit) }?;
        let scheme = skip_scheme(text, &mut named);
        let len = run(text, named.value_at, VALUE_MAX + 1, is_inert);
        let at = named.value_at..named.value_at + len;
        self.decided_to = at.end;
        let value = &text[at.clone()];
        let is_one = len <= VALUE_MAX && is_closed(&text[at.end..], &named) && is_secret(value, &named, scheme);
        let mut is_used = || {
            let expanded = self.expanded.get_or_insert_with(|| expanded(text));
            let words = self.words.get_or_insert_with(|| words(text));
            let is_named_again = named.is_variable && words.get(named.name).is_some_and(|count| 1 < *count);
            expanded.contains(named.name) || is_named_again || named.form == Form::Assigned && expanded.contains(ARGUMENTS)
        };
        (is_one && (inert::is_random(value) || !is_used())).then_some(Secret { at, kind: named.kind })
    }
}

/// A value that belongs to a name and to nothing else. It may be a variable's.
pub(super) fn of_member(kind: &'static str, value: &str) -> Option<Secret> {
    let mut named = Named { name: "", kind, form: Form::Assigned, quote: "\"", value_at: 0, is_variable: false };
    let scheme = skip_scheme(value, &mut named);
    let at = named.value_at..value.len();
    is_secret(&value[at.clone()], &named, scheme).then_some(Secret { at, kind })
}

fn is_secret(value: &str, named: &Named<'_>, scheme: Option<&str>) -> bool {
    let is_switch = SWITCHES.iter().chain(&SCHEMES).any(|switch| value.eq_ignore_ascii_case(switch));
    let is_count = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_mixed = 7 <= value.len() && inert::has(value, 1, u8::is_ascii_digit) && inert::has(value, 1, u8::is_ascii_alphabetic);
    let is_pair = value.trim_end_matches('=').contains('=');
    let is_enough = match (named.kind, named.form) {
        // A cookie has a name of its own; any other pair is a part of an option: `id=…`.
        ("cookie", Form::Given) => is_pair,
        _ if is_pair => false,
        // A short one is the name of its file.
        ("private key", _) | (_, Form::Code) => inert::is_random(value),
        (_, Form::Given) => true,
        (_, Form::Assigned) => !inert::is_plain_word(value),
        (_, Form::Bare | Form::Line) => is_mixed,
    };
    let is_value = inert::is_value(value) || scheme == Some("Basic") && is_login(value);
    is_value && is_enough && !is_switch && !is_count
}

/// `user:password` in base64, which is readable by design. Whatever could run is not taken for one.
fn is_login(value: &str) -> bool {
    let login = inert::from_base64(value)
        .filter(|_| value.trim_end_matches('=').bytes().all(inert::is_base64) && value.len().is_multiple_of(4));
    login.is_some_and(|login| login.contains(&b':') && login.iter().all(|byte| is_inert(*byte) || b"!?#*~,".contains(byte)))
}

fn named<'t>(text: &'t str, hit: &Range<usize>) -> Option<Named<'t>> {
    let begin = name_begin(text, hit.start)?;
    let len = run(text, hit.end, NAME_MAX + 1, inert::is_word);
    let end = hit.end + len;
    let is_followed = text[end..].starts_with(['=', ':', '"', '\'', '\\', ' ', '\t']);
    if NAME_MAX < len || !is_followed {
        return None;
    }
    let written = &text[begin..end];
    let name = written.trim_start_matches('-');
    let kind = names::kind(name).filter(|_| !is_alias(&text[..begin]))?;
    let closing = quote(text, end);
    let separator_at = end + closing.len() + run(text, end + closing.len(), SPACES_MAX, is_space);
    let separator = separator(&text[separator_at..]);
    let quote_at = separator_at + separator.len();
    let quote_at = quote_at + run(text, quote_at, SPACES_MAX, is_space);
    let quote = quote(text, quote_at);
    let value_at = quote_at + quote.len();

    let is_flag = written.starts_with("--");
    let is_query = text[..begin].ends_with(['?', '&']) && separator == "=";
    let is_header = separator == ":" && (name.contains('-') || kind == "cookie" && quote.is_empty());
    let is_close = value_at - end == separator.len();
    let is_variable = is_close && separator == "=" && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let form = match separator {
        "" if is_flag && closing.is_empty() && end < value_at => Form::Assigned,
        // Items of a list.
        "," if is_flag && !closing.is_empty() && !quote.is_empty() => Form::Assigned,
        "" | "," => return None,
        _ if is_flag || is_query || is_header => Form::Given,
        _ if is_variable || !quote.is_empty() => Form::Assigned,
        ":" => Form::Line,
        _ if is_close => Form::Bare,
        _ => Form::Code,
    };
    Some(Named { name, kind, form, quote, value_at, is_variable })
}

/// What an alias is given is run.
fn is_alias(before: &str) -> bool {
    before.trim_end_matches(' ').ends_with("alias")
}

/// Where the name of a keyword begins. The letter of a `\n` before it is none of its own.
fn name_begin(text: &str, keyword_at: usize) -> Option<usize> {
    let len = run_before(text, keyword_at, NAME_MAX + 1, inert::is_word);
    let begin = keyword_at - len;
    let is_escape = text[..begin].ends_with('\\') && text[begin..keyword_at].starts_with(['n', 'r', 't']);
    (len <= NAME_MAX).then_some(begin + usize::from(is_escape))
}

fn separator(rest: &str) -> &str {
    let is_comparison = rest.starts_with("==") || rest.starts_with("::");
    let found = [":=", "=>", "=", ":", ","].into_iter().find(|separator| rest.starts_with(separator));
    found.filter(|_| !is_comparison).unwrap_or_default()
}

/// The quote at a place, with the backslashes before it.
fn quote(text: &str, at: usize) -> &str {
    let backslashes = run(text, at, BACKSLASHES_MAX, |byte| byte == b'\\');
    let is_quote = text[at + backslashes..].starts_with(['"', '\'']);
    if is_quote { &text[at..=at + backslashes] } else { "" }
}

/// Lets the value begin behind a scheme, which nothing but a header has.
fn skip_scheme(text: &str, named: &mut Named<'_>) -> Option<&'static str> {
    let rest = &text[named.value_at..];
    let is_scheme = |scheme: &&&str| rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let has_one = named.kind == "authorization" || !named.quote.is_empty();
    let scheme = SCHEMES.iter().filter(|_| has_one).find(is_scheme)?;
    let at = named.value_at + scheme.len();
    let spaces = run(text, at, SPACES_MAX, is_space);
    if spaces == 0 {
        return None;
    }
    named.form = Form::Given;
    named.value_at = at + spaces;
    Some(scheme)
}

/// Whether the value ends here, be it because the text does. Anything else would be a part of it that is not inert.
fn is_closed(rest: &str, named: &Named<'_>) -> bool {
    let delimiters = if named.form == Form::Line { "\r\n\"'`}\\" } else { " \t\r\n\"'`&;,|<>)]}\\" };
    let is_delimited = rest.is_empty() || rest.starts_with(|c| delimiters.contains(c));
    if named.quote.is_empty() { is_delimited } else { rest.is_empty() || rest.starts_with(named.quote) }
}

fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Stands for all that a shell knows without a name: `$1`, `$@`, `$_`, `!$`.
const ARGUMENTS: &str = "$";

fn words(text: &str) -> HashMap<&str, usize> {
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        *words.entry(word).or_default() += 1;
    }
    words
}

/// The variables of which the text uses the value.
fn expanded(text: &str) -> HashSet<&str> {
    let is_argument = |(sign, _): (usize, &str)| {
        let after = text[sign + 1..].trim_start_matches(['{', '"']);
        after.starts_with(|c: char| c.is_ascii_digit() || "@*_".contains(c))
            && !after[1..].starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let arguments = text.match_indices('$').any(is_argument) || text.contains("!$");
    let names = text.match_indices(['$', '%']).filter_map(|(sign, _)| {
        let after = &text[sign + 1..];
        let opened = ["{env:", "env:", "{!", "{#", "{", "(", "!"].into_iter().find(|opening| after.starts_with(opening));
        let after = &after[opened.map_or(0, str::len)..];
        let name = inert::variable(after)?;
        let is_closed = after[name.len()..].starts_with('%');
        (text[sign..].starts_with('$') || is_closed).then_some(name)
    });
    names.chain(arguments.then_some(ARGUMENTS)).collect()
}
