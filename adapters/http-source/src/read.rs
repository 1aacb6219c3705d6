//! From the bytes of a body to what it says.

use std::fmt;
use std::marker::PhantomData;

use acp_source::is_plain;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_path_to_error::{Path, Segment};

use crate::fault::Fault;

/// Values in a body, each of which takes far more memory than its bytes.
pub(crate) const VALUES_MAX: usize = 20_000;

/// Reads a body. What it cannot have is a fault that says where it stands.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    if VALUES_MAX < values(body) {
        return Err(Fault::unprocessable("", &format!("use at most {VALUES_MAX} values")));
    }
    if std::str::from_utf8(body).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok() && !is_plain(text)) {
        return Err(Fault::unprocessable("", "it is nested too deeply, or has a member that cannot be kept as it stands"));
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read: Object<T> = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Fault::unprocessable(&pointer(error.path()), &error.inner().to_string()))?;
    reader.end().map_err(|error| Fault::unprocessable("", &error.to_string()))?;
    Ok(read.0)
}

/// How many values a JSON text has at most, without reading them.
pub(crate) fn values(text: &[u8]) -> usize {
    let (mut is_text, mut is_escaped, mut count) = (false, false, 1);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

/// The members of an object by their names. Unlike what is derived for a struct it takes no list of them.
pub(crate) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Object::deserialize(from).map(|object| object.0)
}

/// The same where there may be none.
pub(crate) fn object_or_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Option::<Object<T>>::deserialize(from).map(|object| object.map(|object| object.0))
}

struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Members(PhantomData)).map(Self)
    }
}

struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }
}

fn pointer(path: &Path) -> String {
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Map { key } => Some(format!("/{}", escaped(key))),
        // JSON has neither.
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(step).collect()
}

/// As it stands in a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
