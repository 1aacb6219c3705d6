//! Discord's rate limits, obeyed.
//!
//! Serenity's own limiter is not used: it repeats a request at once whose headers it cannot read, also one that was
//! carried out, and panics at spans that are no spans.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderMap;
use serenity::http::RatelimitingBucket;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::wait::until;

/// Routes that are remembered. Beyond them those that are free again are forgotten.
const ROUTES_MAX: usize = 1_024;
/// A limit that says it lasts longer is not believed. Requests end before.
const SPAN_MAX: Duration = Duration::from_hours(1);
/// Where a limit does not say how long it lasts.
const SPAN_UNKNOWN: Duration = Duration::from_secs(5);

/// When requests may be made again.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    free_at: Mutex<FreeAt>,
    /// One request of a route at a time: many that wait for the same limit would all run into it again.
    turns: Mutex<HashMap<RatelimitingBucket, Arc<Turn>>>,
}

type Turn = tokio::sync::Mutex<()>;

#[derive(Debug, Default)]
struct FreeAt {
    all: Option<Instant>,
    routes: HashMap<RatelimitingBucket, Instant>,
}

impl Limits {
    /// Waits until a request of this kind may be made; the next one waits until the guard is dropped. Cancel-safe.
    pub(crate) async fn turn(&self, route: RatelimitingBucket) -> OwnedMutexGuard<()> {
        let turn = self.turn_of(route).lock_owned().await;
        loop {
            let (now, free_at) = (Instant::now(), self.free_at().at(&route));
            match free_at {
                Some(at) if now < at => until(at).await,
                Some(_) | None => return turn,
            }
        }
    }

    fn turn_of(&self, route: RatelimitingBucket) -> Arc<Turn> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if ROUTES_MAX <= turns.len() {
            turns.retain(|_, turn| 1 < Arc::strong_count(turn));
        }
        Arc::clone(turns.entry(route).or_default())
    }

    /// What the headers of any answer say: whether it was the last one for a while.
    pub(crate) fn note(&self, route: RatelimitingBucket, headers: &HeaderMap) {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if text("x-ratelimit-remaining") == Some("0")
            && let Some(span) = text("x-ratelimit-reset-after").and_then(span)
        {
            self.free_at().set(route, span);
        }
    }

    /// A request was refused for a while. `retry_after`: in seconds, as the answer has it.
    pub(crate) fn refused(&self, route: RatelimitingBucket, headers: &HeaderMap, is_global: bool, retry_after: Option<f64>) {
        let header = headers.get("retry-after").and_then(|value| value.to_str().ok()).and_then(span);
        let span = retry_after.and_then(seconds).or(header).unwrap_or(SPAN_UNKNOWN);
        let mut free_at = self.free_at();
        if is_global || headers.contains_key("x-ratelimit-global") {
            free_at.all = free_at.all.max(Some(Instant::now() + span));
        } else {
            free_at.set(route, span);
        }
    }

    fn free_at(&self) -> MutexGuard<'_, FreeAt> {
        self.free_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FreeAt {
    fn at(&self, route: &RatelimitingBucket) -> Option<Instant> {
        self.all.max(self.routes.get(route).copied())
    }

    fn set(&mut self, route: RatelimitingBucket, span: Duration) {
        let now = Instant::now();
        if ROUTES_MAX <= self.routes.len() {
            self.routes.retain(|_, at| now < *at);
        }
        if self.routes.len() < ROUTES_MAX || self.routes.contains_key(&route) {
            let at = self.routes.entry(route).or_insert(now);
            *at = (*at).max(now + span);
        }
    }
}

fn span(text: &str) -> Option<Duration> {
    seconds(text.parse().ok()?)
}

/// `None` for what is no span: negative, endless, or no number.
fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().map(|span| span.min(SPAN_MAX))
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};
    use serenity::all::ChannelId;
    use serenity::http::Route;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_route_waits_as_long_as_it_was_told() {
        let limits = Limits::default();
        limits.refused(route(1), &headers(&[]), false, Some(1.5));
        assert_eq!(waited(&limits, route(1)).await, Duration::from_millis(1_500));
        limits.note(route(1), &headers(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset-after", "2.0")]));
        assert_eq!(waited(&limits, route(2)).await, Duration::ZERO);
        assert_eq!(waited(&limits, route(1)).await, Duration::from_secs(2));
        limits.note(route(1), &headers(&[("x-ratelimit-remaining", "3"), ("x-ratelimit-reset-after", "2.0")]));
        assert_eq!(waited(&limits, route(1)).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_global_limit_holds_for_all() {
        let limits = Limits::default();
        limits.refused(route(1), &headers(&[("retry-after", "7")]), true, None);
        assert_eq!(waited(&limits, route(2)).await, Duration::from_secs(7));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_span_is_a_short_one_and_nothing_is_endless() {
        for odd in ["-1", "NaN", "inf", "1e308", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", ""] {
            let limits = Limits::default();
            limits.note(route(1), &headers(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset-after", odd)]));
            assert_eq!(waited(&limits, route(1)).await, Duration::ZERO, "{odd}");
            limits.refused(route(1), &headers(&[("retry-after", odd)]), false, None);
            assert_eq!(waited(&limits, route(1)).await, SPAN_UNKNOWN, "{odd}");
        }
        let limits = Limits::default();
        limits.refused(route(1), &headers(&[]), false, Some(1e9));
        assert_eq!(waited(&limits, route(1)).await, SPAN_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn memory_stays_within_its_bounds() {
        let limits = Limits::default();
        for channel in 1..=5_000 {
            limits.refused(route(channel), &headers(&[]), false, Some(60.0));
        }
        assert_eq!(limits.free_at().routes.len(), ROUTES_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_one_route_take_turns() {
        let limits = Limits::default();
        let first = limits.turn(route(1)).await;
        assert!(timeout(Duration::from_secs(1), limits.turn(route(1))).await.is_err());
        assert!(timeout(Duration::from_secs(1), limits.turn(route(2))).await.is_ok());
        drop(first);
        assert!(timeout(Duration::from_secs(1), limits.turn(route(1))).await.is_ok());
    }

    async fn waited(limits: &Limits, route: RatelimitingBucket) -> Duration {
        let before = Instant::now();
        drop(limits.turn(route).await);
        before.elapsed()
    }

    fn route(channel: u64) -> RatelimitingBucket {
        Route::ChannelMessages { channel_id: ChannelId::new(channel) }.ratelimiting_bucket()
    }

    fn headers(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }
}
