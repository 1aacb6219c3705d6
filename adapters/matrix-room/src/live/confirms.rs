//! The polls by which people confirm what they chose on a card. They belong to the card and end with it at the latest.

use bridge_core::RoomError;
use bridge_model::{ButtonToken, ClickRef, MessageId, PersonId, RequestId, RoomName, Timestamp};
use matrix_sdk::ruma::{EventId, OwnedEventId};
use tokio::time::Instant;

use super::{LiveCard, LiveTable};
use crate::id;

/// People who are asked at once whether they meant what they chose on one card. One more is not asked, and has decided
/// nothing.
const CONFIRMS_MAX: usize = 16;

/// A poll that one person is asked to answer.
#[derive(Debug)]
pub(crate) struct Confirm {
    pub(super) token: ButtonToken,
    pub(super) person: PersonId,
    /// Known once its sending was confirmed. Until then no press of it counts.
    pub(super) poll: Option<OwnedEventId>,
}

/// Which poll to end when.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) request: RequestId,
    pub(crate) until: Instant,
    /// Of what the same person was asked before on this card.
    pub(crate) replaced: Option<OwnedEventId>,
}

impl LiveTable {
    /// Makes a button known that is about to be shown to whoever made this click.
    pub(crate) fn ask(
        &mut self,
        click: &ClickRef,
        token: ButtonToken,
        until: Timestamp,
        now: Instant,
    ) -> Result<Asking, RoomError> {
        let refused = |why: &str| RoomError::Refused(why.to_owned());
        let is_on = |card: &&mut LiveCard| card.is_open && card.room == click.room && is(card.control.as_deref(), &click.control);
        let card = self.cards.iter_mut().find(is_on).ok_or_else(|| refused("the card that was pressed is not open"))?;
        let before = card.confirms.iter().position(|confirm| confirm.person == click.person);
        let replaced = before.and_then(|at| card.confirms.remove(at).poll);
        if CONFIRMS_MAX <= card.confirms.len() {
            return Err(refused("too many people are asked to confirm what they chose on one card"));
        }
        card.confirms.push(Confirm { token, person: click.person.clone(), poll: None });
        Ok(Asking { request: card.request, until: card.instant(until).unwrap_or(now), replaced })
    }

    /// Its poll is in the room. Whether it is still wanted there.
    pub(crate) fn asked(&mut self, request: RequestId, token: ButtonToken, poll: &EventId, now: Instant) -> bool {
        let Some(card) = self.get_mut(request).filter(|card| card.is_open) else { return false };
        let Some(confirm) = card.confirms.iter_mut().find(|confirm| confirm.token == token) else { return false };
        confirm.poll = Some(poll.to_owned());
        // Somebody may have been faster than the server's answer.
        card.extra_check = Some(now);
        true
    }

    /// Forgets what a person was asked, if that still waits. Its poll, where it is in the room.
    pub(crate) fn take_asked(&mut self, request: RequestId, token: ButtonToken) -> Option<OwnedEventId> {
        let card = self.get_mut(request)?;
        let at = card.confirms.iter().position(|confirm| confirm.token == token)?;
        card.confirms.remove(at).poll
    }

    /// Forgets the one that this person has pressed there.
    pub(crate) fn take_used(&mut self, room: &RoomName, poll: &MessageId, by: &PersonId) -> Option<(RequestId, OwnedEventId)> {
        let used = |confirm: &Confirm| confirm.person == *by && is(confirm.poll.as_deref(), poll);
        let mut cards = self.cards.iter_mut().filter(|card| card.room == *room);
        cards.find_map(|card| {
            let at = card.confirms.iter().position(used)?;
            Some((card.request, card.confirms.remove(at).poll?))
        })
    }

    /// Forgets all of a card's.
    pub(crate) fn take_all_asked(&mut self, request: RequestId) -> Vec<OwnedEventId> {
        let confirms = self.get_mut(request).map(|card| std::mem::take(&mut card.confirms)).unwrap_or_default();
        confirms.into_iter().filter_map(|confirm| confirm.poll).collect()
    }
}

fn is(event: Option<&EventId>, message: &MessageId) -> bool {
    event.is_some_and(|event| id::message_id(event) == *message)
}

#[cfg(test)]
#[path = "confirms_tests.rs"]
mod tests;
