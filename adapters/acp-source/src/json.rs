//! Looking into a line without taking it apart: top-level members as raw text, and forgiving readers for texts.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::plain::is_plain;

/// The members of a JSON-RPC message that matter here, as raw text. Of repeated members the last counts, except that
/// `methods` keeps all: readers differ in which one they take.
#[derive(Debug, Default)]
pub(crate) struct Message<'a> {
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) methods: Vec<Cow<'a, str>>,
    pub(crate) params: Option<&'a RawValue>,
    pub(crate) result: Option<&'a RawValue>,
    pub(crate) is_error: bool,
}

impl<'a> Message<'a> {
    /// `None`: not a JSON object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn is_method(&self, name: &str) -> bool {
        self.methods.iter().any(|method| method == name)
    }

    /// Whether some reader might take it for an answer.
    pub(crate) fn may_answer(&self) -> bool {
        self.result.is_some() || self.is_error
    }

    /// Reads a structure out of `params`.
    pub(crate) fn params<T: Deserialize<'a> + Default>(&self) -> T {
        self.params.and_then(object).unwrap_or_default()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Message<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Message<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Message<'de>, A::Error> {
                let mut message = Message::default();
                while let Some(key) = members.next_key::<Cow<'de, str>>()? {
                    match key.as_ref() {
                        "id" => message.id = Some(members.next_value()?),
                        "params" => message.params = Some(members.next_value()?),
                        "result" => message.result = Some(members.next_value()?),
                        "method" => message.methods.extend(text(members.next_value()?).map(Cow::Owned)),
                        "error" => {
                            members.next_value::<IgnoredAny>()?;
                            message.is_error = true;
                        }
                        _ => drop(members.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(message)
            }
        }

        from.deserialize_map(Members)
    }
}

/// A JSON-RPC id, comparable: `1` and `"1"` differ, `"a"` and `"\u0061"` do not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RpcId {
    Text(String),
    /// A number, `null`, or whatever else an agent made up, as it stood on the wire.
    Other(String),
}

impl RpcId {
    pub(crate) fn parse(raw: &RawValue) -> Self {
        text(raw).map_or_else(|| Self::Other(plain_number(raw.get())), Self::Text)
    }
}

/// A whole number however it is spelled: `1.0` and `1e0` come back as `1` from readers that know but one kind of number.
fn plain_number(raw: &str) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match raw.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && number.abs() <= EXACT => format!("{}", number + 0.0),
        Ok(_) | Err(_) => raw.to_owned(),
    }
}

/// What a line holds for a reader that forgives: values one after the other or in lists, whatever stands before them,
/// numbers that JSON has not, text cut in the middle of a character. With it, whether anything had to be forgiven.
///
/// `None`: no reader would find a value here.
pub(crate) fn forgiven(line: &[u8]) -> Option<(Vec<Box<RawValue>>, bool)> {
    let text = String::from_utf8_lossy(line);
    let start = text.find(['{', '['])?;
    let ignorable = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
    if !text[..start].chars().all(ignorable) {
        return None;
    }
    let whole = &text[start..];
    let found = values(whole);
    let is_readable = |value: &RawValue| !value.get().starts_with('{') || Message::parse(value.get()).is_some();
    if !found.is_empty() && found.iter().all(|value| is_readable(value)) {
        return Some((found, matches!(text, Cow::Owned(_)) || 0 < start));
    }
    let mended = spell_out_lone_surrogates(whole);
    let mended = without_nan(&mended).unwrap_or(mended);
    let found = values(&mended);
    (!found.is_empty()).then_some((found, true))
}

/// The values of a text, lists taken apart. What follows the last whole value is left out.
fn values(text: &str) -> Vec<Box<RawValue>> {
    const DEPTH_MAX: usize = 8;
    fn add(value: &RawValue, depth: usize, found: &mut Vec<Box<RawValue>>) {
        match serde_json::from_str::<Vec<&RawValue>>(value.get()) {
            Ok(list) if depth < DEPTH_MAX => list.iter().for_each(|value| add(value, depth + 1, found)),
            Ok(_) | Err(_) => found.push(value.to_owned()),
        }
    }
    let mut found = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().map_while(Result::ok) {
        add(value, 0, &mut found);
    }
    found
}

/// Reads a structure out of an object, and out of nothing else: serde would take a list for one, too.
pub(crate) fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// The text of a JSON string; `None` for any other value. A lone surrogate, which agents make by cutting text in the
/// middle of a character, becomes its visible escape.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    raw.get().starts_with('"').then(|| read(raw)).flatten()
}

/// Reads any value, lone surrogates made visible.
///
/// `None` also for what could not be kept and read again as it is.
pub(crate) fn read<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    if raw.get().starts_with(['{', '[']) && !is_plain(&spell_out_lone_surrogates(raw.get())) {
        return None;
    }
    serde_json::from_str(raw.get()).ok().or_else(|| serde_json::from_str(&spell_out_lone_surrogates(raw.get())).ok())
}

/// Doubles the backslash of each `\uD800`-like escape that has no partner.
fn spell_out_lone_surrogates(json: &str) -> String {
    let mut mended = String::with_capacity(json.len() + 8);
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (surrogate(rest), rest.get(6..).and_then(surrogate)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => {
                mended.push('\\');
                6
            }
            // The escaped character goes along, since it may be a backslash itself.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended + rest
}

fn surrogate(json: &str) -> Option<u16> {
    let digits = json.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xd800..=0xdfff).contains(unit))
}

/// Numbers that JSON has not, but some writers and readers have, as `null`; strings are left alone. `None`: there are
/// none.
pub(crate) fn without_nan(json: &str) -> Option<String> {
    const NAMES: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    let mut mended = String::with_capacity(json.len());
    let (mut rest, mut in_string, mut found) = (json, false, false);
    while let Some(c) = rest.chars().next() {
        let name = NAMES.iter().find(|name| !in_string && rest.starts_with(**name));
        let taken = match (name, c) {
            (Some(name), _) => {
                mended.push_str("null");
                found = true;
                rest = &rest[name.len()..];
                continue;
            }
            (None, '\\') if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, '"') => {
                in_string = !in_string;
                1
            }
            (None, _) => c.len_utf8(),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    found.then_some(mended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_is_found_wherever_and_however_it_stands() {
        for json in [
            r#"{"method":"session/request_permission"}"#,
            r#"{"params":{"method":"x"},"method":"session\/request_permission"}"#,
            r#" { "m\u0065thod" : "session/r\u0065quest_permission" } "#,
            r#"{"method":"session/request_permission","method":"session/update"}"#,
            r#"{"method":"session/update","method":"session/request_permission"}"#,
        ] {
            let message = Message::parse(json).expect("an object");
            assert!(message.is_method("session/request_permission"), "{json}");
        }
    }

    #[test]
    fn what_is_no_object_is_no_message() {
        for json in ["", "[]", "null", "{", "{\"id\":1", "plain text", "{} {}"] {
            assert!(Message::parse(json).is_none(), "{json}");
        }
    }

    #[test]
    fn ids_are_the_same_only_as_json_has_it() {
        let id = |json: &str| RpcId::parse(&RawValue::from_string(json.into()).expect("JSON"));
        assert_eq!(id(r#""a""#), id(r#""\u0061""#));
        assert_ne!(id("1"), id(r#""1""#));
        assert_ne!(id("null"), id(r#""null""#));
    }

    #[test]
    fn half_a_character_becomes_visible_and_whole_ones_stay() {
        for (json, expected) in [
            (r#""a\ud83d""#, "a\\ud83d"),
            (r#""\udc00x""#, "\\udc00x"),
            (r#""\ud83d\ude00 \ud83d""#, "😀 \\ud83d"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\ud83d\ud83d\ude00""#, "\\ud83d😀"),
            (r#""é\\\ud83d""#, "é\\\\ud83d"),
        ] {
            let raw = RawValue::from_string(json.into()).expect("JSON");
            assert_eq!(text(&raw).as_deref(), Some(expected), "{json}");
        }
    }

    #[test]
    fn whole_numbers_are_one_however_they_are_spelled() {
        let id = |json: &str| RpcId::parse(&RawValue::from_string(json.into()).expect("JSON"));
        for spelled in ["1.0", "1e0", "10e-1"] {
            assert_eq!(id(spelled), id("1"), "{spelled}");
        }
        assert_eq!(id("-0"), id("0"));
        assert_ne!(id("1.5"), id("1"));
    }

    #[test]
    fn nan_is_mended_outside_of_strings_only() {
        assert_eq!(
            without_nan(r#"{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \" NaN"}"#).as_deref(),
            Some(r#"{"a":null,"b":[null,null],"c":"NaN \" NaN"}"#)
        );
        assert_eq!(without_nan(r#"{"c":"NaN"}"#), None);
    }
}
