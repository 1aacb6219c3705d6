//! A card without a room.

use std::time::Duration;

use bridge_core::{CardFile, RoomError};
use bridge_model::Card;
use serde_json::Value;

use crate::render;

/// A lifetime like any other.
const WITHIN: Duration = Duration::from_mins(10);

/// What would be sent of a card.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The bodies as JSON, in the order in which they are sent.
    pub bodies: Vec<Value>,
    /// What would be in the room before them, in an event of its own that names where it was uploaded to.
    pub file: Option<CardFile>,
}

/// What would be sent, for looking at a card without a room: to an unencrypted one, where files can be attached.
pub fn preview(card: &Card) -> Result<Preview, RoomError> {
    let render::Drawn { message, poll, file } = render::draw(card, WITHIN, false)?;
    Ok(Preview { bodies: vec![message, poll], file })
}
