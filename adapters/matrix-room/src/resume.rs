//! Whether a card that an earlier run posted still stands in its room, whole and open.

use bridge_core::RoomError;
use bridge_model::Card;
use matrix_sdk::Room;
use matrix_sdk::ruma::EventId;
use serde_json::Value;
use tokio::time::Instant;

use crate::account::{Account, REQUEST_TIMEOUT};
use crate::fault::Fault;
use crate::parts::Parts;
use crate::reconcile;
use crate::render::POLL_START;
use crate::send::retry;

pub(crate) async fn check(account: &Account, room: &Room, card: &Card, parts: &Parts, until: Instant) -> Result<(), RoomError> {
    for part in parts.file.iter().chain([&parts.message]) {
        read(account, room, part, until).await?;
    }
    let poll = read(account, room, &parts.control, until).await?;
    let answers = poll["content"][POLL_START]["answers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let tokens: Vec<_> = card.buttons.iter().map(|button| button.token.to_string()).collect();
    if !answers.iter().map(|answer| answer["id"].as_str()).eq(tokens.iter().map(|token| Some(token.as_str()))) {
        return Err(refused("its poll does not have the buttons of this card"));
    }
    if reconcile::is_ended(room, &parts.control, &account.user).await {
        return Err(refused("its poll has ended"));
    }
    Ok(())
}

/// An event of ours that nobody has removed.
async fn read(account: &Account, room: &Room, event: &EventId, until: Instant) -> Result<Value, RoomError> {
    let fetch = || async { room.event(event, None).await.map_err(|error| Fault::of(&error)) };
    let found = retry(fetch, REQUEST_TIMEOUT, until).await?;
    let found: Value = serde_json::from_str(found.raw().json().get()).unwrap_or_default();
    if found["sender"] != account.user.as_str() {
        return Err(refused("somebody else sent a part of it"));
    }
    if found["unsigned"].get("redacted_because").is_some() {
        return Err(refused("somebody removed the card"));
    }
    Ok(found)
}

fn refused(why: &str) -> RoomError {
    RoomError::Refused(why.to_owned())
}
