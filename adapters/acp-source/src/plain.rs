//! Whether JSON of others can be kept and read again as it is.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Lists and objects within each other. What keeps a request puts it some levels deeper, and readers have their limits.
const DEPTH_MAX: usize = 100;

/// A member of such a name is not read as it stands: `serde_json` takes the text in it for a value, with all the depth of
/// another one.
const OF_THE_READER: &str = "$serde_json::";

/// Whether nothing in this JSON is read as something else than it says, or too deep to be read again.
#[must_use]
pub fn is_plain(json: &str) -> bool {
    let mut reader = serde_json::Deserializer::from_str(json);
    Plain(DEPTH_MAX).deserialize(&mut reader).is_ok()
}

struct Plain(usize);

impl Plain {
    fn deeper<E: Error>(&self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(self.deeper()?)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<Key<'_>>()? {
            if key.0.starts_with(OF_THE_READER) {
                return Err(A::Error::custom("a member that is not read as it stands"));
            }
            members.next_value_seed(self.deeper()?)?;
        }
        Ok(())
    }
}

/// Borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_as_something_else_or_too_deep_is_not_plain() {
        for json in ["1", "\"$serde_json::private::RawValue\"", r#"{"a":[1,2.5,-3,true,null,"x"],"$serde":{}}"#, "[]", "{}"] {
            assert!(is_plain(json), "{json}");
        }
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_plain(&nested(DEPTH_MAX)) && !is_plain(&nested(DEPTH_MAX + 1)));
        for key in ["$serde_json::private::RawValue", "$serde_json::private::Number", r"\u0024serde_json::private::RawValue"] {
            assert!(!is_plain(&format!(r#"{{"a":[{{"{key}":"[1]"}}]}}"#)), "{key}");
        }
    }
}
