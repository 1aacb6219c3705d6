//! What the simulation's operator decided.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use bridge_core::{Details, Limits, RoomRules, Rules};
use bridge_model::{CardLimits, PersonId, RoomName, SourceName, ToolKind};
use policy::{AnswerRules, Approvals, Approvers, Confirm, Listed, Pace, Policy, Verdict, Verdicts, WhenChanged, WhenNobody, Who};

use crate::oracle::{ARM_MS, CAREFUL, LAUNCHER, LIFETIME_MS, PLAIN};

/// Each asks the room of the same place.
pub(crate) const SOURCES: [&str; 2] = ["left", "right"];
pub(crate) const ROOMS: [&str; 2] = [PLAIN, CAREFUL];
pub(crate) const HELD_MAX: usize = 6;

pub(crate) fn rules(when_changed: WhenChanged) -> Rules {
    let listed = ["@ada:x", "@bob:x", "@cleo:x", "@robot:x", "@gone:x"].into_iter().map(PersonId::new);
    let plain = RoomRules::of(
        Approvers { who: Who::Listed(Listed::people(listed)), power_min: None, bots: BTreeSet::new() },
        Details::Full,
        CardLimits { buttons_max: 10, label_max: 40, label_seen: 40, text_bytes_max: 4_000, unattached_bytes_max: 2_000 },
    );
    let careful = RoomRules {
        answers: AnswerRules {
            requester_may_answer: false,
            approvals: Approvals::Two,
            confirm: [Confirm::AllowAlways].into(),
            arm_delay: Duration::from_millis(ARM_MS),
            ..plain.answers.clone()
        },
        when_nobody: WhenNobody::Refuse,
        remind_at: vec![50],
        ..plain.clone()
    };
    Rules {
        policy: Policy {
            verdicts: Verdicts { by_kind: [(ToolKind::Delete, Verdict::AutoDeny)].into(), ..Verdicts::default() },
            when_changed,
            ..Policy::asking(Duration::from_millis(LIFETIME_MS))
        },
        rooms: [(RoomName::new(PLAIN), plain), (RoomName::new(CAREFUL), careful)].into(),
        routes: SOURCES.into_iter().zip(ROOMS).map(|(source, room)| (SourceName::new(source), RoomName::new(room))).collect(),
        requesters: [(SourceName::new(SOURCES[1]), PersonId::new(LAUNCHER))].into(),
        limits: limits(),
    }
}

/// Small tables, and people who are spared nothing: what wears them down has tests of its own.
fn limits() -> Limits {
    let many = NonZeroU32::MAX;
    let pace = Pace {
        held_max: HELD_MAX,
        cards_a_minute: many,
        cards_a_minute_in_room: many,
        cards_a_minute_of_session: many,
        presses_a_minute: many,
        refused_in_a_row: many,
        ..Pace::default()
    };
    Limits { pace, settled_max: 32, say_pending_after: Duration::from_millis(50) }
}
