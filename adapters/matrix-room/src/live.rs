//! The cards that this run has posted or taken up: those that wait for a click, and those that were closed lately.
//!
//! Bounds: [`CARDS_MAX`] open cards, beyond which no card is posted; [`CLOSED_MAX`] closed ones, beyond which the oldest
//! is forgotten and a click on it is reported no more; [`SEEN_MAX`] event ids, beyond which a repetition of the oldest
//! would be reported again, which the bridge bears.

mod card;
mod confirms;

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use bridge_core::RoomError;
use bridge_model::{ButtonToken, Card, CardRef, RequestId, RoomName};
use matrix_sdk::ruma::{EventId, OwnedEventId, UserId};
use tokio::time::Instant;

use self::card::plain_key;
pub(crate) use self::card::{LiveCard, Posted, Redraw};
use crate::parts::Parts;

pub(crate) const CARDS_MAX: usize = 4_096;
pub(crate) const CLOSED_MAX: usize = 1_024;
pub(crate) const SEEN_MAX: usize = 4_096;
/// Clicks of one person on one card that are looked at.
pub(crate) const CLICKS_MAX: u8 = 10;
/// People whose clicks on one card are looked at.
pub(crate) const PEOPLE_MAX: usize = 4_096;
/// Extra looks at the server for clicks that could not be decrypted yet, per card.
const EXTRA_CHECKS_MAX: u8 = 5;

/// How much time the last check of a card has before its deadline.
const LAST_CHECK: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct LiveTable {
    cards: Vec<LiveCard>,
    /// Closed cards, the oldest first.
    closed: VecDeque<RequestId>,
    seen: Seen,
}

/// What an event relates to and what it chose, if that is a card of ours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) token: ButtonToken,
    pub(crate) control: OwnedEventId,
}

impl LiveTable {
    /// Makes a card known before anything of it is sent, since a click can overtake the server's answer.
    pub(crate) fn open(&mut self, card: &Card, within: Duration, now: Instant) -> Result<(), RoomError> {
        if CARDS_MAX <= self.cards.len() - self.closed.len() {
            return Err(RoomError::Unavailable("too many cards are open".to_owned()));
        }
        self.cards.push(LiveCard {
            request: card.request,
            room: card.room.clone(),
            tokens: tokens(card),
            keys: Vec::new(),
            file: None,
            message: None,
            control: None,
            seeds: Vec::new(),
            poll_tried: false,
            removed: false,
            ended: false,
            is_open: true,
            deadline: card.deadline,
            ends: now.checked_add(within),
            confirms: Vec::new(),
            // A span that overflows the clock has no last check.
            last_check: now.checked_add(within.saturating_sub(LAST_CHECK.min(within / 4))),
            extra_check: None,
            extra_checks: 0,
            clicks: HashMap::new(),
        });
        Ok(())
    }

    /// Makes a card of an earlier run known, so that no removal of it is missed. Nothing on it counts before it is taken up.
    pub(crate) fn expect(&mut self, card: &Card, parts: &Parts, within: Duration, now: Instant) -> Result<(), RoomError> {
        self.forget(card.request);
        self.open(card, within, now)?;
        if let Some(live) = self.get_mut(card.request) {
            let Parts { control, message, file, seeds } = parts.clone();
            live.tokens.clear();
            (live.message, live.control, live.file, live.seeds) = (Some(message), Some(control), file, seeds);
            live.poll_tried = true;
        }
        Ok(())
    }

    /// From now on its buttons count, and whatever was pressed before is looked for. `false`: somebody removed it meanwhile.
    pub(crate) fn take_up(&mut self, card: &Card, now: Instant) -> bool {
        let Some(live) = self.get_mut(card.request).filter(|live| live.is_open && !live.removed) else { return false };
        live.tokens = tokens(card);
        // Those that are missing could not be sent, and so neither were those after them.
        let seeded = card.buttons.iter().take(live.seeds.len());
        live.keys = seeded.map(|button| (plain_key(button.label.as_str()), button.token)).collect();
        live.extra_check = Some(now);
        true
    }

    pub(crate) fn get(&self, request: RequestId) -> Option<&LiveCard> {
        self.cards.iter().find(|card| card.request == request)
    }

    pub(crate) fn get_mut(&mut self, request: RequestId) -> Option<&mut LiveCard> {
        self.cards.iter_mut().find(|card| card.request == request)
    }

    /// Forgets a card of which nothing is in the room that anybody can press.
    pub(crate) fn forget(&mut self, request: RequestId) {
        self.cards.retain(|card| card.request != request || !card.is_open);
    }

    /// What a card that is whole and open is drawn anew with; `None` for any other.
    pub(crate) fn redraw(&mut self, card: &Card, now: Instant) -> Option<Redraw> {
        let live = self.get_mut(card.request).filter(|live| live.is_open && !live.removed && live.control.is_some())?;
        if live.deadline != card.deadline {
            live.ends = live.instant(card.deadline);
            live.last_check = live.ends.and_then(|ends| ends.checked_sub(LAST_CHECK));
            live.deadline = card.deadline;
        }
        let within = live.ends.map_or(Duration::MAX, |ends| ends.saturating_duration_since(now));
        Some(Redraw { within, has_file: live.file.is_some() })
    }

    /// Keeps a card for late clicks only.
    pub(crate) fn close(&mut self, request: RequestId) {
        let Some(card) = self.get_mut(request).filter(|card| card.is_open) else { return };
        card.is_open = false;
        card.last_check = None;
        card.extra_check = None;
        card.clicks.clear();
        self.closed.push_back(request);
        if CLOSED_MAX < self.closed.len()
            && let Some(oldest) = self.closed.pop_front()
        {
            self.cards.retain(|card| card.request != oldest);
        }
    }

    /// The posted open cards of a room.
    pub(crate) fn posted(&self, room: &RoomName) -> Vec<Posted> {
        self.open_in(room).filter_map(LiveCard::posted).collect()
    }

    /// When the next card of a room is due for a look at the server.
    pub(crate) fn next_check(&self, room: &RoomName) -> Option<Instant> {
        self.open_in(room).filter(|card| card.control.is_some()).filter_map(LiveCard::next_check).min()
    }

    /// The cards of a room that are due, which are then due no more.
    pub(crate) fn take_due(&mut self, room: &RoomName, now: Instant) -> Vec<Posted> {
        let due = |card: &&mut LiveCard| card.room == *room && card.is_open;
        let take = |card: &mut LiveCard| {
            let posted = card.posted()?;
            let is_due = card.next_check().is_some_and(|at| at <= now);
            card.extra_check.take_if(|at| *at <= now);
            card.last_check.take_if(|at| *at <= now);
            is_due.then_some(posted)
        };
        self.cards.iter_mut().filter(due).filter_map(take).collect()
    }

    /// Something about an open card may be readable shortly: the key of a click is on its way. Names the card.
    pub(crate) fn check_soon(&mut self, room: &RoomName, target: &EventId, at: Instant) -> Option<Posted> {
        let card = self.cards.iter_mut().find(|card| card.room == *room && card.is_open && card.hears_of(target))?;
        if card.extra_checks < EXTRA_CHECKS_MAX && card.extra_check.is_none() {
            card.extra_checks += 1;
            card.extra_check = Some(at);
        }
        card.posted()
    }

    /// A poll response, if it is about a card of this room and names one of that card's buttons, or about what somebody
    /// is asked to confirm and names that.
    pub(crate) fn response(&self, room: &RoomName, target: &EventId, token: ButtonToken) -> Option<Hit> {
        let is_hit = self.cards.iter().any(|card| card.room == *room && card.carries(token, target));
        is_hit.then(|| Hit { token, control: target.to_owned() })
    }

    /// A reaction, if it repeats a seeded one of a card of this room.
    pub(crate) fn reaction(&self, room: &RoomName, target: &EventId, key: &str) -> Option<Hit> {
        let on = |card: &&LiveCard| card.room == *room && card.message.as_deref() == Some(target);
        let card = self.cards.iter().find(on)?;
        let key = plain_key(key);
        let (_, token) = card.keys.iter().find(|(seeded, _)| *seeded == key)?;
        Some(Hit { token: *token, control: card.control.clone()? })
    }

    /// Whether this person's click on the card of `token` is still looked at, and the first one that is not.
    pub(crate) fn count(&mut self, token: ButtonToken, by: &UserId) -> Count {
        let Some(card) = self.cards.iter_mut().find(|card| card.knows(token)) else { return Count::Over };
        if PEOPLE_MAX <= card.clicks.len() && !card.clicks.contains_key(by) {
            return Count::Over;
        }
        let clicks = card.clicks.entry(by.to_owned()).or_default();
        *clicks = clicks.saturating_add(1);
        match *clicks {
            ..=CLICKS_MAX => Count::Looked,
            over if over == CLICKS_MAX + 1 => Count::FirstOver,
            _ => Count::Over,
        }
    }

    /// Whether this event was not seen before.
    pub(crate) fn is_new(&mut self, event: &EventId) -> bool {
        self.seen.insert(event)
    }

    /// Whether an event of ours is a part of an open card. Where that card is whole: which one it is.
    pub(crate) fn removed(&mut self, room: &RoomName, target: &EventId) -> Option<CardRef> {
        let is_part = |card: &LiveCard| card.is_on(target) || card.file.as_deref() == Some(target);
        let card = self.cards.iter_mut().find(|card| card.room == *room && card.is_open && is_part(card))?;
        card.removed = true;
        card.card_ref()
    }

    fn open_in(&self, room: &RoomName) -> impl Iterator<Item = &LiveCard> {
        self.cards.iter().filter(move |card| card.is_open && card.room == *room)
    }
}

fn tokens(card: &Card) -> Vec<ButtonToken> {
    card.buttons.iter().map(|button| button.token).collect()
}

/// Whether a click is still looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Looked,
    FirstOver,
    Over,
}

/// The event ids seen last.
#[derive(Debug, Default)]
struct Seen {
    order: VecDeque<OwnedEventId>,
    ids: HashSet<OwnedEventId>,
}

impl Seen {
    fn insert(&mut self, event: &EventId) -> bool {
        if !self.ids.insert(event.to_owned()) {
            return false;
        }
        self.order.push_back(event.to_owned());
        if SEEN_MAX < self.order.len()
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
