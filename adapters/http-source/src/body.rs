//! Reading a body within bounds: of its length, of its time, and of what all bodies take together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body as Stream, BodyDataStream};
use axum::extract::{FromRequest, Request};
use axum::http::header;
use futures_util::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::fault::Fault;
use crate::shared::Shared;

/// Bytes of a body.
const BODY_MAX: usize = 2 << 20;
/// How long a body may take to arrive.
const BODY_WITHIN: Duration = Duration::from_secs(30);
/// So many bytes any body has, so that no others can keep it from being read.
const OWN_BYTES: usize = 16 << 10;
/// Bytes that all bodies have together beyond those.
const SHARED_BYTES: usize = 64 << 20;

/// A whole body that is not too large.
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    /// What it takes of the bytes that all have together.
    taken: Option<OwnedSemaphorePermit>,
}

/// What bodies that are being read take together.
#[derive(Clone)]
pub(crate) struct Bytes(Arc<Semaphore>);

impl Default for Bytes {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(SHARED_BYTES)))
    }
}

impl FromRequest<Arc<Shared>> for Body {
    type Rejection = Fault;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Fault> {
        let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        if told.is_some_and(|length| BODY_MAX < length) {
            return Err(Fault::too_large(BODY_MAX));
        }
        let body = collect(Stream::into_data_stream(request.into_body()), &shared.bytes);
        timeout(BODY_WITHIN, body).await.unwrap_or_else(|_| Err(Fault::too_slow(BODY_WITHIN)))
    }
}

async fn collect(mut stream: BodyDataStream, shared: &Bytes) -> Result<Body, Fault> {
    let mut body = Body { bytes: Vec::new(), taken: None };
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|problem| Fault::bad_request(&problem.to_string()))?;
        let length = body.bytes.len() + chunk.len();
        if BODY_MAX < length {
            return Err(Fault::too_large(BODY_MAX));
        }
        let beyond = length.saturating_sub(OWN_BYTES.max(body.bytes.len()));
        body.take(shared, beyond)?;
        body.bytes.extend_from_slice(&chunk);
    }
    Ok(body)
}

impl Body {
    fn take(&mut self, shared: &Bytes, more: usize) -> Result<(), Fault> {
        if more == 0 {
            return Ok(());
        }
        let taken = u32::try_from(more).ok().and_then(|more| Arc::clone(&shared.0).try_acquire_many_owned(more).ok());
        let taken = taken.ok_or_else(|| Fault::too_many("too many long bodies arrive at once; try again"))?;
        match &mut self.taken {
            Some(shared) => shared.merge(taken),
            none @ None => *none = Some(taken),
        }
        Ok(())
    }
}
