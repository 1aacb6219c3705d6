//! Reads one table of the tree key by key, and reports what does not fit.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use config::{Value, ValueKind};

use crate::problem::{Origin, Problems};

/// A table. When it is done with, every key that nobody took is reported as unknown, so a caller takes all keys it
/// knows before it returns, also when it already failed.
pub(crate) struct Section<'p> {
    /// Its path; empty for the root.
    pub(crate) at: String,
    pub(crate) problems: &'p Problems,
    entries: BTreeMap<String, Value>,
    known: Vec<String>,
}

/// One value and where it stands.
pub(crate) struct Entry<'p> {
    pub(crate) at: String,
    value: Value,
    problems: &'p Problems,
}

impl<'p> Section<'p> {
    pub(crate) fn root(entries: BTreeMap<String, Value>, problems: &'p Problems) -> Self {
        Self { at: String::new(), problems, entries, known: Vec::new() }
    }

    pub(crate) fn path(&self, key: &str) -> String {
        if self.at.is_empty() { key.into() } else { format!("{}.{key}", self.at) }
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Entry<'p>> {
        self.known.push(key.into());
        let value = self.entries.remove(key)?;
        Some(Entry { at: self.path(key), value, problems: self.problems })
    }

    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        self.take(key)?.text()
    }

    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        self.take(key)?.flag()
    }

    pub(crate) fn section(&mut self, key: &str) -> Option<Section<'p>> {
        self.take(key)?.section()
    }

    /// All that is left, for tables whose keys the operator chooses.
    pub(crate) fn take_rest(&mut self) -> Vec<(String, Entry<'p>)> {
        let rest = std::mem::take(&mut self.entries).into_iter();
        rest.map(|(key, value)| (key.clone(), Entry { at: self.path(&key), value, problems: self.problems })).collect()
    }

    /// Reports a problem of a key that was taken, or is left out.
    pub(crate) fn refuse(&self, key: &str, what: impl Into<String>, advice: impl Into<String>) {
        self.problems.add(Origin::File, &self.path(key), what, advice);
    }

    /// Reports a key that must be there.
    pub(crate) fn missing(&self, key: &str, advice: impl Into<String>) {
        self.refuse(key, "is missing", advice);
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        for (key, value) in &self.entries {
            let advice = format!("remove it; known here: {}", self.known.join(", "));
            self.problems.add(origin(value), &self.path(key), "is not a known key", advice);
        }
    }
}

impl<'p> Entry<'p> {
    pub(crate) fn text(&self) -> Option<String> {
        if let ValueKind::String(text) = &self.value.kind { Some(text.clone()) } else { self.wrong_type("text in quotes") }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        if let ValueKind::Boolean(flag) = self.value.kind {
            return Some(flag);
        }
        match self.override_text() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) | None => self.wrong_type("true or false"),
        }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        if let ValueKind::I64(integer) = self.value.kind {
            return Some(integer);
        }
        let integer = self.override_text().and_then(|text| text.parse().ok());
        integer.or_else(|| self.wrong_type("a whole number"))
    }

    /// An IP address and a port.
    pub(crate) fn address(&self, example: &str) -> Option<SocketAddr> {
        let text = self.text()?;
        let address = text.parse().ok();
        if address.is_none() {
            self.refuse(format!("{text:?} is not an address"), format!("write an IP address and a port, such as \"{example}\""));
        }
        address
    }

    /// A list, or in the environment words separated by commas.
    pub(crate) fn list(&self) -> Option<Vec<Entry<'p>>> {
        let items = if let ValueKind::Array(items) = &self.value.kind {
            items.clone()
        } else if let Some(words) = self.override_text() {
            let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
            words.map(|word| Value::new(Some(&FROM_ENVIRONMENT.into()), word)).collect()
        } else {
            return self.wrong_type("a list");
        };
        let entries = items.into_iter().enumerate();
        Some(entries.map(|(n, value)| Entry { at: format!("{}[{n}]", self.at), value, problems: self.problems }).collect())
    }

    pub(crate) fn section(&self) -> Option<Section<'p>> {
        let ValueKind::Table(table) = &self.value.kind else { return self.wrong_type("a table") };
        let entries = table.clone().into_iter().collect();
        Some(Section { at: self.at.clone(), problems: self.problems, entries, known: Vec::new() })
    }

    /// Whether this is exactly the word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.value.kind, ValueKind::String(text) if text == word)
    }

    /// Whether it is text in the file, where each type is written differently.
    pub(crate) fn is_text_in_file(&self) -> bool {
        matches!(self.value.kind, ValueKind::String(_)) && self.origin() == Origin::File
    }

    pub(crate) fn refuse(&self, what: impl Into<String>, advice: impl Into<String>) {
        self.problems.add(self.origin(), &self.at, what, advice);
    }

    fn origin(&self) -> Origin {
        origin(&self.value)
    }

    /// The text of an override. In the environment everything is text.
    fn override_text(&self) -> Option<&str> {
        let ValueKind::String(text) = &self.value.kind else { return None };
        (self.origin() == Origin::Environment).then_some(text)
    }

    /// Names types only: the value may be a secret in the wrong place.
    fn wrong_type<T>(&self, wanted: &str) -> Option<T> {
        let found = match self.value.kind {
            ValueKind::Nil => "nothing",
            ValueKind::Boolean(_) => "true or false",
            ValueKind::I64(_) | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => "a whole number",
            ValueKind::Float(_) => "a fraction",
            ValueKind::String(_) => "text",
            ValueKind::Table(_) => "a table",
            ValueKind::Array(_) => "a list",
        };
        self.refuse(format!("is {found}"), format!("write {wanted}"));
        None
    }
}

/// What the `config` crate calls the origin of an override.
const FROM_ENVIRONMENT: &str = "the environment";

fn origin(value: &Value) -> Origin {
    if value.origin() == Some(FROM_ENVIRONMENT) { Origin::Environment } else { Origin::File }
}
