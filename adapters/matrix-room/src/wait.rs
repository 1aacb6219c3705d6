//! The one place where this adapter waits for time to pass.

use std::time::Duration;

use tokio::time::Instant;

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
