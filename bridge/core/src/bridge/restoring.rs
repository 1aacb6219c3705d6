//! Going on with what an earlier run of the bridge held.

use bridge_model::{ButtonToken, CardRef, Refused, RequestId, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Bridge, Tokens};
use crate::held::{Held, Phase};
use crate::{Effect, Entry, Kept};

/// All that a request is and was promised.
#[derive(Serialize, Deserialize)]
struct Snapshot<H> {
    id: RequestId,
    held: H,
    /// The tokens of its live buttons, and the places of their options.
    buttons: Vec<(String, usize)>,
}

impl<T: Tokens> Bridge<T> {
    /// What the ledger keeps of a request that comes back.
    pub(super) fn kept(&self, id: RequestId) -> Option<Kept> {
        let held = self.held.get(id)?;
        let comes_back = held.terms.comes_back.clone()?;
        let from = held.request.from.clone();
        let buttons = self.buttons.iter().filter(|(_, (request, _))| *request == id);
        let buttons = buttons.map(|(token, (_, at))| (token.to_string(), *at)).collect();
        // These types hold nothing that JSON cannot.
        let snapshot = serde_json::to_string(&Snapshot { id, held, buttons }).ok()?;
        Some(Kept { from, comes_back, snapshot })
    }

    /// Keeps a request that comes back as it is now, under rules that have become stricter.
    pub(super) fn kept_anew(&mut self, id: RequestId) -> Option<Effect> {
        let kept = self.kept(id)?;
        let tokens = self.tokens_of(id);
        let held = self.held.get(id)?;
        let (room, headline) = (held.room.clone(), held.headline.clone());
        let shown = held.sketch(id).draw(tokens).ok()?.card.digest;
        let entry = Entry::Held { request: id, room, headline, deadline: held.deadline, shown, kept: Some(kept) };
        Some(Effect::Record { entry, then: Vec::new() })
    }

    /// Goes on with a request that an earlier run held, as [`Entry::Held`] has it: on the same card, with the same buttons and
    /// no later deadline, or on a new one if none was seen to be posted. New rules count where they are stricter.
    ///
    /// To be called before anything else. `None`: it cannot be understood, and is as good as lost.
    pub fn restore(&mut self, now: Timestamp, snapshot: &str, card: Option<CardRef>) -> Option<Vec<Effect>> {
        let Snapshot { id, mut held, buttons } = serde_json::from_str::<Snapshot<Held>>(snapshot).ok()?;
        let parse = |(text, at): (String, usize)| Some((ButtonToken::parse(&text)?, (id, at)));
        let buttons = buttons.into_iter().map(parse).collect::<Option<Vec<_>>>()?;
        self.last_number = self.last_number.max(id.number);
        while held.calls.last().is_some_and(|call| call.at.has_passed(now)) {
            held.calls.pop();
        }
        let is_known = self.rules.rooms.contains_key(&held.room);
        let id = if card.is_some() { id } else { self.next_id() };
        if let Some(card) = &card {
            self.buttons.extend(buttons);
            held.phase = Phase::Posting { clicks: Vec::new(), known: Some(card.clone()) };
        }
        self.held.insert(id, held);
        if !is_known {
            return Some(self.refuse(now, id, Refused::NoRoom));
        }
        let mut effects = self.held_under_new_rules(now, id);
        let tokens = self.tokens_of(id);
        let Some(held) = self.held.get(id) else { return Some(effects) };
        let (within, asked) = (held.deadline.since(now), held.asked(id));
        match (held.sketch(id).draw(tokens), card) {
            (Err(why), _) => effects.extend(self.refuse(now, id, Refused::NotShowable(why))),
            (Ok(drawn), None) => effects.push(self.show_or_look(now, drawn)),
            (Ok(drawn), Some(at)) => effects.extend([asked, Effect::Resume { at, card: drawn.card, within }]),
        }
        Some(effects)
    }
}

#[cfg(test)]
#[path = "restoring_tests.rs"]
mod tests;
