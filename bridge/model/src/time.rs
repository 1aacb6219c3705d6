//! Instants, as the one clock of the program tells them.

use std::time::Duration;

/// Milliseconds since the Unix epoch, never decreasing within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
