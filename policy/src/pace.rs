//! What people are spared.

use std::num::NonZeroU32;
use std::time::Duration;

/// How much people are asked, and how often they may press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Requests held at once; one more is refused.
    pub held_max: usize,
    pub held_max_in_room: usize,
    pub held_max_of_session: usize,
    /// New cards within a minute; one more is refused.
    pub cards_a_minute: NonZeroU32,
    pub cards_a_minute_in_room: NonZeroU32,
    pub cards_a_minute_of_session: NonZeroU32,
    /// Presses of one person within a minute; one more does not count.
    pub presses_a_minute: NonZeroU32,
    /// How often in a row people refuse the same thing before it is not asked again
    pub refused_in_a_row: NonZeroU32,
    /// for so long.
    pub not_again_for: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        const TIMES: NonZeroU32 = NonZeroU32::new(3).unwrap();
        const SLOW: NonZeroU32 = NonZeroU32::new(30).unwrap();
        const STEADY: NonZeroU32 = NonZeroU32::new(60).unwrap();
        const FAST: NonZeroU32 = NonZeroU32::new(120).unwrap();
        Self {
            held_max: 256,
            held_max_in_room: 64,
            held_max_of_session: 32,
            cards_a_minute: FAST,
            cards_a_minute_in_room: STEADY,
            cards_a_minute_of_session: SLOW,
            presses_a_minute: STEADY,
            refused_in_a_row: TIMES,
            not_again_for: Duration::from_mins(10),
        }
    }
}
