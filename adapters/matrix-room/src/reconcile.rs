//! Asking the server what happened to a card, for when the sync may have left something out.

use bridge_core::Backoff;
use matrix_sdk::Room;
use matrix_sdk::deserialized_responses::TimelineEvent;
use matrix_sdk::room::{IncludeRelations, RelationsOptions};
use matrix_sdk::ruma::api::Direction;
use matrix_sdk::ruma::events::relation::RelationType;
use matrix_sdk::ruma::serde::Raw;
use matrix_sdk::ruma::{OwnedEventId, UInt, UserId};
use serde_json::Value;
use tokio::time::timeout;
use tracing::warn;

use crate::account::REQUEST_TIMEOUT;
use crate::fault::Fault;
use crate::live::Posted;
use crate::render::POLL_END;
use crate::wait::pause;

/// A thousand clicks on one card are read. What is beyond them came after more clicks than people make.
const PAGES_MAX: usize = 10;
const PAGE: u32 = 100;
const TRIES_MAX: usize = 3;

/// How much to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    Clicks,
    ClicksAndRemovals,
}

/// Events about a card, the oldest first. What cannot be fetched is left out: the next check may find it, and the
/// deadline does not wait.
pub(crate) async fn events_about(room: &Room, card: &Posted, reactions: bool, depth: Depth) -> Vec<TimelineEvent> {
    let mut events = Vec::new();
    for poll in [&card.control].into_iter().chain(&card.confirms) {
        events.extend(related(room, poll, RelationType::Reference).await);
    }
    if reactions {
        events.extend(related(room, &card.message, RelationType::Annotation).await);
    }
    if depth == Depth::ClicksAndRemovals {
        for part in card.file.iter().chain([&card.message, &card.control]) {
            events.extend(removal(room, part).await);
        }
    }
    events
}

/// Whether somebody who is `by` has ended this poll.
pub(crate) async fn is_ended(room: &Room, poll: &OwnedEventId, by: &UserId) -> bool {
    let is_end = |event: &TimelineEvent| {
        let field = |name: &str| event.raw().get_field::<String>(name).ok().flatten();
        field("type").as_deref() == Some(POLL_END) && field("sender").as_deref() == Some(by.as_str())
    };
    related(room, poll, RelationType::Reference).await.iter().any(is_end)
}

async fn related(room: &Room, event: &OwnedEventId, by: RelationType) -> Vec<TimelineEvent> {
    let mut events = Vec::new();
    let mut from = None;
    for _ in 0..PAGES_MAX {
        let (from_here, by) = (&from, &by);
        let fetch = || async move {
            let options = RelationsOptions {
                from: from_here.clone(),
                dir: Direction::Forward,
                limit: Some(UInt::from(PAGE)),
                include_relations: IncludeRelations::RelationsOfType(by.clone()),
                recurse: false,
            };
            room.relations(event.clone(), options).await
        };
        let Some(page) = a_few_times(fetch).await else { return events };
        events.extend(page.chunk);
        from = page.next_batch_token;
        if from.is_none() {
            return events;
        }
    }
    warn!("a card has more clicks than are read");
    events
}

/// The redaction of an event, if there was one.
async fn removal(room: &Room, event: &OwnedEventId) -> Option<TimelineEvent> {
    let event = a_few_times(|| async move { room.event(event, None).await }).await?;
    let unsigned: Value = event.raw().get_field("unsigned").ok()??;
    let mut redaction = unsigned.get("redacted_because")?.clone();
    redaction["redacts"] = Value::from(event.event_id()?.as_str());
    Some(TimelineEvent::from_plaintext(Raw::new(&redaction).ok()?.cast_unchecked()))
}

async fn a_few_times<T, F: Future<Output = matrix_sdk::Result<T>>>(fetch: impl Fn() -> F) -> Option<T> {
    let mut backoff = Backoff::new();
    for _ in 0..TRIES_MAX {
        match timeout(REQUEST_TIMEOUT, fetch()).await {
            Ok(Ok(fetched)) => return Some(fetched),
            Ok(Err(error)) => match Fault::of(&error) {
                Fault::Later(_, after) => pause(after.unwrap_or_else(|| backoff.next_span()).min(REQUEST_TIMEOUT)).await,
                Fault::TooLarge | Fault::TokenGone | Fault::Final(_) => break,
            },
            Err(_) => {}
        }
    }
    warn!("the homeserver did not say what happened to a card");
    None
}
