//! Cards as the bridge draws them, without a room.

use std::time::Duration;

use bridge_core::{Bridge, Details, Effect, Input, Limits, RoomRules, Rules, SourceEvent, Tokens};
use bridge_model::{ButtonToken, Card, CardLimits, PermissionRequest, RoomName, Timestamp};
use policy::{Approvers, Policy, Who};

/// 2026-11-30 14:27:05 UTC.
const NOW: Timestamp = Timestamp::from_unix_millis(1_796_048_825_000);

struct Counted(u128);

impl Tokens for Counted {
    fn draw(&mut self) -> ButtonToken {
        self.0 += 1;
        ButtonToken::from_random(self.0)
    }
}

/// The card of a request in a room that shows so much; or why it has none.
pub fn card(request: PermissionRequest, limits: CardLimits, details: Details) -> Result<Card, String> {
    let room = RoomName::new("builds");
    let room_rules = RoomRules::of(Approvers { who: Who::Anyone, power_min: None, bots: [].into() }, details, limits);
    let policy = Policy::asking(Duration::from_mins(5));
    let rules = Rules {
        policy,
        rooms: [(room.clone(), room_rules)].into(),
        routes: [(request.from.source.clone(), room)].into(),
        requesters: [].into(),
        limits: Limits::default(),
    };
    let mut bridge = Bridge::new(rules, 1, Counted(0));
    let effects = bridge.handle(NOW, Input::Source(SourceEvent::Requested(Box::new(request), Box::default())));
    let mut closing = None;
    for effect in flat(effects) {
        if let Effect::Post { card, .. } = effect {
            return Ok(card);
        } else if let Effect::Close { closed, .. } = effect {
            closing = Some(closed.ending);
        }
    }
    Err(format!("{closing:?}"))
}

fn flat(effects: Vec<Effect>) -> Vec<Effect> {
    let mut all = Vec::new();
    for effect in effects {
        if let Effect::Record { then, .. } = effect {
            all.extend(flat(then));
        } else {
            all.push(effect);
        }
    }
    all
}
