//! The cards of this run: those that are open, and the latest of those that have ended.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bridge_core::{CardFile, RoomError};
use bridge_model::{Card, ClosedCard, MessageId, RequestId, RoomName, Timestamp};

use crate::id;
use crate::notes::{Lines, Note};
use crate::render::{self, Drawn};

/// Cards that may be open; one more is refused.
const OPEN_MAX: usize = 512;
/// Cards that have ended and are still shown; beyond them the oldest is forgotten.
const ENDED_MAX: usize = 200;
/// Of the texts of all cards, their files included. Beyond them ended cards are forgotten, and if that is not enough a new one is refused.
const BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct LiveTable {
    /// In the order in which they came.
    cards: BTreeMap<u64, LiveCard>,
    places: HashMap<MessageId, u64>,
    next: u64,
    pub(crate) lines: Lines,
}

#[derive(Debug)]
struct LiveCard {
    room: RoomName,
    bytes: usize,
    drawn: Arc<Drawn>,
}

impl LiveTable {
    /// What pages are to be told.
    pub(crate) fn open(&mut self, card: &Card, now: Timestamp) -> Result<String, RoomError> {
        if OPEN_MAX <= self.cards.values().filter(|card| !card.drawn.has_ended()).count() {
            return Err(RoomError::Refused("too many cards are open on this page".to_owned()));
        }
        let drawn = render::card(card, now)?;
        let told = drawn.json(now);
        let bytes = bytes(&drawn, &told);
        self.make_room_for(bytes);
        if BYTES_MAX < self.bytes() + bytes {
            return Err(too_long());
        }
        self.insert(card.request, LiveCard { room: card.room.clone(), bytes, drawn: Arc::new(drawn) });
        Ok(told)
    }

    /// What pages are to be told of a card that is drawn anew; `None` of one that has ended, which stays so.
    pub(crate) fn update(&mut self, card: &Card, now: Timestamp) -> Result<Option<String>, RoomError> {
        let (place, known) = self.waiting(&id::of_request(card.request), &card.room)?;
        let Some(known) = known else { return Ok(None) };
        let drawn = render::card(card, now)?.in_place_of(&known.drawn);
        let told = drawn.json(now);
        let (before, bytes) = (known.bytes, bytes(&drawn, &told));
        self.make_room_for(bytes.saturating_sub(before));
        if BYTES_MAX < self.bytes() + bytes - before {
            return Err(too_long());
        }
        self.cards.insert(place, LiveCard { room: card.room.clone(), bytes, drawn: Arc::new(drawn) });
        Ok(Some(told))
    }

    /// What pages are to be told of a card about which something is said; `None` if it has ended, or that was said already.
    pub(crate) fn note(
        &mut self,
        about: &MessageId,
        room: &RoomName,
        note: Note,
        now: Timestamp,
    ) -> Result<Option<String>, RoomError> {
        let (_, known) = self.waiting(about, room)?;
        let Some(card) = known else { return Ok(None) };
        if !Arc::make_mut(&mut card.drawn).note(note) {
            return Ok(None);
        }
        let told = card.drawn.json(now);
        card.bytes = bytes(&card.drawn, &told);
        Ok(Some(told))
    }

    /// The place of a card of this room, and the card unless it has ended.
    fn waiting(&mut self, card: &MessageId, room: &RoomName) -> Result<(u64, Option<&mut LiveCard>), RoomError> {
        let gone = || RoomError::Refused("the card is not on this page any more".to_owned());
        let place = *self.places.get(card).ok_or_else(gone)?;
        let known = self.cards.get_mut(&place).filter(|known| known.room == *room).ok_or_else(gone)?;
        Ok((place, (!known.drawn.has_ended()).then_some(known)))
    }

    /// Also for a request that has no card here. What pages are to be told.
    pub(crate) fn close(&mut self, closed: &ClosedCard, now: Timestamp) -> String {
        let place = self.places.get(&id::of_request(closed.request)).copied();
        let known = place.and_then(|place| self.cards.get_mut(&place));
        if let Some(card) = known {
            Arc::make_mut(&mut card.drawn).end(closed);
            let told = card.drawn.json(now);
            card.bytes = bytes(&card.drawn, &told);
            return told;
        }
        let drawn = render::ended(closed, now);
        let told = drawn.json(now);
        self.insert(closed.request, LiveCard { room: closed.room.clone(), bytes: told.len(), drawn: Arc::new(drawn) });
        told
    }

    /// The room of a card, ended or not.
    pub(crate) fn room_of(&self, card: &MessageId) -> Option<RoomName> {
        self.cards.get(self.places.get(card)?).map(|card| card.room.clone())
    }

    /// The file of a card of one of these rooms, ended or not.
    pub(crate) fn file(&self, card: &MessageId, rooms: &[RoomName]) -> Option<Arc<CardFile>> {
        let card = self.cards.get(self.places.get(card)?).filter(|card| rooms.contains(&card.room))?;
        card.drawn.file().cloned()
    }

    /// All cards of these rooms, oldest first.
    pub(crate) fn cards(&self, rooms: &BTreeSet<RoomName>) -> Vec<Arc<Drawn>> {
        self.cards.values().filter(|card| rooms.contains(&card.room)).map(|card| Arc::clone(&card.drawn)).collect()
    }

    fn insert(&mut self, request: RequestId, card: LiveCard) {
        let place = self.next;
        self.next += 1;
        // A request has one card, which is the latest.
        if let Some(before) = self.places.insert(id::of_request(request), place) {
            self.cards.remove(&before);
        }
        self.cards.insert(place, card);
        self.make_room_for(0);
    }

    /// Forgets the oldest of those that have ended.
    fn make_room_for(&mut self, bytes: usize) {
        let ended: Vec<u64> = self.cards.iter().filter(|(_, card)| card.drawn.has_ended()).map(|(place, _)| *place).collect();
        for (at, place) in ended.iter().enumerate() {
            if ended.len() - at <= ENDED_MAX && self.bytes() + bytes <= BYTES_MAX {
                return;
            }
            self.cards.remove(place);
            self.places.retain(|_, other| other != place);
        }
    }

    fn bytes(&self) -> usize {
        self.cards.values().map(|card| card.bytes).sum()
    }
}

fn too_long() -> RoomError {
    RoomError::Refused("the cards that are open on this page are too long together".to_owned())
}

/// What a card takes: what pages are told of it, and its file.
fn bytes(drawn: &Drawn, told: &str) -> usize {
    told.len() + drawn.file().map_or(0, |file| file.text.len())
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
