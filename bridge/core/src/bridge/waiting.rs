//! What happens while a request waits: looking who is there, calling it to mind, showing who is in.

use bridge_model::{ButtonToken, Card, CardRef, Ending, Person, Refused, RequestId, RoomName, Timestamp};
use policy::WhenNobody;

use super::{Bridge, Tokens};
use crate::card::{Drawn, Sketch};
use crate::held::{Call, Held, Phase};
use crate::wording::{self, Words};
use crate::{Effect, Entry, Said, Waiting};

/// Refusals of one room that are told together.
#[derive(Debug)]
pub(super) struct Flood {
    /// How many came since the one that was told.
    more: u64,
    until: Timestamp,
}

/// How long refusals of one kind are gathered before they are told.
const GATHERED_FOR: std::time::Duration = std::time::Duration::from_mins(1);

impl<T: Tokens> Bridge<T> {
    /// Shows a held request whose card is drawn, unless it has to be known first who is there.
    pub(super) fn show_or_look(&mut self, now: Timestamp, Drawn { card, live, .. }: Drawn) -> Effect {
        let Card { request, deadline, digest: shown, .. } = card;
        self.buttons.extend(live.into_iter().map(|(token, at)| (token, (request, at))));
        let (room, headline) = (card.room.clone(), card.headline.clone());
        let kept = self.kept(request);
        let entry = Entry::Held { request, room, headline, deadline, shown, kept };
        let looks = self.rules.rooms.get(&card.room).is_some_and(|rules| rules.when_nobody == WhenNobody::Refuse);
        let then = match self.held.get_mut(request) {
            Some(held) if looks && matches!(held.phase, Phase::Looking(_)) => {
                let room = card.room.clone();
                held.phase = Phase::Looking(Some(Box::new(card)));
                vec![Effect::Look { request, room, among: held.answerers() }]
            }
            Some(_) | None => self.post(now, card),
        };
        Effect::Record { entry, then }
    }

    fn post(&mut self, now: Timestamp, card: Card) -> Vec<Effect> {
        let asked = self.held.get_mut(card.request).map(|held| {
            held.phase = Phase::Posting { clicks: Vec::new(), known: None };
            held.asked(card.request)
        });
        let post = Effect::Post { within: card.deadline.since(now), card };
        asked.into_iter().chain([post]).collect()
    }

    /// `None`: the room does not know who is there, so that somebody may be, unless nobody is listed at all.
    pub(super) fn looked(&mut self, now: Timestamp, id: RequestId, people: Option<&[Person]>) -> Vec<Effect> {
        let Some(held) = self.held.get_mut(id) else { return Vec::new() };
        let Phase::Looking(card) = &mut held.phase else { return Vec::new() };
        let Some(card) = card.take() else { return Vec::new() };
        let held = &*held;
        let is_nobody = held.answers.iter().any(|rules| rules.approvers.is_nobody());
        if people.map_or(is_nobody, |people| !people.iter().any(|person| held.admits(person))) {
            return self.refuse(now, id, Refused::Nobody);
        }
        self.post(now, *card)
    }

    /// The card of a request as it is now, with the buttons that it has.
    pub(super) fn redraw(&mut self, id: RequestId) -> Option<Effect> {
        let tokens = self.tokens_of(id);
        let held = self.held.get(id)?;
        let Phase::Open(card) = &held.phase else { return None };
        let drawn = held.sketch(id).draw(tokens).ok()?;
        Some(Effect::Update { card: card.clone(), now: drawn.card })
    }

    /// The tokens that a request's card is drawn with: those of its buttons. What has none yet gets one.
    pub(super) fn tokens_of(&mut self, id: RequestId) -> Vec<ButtonToken> {
        let options = self.held.get(id).map_or(0, |held| held.request.options.as_slice().len());
        let token = |at: usize| self.buttons.iter().find(|(_, button)| **button == (id, at)).map(|(token, _)| *token);
        let known: Vec<_> = (0..options).map(token).collect();
        known.into_iter().map(|token| token.unwrap_or_else(|| self.tokens.draw())).collect()
    }

    /// Calls requests to mind whose time for it has come.
    pub(super) fn call(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some((at, id)) = self.held.first_call()
            && at.has_passed(now)
        {
            let Some((call, held)) = self.held.take_call(id) else { break };
            effects.extend(said(id, &call, held).map(Effect::Say));
        }
        effects
    }

    /// Whether a refusal of this kind is told in the room now; if not, it is counted and told later.
    pub(super) fn is_told(&mut self, now: Timestamp, room: &RoomName) -> bool {
        if let Some(flood) = self.floods.get_mut(room) {
            flood.more += 1;
            return false;
        }
        self.floods.insert(room.clone(), Flood { more: 0, until: now.after(GATHERED_FOR) });
        true
    }

    pub(super) fn first_flood(&self) -> Option<Timestamp> {
        self.floods.values().map(|flood| flood.until).min()
    }

    /// Tells how many were refused meanwhile.
    pub(super) fn tell_floods(&mut self, now: Timestamp) -> Vec<Effect> {
        let over: Vec<RoomName> =
            self.floods.iter().filter(|(_, flood)| flood.until.has_passed(now)).map(|(room, _)| room.clone()).collect();
        let over = over.into_iter().filter_map(|room| Some((self.floods.remove(&room)?, room)));
        let told: Vec<_> = over.filter(|(flood, _)| 0 < flood.more).collect();
        let say = |(flood, room): (Flood, RoomName)| {
            let words = vec![Words::Ours(wording::refused_meanwhile(flood.more))];
            let part = format!("flood-{}", flood.until.unix_millis());
            Effect::Say(Said { request: self.next_id(), part, room, about: None, words, mention: Vec::new() })
        };
        told.into_iter().map(say).collect()
    }
}

/// A message about a request that waits on an open card.
fn said(id: RequestId, call: &Call, held: &Held) -> Option<Said> {
    let Phase::Open(card) = &held.phase else { return None };
    let elsewhere = call.room.as_ref().filter(|room| **room != held.room);
    let about: Option<CardRef> = elsewhere.is_none().then(|| card.clone());
    Some(Said {
        request: id,
        part: call.part.clone(),
        room: elsewhere.unwrap_or(&held.room).clone(),
        about,
        words: wording::still_waits(id, held.headline.as_str(), held.deadline, elsewhere.map(|_| &held.room)),
        mention: call.mention.clone(),
    })
}

impl Held {
    pub(super) fn asked(&self, request: RequestId) -> Effect {
        let waiting = Waiting { request, room: self.room.clone(), deadline: self.deadline };
        Effect::Asked(self.request.from.clone(), waiting)
    }

    /// All that its card is drawn of.
    pub(super) fn sketch(&self, id: RequestId) -> Sketch<'_> {
        Sketch {
            request: id,
            room: &self.room,
            asked: &self.request,
            deadline: self.deadline,
            limits: self.limits,
            details: self.details,
            instead_of: self.instead_of.as_ref(),
            no_file: self.no_file.as_deref(),
            approvals: self.approvals(),
            first: self.first.as_ref(),
        }
    }
}

/// For whoever ends what was never shown.
pub(super) fn of_flood(ending: &Ending) -> bool {
    matches!(ending, Ending::Refused(Refused::TooMany | Refused::TooFast | Refused::RefusedBefore))
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
