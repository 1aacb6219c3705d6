//! Requests that ended a little while ago, so that a late click gets a true reply and a late card gets closed.

use std::collections::{BTreeMap, VecDeque};

use bridge_model::{
    CardRef, ClickReply, ClosedCard, Delivery, Ending, Outcome, PersonId, ReplyTo, RequestId, Timestamp, ToolKind,
};
use policy::Permit;

use crate::Effect;

/// A request that has ended.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) closed: ClosedCard,
    pub(crate) card: SettledCard,
    pub(crate) from: ReplyTo,
    pub(crate) kind: ToolKind,
    /// Who launched its agent, where that is known.
    pub(crate) requester: Option<PersonId>,
    /// What to say instead if the chosen outcome cannot be recorded.
    pub(crate) refusal: Outcome,
    /// The place, in the agent's list, of the option that a person chose.
    pub(crate) chosen: Option<usize>,
    /// While the chosen outcome is on its way: when the card has to say so.
    pub(crate) say_pending_at: Option<Timestamp>,
}

/// Where the card of a request that has ended is.
#[derive(Debug)]
pub(crate) enum SettledCard {
    /// Its post is still on its way; it is closed when the room tells.
    Posting,
    /// In the room, or never posted.
    Known(Option<CardRef>),
}

impl Settled {
    /// Whether an outcome chosen by a person is still on its way.
    pub(crate) fn is_pending(&self) -> bool {
        match self.closed.ending {
            Ending::Answered { delivery: Delivery::Pending, .. } => true,
            Ending::Answered { delivery: Delivery::Taken | Delivery::NotDelivered(_), .. }
            | Ending::Expired
            | Ending::Withdrawn(_)
            | Ending::Refused(_) => false,
        }
    }

    /// Closes the card, unless its post is still on its way, and then the news of it does; or unless a choice was only
    /// just made, since the news of its delivery is about to follow.
    pub(crate) fn close(&self) -> Option<Effect> {
        match &self.card {
            SettledCard::Known(card) if self.say_pending_at.is_none() => {
                Some(Effect::Close { card: card.clone(), closed: self.closed.clone() })
            }
            SettledCard::Known(_) | SettledCard::Posting => None,
        }
    }

    /// What an approver hears who pressed the option at `at` too late.
    pub(crate) fn late_reply(&self, permit: &Permit, at: usize) -> ClickReply {
        match &self.closed.ending {
            // One's own choice pressed again is a double click, not a lost race.
            Ending::Answered { person, .. } if person == permit.person() && self.chosen == Some(at) => ClickReply::Chosen,
            ending @ (Ending::Answered { .. } | Ending::Expired | Ending::Withdrawn(_) | Ending::Refused(_)) => {
                ClickReply::TooLate(ending.clone())
            }
        }
    }

    /// Whether nothing more will be heard of it.
    fn is_done(&self) -> bool {
        !self.is_pending() && matches!(self.card, SettledCard::Known(_))
    }

    pub(crate) fn set_delivery(&mut self, now: Delivery) {
        if let Ending::Answered { delivery, .. } = &mut self.closed.ending {
            *delivery = now;
        }
        self.say_pending_at = None;
    }
}

/// The latest settled requests; beyond the limit the oldest is forgotten, and a late click on it is told that nothing
/// waits there. One of which news is still to come is kept as long as there is another to forget.
#[derive(Debug, Default)]
pub(crate) struct SettledTable {
    requests: BTreeMap<RequestId, Settled>,
    order: VecDeque<RequestId>,
}

impl SettledTable {
    /// Returns what was forgotten to make room.
    pub(crate) fn insert(&mut self, id: RequestId, settled: Settled, max: usize) -> Option<(RequestId, Settled)> {
        self.requests.insert(id, settled);
        self.order.push_back(id);
        if self.order.len() <= max {
            return None;
        }
        let is_done = |id: &RequestId| self.requests.get(id).is_none_or(Settled::is_done);
        let at = self.order.iter().position(is_done).unwrap_or_default();
        let oldest = self.order.remove(at)?;
        self.requests.remove(&oldest).map(|settled| (oldest, settled))
    }

    pub(crate) fn get(&self, id: RequestId) -> Option<&Settled> {
        self.requests.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: RequestId) -> Option<&mut Settled> {
        self.requests.get_mut(&id)
    }

    /// The pending request whose card is the first that has to say so.
    pub(crate) fn first_pending(&self) -> Option<(Timestamp, RequestId)> {
        // At most as many are pending as there are held at once; the table is small and bounded.
        self.requests.iter().filter_map(|(id, settled)| settled.say_pending_at.map(|at| (at, *id))).min()
    }
}
