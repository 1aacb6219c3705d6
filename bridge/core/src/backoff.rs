//! How long to wait between tries.

use std::time::Duration;

/// Spans between tries: doubling from a quarter second to five seconds.
#[derive(Debug)]
pub struct Backoff {
    next: Duration,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(250);
    const LAST: Duration = Duration::from_secs(5);

    #[must_use]
    pub const fn new() -> Self {
        Self { next: Self::FIRST }
    }

    pub fn next_span(&mut self) -> Duration {
        let span = self.next;
        self.next = (span * 2).min(Self::LAST);
        span
    }

    pub fn reset(&mut self) {
        self.next = Self::FIRST;
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backoff_grows_to_its_limit_and_starts_over() {
        let mut backoff = Backoff::new();
        let spans: Vec<_> = (0..7).map(|_| backoff.next_span().as_millis()).collect();
        assert_eq!(spans, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
        backoff.reset();
        assert_eq!(backoff.next_span(), Backoff::FIRST);
    }
}
