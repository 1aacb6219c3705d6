//! Makes what others wrote fit for a card, and keeps count of what that took.

use std::collections::BTreeMap;

use bridge_model::{Gap, Section, SectionBody, Shown, Spelled};
use serde_json::Value;

use crate::redact::{Redacted, redact, redact_member};

/// Bytes of a text beyond which it is never whole on a card, so that only its ends are looked at.
const LOOKED_MAX: usize = 256 * 1024;
/// Bytes of each of these ends: more than any room shows.
const END: usize = 16 * 1024;

/// How a section's text is to be read.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Line,
    Code,
    Diff,
}

/// Secrets are redacted, what hides is spelled out, and both are counted.
#[derive(Default)]
pub(super) struct Ink {
    hidden: usize,
    right_to_left: bool,
    secrets: BTreeMap<&'static str, usize>,
}

impl Ink {
    pub(super) fn line(&mut self, text: &str) -> Shown {
        let redacted = redact(text);
        self.count(Shown::counted_line(&redacted.text), redacted.found)
    }

    pub(super) fn block(&mut self, text: &str) -> Shown {
        let redacted = redact(text);
        self.count(Shown::counted_block(&redacted.text), redacted.found)
    }

    /// The value of something that has a name, as text that is yet to be shown.
    pub(super) fn value(&mut self, name: &str, value: &Value) -> String {
        match value {
            Value::String(text) => self.member(name, text),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                let text = value.to_string();
                // Only its ends are ever shown, and secrets in them are found as in any text.
                if LOOKED_MAX < text.len() { text } else { self.inner(name, value).to_string() }
            }
        }
    }

    fn inner(&mut self, name: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.member(name, text)),
            Value::Array(values) => values.iter().map(|value| self.inner(name, value)).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), self.inner(name, value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn member(&mut self, name: &str, value: &str) -> String {
        let Redacted { text, found } = redact_member(name, value);
        self.redacted(found);
        text.into_owned()
    }

    /// A section of lines in which all secrets have been looked for already, each in its own way.
    pub(super) fn spelled(mut self, heading: &'static str, text: &str) -> Section {
        let body = self.count(Shown::counted_block(text), BTreeMap::new());
        Section { note: self.note(), ..Section::new(heading, SectionBody::Code(body)) }
    }

    /// A section of it. Of what is far too long for a card, only the ends.
    pub(super) fn section(mut self, heading: &'static str, form: Form, text: &str) -> Section {
        let (body, gap) = if text.len() <= LOOKED_MAX {
            (self.form(form, text), None)
        } else {
            let (start, end) = (text.floor_char_boundary(END), text.ceil_char_boundary(text.len() - END));
            let (head, tail) = (self.form(form, &text[..start]), self.form(form, &text[end..]));
            let gap = Gap { at: head.as_str().len(), characters: text[start..end].chars().count() };
            (head.then(&tail), Some(gap))
        };
        let body = match form {
            Form::Line => SectionBody::Text(body),
            Form::Code => SectionBody::Code(body),
            Form::Diff => SectionBody::Diff(body),
        };
        Section { heading, note: self.note(), body, gap }
    }

    fn form(&mut self, form: Form, text: &str) -> Shown {
        match form {
            Form::Line => self.line(text),
            Form::Code | Form::Diff => self.block(text),
        }
    }

    /// What has to be said of it, in our own words.
    pub(super) fn note(&self) -> String {
        let count = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        };
        let notes = [
            count(self.hidden, "hidden character is spelled out", "hidden characters are spelled out"),
            self.right_to_left.then(|| "has letters that read from right to left".to_owned()),
            count(self.secrets.values().sum(), "secret is redacted", "secrets are redacted"),
        ];
        notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn count(&mut self, (shown, spelled): (Shown, Spelled), found: BTreeMap<&'static str, usize>) -> Shown {
        self.hidden += spelled.hidden;
        self.right_to_left |= spelled.right_to_left;
        self.redacted(found);
        shown
    }

    fn redacted(&mut self, found: BTreeMap<&'static str, usize>) {
        for (name, count) in found {
            *self.secrets.entry(name).or_default() += count;
        }
    }
}

/// One line of it, where there is no place to say what was done to it.
pub(crate) fn line(text: &str) -> Shown {
    Ink::default().line(text)
}

/// The same of its beginning, with how many characters follow.
pub(super) fn beginning(text: &str) -> (Shown, usize) {
    let start = text.floor_char_boundary(END);
    (line(&text[..start]), text[start..].chars().count())
}

#[cfg(test)]
#[path = "ink_tests.rs"]
mod tests;
