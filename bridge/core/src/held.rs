//! The requests that wait for a person, and every way to find one.

use std::collections::{BTreeMap, BTreeSet};

use bridge_model::{
    Approver, Card, CardLimits, CardRef, Click, PermissionRequest, Person, PersonId, ReplyTo, RequestId, RoomName, Shown,
    SourceName, Timestamp,
};
use policy::{AnswerRules, Approvals, Listed, WhenChanged, Who};
use serde::{Deserialize, Serialize};

use crate::fatigue::SessionKey;
use crate::{Details, Terms};

/// A request that waits for a person. What another run of the bridge can know again of it is written with it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) request: PermissionRequest,
    pub(crate) terms: Terms,
    pub(crate) room: RoomName,
    pub(crate) headline: Shown,
    pub(crate) arrived: Timestamp,
    pub(crate) deadline: Timestamp,
    #[serde(skip)]
    pub(crate) phase: Phase,
    /// All rules that it has been under, none twice. Each of them counts.
    pub(crate) answers: Vec<AnswerRules>,
    /// The stricter of those that it has been under.
    pub(crate) when_changed: WhenChanged,
    /// Who launched its agent, where that is known.
    pub(crate) requester: Option<PersonId>,
    /// What its card was drawn with, so that it is drawn the same again.
    pub(crate) limits: CardLimits,
    pub(crate) details: Details,
    /// Since when people can see its card.
    pub(crate) shown_at: Timestamp,
    /// The first of two people who have to choose the same. Whether they may still choose is not known in another run.
    #[serde(skip)]
    pub(crate) first: Option<First>,
    /// When it is called to mind, the next one last.
    pub(crate) calls: Vec<Call>,
    /// How often the agent has changed it and people were asked again.
    pub(crate) times_changed: u8,
    /// The request that it takes the place of, and what the agent changed of that.
    pub(crate) instead_of: Option<InsteadOf>,
    /// Its card was drawn anew because no file could be attached, and why.
    pub(crate) no_file: Option<String>,
}

/// What a request that people are asked about again keeps of the one that it takes the place of.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) arrived: Timestamp,
    pub(crate) answers: Vec<AnswerRules>,
    pub(crate) when_changed: WhenChanged,
    pub(crate) calls: Vec<Call>,
    pub(crate) times_changed: u8,
    pub(crate) instead_of: InsteadOf,
}

/// The number of a request, and how it differs from the one that takes its place.
pub(crate) type InsteadOf = (u64, String);

/// Who chose first, and the place of the option.
#[derive(Clone, Debug)]
pub(crate) struct First {
    pub(crate) by: Approver,
    pub(crate) at: usize,
}

/// A message that calls a request to mind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) at: Timestamp,
    /// Tells it from the others of its request.
    pub(crate) part: String,
    /// `None`: in the room of the card.
    pub(crate) room: Option<RoomName>,
    pub(crate) mention: Vec<PersonId>,
}

/// How far the card is.
#[derive(Debug)]
pub(crate) enum Phase {
    /// It is drawn, and posted once it is known who is there.
    Looking(Option<Box<Card>>),
    /// On its way to the room. People may see it already, and their clicks wait until it is known which card is ours.
    Posting {
        clicks: Vec<Click>,
        /// The card of an earlier run, which is being taken up again.
        known: Option<CardRef>,
    },
    Open(CardRef),
}

impl Default for Phase {
    fn default() -> Self {
        Self::Looking(None)
    }
}

impl Held {
    pub(crate) fn takes_the_place_of(&mut self, before: Before) {
        let Before { arrived, answers, when_changed, calls, times_changed, instead_of } = before;
        (self.arrived, self.answers, self.when_changed, self.calls) = (arrived, answers, when_changed, calls);
        (self.times_changed, self.instead_of) = (times_changed, Some(instead_of));
    }

    /// From now on these rules count as well.
    pub(crate) fn is_under(&mut self, rules: AnswerRules) {
        if !self.answers.contains(&rules) {
            self.answers.push(rules);
        }
    }

    /// How many people it takes by the strictest of its rules.
    pub(crate) fn approvals(&self) -> Approvals {
        most_approvals(&self.answers)
    }

    /// All who may answer, where they are all known by name.
    pub(crate) fn answerers(&self) -> Option<BTreeSet<PersonId>> {
        let Who::Listed(Listed { people, roles }) = &self.answers.last()?.approvers.who else { return None };
        roles.is_empty().then(|| people.clone())
    }

    pub(crate) fn admits(&self, person: &Person) -> bool {
        self.answers.iter().all(|rules| rules.admit(person, self.requester.as_ref()).is_ok())
    }
}

pub(crate) fn most_approvals(rules: &[AnswerRules]) -> Approvals {
    rules.iter().map(|rules| rules.approvals).max().unwrap_or_default()
}

/// All held requests. The one place that adds and removes them keeps the indexes true.
#[derive(Debug, Default)]
pub(crate) struct HeldTable {
    requests: BTreeMap<RequestId, Held>,
    asks: BTreeMap<ReplyTo, RequestId>,
    deadlines: BTreeSet<(Timestamp, RequestId)>,
    calls: BTreeSet<(Timestamp, RequestId)>,
}

impl HeldTable {
    pub(crate) fn insert(&mut self, id: RequestId, held: Held) {
        self.asks.insert(held.request.from.clone(), id);
        self.deadlines.insert((held.deadline, id));
        self.calls.extend(held.calls.last().map(|call| (call.at, id)));
        self.requests.insert(id, held);
    }

    pub(crate) fn remove(&mut self, id: RequestId) -> Option<Held> {
        let held = self.requests.remove(&id)?;
        self.asks.remove(&held.request.from);
        self.deadlines.remove(&(held.deadline, id));
        if let Some(call) = held.calls.last() {
            self.calls.remove(&(call.at, id));
        }
        Some(held)
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn get(&self, id: RequestId) -> Option<&Held> {
        self.requests.get(&id)
    }

    /// Not for its deadline, its calls or whom it answers, which have an index.
    pub(crate) fn get_mut(&mut self, id: RequestId) -> Option<&mut Held> {
        self.requests.get_mut(&id)
    }

    /// Brings a deadline closer.
    pub(crate) fn shorten(&mut self, id: RequestId, deadline: Timestamp) -> bool {
        let Some(held) = self.requests.get_mut(&id).filter(|held| deadline < held.deadline) else { return false };
        self.deadlines.remove(&(held.deadline, id));
        held.deadline = deadline;
        self.deadlines.insert((deadline, id))
    }

    pub(crate) fn by_ask(&self, ask: &ReplyTo) -> Option<RequestId> {
        self.asks.get(ask).copied()
    }

    pub(crate) fn by_card(&self, card: &CardRef) -> Option<RequestId> {
        let shows = |held: &Held| match &held.phase {
            Phase::Looking(_) | Phase::Posting { .. } => false,
            Phase::Open(open) => open.room == card.room && open.control == card.control,
        };
        self.requests.iter().find(|(_, held)| shows(held)).map(|(id, _)| *id)
    }

    pub(crate) fn all(&self) -> Vec<RequestId> {
        self.requests.keys().copied().collect()
    }

    /// Those whose source does not bring them back.
    pub(crate) fn that_end_with_the_bridge(&self) -> Vec<RequestId> {
        self.requests.iter().filter(|(_, held)| held.terms.comes_back.is_none()).map(|(id, _)| *id).collect()
    }

    pub(crate) fn in_room(&self, room: &RoomName) -> Vec<RequestId> {
        self.requests.iter().filter(|(_, held)| held.room == *room).map(|(id, _)| *id).collect()
    }

    pub(crate) fn of_session(&self, session: &SessionKey) -> usize {
        let is_of = |held: &&Held| (&held.request.from.source, &held.request.session.id) == (&session.0, &session.1);
        self.requests.values().filter(is_of).count()
    }

    pub(crate) fn of_source(&self, source: &SourceName) -> Vec<RequestId> {
        self.requests.iter().filter(|(_, held)| held.request.from.source == *source).map(|(id, _)| *id).collect()
    }

    pub(crate) fn first_deadline(&self) -> Option<(Timestamp, RequestId)> {
        self.deadlines.first().copied()
    }

    pub(crate) fn first_call(&self) -> Option<(Timestamp, RequestId)> {
        self.calls.first().copied()
    }

    /// The next call of a request, which is not made again.
    pub(crate) fn take_call(&mut self, id: RequestId) -> Option<(Call, &Held)> {
        let held = self.requests.get_mut(&id)?;
        let call = held.calls.pop()?;
        self.calls.remove(&(call.at, id));
        self.calls.extend(held.calls.last().map(|next| (next.at, id)));
        Some((call, held))
    }
}
