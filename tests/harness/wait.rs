//! Bounded waits.

use std::time::Duration;

/// No wait is longer. Debug builds share two cores with Synapse, so it is generous.
pub const PATIENCE: Duration = Duration::from_mins(1);

const PAUSE: Duration = Duration::from_millis(40);

/// Waits for something that announces itself.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let result = tokio::time::timeout(PATIENCE, future).await;
    result.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain for {what}"))
}

/// Asks again and again, for what can only be asked.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            pause().await;
        }
    };
    within(what, asking).await
}

/// Between two questions.
#[expect(clippy::disallowed_methods, reason = "the only pause of all tests, and always within a bounded wait")]
pub(crate) async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

/// For what is slow on purpose: a server of our own, or whoever tries again.
#[expect(clippy::disallowed_methods, reason = "the delay itself is what is wanted, and nothing is awaited")]
pub async fn rest(delay: Duration) {
    tokio::time::sleep(delay).await;
}
