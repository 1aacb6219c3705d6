//! The only file that reads the operating system's clock.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bridge_model::Timestamp;
use nix::time::{ClockId, clock_gettime};

/// Follows the wall clock, never goes backwards, and never runs slower than a monotonic clock that counts suspended time.
///
/// So a jump of the wall clock, or a laptop that slept, can only bring a deadline closer.
#[derive(Debug)]
pub(crate) struct Clock {
    last: Mutex<Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    now: Duration,
    counted: Duration,
}

impl Default for Clock {
    fn default() -> Self {
        Self { last: Mutex::new(Reading { now: wall(), counted: counted() }) }
    }
}

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = next(*last, wall(), counted());
        Timestamp::from_unix_millis(u64::try_from(last.now.as_millis()).unwrap_or(u64::MAX))
    }
}

fn next(last: Reading, wall: Duration, counted: Duration) -> Reading {
    let passed = counted.saturating_sub(last.counted);
    Reading { now: wall.max(last.now + passed), counted: counted.max(last.counted) }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn counted() -> Duration {
    #[cfg(target_os = "linux")]
    let id = ClockId::CLOCK_BOOTTIME;
    #[cfg(not(target_os = "linux"))]
    let id = ClockId::CLOCK_MONOTONIC;
    clock_gettime(id).map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_wall_clock_but_never_back_and_never_slower_than_what_passed() {
        for (wall, counted, expected) in [
            (1_010, 10, 1_010), // as usual
            (5_000, 10, 5_000), // the wall clock jumped ahead
            (0, 10, 1_010),     // the wall clock jumped back
            (1_000, 10, 1_010), // the wall clock stood still
            (1_000, 0, 1_000),  // nothing passed
        ] {
            let last = Reading { now: Duration::from_secs(1), counted: Duration::ZERO };
            let next = next(last, Duration::from_millis(wall), Duration::from_millis(counted));
            assert_eq!(next.now.as_millis(), expected, "wall {wall}, counted {counted}");
        }
    }

    #[test]
    fn after_a_jump_ahead_and_back_time_still_passes() {
        let ahead =
            next(Reading { now: Duration::ZERO, counted: Duration::ZERO }, Duration::from_secs(100), Duration::from_secs(1));
        let back = next(ahead, Duration::from_secs(2), Duration::from_secs(2));
        assert_eq!(back.now, Duration::from_secs(101));
    }
}
