//! Showing cards on the pages that are open, and on those that will be.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Board, RoomError, Said};
use bridge_model::{Card, CardLimits, CardRef, ClickRef, ClickReply, ClosedCard, Person, PersonId, RoomName};

use crate::keys::Keys;
use crate::notes::Note;
use crate::served::Served;
use crate::streams::{CARD, LINES};
use crate::{id, people};

/// A page scrolls, so that nearly everything fits. Labels longer than a phone is wide wrap.
pub const LIMITS: CardLimits =
    CardLimits { buttons_max: 32, label_max: 200, label_seen: 80, text_bytes_max: 256 * 1024, unattached_bytes_max: 256 * 1024 };

/// Shows, closes and answers on the page.
#[derive(Debug)]
pub struct WebBoard {
    served: Arc<Served>,
}

impl WebBoard {
    pub(crate) fn new(served: Arc<Served>) -> Self {
        Self { served }
    }

    fn has(&self, room: &RoomName) -> Result<(), RoomError> {
        let is_here = self.served.rooms.contains(room);
        is_here.then_some(()).ok_or_else(|| RoomError::Refused(format!("{room} is not a room of this page")))
    }
}

impl Board for WebBoard {
    fn limits(&self, _: &RoomName) -> CardLimits {
        LIMITS
    }

    /// Whoever opens the page later sees it too.
    async fn post(&self, card: &Card, _: Duration) -> Result<CardRef, RoomError> {
        self.has(&card.room)?;
        let mut live = self.served.live();
        let told = live.open(card, (self.served.outside.now)())?;
        // Told under the lock, so that a page that begins now is told of it exactly once.
        self.served.streams.tell(&card.room, CARD, &told);
        Ok(id::card_ref(card.request, &card.room))
    }

    /// Nothing of it outlived the run that posted it, so it is shown anew. Pages know it again by its id.
    async fn resume(&self, at: &CardRef, card: &Card, within: Duration) -> Result<(), RoomError> {
        if *at != id::card_ref(card.request, &card.room) {
            return Err(RoomError::Refused(format!("{} is not the card of this request on this page", at.control)));
        }
        self.post(card, within).await.map(drop)
    }

    async fn close(&self, _: Option<&CardRef>, closed: &ClosedCard) -> Result<(), RoomError> {
        self.has(&closed.room)?;
        {
            let mut live = self.served.live();
            let told = live.close(closed, (self.served.outside.now)());
            self.served.streams.tell(&closed.room, CARD, &told);
            for room in live.lines.forget(closed.request) {
                self.served.streams.tell(&room, LINES, &live.lines.json(&room));
            }
        }
        self.served.streams.taken().await;
        Ok(())
    }

    async fn update(&self, _: &CardRef, card: &Card) -> Result<(), RoomError> {
        self.has(&card.room)?;
        let mut live = self.served.live();
        if let Some(told) = live.update(card, (self.served.outside.now)())? {
            self.served.streams.tell(&card.room, CARD, &told);
        }
        Ok(())
    }

    /// At its card, as long as that waits. What is about no card here stands at the top of its room, until its request ends
    /// here or newer lines take its place.
    async fn say(&self, said: &Said) -> Result<(), RoomError> {
        self.has(&said.room)?;
        let now = (self.served.outside.now)();
        let (mut live, note) = (self.served.live(), Note::of(said, now));
        if let Some(card) = &said.about {
            if let Some(told) = live.note(&card.control, &said.room, note, now)? {
                self.served.streams.tell(&said.room, CARD, &told);
            }
        } else if live.lines.add(&said.room, note) {
            self.served.streams.tell(&said.room, LINES, &live.lines.json(&said.room));
        }
        Ok(())
    }

    /// Those who have a page of this room open or had one a moment ago, with a key that is one now.
    async fn people(&self, room: &RoomName, _: Option<&BTreeSet<PersonId>>) -> Result<Option<Vec<Person>>, RoomError> {
        self.has(room)?;
        let asked = self.served.ask_keys(Keys::sessions).await;
        let sessions = asked.map_err(|problem| RoomError::Unavailable(problem.to_string()))?;
        let people = self.served.streams.people(room, &sessions);
        Ok(people.map(|people| people.iter().map(|person| people::facts(person, true)).collect()))
    }

    async fn answer(&self, click: &ClickRef, reply: &ClickReply) -> Result<(), RoomError> {
        self.served.asking.answer(&click.click, reply.clone());
        Ok(())
    }
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
