//! New rules while requests wait: whichever are stricter count for those.

use bridge_model::{Refused, RequestId, Timestamp};
use policy::{Ruling, WhenChanged};

use super::asking::by_policy;
use super::{Bridge, Rules, Tokens};
use crate::Effect;

/// Rules that one request remembers having been under; beyond it the request is refused.
const RULES_MAX: usize = 32;

impl<T: Tokens> Bridge<T> {
    /// Held requests keep the rules they were born with, and end sooner, or at once, where the new ones have it so.
    pub(super) fn reload(&mut self, now: Timestamp, rules: Rules) -> Vec<Effect> {
        self.fatigue.paced(&self.rules.limits.pace, &rules.limits.pace);
        // What each room can show was told by the room itself.
        let shown: Vec<_> = self.rules.rooms.iter().map(|(name, room)| (name.clone(), room.card)).collect();
        self.rules = rules;
        for (name, card) in shown {
            if let Some(room) = self.rules.rooms.get_mut(&name) {
                room.card = card;
            }
        }
        self.held.all().into_iter().flat_map(|id| self.held_under_new_rules(now, id)).collect()
    }

    pub(super) fn held_under_new_rules(&mut self, now: Timestamp, id: RequestId) -> Vec<Effect> {
        let Some(held) = self.held.get(id) else { return Vec::new() };
        let own = self.answers(&held.room, held.request.kind());
        let when_changed = self.rules.policy.when_changed;
        let Some(held) = self.held.get_mut(id) else { return Vec::new() };
        // Whether the first of two may still choose is not known without facts of now.
        let had_first = held.first.take().is_some();
        let approvals = held.approvals();
        held.is_under(own);
        if when_changed == WhenChanged::Refuse {
            held.when_changed = when_changed;
        }
        let takes_more = approvals != held.approvals();
        if RULES_MAX < held.answers.len() {
            let why = format!("the rules changed more than {RULES_MAX} times while it waited");
            return self.refuse(now, id, Refused::ByPolicy(why));
        }
        let Some(held) = self.held.get(id) else { return Vec::new() };
        let ruled = self.rule(&held.request, &held.terms);
        if ruled.ruling == Ruling::Deny {
            return self.refuse(now, id, by_policy(&ruled));
        }
        let deadline = self.deadline(held.arrived, &held.request, &held.terms);
        let is_shorter = self.held.shorten(id, deadline);
        let redrawn = if had_first || takes_more || is_shorter { self.redraw(id) } else { None };
        self.kept_anew(id).into_iter().chain(redrawn).collect()
    }
}
