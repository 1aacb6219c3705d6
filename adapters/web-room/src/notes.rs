//! Messages without buttons: notes at the card that they are about, and lines at the top of a room.

use std::collections::{BTreeMap, VecDeque};

use bridge_core::wording::Words;
use bridge_core::{Said, part_name};
use bridge_model::{RequestId, RoomName, Timestamp};
use serde::Serialize;

use crate::render::{Piece, json, piece};

/// Notes at one card, and lines of one room. One more takes the place of the oldest.
const NOTES_MAX: usize = 8;

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Note {
    id: String,
    #[serde(skip)]
    request: RequestId,
    /// Unix time in milliseconds.
    said_at: u64,
    /// Whom it calls, and nobody else.
    calls: Vec<String>,
    words: Vec<Piece>,
}

impl Note {
    pub(crate) fn of(said: &Said, now: Timestamp) -> Self {
        Self {
            id: part_name(said.request, &said.part),
            request: said.request,
            said_at: now.unix_millis(),
            calls: said.mention.iter().map(ToString::to_string).collect(),
            words: called(said).iter().chain(&said.words).map(piece).collect(),
        }
    }
}

/// The names of those who are called, before what they are told.
fn called(said: &Said) -> Vec<Words> {
    let last = said.mention.len().saturating_sub(1);
    let name = |(at, person): (usize, &bridge_model::PersonId)| {
        let after = if at == last { ": " } else { ", " };
        [Words::Person { name: person.to_string(), id: person.clone() }, Words::Ours(after.to_owned())]
    };
    said.mention.iter().enumerate().flat_map(name).collect()
}

/// The latest of what was said in one place, oldest first.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Notes(VecDeque<Note>);

impl Notes {
    /// `false`: it was said already.
    pub(crate) fn add(&mut self, note: Note) -> bool {
        if self.0.iter().any(|known| known.id == note.id) {
            return false;
        }
        if NOTES_MAX <= self.0.len() {
            self.0.pop_front();
        }
        self.0.push_back(note);
        true
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there was one about this request.
    fn forget(&mut self, request: RequestId) -> bool {
        let before = self.0.len();
        self.0.retain(|note| note.request != request);
        self.0.len() < before
    }
}

/// The lines of all rooms.
#[derive(Debug, Default)]
pub(crate) struct Lines(BTreeMap<RoomName, Notes>);

#[derive(Serialize)]
struct Told<'a> {
    room: &'a str,
    lines: &'a Notes,
}

impl Lines {
    /// `false`: it was said already.
    pub(crate) fn add(&mut self, room: &RoomName, note: Note) -> bool {
        self.0.entry(room.clone()).or_default().add(note)
    }

    /// Nobody is called any more to what has ended. The rooms that have other lines now.
    pub(crate) fn forget(&mut self, request: RequestId) -> Vec<RoomName> {
        self.0.iter_mut().filter_map(|(room, lines)| lines.forget(request).then(|| room.clone())).collect()
    }

    /// All lines of a room, as pages are told of them.
    pub(crate) fn json(&self, room: &RoomName) -> String {
        let none = Notes::default();
        json(&Told { room: room.as_str(), lines: self.0.get(room).unwrap_or(&none) })
    }
}

#[cfg(test)]
#[path = "notes_tests.rs"]
pub(crate) mod tests;
