//! The state machine: what is held, what ends it, and what follows.

mod asking;
#[cfg(test)]
mod desk;

use std::collections::BTreeMap;
use std::time::Duration;

use bridge_model::{
    ButtonToken, CardLimits, CardRef, Click, ClickReply, ClosedCard, Delivery, Ending, NotDelivered, Offered, Outcome, Refused,
    RequestId, RoomName, Shown, SourceName, Timestamp, Withdrawn,
};
use policy::{Approvers, Permit, Policy};

use crate::card::{self, Details};
use crate::held::{Held, HeldTable, Phase};
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
    pub limits: Limits,
}

/// What the operator decided for one room, and what the room can show.
#[derive(Clone, Debug)]
pub struct RoomRules {
    pub approvers: Approvers,
    pub details: Details,
    /// What the room can show as far as is known, until [`Input::RoomOpen`] tells. What a card shows too much of, its room
    /// refuses.
    pub card: CardLimits,
}

/// The bounds of the state machine's tables.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests held at once; one more is refused.
    pub held_max: usize,
    /// Settled requests remembered for late clicks; beyond it the oldest is forgotten.
    pub settled_max: usize,
    /// How long an answer may be on its way before the card says so, which spares an edit in the common case.
    pub say_pending_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { held_max: 256, settled_max: 1_024, say_pending_after: Duration::from_secs(1) }
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
    lost: BTreeMap<RoomName, String>,
    /// How many requests policy allowed without a person. They are on no other record.
    allowed: u64,
    stopping: bool,
}

impl<T: Tokens> Bridge<T> {
    /// `run` is random, so that ids of an earlier run name nothing in this one.
    pub fn new(rules: Rules, run: u64, tokens: T) -> Self {
        Self {
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
        // An input can share its instant with a deadline. Expiring first makes the deadline win.
        let mut effects = self.expire(now);
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
        held.into_iter().chain(pending).min()
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
            SourceEvent::Requested(request) => self.requested(now, *request),
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

    fn clicked(&mut self, now: Timestamp, click: &Click) -> Vec<Effect> {
        let answer = |reply| vec![Effect::Answer { click: click.at.clone(), reply }];
        let Some(&(id, at)) = self.buttons.get(&click.token) else { return answer(ClickReply::NothingWaits) };
        // The click overtook the news of its card. Anybody in the room can put a button's token on a card of their own,
        // so it waits until it is known which card is ours.
        if let Some(Held { phase: Phase::Posting { clicks }, room, .. }) = self.held.get_mut(id)
            && *room == click.at.room
        {
            if clicks.len() < PARKED_MAX {
                clicks.push(click.clone());
            }
            return Vec::new();
        }
        // A button counts only in the room and on the card it was drawn on, for held and settled requests alike.
        if !self.is_drawn_on(id, click) {
            return answer(ClickReply::NothingWaits);
        }
        let Some(rules) = self.rules.rooms.get(&click.at.room) else { return answer(ClickReply::NothingWaits) };
        let permit = match rules.approvers.admit(&click.by) {
            Ok(permit) => permit,
            Err(ineligible) => return answer(ClickReply::MayNotAnswer(ineligible.reason().to_owned())),
        };
        if let Some(settled) = self.settled.get(id) {
            return answer(settled.late_reply(&permit, at));
        }
        let Some(offered) = self.held.get(id).and_then(|held| held.request.options.offered(at)) else {
            return answer(ClickReply::NothingWaits);
        };
        let mut effects = self.select(now, id, &permit, click, Choice { offered, at });
        effects.extend(answer(ClickReply::Chosen));
        effects
    }

    fn is_drawn_on(&self, id: RequestId, click: &Click) -> bool {
        let on = |card: &CardRef| card.room == click.at.room && card.control == click.at.control;
        if let Some(held) = self.held.get(id) {
            return match &held.phase {
                Phase::Posting { .. } => held.room == click.at.room,
                Phase::Open(card) => on(card),
            };
        }
        self.settled.get(id).is_some_and(|settled| match &settled.card {
            SettledCard::Known(Some(card)) => on(card),
            SettledCard::Posting | SettledCard::Known(None) => settled.closed.room == click.at.room,
        })
    }

    /// The only way to an outcome of a person's choosing.
    fn select(&mut self, now: Timestamp, id: RequestId, permit: &Permit, click: &Click, choice: Choice) -> Vec<Effect> {
        let person = permit.person().clone();
        let name = click.by.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let ending = Ending::Answered {
            name: Shown::line(name.unwrap_or(person.as_str())).cut(card::NAME_MAX),
            option: card::label(&choice.offered.option().name),
            does: card::style(&choice.offered.option().kind),
            person,
            delivery: Delivery::Pending,
        };
        self.settle(now, id, ending, Tell::Choice(choice))
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
        let refusal = self.rules.policy.refusal.refusal(&held.request.options);
        let reply = |outcome| Effect::Reply { request: id, to: held.request.from.clone(), outcome };
        let (at_once, once_recorded, chosen) = match tell {
            Tell::Nobody => (None, vec![], None),
            Tell::Cancelled => (Some(reply(Outcome::Cancelled)), vec![], None),
            Tell::Refusal => (Some(reply(refusal.clone())), vec![], None),
            Tell::Choice(Choice { offered, at }) => (None, vec![reply(Outcome::Selected(offered))], Some(at)),
        };
        let settled = Settled {
            card: match held.phase {
                Phase::Posting { .. } => SettledCard::Posting,
                Phase::Open(card) => SettledCard::Known(Some(card)),
            },
            from: held.request.from.clone(),
            refusal,
            chosen,
            say_pending_at: chosen.map(|_| now.after(self.rules.limits.say_pending_after)),
            closed: ClosedCard { request: id, room: held.room, headline: held.headline, ending: ending.clone(), at: Some(now) },
        };
        let entry = Entry::Settled { request: id, ending, at: Some(now) };
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
        let entry = Entry::Settled { request: id, ending: settled.closed.ending.clone(), at: settled.closed.at };
        [Effect::Record { entry, then: vec![] }].into_iter().chain(settled.close()).collect()
    }

    fn record_failed(&mut self, now: Timestamp, id: RequestId) -> Vec<Effect> {
        if self.held.get(id).is_some() {
            return self.refuse(now, id, Refused::NotRecorded);
        }
        // Only a choice waits for its record. It was not told to the agent, so a refusal is told instead.
        let Some(settled) = self.settled.get_mut(id).filter(|settled| settled.is_pending()) else { return Vec::new() };
        settled.set_delivery(Delivery::NotDelivered(NotDelivered::NotRecorded));
        let mut effects = vec![Effect::Reply { request: id, to: settled.from.clone(), outcome: settled.refusal.clone() }];
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
        self.withdraw_all(now, &self.held.all(), Withdrawn::BridgeStopped)
    }

    fn next_id(&mut self) -> RequestId {
        self.last_number += 1;
        RequestId { run: self.run, number: self.last_number }
    }
}

/// Clicks that wait for the news of one card. More people do not press within a moment.
const PARKED_MAX: usize = 32;

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
