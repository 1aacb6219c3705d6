//! What the agent offered: options, their ids and kinds, and the proof that a choice is one of them.

use std::collections::HashSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The id an agent gave to an option, exactly as it stood on the wire.
///
/// The JSON text is kept, not its meaning, so that what goes back is what came: escapes, lone surrogates, spaces at the
/// ends, any length. Only [`OptionId::parse`] makes one, and only from a JSON string that is not empty.
#[derive(Clone, Debug)]
pub struct OptionId(Box<RawValue>);

/// Why an option id was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionIdError {
    #[error("an option id is not a string")]
    NotAString,
    #[error("an option id is empty")]
    Empty,
}

/// As a string that holds the JSON text, so that no writer between here and there changes its spelling.
impl Serialize for OptionId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.get())
    }
}

impl<'de> Deserialize<'de> for OptionId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = RawValue::from_string(String::deserialize(from)?).map_err(D::Error::custom)?;
        Self::parse(&raw).map_err(D::Error::custom)
    }
}

impl OptionId {
    pub fn parse(raw: &RawValue) -> Result<Self, OptionIdError> {
        match raw.get() {
            "\"\"" => Err(OptionIdError::Empty),
            text if text.starts_with('"') => Ok(Self(raw.to_owned())),
            _ => Err(OptionIdError::NotAString),
        }
    }

    /// The JSON text to answer with, quotes included.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.0
    }

    /// UTF-16 code units as a JSON reader would see them, so that two spellings of one id are one id.
    fn meaning(&self) -> Vec<u16> {
        let text = self.0.get();
        let inner = &text[1..text.len() - 1];
        let mut units = Vec::with_capacity(inner.len());
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
                continue;
            }
            units.push(match chars.next() {
                Some('b') => 0x08,
                Some('f') => 0x0c,
                Some('n') => 0x0a,
                Some('r') => 0x0d,
                Some('t') => 0x09,
                Some('u') => u16::from_str_radix(chars.by_ref().take(4).collect::<String>().as_str(), 16).unwrap_or(0xfffd),
                Some(other) => u16::try_from(u32::from(other)).unwrap_or(0xfffd),
                None => u16::from(b'\\'),
            });
        }
        units
    }
}

/// Two ids are the same when a JSON reader would see the same string.
impl PartialEq for OptionId {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get() || self.meaning() == other.meaning()
    }
}

impl Eq for OptionId {}

/// What the agent says an option does. Untrusted: it styles a button and picks a refusal, no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// A kind this version does not know, or none. It is treated as if it could allow anything for good.
    Unknown(String),
}

impl OptionKind {
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "allow_once" => Self::AllowOnce,
            "allow_always" => Self::AllowAlways,
            "reject_once" => Self::RejectOnce,
            "reject_always" => Self::RejectAlways,
            other => Self::Unknown(other.to_owned()),
        }
    }

    /// As it stood on the wire; empty where there was none.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowAlways => "allow_always",
            Self::RejectOnce => "reject_once",
            Self::RejectAlways => "reject_always",
            Self::Unknown(name) => name,
        }
    }

    /// Whether choosing it is known to refuse. An unknown kind is not.
    #[must_use]
    pub fn refuses(&self) -> bool {
        match self {
            Self::RejectOnce | Self::RejectAlways => true,
            Self::AllowOnce | Self::AllowAlways | Self::Unknown(_) => false,
        }
    }
}

/// One choice the agent offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionOption {
    pub id: OptionId,
    /// The agent's own label, as sent: untrusted text.
    pub name: String,
    pub kind: OptionKind,
    /// What else the agent says of it, such as what an "always" covers. Untrusted.
    pub meta: Option<Value>,
}

/// All options of one request, in the agent's order: at least one, no id twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<PermissionOption>")]
pub struct Options(Vec<PermissionOption>);

impl TryFrom<Vec<PermissionOption>> for Options {
    type Error = OptionsError;

    fn try_from(options: Vec<PermissionOption>) -> Result<Self, OptionsError> {
        Self::new(options)
    }
}

/// Why a list of options was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    #[error("no options were offered")]
    None,
    #[error("two options have the same id")]
    Repeated,
    #[error("more than {} options were offered", Options::MAX)]
    TooMany,
}

impl Options {
    /// More than this is an attack on whoever has to read the card, not a choice.
    pub const MAX: usize = 256;

    pub fn new(options: Vec<PermissionOption>) -> Result<Self, OptionsError> {
        if options.is_empty() {
            return Err(OptionsError::None);
        }
        if Self::MAX < options.len() {
            return Err(OptionsError::TooMany);
        }
        let mut seen = HashSet::new();
        if !options.iter().all(|option| seen.insert(option.id.meaning())) {
            return Err(OptionsError::Repeated);
        }
        Ok(Self(options))
    }

    #[must_use]
    pub fn as_slice(&self) -> &[PermissionOption] {
        &self.0
    }

    /// The option at this place of the agent's list, as proof that the agent itself offered it.
    #[must_use]
    pub fn offered(&self, at: usize) -> Option<Offered> {
        self.0.get(at).cloned().map(Offered)
    }
}

/// An option that the agent itself offered. Only [`Options::offered`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered(PermissionOption);

impl Offered {
    #[must_use]
    pub fn option(&self) -> &PermissionOption {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(json: &str) -> Result<OptionId, OptionIdError> {
        OptionId::parse(&RawValue::from_string(json.to_owned()).expect("valid JSON"))
    }

    fn options(ids: &[&str]) -> Result<Options, OptionsError> {
        let option = |json: &&str| PermissionOption {
            id: id(json).expect("an id"),
            name: String::new(),
            kind: OptionKind::AllowOnce,
            meta: None,
        };
        Options::new(ids.iter().map(option).collect())
    }

    #[test]
    fn an_id_keeps_its_spelling() {
        for json in [r#"" a ""#, r#""\u0061""#, r#""a:b/c\"""#, r#""\ud800""#, r#""✅""#] {
            assert_eq!(id(json).map(|id| id.raw().get().to_owned()), Ok(json.to_owned()));
        }
    }

    #[test]
    fn an_id_is_a_string_with_something_in_it() {
        assert_eq!(id(r#""""#), Err(OptionIdError::Empty));
        for json in ["0", "null", "[]", "{}", "true"] {
            assert_eq!(id(json), Err(OptionIdError::NotAString), "{json}");
        }
    }

    #[test]
    fn one_id_in_two_spellings_is_offered_twice() {
        for pair in [
            [r#""a""#, r#""a""#],
            [r#""a""#, r#""\u0061""#],
            [r#""/""#, r#""\/""#],
            [r#""😀""#, r#""\ud83d\uDE00""#],
            [r#""\"""#, r#""\u0022""#],
        ] {
            assert_eq!(options(&pair), Err(OptionsError::Repeated), "{pair:?}");
        }
    }

    #[test]
    fn ids_that_only_look_alike_are_two() {
        for pair in [
            [r#""a""#, r#"" a""#],
            [r#""a""#, r#""A""#],
            [r#""a\"""#, r#""a\\\"""#],
            [r#""\ud800""#, r#""\ud801""#],
            [r#""a""#, r#""\\u0061""#],
        ] {
            assert!(options(&pair).is_ok(), "{pair:?}");
        }
    }

    #[test]
    fn a_request_offers_something() {
        assert_eq!(options(&[]), Err(OptionsError::None));
    }

    #[test]
    fn only_the_two_rejecting_kinds_are_known_to_refuse() {
        let refusing: Vec<_> = ["allow_once", "allow_always", "reject_once", "reject_always", "deny", "reject", ""]
            .into_iter()
            .filter(|kind| OptionKind::parse(kind).refuses())
            .collect();
        assert_eq!(refusing, ["reject_once", "reject_always"]);
    }
}
