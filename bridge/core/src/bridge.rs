//! The state machine: what is held, what ends it, and what follows.

mod asking;
mod clicking;
#[cfg(test)]
mod desk;
mod reloading;
mod restoring;
mod waiting;

use std::collections::BTreeMap;
use std::time::Duration;

use bridge_model::{
    ButtonToken, CardLimits, CardRef, ClosedCard, Delivery, Ending, NotDelivered, Offered, Outcome, PersonId, Refused, RequestId,
    RoomName, SourceName, Timestamp, ToolKind, Withdrawn,
};
use policy::{AnswerRules, Approvers, Pace, Policy, WhenNobody};

use self::clicking::Confirmations;
use self::waiting::Flood;
use crate::card::Details;
use crate::fatigue::Fatigue;
use crate::held::{HeldTable, Phase};
use crate::settled::{Settled, SettledCard, SettledTable};
use crate::{Effect, Entry, Input, RoomEvent, SourceError, SourceEvent};

/// Where button tokens come from: 128 bits each that nobody can guess.
pub trait Tokens {
    fn draw(&mut self) -> ButtonToken;
}

/// What the operator decided.
#[derive(Clone, Debug)]
pub struct Rules {
    pub policy: Policy,
    pub rooms: BTreeMap<RoomName, RoomRules>,
    /// Which room each source asks. A source without one is refused.
    pub routes: BTreeMap<SourceName, RoomName>,
    /// Who launched the agents of a source, where that is known.
    pub requesters: BTreeMap<SourceName, PersonId>,
    pub limits: Limits,
}

/// What the operator decided for one room, and what the room can show.
#[derive(Clone, Debug)]
pub struct RoomRules {
    pub answers: AnswerRules,
    /// For tool calls of kinds that have rules of their own.
    pub answers_by_kind: BTreeMap<ToolKind, AnswerRules>,
    pub when_nobody: WhenNobody,
    /// At which hundredths of its time a request that waits is called to mind.
    pub remind_at: Vec<u8>,
    pub escalation: Option<Escalation>,
    pub details: Details,
    /// What the room can show as far as is known, until [`Input::RoomOpen`] tells. What a card shows too much of, its room
    /// refuses.
    pub card: CardLimits,
}

/// Who is called when a request has waited for long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    pub after: Duration,
    /// `None`: in the room of the card.
    pub room: Option<RoomName>,
    pub mention: Vec<PersonId>,
}

impl RoomRules {
    /// One approver is enough, at once and whoever is there; nobody is reminded.
    #[must_use]
    pub fn of(approvers: Approvers, details: Details, card: CardLimits) -> Self {
        Self {
            answers: AnswerRules::of(approvers),
            answers_by_kind: BTreeMap::new(),
            when_nobody: WhenNobody::Wait,
            remind_at: Vec::new(),
            escalation: None,
            details,
            card,
        }
    }

    /// The rules for tool calls of a kind. One that nobody knows is under those of `other`.
    #[must_use]
    pub fn answers(&self, kind: ToolKind) -> &AnswerRules {
        self.answers_by_kind.get(&kind.in_rules()).unwrap_or(&self.answers)
    }
}

/// The bounds of the state machine's tables, and what people are spared.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub pace: Pace,
    /// Settled requests remembered for late clicks; beyond it the oldest is forgotten.
    pub settled_max: usize,
    /// How long an answer may be on its way before the card says so, which spares an edit in the common case.
    pub say_pending_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pace: Pace::default(), settled_max: 1_024, say_pending_after: Duration::from_secs(1) }
    }
}

/// All held requests and the rules they are under.
///
/// Calling contract: give every input to [`Bridge::handle`] with a time that never decreases, carry out the effects in
/// their order, and call with [`Input::Tick`] no later than [`Bridge::next_deadline`].
#[derive(Debug)]
pub struct Bridge<T> {
    rules: Rules,
    tokens: T,
    run: u64,
    last_number: u64,
    held: HeldTable,
    settled: SettledTable,
    /// The live buttons: held and recently settled requests alike. A button names one option of one request.
    buttons: BTreeMap<ButtonToken, (RequestId, usize)>,
    confirmations: Confirmations,
    fatigue: Fatigue,
    floods: BTreeMap<RoomName, Flood>,
    lost: BTreeMap<RoomName, String>,
    /// How many requests policy allowed without a person. They are on no other record.
    allowed: u64,
    stopping: bool,
}

impl<T: Tokens> Bridge<T> {
    /// `run` is random, so that ids of an earlier run name nothing in this one.
    pub fn new(rules: Rules, run: u64, tokens: T) -> Self {
        Self {
            fatigue: Fatigue::new(rules.limits.pace),
            confirmations: Confirmations::default(),
            floods: BTreeMap::new(),
            rules,
            tokens,
            run,
            last_number: 0,
            held: HeldTable::default(),
            settled: SettledTable::default(),
            buttons: BTreeMap::new(),
            lost: BTreeMap::new(),
            allowed: 0,
            stopping: false,
        }
    }

    pub fn handle(&mut self, now: Timestamp, input: Input) -> Vec<Effect> {
        self.fatigue.at(now);
        // An input can share its instant with a deadline. Expiring first makes the deadline win.
        let mut effects = self.expire(now);
        effects.extend(self.call(now));
        effects.extend(self.tell_floods(now));
        effects.extend(match input {
            Input::Source(event) => self.source(now, event),
            Input::SourceGone(source, why) => self.withdraw_all(now, &self.held.of_source(&source), why),
            Input::Replied(id, result) => self.replied(id, result),
            Input::Posted(id, Ok(card)) => self.posted(now, id, card),
            Input::Posted(id, Err(error)) => self.not_posted(now, id, error),
            Input::Room(RoomEvent::Clicked(click)) => self.clicked(now, &click),
            Input::Room(RoomEvent::CardRemoved(card)) => self.card_removed(now, &card),
            Input::Room(RoomEvent::RoomLost(room, why)) => self.room_lost(now, room, &why),
            Input::Room(RoomEvent::RoomFound(room)) => self.room_found(&room),
            Input::People(id, people) => self.looked(now, id, people.as_deref()),
            Input::Rules(rules) => self.reload(now, *rules),
            Input::RoomOpen(room, limits) => self.room_open(&room, limits),
            Input::RecordFailed(id) => self.record_failed(now, id),
            Input::Stop => self.stop(now),
            Input::CardClosed(_) | Input::Tick => Vec::new(),
        });
        effects
    }

    /// When to call [`Bridge::handle`] again if nothing comes in; `None` while nothing waits.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let held = self.held.first_deadline().map(|(at, _)| at);
        let pending = self.settled.first_pending().map(|(at, _)| at);
        let call = self.held.first_call().map(|(at, _)| at);
        held.into_iter().chain(pending).chain(call).chain(self.first_flood()).min()
    }

    /// How many requests wait for a person.
    pub fn held_len(&self) -> usize {
        self.held.len()
    }

    /// How many requests policy allowed without a person so far.
    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    fn expire(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some((deadline, id)) = self.held.first_deadline()
            && deadline.has_passed(now)
        {
            effects.extend(self.settle(now, id, Ending::Expired, Tell::Refusal));
        }
        while let Some((at, id)) = self.settled.first_pending()
            && at.has_passed(now)
        {
            if let Some(settled) = self.settled.get_mut(id) {
                settled.say_pending_at = None;
                effects.extend(settled.close());
            }
        }
        effects
    }

    fn source(&mut self, now: Timestamp, event: SourceEvent) -> Vec<Effect> {
        match event {
            SourceEvent::Requested(request, terms) => self.requested(now, *request, *terms),
            SourceEvent::Malformed { from, headline, problem } => self.malformed(now, from, &headline, problem),
            SourceEvent::Changed { ask, now: changed } => match self.held.by_ask(&ask) {
                Some(id) => self.changed(now, id, changed.map(|request| *request)),
                None => Vec::new(),
            },
            SourceEvent::Withdrawn(ask, why) => match self.held.by_ask(&ask) {
                Some(id) => self.withdraw(now, id, why),
                None => Vec::new(),
            },
        }
    }

    fn withdraw(&mut self, now: Timestamp, id: RequestId, why: Withdrawn) -> Vec<Effect> {
        let tell = match why {
            // Nobody is left to be answered, or somebody else has answered.
            Withdrawn::AgentGone | Withdrawn::AnsweredInClient | Withdrawn::AskedAgain => Tell::Nobody,
            Withdrawn::ByAgent
            | Withdrawn::TurnCancelled
            | Withdrawn::TurnEnded
            | Withdrawn::Superseded
            | Withdrawn::ClientGone
            | Withdrawn::CardRemoved
            | Withdrawn::BridgeStopped
            | Withdrawn::BridgeRestarted => Tell::Cancelled,
        };
        self.settle(now, id, Ending::Withdrawn(why), tell)
    }

    fn withdraw_all(&mut self, now: Timestamp, ids: &[RequestId], why: Withdrawn) -> Vec<Effect> {
        ids.iter().flat_map(|id| self.withdraw(now, *id, why)).collect()
    }

    fn refuse(&mut self, now: Timestamp, id: RequestId, refused: Refused) -> Vec<Effect> {
        self.settle(now, id, Ending::Refused(refused), Tell::Refusal)
    }

    /// The one way out of being held: a record, the outcome for the agent, and the closing of the card.
    ///
    /// A choice is told only once its record is durable. A refusal does not wait for the ledger: a disk that is full
    /// must not keep an agent hanging.
    fn settle(&mut self, now: Timestamp, id: RequestId, ending: Ending, tell: Tell) -> Vec<Effect> {
        let Some(held) = self.held.remove(id) else { return Vec::new() };
        self.confirmations.forget(id);
        let refusal = self.rules.policy.refusal.refusal(&held.request.options);
        let reply = |outcome| {
            let (to, ending) = (held.request.from.clone(), Some(ending.clone()));
            Effect::Reply { request: id, to, outcome, ending }
        };
        let (outcome, chosen) = match tell {
            Tell::Nobody => (None, None),
            Tell::Cancelled => (Some(Outcome::Cancelled), None),
            Tell::Refusal => (Some(refusal.clone()), None),
            Tell::Choice(Choice { offered, at }) => (Some(Outcome::Selected(offered)), Some(at)),
        };
        let reply = outcome.clone().map(reply);
        let (at_once, once_recorded) = if chosen.is_some() { (None, reply.into_iter().collect()) } else { (reply, Vec::new()) };
        let kept = outcome.filter(|_| held.terms.comes_back.is_some());
        let settled = Settled {
            card: match held.phase {
                Phase::Looking(_) => SettledCard::Known(None),
                Phase::Posting { known: None, .. } => SettledCard::Posting,
                Phase::Posting { known: Some(card), .. } | Phase::Open(card) => SettledCard::Known(Some(card)),
            },
            from: held.request.from.clone(),
            kind: held.request.kind(),
            requester: held.requester.clone(),
            refusal,
            chosen,
            say_pending_at: chosen.map(|_| now.after(self.rules.limits.say_pending_after)),
            closed: ClosedCard { request: id, room: held.room, headline: held.headline, ending: ending.clone(), at: Some(now) },
        };
        let entry = Entry::Settled { request: id, ending, at: Some(now), outcome: kept };
        let mut effects = vec![Effect::Record { entry, then: once_recorded }];
        effects.extend(at_once);
        effects.extend(settled.close());
        effects.extend(self.remember(id, settled));
        effects
    }

    fn remember(&mut self, id: RequestId, settled: Settled) -> Option<Effect> {
        let (forgotten, old) = self.settled.insert(id, settled, self.rules.limits.settled_max)?;
        self.buttons.retain(|_, (request, _)| *request != forgotten);
        // Whatever its card had yet to say, it says now.
        old.say_pending_at?;
        Settled { say_pending_at: None, ..old }.close()
    }

    fn replied(&mut self, id: RequestId, result: Result<(), SourceError>) -> Vec<Effect> {
        let Some(settled) = self.settled.get_mut(id).filter(|settled| settled.is_pending()) else { return Vec::new() };
        settled.set_delivery(match result {
            Ok(()) => Delivery::Taken,
            Err(SourceError::Withdrawn) => Delivery::NotDelivered(NotDelivered::Withdrawn),
            Err(SourceError::Gone) => Delivery::NotDelivered(NotDelivered::AgentGone),
        });
        let entry = Entry::Settled { request: id, ending: settled.closed.ending.clone(), at: settled.closed.at, outcome: None };
        [Effect::Record { entry, then: vec![] }].into_iter().chain(settled.close()).collect()
    }

    fn record_failed(&mut self, now: Timestamp, id: RequestId) -> Vec<Effect> {
        if self.held.get(id).is_some() {
            return self.refuse(now, id, Refused::NotRecorded);
        }
        // Only a choice waits for its record. It was not told to the agent, so a refusal is told instead.
        let Some(settled) = self.settled.get_mut(id).filter(|settled| settled.is_pending()) else { return Vec::new() };
        settled.set_delivery(Delivery::NotDelivered(NotDelivered::NotRecorded));
        let (to, outcome) = (settled.from.clone(), settled.refusal.clone());
        let mut effects = vec![Effect::Reply { request: id, to, outcome, ending: Some(Ending::Refused(Refused::NotRecorded)) }];
        effects.extend(settled.close());
        effects
    }

    fn card_removed(&mut self, now: Timestamp, card: &CardRef) -> Vec<Effect> {
        self.held.by_card(card).map_or_else(Vec::new, |id| self.withdraw(now, id, Withdrawn::CardRemoved))
    }

    fn room_open(&mut self, room: &RoomName, limits: CardLimits) -> Vec<Effect> {
        if let Some(rules) = self.rules.rooms.get_mut(room) {
            rules.card = limits;
        }
        Vec::new()
    }

    fn room_found(&mut self, room: &RoomName) -> Vec<Effect> {
        self.lost.remove(room);
        Vec::new()
    }

    fn room_lost(&mut self, now: Timestamp, room: RoomName, why: &str) -> Vec<Effect> {
        let held = self.held.in_room(&room);
        // The first reason is the true one; others follow from it.
        self.lost.entry(room).or_insert_with(|| why.to_owned());
        held.into_iter().flat_map(|id| self.refuse(now, id, Refused::RoomUnavailable(why.to_owned()))).collect()
    }

    fn stop(&mut self, now: Timestamp) -> Vec<Effect> {
        self.stopping = true;
        self.withdraw_all(now, &self.held.that_end_with_the_bridge(), Withdrawn::BridgeStopped)
    }

    fn next_id(&mut self) -> RequestId {
        self.last_number += 1;
        RequestId { run: self.run, number: self.last_number }
    }
}

/// What the agent is told when a request is settled.
enum Tell {
    Nobody,
    Cancelled,
    /// As the operator has it: the agent's own refusing option, or `cancelled`.
    Refusal,
    Choice(Choice),
}

/// One of the agent's options, and its place in the agent's list.
struct Choice {
    offered: Offered,
    at: usize,
}

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod tests;
