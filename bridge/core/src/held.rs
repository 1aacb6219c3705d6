//! The requests that wait for a person, and every way to find one.

use std::collections::{BTreeMap, BTreeSet};

use bridge_model::{CardRef, Click, PermissionRequest, ReplyTo, RequestId, RoomName, Shown, SourceName, Timestamp};

/// A request that waits for a person.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) request: PermissionRequest,
    pub(crate) room: RoomName,
    pub(crate) headline: Shown,
    pub(crate) deadline: Timestamp,
    pub(crate) phase: Phase,
    /// How often the agent has changed it and people were asked again.
    pub(crate) times_changed: u8,
    /// The request that it takes the place of, and what the agent changed of that.
    pub(crate) instead_of: Option<InsteadOf>,
    /// Its card was drawn anew because no file could be attached.
    pub(crate) without_file: bool,
}

/// The number of a request, and how it differs from the one that takes its place.
pub(crate) type InsteadOf = (u64, String);

/// How far the card is.
#[derive(Debug)]
pub(crate) enum Phase {
    /// On its way to the room. People may see it already, and their clicks wait until it is known which card is ours.
    Posting {
        clicks: Vec<Click>,
    },
    Open(CardRef),
}

/// All held requests. The one place that adds and removes them keeps the indexes true.
#[derive(Debug, Default)]
pub(crate) struct HeldTable {
    requests: BTreeMap<RequestId, Held>,
    asks: BTreeMap<ReplyTo, RequestId>,
    deadlines: BTreeSet<(Timestamp, RequestId)>,
}

impl HeldTable {
    pub(crate) fn insert(&mut self, id: RequestId, held: Held) {
        self.asks.insert(held.request.from.clone(), id);
        self.deadlines.insert((held.deadline, id));
        self.requests.insert(id, held);
    }

    pub(crate) fn remove(&mut self, id: RequestId) -> Option<Held> {
        let held = self.requests.remove(&id)?;
        self.asks.remove(&held.request.from);
        self.deadlines.remove(&(held.deadline, id));
        Some(held)
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn get(&self, id: RequestId) -> Option<&Held> {
        self.requests.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: RequestId) -> Option<&mut Held> {
        self.requests.get_mut(&id)
    }

    pub(crate) fn by_ask(&self, ask: &ReplyTo) -> Option<RequestId> {
        self.asks.get(ask).copied()
    }

    pub(crate) fn by_card(&self, card: &CardRef) -> Option<RequestId> {
        let shows = |held: &Held| match &held.phase {
            Phase::Posting { .. } => false,
            Phase::Open(open) => open.room == card.room && open.control == card.control,
        };
        self.requests.iter().find(|(_, held)| shows(held)).map(|(id, _)| *id)
    }

    pub(crate) fn all(&self) -> Vec<RequestId> {
        self.requests.keys().copied().collect()
    }

    pub(crate) fn in_room(&self, room: &RoomName) -> Vec<RequestId> {
        self.requests.iter().filter(|(_, held)| held.room == *room).map(|(id, _)| *id).collect()
    }

    pub(crate) fn of_source(&self, source: &SourceName) -> Vec<RequestId> {
        self.requests.iter().filter(|(_, held)| held.request.from.source == *source).map(|(id, _)| *id).collect()
    }

    pub(crate) fn first_deadline(&self) -> Option<(Timestamp, RequestId)> {
        self.deadlines.first().copied()
    }
}
