//! `[limits]`: how much people are asked, and how often they may press.

use std::num::NonZeroU32;
use std::time::Duration;

use policy::Pace;

use crate::rules::span;
use crate::section::{Entry, Section};

/// More than this the bridge does not hold.
const REQUESTS_MAX: i64 = 100_000;
const A_MINUTE_MAX: i64 = 10_000;
const NOT_AGAIN_FOR_MAX: Duration = Duration::from_hours(24);

pub(crate) fn limits(root: &mut Section<'_>) -> Pace {
    let mut section = root.section("limits");
    let mut take = |key| section.as_mut().and_then(|section| section.take(key));
    let default = Pace::default();
    let mut requests = |key, default| take(key).and_then(|entry| count(&entry, REQUESTS_MAX)).map_or(default, size);
    let (held_max, held_max_in_room, held_max_of_session) = (
        requests("requests", default.held_max),
        requests("requests_in_room", default.held_max_in_room),
        requests("requests_of_session", default.held_max_of_session),
    );
    let mut rate = |key, default| take(key).and_then(|entry| count(&entry, A_MINUTE_MAX)).unwrap_or(default);
    Pace {
        held_max,
        held_max_in_room,
        held_max_of_session,
        cards_a_minute: rate("cards_a_minute", default.cards_a_minute),
        cards_a_minute_in_room: rate("cards_a_minute_in_room", default.cards_a_minute_in_room),
        cards_a_minute_of_session: rate("cards_a_minute_of_session", default.cards_a_minute_of_session),
        presses_a_minute: rate("presses_a_minute", default.presses_a_minute),
        refused_in_a_row: rate("refused_in_a_row", default.refused_in_a_row),
        not_again_for: take("not_again_for")
            .and_then(|entry| span(&entry, Duration::from_secs(1), NOT_AGAIN_FOR_MAX))
            .unwrap_or(default.not_again_for),
    }
}

fn count(entry: &Entry<'_>, max: i64) -> Option<NonZeroU32> {
    let count = entry.integer()?;
    let valid = u32::try_from(count).ok().filter(|_| count <= max).and_then(NonZeroU32::new);
    if valid.is_none() {
        entry.refuse(format!("is {count}"), format!("use 1 to {max}"));
    }
    valid
}

fn size(count: NonZeroU32) -> usize {
    usize::try_from(count.get()).unwrap_or(usize::MAX)
}
