//! Sending one event: under its own transaction id, so that the same event again is the same event.

use std::time::Duration;

use bridge_core::{Backoff, RoomError};
use matrix_sdk::Room;
use matrix_sdk::ruma::api::client::redact::redact_event;
use matrix_sdk::ruma::{EventId, OwnedEventId, OwnedTransactionId};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::account::REQUEST_TIMEOUT;
use crate::fault::Fault;
use crate::wait::pause;

/// In an encrypted room a first message also fetches members and keys.
pub(crate) const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);

/// Sends until the server has answered for good, beginning nothing after `until`.
///
/// The SDK encrypts where the room is encrypted, by what it knows at that moment.
pub(crate) async fn send(
    room: &Room,
    kind: &str,
    content: &Value,
    txn: &OwnedTransactionId,
    until: Instant,
) -> Result<OwnedEventId, RoomError> {
    let attempt = || async move {
        let sent = room.send_raw(kind, content.clone()).with_transaction_id(txn).await;
        sent.map(|sent| sent.response.event_id).map_err(|error| Fault::of(&error))
    };
    retry(attempt, ATTEMPT_TIMEOUT, until).await
}

pub(crate) async fn redact(
    room: &Room,
    event: &EventId,
    reason: &str,
    txn: &OwnedTransactionId,
    until: Instant,
) -> Result<OwnedEventId, RoomError> {
    let attempt = || async move {
        let mut request = redact_event::v3::Request::new(room.room_id().to_owned(), event.to_owned(), txn.clone());
        request.reason = Some(reason.to_owned());
        room.client().send(request).await.map(|sent| sent.event_id).map_err(|error| Fault::of_http(&error))
    };
    retry(attempt, REQUEST_TIMEOUT, until).await
}

/// Tries until it is done or cannot be done, beginning nothing after `until`.
pub(crate) async fn retry<T, F: Future<Output = Result<T, Fault>>>(
    attempt: impl Fn() -> F,
    attempt_timeout: Duration,
    until: Instant,
) -> Result<T, RoomError> {
    let mut backoff = Backoff::new();
    loop {
        let now = Instant::now();
        if until <= now {
            return Err(RoomError::Unavailable("there is no time left".to_owned()));
        }
        let tried = timeout(attempt_timeout.min(until - now), attempt()).await;
        let (why, after) = match tried {
            Ok(Ok(sent)) => return Ok(sent),
            Ok(Err(Fault::Later(why, after))) => (why, after),
            Ok(Err(fault @ (Fault::TooLarge | Fault::TokenGone | Fault::Final(_)))) => return Err(fault.into()),
            Err(_) => ("the homeserver did not answer in time".to_owned(), None),
        };
        let span = after.unwrap_or_else(|| backoff.next_span());
        if until.saturating_duration_since(Instant::now()) <= span {
            return Err(RoomError::Unavailable(why));
        }
        pause(span).await;
    }
}
