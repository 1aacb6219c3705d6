//! How a request comes to be held: its card is drawn, posted, and drawn anew where it has to be.

use bridge_model::{
    Card, CardRef, ClosedCard, Ending, Outcome, PermissionRequest, Refused, ReplyTo, RequestId, RoomName, Shown, Timestamp,
    Withdrawn,
};
use policy::{Reach, Ruled, Ruling, WhenChanged, asked_for, is_outside};

use super::{Bridge, RoomRules, Tell, Tokens};
use crate::card::{self, Details, Drawn, Sketch};
use crate::held::{Held, InsteadOf, Phase};
use crate::settled::SettledCard;
use crate::{Effect, Entry, RoomError};

/// How often an agent may change one request and have people asked again.
pub(super) const CHANGED_MAX: u8 = 3;

impl<T: Tokens> Bridge<T> {
    pub(super) fn requested(&mut self, now: Timestamp, request: PermissionRequest) -> Vec<Effect> {
        // A source names each request once. Should it repeat itself, two answers to one request must not follow.
        if self.held.by_ask(&request.from).is_some() {
            return Vec::new();
        }
        let id = self.next_id();
        let room = self.rules.routes.get(&request.from.source).cloned();
        if self.stopping {
            return self.end_at_once(now, id, room, request, Ending::Withdrawn(Withdrawn::BridgeStopped));
        }
        let ruled = self.rule(&request);
        match ruled.ruling {
            Ruling::Allow(offered) => {
                self.allowed += 1;
                vec![Effect::Reply { request: id, to: request.from, outcome: Outcome::Selected(offered) }]
            }
            Ruling::Deny => {
                let room = room.filter(|_| self.rules.policy.tell_refusals);
                self.refuse_at_once(now, id, room, request, by_policy(&ruled))
            }
            Ruling::Ask => {
                let deadline = self.rules.policy.deadline(now, asked_for(request.meta.as_ref()));
                match self.draw(id, room.as_ref(), &request, deadline, None) {
                    Ok(drawn) => vec![self.hold(now, drawn, request, 0, None)],
                    Err(refused) => self.refuse_at_once(now, id, room, request, refused),
                }
            }
        }
    }

    fn rule(&self, request: &PermissionRequest) -> Ruled {
        let paths = card::paths(request);
        let outside: Vec<String> = paths.iter().filter(|path| is_outside(request, path)).cloned().collect();
        self.rules.policy.rule(request, Reach { paths: &paths, outside: &outside })
    }

    /// The card of a request that can be held, or why it cannot. `instead_of` as in [`Sketch`].
    fn draw(
        &mut self,
        id: RequestId,
        room: Option<&RoomName>,
        request: &PermissionRequest,
        deadline: Timestamp,
        instead_of: Option<&InsteadOf>,
    ) -> Result<Drawn, Refused> {
        let room = room.ok_or(Refused::NoRoom)?;
        let rules = self.rules.rooms.get(room).ok_or(Refused::NoRoom)?;
        if let Some(why) = self.lost.get(room) {
            return Err(Refused::RoomUnavailable(why.clone()));
        }
        if self.rules.limits.held_max <= self.held.len() {
            return Err(Refused::TooMany);
        }
        let tokens: Vec<_> = request.options.as_slice().iter().map(|_| self.tokens.draw()).collect();
        let RoomRules { card: limits, details, .. } = *rules;
        let sketch = Sketch { request: id, room, asked: request, deadline, limits, details, instead_of, no_file: None };
        sketch.draw(tokens).map_err(Refused::NotShowable)
    }

    /// `times_changed` and `instead_of` as in [`Held`].
    fn hold(
        &mut self,
        now: Timestamp,
        drawn: Drawn,
        request: PermissionRequest,
        times_changed: u8,
        instead_of: Option<InsteadOf>,
    ) -> Effect {
        let Card { request: id, room, headline, deadline, .. } = &drawn.card;
        let (room, headline, deadline) = (room.clone(), headline.clone(), *deadline);
        let phase = Phase::Posting { clicks: Vec::new() };
        let held = Held { request, room, headline, deadline, phase, times_changed, instead_of, without_file: false };
        self.held.insert(*id, held);
        self.show(now, drawn)
    }

    /// Posts the card of a held request once it is on record.
    fn show(&mut self, now: Timestamp, Drawn { card, live }: Drawn) -> Effect {
        let Card { request, deadline, digest: shown, .. } = card;
        self.buttons.extend(live.into_iter().map(|(token, at)| (token, (request, at))));
        let entry = Entry::Held { request, room: card.room.clone(), headline: card.headline.clone(), deadline, shown };
        Effect::Record { entry, then: vec![Effect::Post { card, within: deadline.since(now) }] }
    }

    pub(super) fn posted(&mut self, now: Timestamp, id: RequestId, card: CardRef) -> Vec<Effect> {
        let entry = Entry::Posted { request: id, card: card.clone() };
        let mut effects = vec![Effect::Record { entry, then: vec![] }];
        if let Some(held) = self.held.get_mut(id) {
            if let Phase::Posting { clicks } = std::mem::replace(&mut held.phase, Phase::Open(card)) {
                effects.extend(clicks.iter().flat_map(|click| self.clicked(now, click)));
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
        if let Some(settled) = self.settled.get_mut(id) {
            settled.card = SettledCard::Known(None);
            effects.extend(settled.close());
        }
        effects
    }

    /// A card that needs no file, on which only refusing is possible. Its buttons are new: nobody has seen the others.
    fn post_without_file(&mut self, now: Timestamp, id: RequestId, why: &str) -> Option<Effect> {
        let held = self.held.get_mut(id).filter(|held| !held.without_file)?;
        held.without_file = true;
        let rules = self.rules.rooms.get(&held.room)?;
        let tokens = held.request.options.as_slice().iter().map(|_| self.tokens.draw()).collect();
        let sketch = Sketch {
            request: id,
            room: &held.room,
            asked: &held.request,
            deadline: held.deadline,
            limits: rules.card,
            details: rules.details,
            instead_of: held.instead_of.as_ref(),
            no_file: Some(why),
        };
        let drawn = sketch.draw(tokens).ok()?;
        self.buttons.retain(|_, (request, _)| *request != id);
        Some(self.show(now, drawn))
    }

    /// The card no longer shows what would be done, so it ends at once.
    pub(super) fn changed(&mut self, now: Timestamp, id: RequestId, request: Option<PermissionRequest>) -> Vec<Effect> {
        let Some(held) = self.held.get(id) else { return Vec::new() };
        let details = self.details(Some(&held.room));
        let what = request.as_ref().map(|request| card::changed(&held.request, request, details)).unwrap_or_default();
        let times_changed = held.times_changed + 1;
        let (room, deadline) = (held.room.clone(), held.deadline);
        let may_ask = match self.rules.policy.when_changed {
            WhenChanged::AskAgain => times_changed <= CHANGED_MAX && !what.is_empty(),
            WhenChanged::Refuse => false,
        };
        let asked_again = request.filter(|request| may_ask && self.rule(request).ruling != Ruling::Deny).and_then(|request| {
            let next = self.next_id();
            let instead_of = (id.number, what.clone());
            let card = self.draw(next, Some(&room), &request, deadline, Some(&instead_of)).ok()?;
            Some((card, request, instead_of))
        });
        match asked_again {
            None => self.refuse(now, id, Refused::Changed(what)),
            Some((card, request, instead_of)) => {
                let mut effects = self.settle(now, id, Ending::Withdrawn(Withdrawn::AskedAgain), Tell::Nobody);
                effects.push(self.hold(now, card, request, times_changed, Some(instead_of)));
                effects
            }
        }
    }

    pub(super) fn malformed(&mut self, now: Timestamp, from: ReplyTo, headline: &str, problem: String) -> Vec<Effect> {
        let id = self.next_id();
        let room = self.rules.routes.get(&from.source).cloned();
        let headline = card::plain_headline(headline);
        let ending = Ending::Refused(Refused::Malformed(problem));
        let mut effects = Self::record_and_tell(now, id, room, headline, ending);
        effects.insert(1, Effect::Reply { request: id, to: from, outcome: Outcome::Cancelled });
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
        let mut effects = Self::record_and_tell(now, id, room, headline, ending);
        effects.insert(1, Effect::Reply { request: id, to: request.from, outcome });
        effects
    }

    /// How much a room shows.
    fn details(&self, room: Option<&RoomName>) -> Details {
        room.and_then(|room| self.rules.rooms.get(room)).map(|rules| rules.details).unwrap_or_default()
    }

    fn record_and_tell(now: Timestamp, id: RequestId, room: Option<RoomName>, headline: Shown, ending: Ending) -> Vec<Effect> {
        let at = Some(now);
        let entry = Entry::Settled { request: id, ending: ending.clone(), at };
        let closed = room.map(|room| ClosedCard { request: id, room, headline, ending, at });
        let tell = closed.map(|closed| Effect::Close { card: None, closed });
        [Effect::Record { entry, then: vec![] }].into_iter().chain(tell).collect()
    }
}

fn by_policy(ruled: &Ruled) -> Refused {
    /// A path can be long, and the ledger is no place for it.
    const WHY_MAX: usize = 200;
    let why = ruled.decisive().map(ToString::to_string).unwrap_or_default();
    Refused::ByPolicy(Shown::line(&why).cut(WHY_MAX).to_string())
}

#[cfg(test)]
#[path = "asking_tests.rs"]
mod tests;
