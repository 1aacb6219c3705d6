//! The one place where this adapter waits for time to pass.

use std::time::Duration;

use tokio::time::Instant;

/// Waits for a bounded span that a caller has a reason for: a backoff between tries.
#[expect(clippy::disallowed_methods, reason = "the one bounded helper for waits of this adapter")]
pub(crate) async fn pause(span: Duration) {
    tokio::time::sleep(span).await;
}

pub(crate) async fn until(at: Instant) {
    tokio::time::sleep_until(at).await;
}
