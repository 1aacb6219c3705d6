//! A card to look at, without a room.

use bridge_core::{CardFile, RoomError};
use bridge_model::Card;
use serde_json::Value;

use crate::{Mention, render};

/// What is sent to show a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The bodies as JSON, in the order in which they are sent.
    pub bodies: Vec<Value>,
    /// What is attached.
    pub file: Option<CardFile>,
}

/// What would be sent, for looking at a card without a room: in a channel where the bot may attach files, with nobody
/// mentioned.
pub fn preview(card: &Card) -> Result<Preview, RoomError> {
    let message = render::card(card, &Mention::default(), true)?;
    let body = serde_json::to_value(&message.body).map_err(|error| RoomError::Refused(error.to_string()))?;
    Ok(Preview { bodies: vec![body], file: message.file })
}
