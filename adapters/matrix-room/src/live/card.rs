//! One card, as far as clicks on it and drawing it anew need it.

use std::collections::HashMap;
use std::time::Duration;

use bridge_model::{ButtonToken, CardRef, RequestId, RoomName, Timestamp};
use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedUserId};
use tokio::time::Instant;

use super::confirms::Confirm;
use crate::parts::Parts;

/// One card. `file`, `message` and `control` are known once their sending was confirmed.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct LiveCard {
    pub(crate) request: RequestId,
    pub(crate) room: RoomName,
    pub(super) tokens: Vec<ButtonToken>,
    /// What the seeded reactions say, as far as they stand.
    pub(super) keys: Vec<(String, ButtonToken)>,
    /// What the message does not hold. It outlives the card, as what was decided on.
    pub(crate) file: Option<OwnedEventId>,
    pub(crate) message: Option<OwnedEventId>,
    pub(crate) control: Option<OwnedEventId>,
    pub(super) seeds: Vec<OwnedEventId>,
    /// Whether the poll may be in the room, whatever is known of it.
    pub(crate) poll_tried: bool,
    /// Whether somebody took the card away before it was whole.
    pub(crate) removed: bool,
    /// Whether the poll's end was sent.
    pub(crate) ended: bool,
    pub(super) is_open: bool,
    pub(super) deadline: Timestamp,
    /// The same on the clock that waits go by; `None` where that does not reach so far.
    pub(super) ends: Option<Instant>,
    pub(super) confirms: Vec<Confirm>,
    /// The one look at the server shortly before the deadline.
    pub(super) last_check: Option<Instant>,
    /// A look before that, for a click that could not be read yet.
    pub(super) extra_check: Option<Instant>,
    pub(super) extra_checks: u8,
    pub(super) clicks: HashMap<OwnedUserId, u8>,
}

/// The messages of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Posted {
    pub(crate) file: Option<OwnedEventId>,
    pub(crate) message: OwnedEventId,
    pub(crate) control: OwnedEventId,
    /// The polls by which people confirm what they chose.
    pub(crate) confirms: Vec<OwnedEventId>,
}

/// What a card is drawn anew with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Redraw {
    /// Until the card's deadline.
    pub(crate) within: Duration,
    pub(crate) has_file: bool,
}

impl LiveCard {
    pub(crate) fn seeded(&mut self, key: &str, token: ButtonToken, seed: OwnedEventId) {
        self.keys.push((plain_key(key), token));
        self.seeds.push(seed);
    }

    /// `None` until message and poll are known to stand.
    pub(crate) fn card_ref(&self) -> Option<CardRef> {
        let (control, message) = (self.control.clone()?, self.message.clone()?);
        Some(Parts { control, message, file: self.file.clone(), seeds: self.seeds.clone() }.card_ref(&self.room))
    }

    pub(super) fn posted(&self) -> Option<Posted> {
        let confirms = self.confirms.iter().filter_map(|confirm| confirm.poll.clone()).collect();
        Some(Posted { file: self.file.clone(), message: self.message.clone()?, control: self.control.clone()?, confirms })
    }

    pub(super) fn next_check(&self) -> Option<Instant> {
        self.extra_check.into_iter().chain(self.last_check).min()
    }

    /// An instant on the clock that waits go by.
    pub(super) fn instant(&self, at: Timestamp) -> Option<Instant> {
        let ends = self.ends?;
        if at < self.deadline { ends.checked_sub(self.deadline.since(at)) } else { ends.checked_add(at.since(self.deadline)) }
    }

    pub(super) fn is_on(&self, target: &EventId) -> bool {
        self.message.as_deref() == Some(target) || self.control.as_deref() == Some(target)
    }

    /// Whether a click may be about it: on the card itself, or on a poll that belongs to it.
    pub(super) fn hears_of(&self, target: &EventId) -> bool {
        self.is_on(target) || self.confirms.iter().any(|confirm| confirm.poll.as_deref() == Some(target))
    }

    pub(super) fn knows(&self, token: ButtonToken) -> bool {
        self.tokens.contains(&token) || self.confirms.iter().any(|confirm| confirm.token == token)
    }

    /// Whether `target` is the poll with this button. Of the card's own, while the server's answer to it is outstanding, the
    /// id is what the click says.
    pub(super) fn carries(&self, token: ButtonToken, target: &EventId) -> bool {
        let is_confirm = |confirm: &Confirm| confirm.token == token && confirm.poll.as_deref() == Some(target);
        let is_own = self.tokens.contains(&token) && self.control.as_ref().is_none_or(|control| control == target);
        is_own || self.confirms.iter().any(is_confirm)
    }
}

/// A reaction's key without the variation selectors that clients add and drop.
pub(super) fn plain_key(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '\u{fe0e}' | '\u{fe0f}')).collect()
}
