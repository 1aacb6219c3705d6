//! What an event says, as far as it can concern a card. Everything else, chat text first of all, is nothing.

use bridge_model::ButtonToken;
use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedUserId, UserId};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::render::{POLL_RESPONSE, REACTION};

/// One event that may concern a card.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) event: OwnedEventId,
    pub(crate) sender: OwnedUserId,
    pub(crate) what: What,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Exactly one answer that could be a button of ours.
    Response {
        target: OwnedEventId,
        token: ButtonToken,
    },
    Reaction {
        target: OwnedEventId,
        key: String,
    },
    Redaction {
        target: OwnedEventId,
    },
    /// Something about `target` that could not be decrypted.
    Unreadable {
        target: OwnedEventId,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    event_id: String,
    sender: String,
    #[serde(borrow)]
    content: &'a RawValue,
    redacts: Option<String>,
    /// A state event is never a click, whatever its type.
    state_key: Option<serde::de::IgnoredAny>,
}

pub(crate) fn read(json: &str) -> Option<Said> {
    let envelope: Envelope<'_> = serde_json::from_str(json).ok()?;
    if envelope.state_key.is_some() {
        return None;
    }
    let content = || serde_json::from_str::<Value>(envelope.content.get()).ok();
    let what = match &*envelope.kind {
        POLL_RESPONSE => response(&content()?)?,
        REACTION => reaction(&content()?)?,
        "m.room.redaction" => redaction(envelope.redacts.as_deref(), &content()?)?,
        "m.room.encrypted" => What::Unreadable { target: target(&content()?, "m.reference")? },
        _ => return None,
    };
    Some(Said { event: EventId::parse(envelope.event_id).ok()?, sender: UserId::parse(envelope.sender).ok()?, what })
}

fn response(content: &Value) -> Option<What> {
    let target = target(content, "m.reference")?;
    let [Value::String(answer)] = content.get(POLL_RESPONSE)?.get("answers")?.as_array()?.as_slice() else { return None };
    Some(What::Response { target, token: ButtonToken::parse(answer)? })
}

fn reaction(content: &Value) -> Option<What> {
    /// Of any key that we seed.
    const KEY_BYTES_MAX: usize = 1_024;
    let target = target(content, "m.annotation")?;
    let key = content["m.relates_to"]["key"].as_str().filter(|key| key.len() <= KEY_BYTES_MAX)?;
    Some(What::Reaction { target, key: key.to_owned() })
}

fn redaction(redacts: Option<&str>, content: &Value) -> Option<What> {
    // Room version 11 moved it into the content.
    let target = content["redacts"].as_str().or(redacts)?;
    Some(What::Redaction { target: EventId::parse(target).ok()? })
}

fn target(content: &Value, rel_type: &str) -> Option<OwnedEventId> {
    let relation = content.get("m.relates_to")?;
    (relation.get("rel_type")?.as_str()? == rel_type).then_some(())?;
    EventId::parse(relation.get("event_id")?.as_str()?).ok()
}

#[cfg(test)]
#[path = "said_tests.rs"]
mod tests;
