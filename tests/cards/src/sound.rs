//! What has to hold of a card in every room, in other words than the code's.

mod discord;
mod matrix;
mod text;
mod web;

use bridge_core::{Details, RoomError};
use bridge_model::{ButtonStyle, Card, CardLimits, PermissionRequest, Section};
use serde_json::Value;

use crate::drawn;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Discord,
    Matrix,
    Web,
}

pub const ROOMS: [Room; 3] = [Room::Discord, Room::Matrix, Room::Web];

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    Whole,
    /// Only refusing is possible.
    Part,
    /// There is no card, and the request is refused.
    Refused,
}

/// Has the bridge draw the card of a request and the room show it. The error says what is wrong with that.
pub fn check(room: Room, request: &PermissionRequest) -> Result<Drawn, String> {
    let options = request.options.as_slice();
    let refusing = options.iter().filter(|option| option.kind.refuses()).count();
    let Ok(card) = drawn::card(request.clone(), room.limits(), Details::Full) else { return Ok(Drawn::Refused) };
    let drawn = match card.buttons.len() {
        count if count == options.len() => Drawn::Whole,
        count if count == refusing && refuses_only(&card) => Drawn::Part,
        count => return Err(format!("of {} options, {refusing} of them refusing, {count} have a button", options.len())),
    };
    if drawn == Drawn::Part && !card.sections.iter().any(|section| section.heading == Section::ONLY_REFUSING) {
        return Err("options are missing, and nothing says why".to_owned());
    }
    if drawn == Drawn::Whole && !card.is_whole && refusing < options.len() {
        return Err("what is not shown whole could be allowed".to_owned());
    }
    let shown = match room.preview(&card) {
        Ok(shown) => shown,
        Err(RoomError::NotShowable(_)) => return Ok(Drawn::Refused),
        Err(problem) => return Err(format!("the room says {problem}")),
    };
    match room {
        Room::Discord => discord::check(&card, &shown.0, shown.1.as_deref()),
        Room::Matrix => matrix::check(&card, &shown.0, shown.1.as_deref()),
        Room::Web => web::check(&card, &shown.0, shown.1.as_deref()),
    }
    .map(|()| drawn)
}

fn refuses_only(card: &Card) -> bool {
    card.buttons.iter().all(|button| matches!(button.style, ButtonStyle::Reject | ButtonStyle::RejectAlways))
}

impl Room {
    #[must_use]
    pub const fn limits(self) -> CardLimits {
        match self {
            Self::Discord => discord_room::LIMITS,
            Self::Matrix => matrix_room::LIMITS,
            Self::Web => web_room::LIMITS,
        }
    }

    /// The bodies that would be sent, and the file.
    pub fn preview(self, card: &Card) -> Result<(Vec<Value>, Option<String>), RoomError> {
        let text = |file: Option<bridge_core::CardFile>| file.map(|file| file.text);
        match self {
            Self::Discord => discord_room::preview(card).map(|shown| (shown.bodies, text(shown.file))),
            Self::Matrix => matrix_room::preview(card).map(|shown| (shown.bodies, text(shown.file))),
            Self::Web => web_room::preview(card).map(|shown| (shown.bodies, text(shown.file))),
        }
    }
}

/// Every string of a body, names of members left out.
fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(members) => members.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The first section that tells what would be done, by its end: what an attacker would put out of sight.
fn tail(card: &Card) -> Option<&str> {
    const LENGTH: usize = 12;
    let command = card.sections.iter().find(|section| section.heading == "Command")?.text().trim_end_matches('\n');
    Some(command.char_indices().rev().nth(LENGTH - 1).map_or(command, |(at, _)| &command[at..]))
}
