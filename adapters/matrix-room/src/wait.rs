//! The one place where this adapter waits for time to pass.

use std::time::Duration;

use tokio::time::Instant;

/// Spans between tries: doubling from a quarter second to five seconds.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(250);
    const LAST: Duration = Duration::from_secs(5);

    pub(crate) fn new() -> Self {
        Self { next: Self::FIRST }
    }

    pub(crate) fn next_span(&mut self) -> Duration {
        let span = self.next;
        self.next = (span * 2).min(Self::LAST);
        span
    }

    pub(crate) fn reset(&mut self) {
        self.next = Self::FIRST;
    }
}

/// Waits for a bounded span that a caller has a reason for: a backoff, a server's own retry-after, a card's last check.
#[expect(clippy::disallowed_methods, reason = "the one bounded helper for waits of this adapter")]
pub(crate) async fn pause(span: Duration) {
    tokio::time::sleep(span).await;
}

/// Waits until `at`, or forever where there is nothing to wait for.
pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
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
