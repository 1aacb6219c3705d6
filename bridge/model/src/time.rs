//! Instants, as the one clock of the program tells them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, never decreasing within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(u64);

impl Timestamp {
    #[must_use]
    pub const fn from_unix_millis(millis: u64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub const fn unix_millis(self) -> u64 {
        self.0
    }

    /// Whether this deadline has passed at `now`. A deadline at `now` has.
    #[must_use]
    pub const fn has_passed(self, now: Self) -> bool {
        self.0 <= now.0
    }

    /// Time left until this deadline; zero once it has passed.
    #[must_use]
    pub const fn since(self, now: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(now.0))
    }

    /// A span later, or the end of time.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// As `2026-11-30 14:32:05 UTC`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000;
        let (days, of_day) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil(days);
        let (hours, minutes, seconds) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hours:02}:{minutes:02}:{seconds:02} UTC")
    }
}

/// The date of a day since 1970-01-01, by Howard Hinnant's method.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_told_as_people_have_it() {
        for (millis, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399_999, "2000-02-28 23:59:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_796_049_125_000, "2026-11-30 14:32:05 UTC"),
        ] {
            assert_eq!(Timestamp::from_unix_millis(millis).to_string(), text);
        }
        assert!(Timestamp::from_unix_millis(u64::MAX).to_string().ends_with(" UTC"));
    }
}
