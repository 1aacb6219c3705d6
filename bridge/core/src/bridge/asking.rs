//! How a request comes to be held: its card is drawn, posted, and drawn anew where it has to be.

use bridge_model::{
    Card, CardRef, ClosedCard, Ending, Outcome, PermissionRequest, Refused, ReplyTo, RequestId, RoomName, Shown, Timestamp,
    ToolKind, Withdrawn,
};
use policy::{AnswerRules, Approvers, Listed, Ruled, Ruling, WhenChanged, Who, asked_for};

use super::waiting::of_flood;
use super::{Bridge, Tell, Tokens};
use crate::card::{self, Details, Drawn, Sketch};
use crate::held::{Before, Call, Held, Phase, most_approvals};
use crate::settled::SettledCard;
use crate::{Effect, Entry, RoomError, Terms};

/// How often an agent may change one request and have people asked again.
pub(super) const CHANGED_MAX: u8 = 3;

impl<T: Tokens> Bridge<T> {
    pub(super) fn requested(&mut self, now: Timestamp, request: PermissionRequest, terms: Terms) -> Vec<Effect> {
        // A source names each request once. Should it repeat itself, two answers to one request must not follow.
        if self.held.by_ask(&request.from).is_some() {
            return Vec::new();
        }
        let id = self.next_id();
        let room = terms.room.clone().or_else(|| self.rules.routes.get(&request.from.source).cloned());
        if self.stopping {
            return self.end_at_once(now, id, room, request, Ending::Withdrawn(Withdrawn::BridgeStopped));
        }
        let ruled = self.rule(&request, &terms);
        match ruled.ruling {
            Ruling::Allow(offered) => {
                self.allowed += 1;
                vec![Effect::Reply { request: id, to: request.from, outcome: Outcome::Selected(offered), ending: None }]
            }
            Ruling::Deny => {
                let room = room.filter(|_| self.rules.policy.tell_refusals);
                self.refuse_at_once(now, id, room, request, by_policy(&ruled))
            }
            Ruling::Ask => {
                let deadline = self.deadline(now, &request, &terms);
                match self.draw(now, id, room.as_ref(), &request, deadline, None) {
                    Ok(drawn) => vec![self.hold(now, drawn, request, terms, None)],
                    Err(refused) => self.refuse_at_once(now, id, room, request, refused),
                }
            }
        }
    }

    pub(super) fn rule(&self, request: &PermissionRequest, terms: &Terms) -> Ruled {
        card::ruled(&self.rules.policy.under(&terms.launches), request)
    }

    /// When a request that arrived then ends.
    pub(super) fn deadline(&self, arrived: Timestamp, request: &PermissionRequest, terms: &Terms) -> Timestamp {
        let policy = self.rules.policy.under(&terms.launches);
        policy.deadline(arrived, asked_for(request.meta.as_ref()), terms.detached)
    }

    /// Whether people can be asked this now, besides all else that they are asked. `is_another`: it takes the place of none.
    fn is_not_too_much(
        &self,
        now: Timestamp,
        room: &RoomName,
        request: &PermissionRequest,
        is_another: bool,
    ) -> Result<(), Refused> {
        let pace = &self.rules.limits.pace;
        let session = (request.from.source.clone(), request.session.id.clone());
        let is_full = pace.held_max <= self.held.len()
            || pace.held_max_in_room <= self.held.in_room(room).len()
            || pace.held_max_of_session <= self.held.of_session(&session);
        if is_full && is_another {
            Err(Refused::TooMany)
        } else if self.fatigue.was_refused(now, request, pace) {
            Err(Refused::RefusedBefore)
        } else if !self.fatigue.may_post(room, &session) {
            Err(Refused::TooFast)
        } else {
            Ok(())
        }
    }

    /// The card of a request that can be held, or why it cannot.
    fn draw(
        &mut self,
        now: Timestamp,
        id: RequestId,
        room: Option<&RoomName>,
        request: &PermissionRequest,
        deadline: Timestamp,
        before: Option<&Before>,
    ) -> Result<Drawn, Refused> {
        let room = room.ok_or(Refused::NoRoom)?;
        let rules = self.rules.rooms.get(room).ok_or(Refused::NoRoom)?;
        if let Some(why) = self.lost.get(room) {
            return Err(Refused::RoomUnavailable(why.clone()));
        }
        self.is_not_too_much(now, room, request, before.is_none())?;
        let tokens: Vec<_> = request.options.as_slice().iter().map(|_| self.tokens.draw()).collect();
        let sketch = Sketch {
            request: id,
            room,
            asked: request,
            deadline,
            limits: rules.card,
            details: rules.details,
            instead_of: before.map(|before| &before.instead_of),
            no_file: None,
            approvals: rules
                .answers(request.kind())
                .approvals
                .max(before.map(|before| most_approvals(&before.answers)).unwrap_or_default()),
            first: None,
        };
        sketch.draw(tokens).map_err(Refused::NotShowable)
    }

    fn hold(&mut self, now: Timestamp, drawn: Drawn, request: PermissionRequest, terms: Terms, before: Option<Before>) -> Effect {
        let Card { request: id, room, headline, deadline, .. } = &drawn.card;
        let (room, headline, deadline) = (room.clone(), headline.clone(), *deadline);
        let requester = terms.requester.clone().or_else(|| self.rules.requesters.get(&request.from.source).cloned());
        let own = self.answers(&room, request.kind());
        let mut held = Held {
            limits: drawn.limits,
            details: drawn.details,
            answers: Vec::new(),
            when_changed: self.rules.policy.when_changed,
            requester,
            calls: Vec::new(),
            request,
            terms,
            room,
            headline,
            arrived: now,
            deadline,
            phase: Phase::Looking(None),
            shown_at: deadline,
            first: None,
            times_changed: 0,
            instead_of: None,
            no_file: None,
        };
        match before {
            None => held.calls = self.calls(now, &held.room, deadline),
            Some(before) => held.takes_the_place_of(before),
        }
        held.is_under(own);
        self.held.insert(*id, held);
        self.show_or_look(now, drawn)
    }

    /// The rules for an answer; where there is no room, nobody's.
    pub(super) fn answers(&self, room: &RoomName, kind: ToolKind) -> AnswerRules {
        let nobody = || AnswerRules::of(Approvers { who: Who::Listed(Listed::default()), power_min: None, bots: [].into() });
        self.rules.rooms.get(room).map_or_else(nobody, |rules| rules.answers(kind).clone())
    }

    /// When a request that is held now is called to mind, the first time last.
    fn calls(&self, now: Timestamp, room: &RoomName, deadline: Timestamp) -> Vec<Call> {
        let Some(rules) = self.rules.rooms.get(room) else { return Vec::new() };
        let span = deadline.since(now);
        let reminders = rules.remind_at.iter().map(|hundredths| Call {
            at: now.after(span * u32::from(*hundredths) / 100),
            part: format!("remind-{hundredths}"),
            room: None,
            mention: Vec::new(),
        });
        let escalation = rules.escalation.iter().map(|escalation| Call {
            at: now.after(escalation.after),
            part: "escalate".to_owned(),
            room: escalation.room.clone(),
            mention: escalation.mention.clone(),
        });
        let mut calls: Vec<Call> = reminders.chain(escalation).filter(|call| call.at < deadline).collect();
        calls.sort_by_key(|call| std::cmp::Reverse(call.at));
        calls
    }

    pub(super) fn posted(&mut self, now: Timestamp, id: RequestId, card: CardRef) -> Vec<Effect> {
        let entry = Entry::Posted { request: id, card: card.clone() };
        let mut effects = vec![Effect::Record { entry, then: vec![] }];
        if let Some(held) = self.held.get_mut(id) {
            held.shown_at = now;
            if let Phase::Posting { clicks, .. } = std::mem::replace(&mut held.phase, Phase::Open(card)) {
                effects.extend(clicks.iter().flat_map(|click| self.counted(now, click)));
            }
        } else if let Some(settled) = self.settled.get_mut(id) {
            settled.card = SettledCard::Known(Some(card));
            effects.extend(settled.close());
        }
        effects
    }

    pub(super) fn not_posted(&mut self, now: Timestamp, id: RequestId, error: RoomError) -> Vec<Effect> {
        if let RoomError::NotAttached(why) = &error
            && let Some(effect) = self.post_without_file(now, id, why)
        {
            return vec![effect];
        }
        let refused = match error {
            RoomError::Unavailable(why) | RoomError::Refused(why) => Refused::RoomUnavailable(why),
            RoomError::NotShowable(why) => Refused::NotShowable(why),
            RoomError::NotAttached(why) => Refused::NotShowable(format!("its file could not be attached ({why})")),
        };
        let mut effects = self.refuse(now, id, refused);
        if let Some(settled) = self.settled.get_mut(id)
            && matches!(settled.card, SettledCard::Posting)
        {
            settled.card = SettledCard::Known(None);
            effects.extend(settled.close());
        }
        effects
    }

    /// A card that needs no file, on which only refusing is possible. Its buttons are new: nobody has seen the others.
    fn post_without_file(&mut self, now: Timestamp, id: RequestId, why: &str) -> Option<Effect> {
        let held = self.held.get_mut(id).filter(|held| held.no_file.is_none())?;
        held.no_file = Some(why.to_owned());
        held.limits = self.rules.rooms.get(&held.room)?.card;
        let tokens = held.request.options.as_slice().iter().map(|_| self.tokens.draw()).collect();
        let drawn = held.sketch(id).draw(tokens).ok()?;
        self.buttons.retain(|_, (request, _)| *request != id);
        Some(self.show_or_look(now, drawn))
    }

    /// The card no longer shows what would be done, so it ends at once.
    pub(super) fn changed(&mut self, now: Timestamp, id: RequestId, request: Option<PermissionRequest>) -> Vec<Effect> {
        let Some(held) = self.held.get(id) else { return Vec::new() };
        let details = self.details(Some(&held.room));
        let what = request.as_ref().map(|request| card::changed(&held.request, request, details)).unwrap_or_default();
        let times_changed = held.times_changed + 1;
        let (room, deadline, terms) = (held.room.clone(), held.deadline, held.terms.clone());
        let may_ask = match held.when_changed {
            WhenChanged::AskAgain => times_changed <= CHANGED_MAX && !what.is_empty(),
            WhenChanged::Refuse => false,
        };
        let before = Before {
            arrived: held.arrived,
            answers: held.answers.clone(),
            when_changed: held.when_changed,
            calls: held.calls.clone(),
            times_changed,
            instead_of: (id.number, what.clone()),
        };
        let asked_again =
            request.filter(|request| may_ask && self.rule(request, &terms).ruling != Ruling::Deny).and_then(|request| {
                let next = self.next_id();
                let card = self.draw(now, next, Some(&room), &request, deadline, Some(&before)).ok()?;
                Some((card, request))
            });
        match asked_again {
            None => self.refuse(now, id, Refused::Changed(what)),
            Some((card, request)) => {
                let mut effects = self.settle(now, id, Ending::Withdrawn(Withdrawn::AskedAgain), Tell::Nobody);
                effects.push(self.hold(now, card, request, terms, Some(before)));
                effects
            }
        }
    }

    pub(super) fn malformed(&mut self, now: Timestamp, from: ReplyTo, headline: &str, problem: String) -> Vec<Effect> {
        let id = self.next_id();
        let room = self.rules.routes.get(&from.source).cloned();
        let headline = card::plain_headline(headline);
        let ending = Ending::Refused(Refused::Malformed(problem));
        let mut effects = self.record_and_tell(now, id, room, headline, ending.clone());
        effects.insert(1, Effect::Reply { request: id, to: from, outcome: Outcome::Cancelled, ending: Some(ending) });
        effects
    }

    fn refuse_at_once(
        &mut self,
        now: Timestamp,
        id: RequestId,
        room: Option<RoomName>,
        request: PermissionRequest,
        refused: Refused,
    ) -> Vec<Effect> {
        self.end_at_once(now, id, room, request, Ending::Refused(refused))
    }

    /// For a request that was never held. `room`: where to say so, if anywhere.
    fn end_at_once(
        &mut self,
        now: Timestamp,
        id: RequestId,
        room: Option<RoomName>,
        request: PermissionRequest,
        ending: Ending,
    ) -> Vec<Effect> {
        let outcome = self.rules.policy.refusal.refusal(&request.options);
        let headline = card::headline(&request, self.details(room.as_ref()));
        let mut effects = self.record_and_tell(now, id, room, headline, ending.clone());
        effects.insert(1, Effect::Reply { request: id, to: request.from, outcome, ending: Some(ending) });
        effects
    }

    /// How much a room shows.
    fn details(&self, room: Option<&RoomName>) -> Details {
        room.and_then(|room| self.rules.rooms.get(room)).map(|rules| rules.details).unwrap_or_default()
    }

    fn record_and_tell(
        &mut self,
        now: Timestamp,
        id: RequestId,
        room: Option<RoomName>,
        headline: Shown,
        ending: Ending,
    ) -> Vec<Effect> {
        let room = room.filter(|room| !of_flood(&ending) || self.is_told(now, room));
        let at = Some(now);
        let entry = Entry::Settled { request: id, ending: ending.clone(), at, outcome: None };
        let closed = room.map(|room| ClosedCard { request: id, room, headline, ending, at });
        let tell = closed.map(|closed| Effect::Close { card: None, closed });
        [Effect::Record { entry, then: vec![] }].into_iter().chain(tell).collect()
    }
}

pub(super) fn by_policy(ruled: &Ruled) -> Refused {
    /// A path can be long, and the ledger is no place for it.
    const WHY_MAX: usize = 200;
    let why = ruled.decisive().map(ToString::to_string).unwrap_or_default();
    Refused::ByPolicy(Shown::line(&why).cut(WHY_MAX).to_string())
}

#[cfg(test)]
#[path = "asking_tests.rs"]
mod tests;
