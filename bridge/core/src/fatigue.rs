//! Keeps an agent from wearing people down: with many cards, with the same card again, and people from pressing blindly.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use bridge_model::{PermissionRequest, PersonId, RoomName, SessionId, SourceName, Timestamp};
use governor::clock::FakeRelativeClock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use policy::Pace;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Sessions, rooms or people that are kept count of at once. While all of them were active just now, a new one is refused.
const KEYS_MAX: usize = 4_096;
/// Refusals that are remembered; beyond it the oldest is forgotten.
const REFUSED_MAX: usize = 256;

type Keyed<K> = RateLimiter<
    K,
    HashMapStateStore<K>,
    FakeRelativeClock,
    NoOpMiddleware<<FakeRelativeClock as governor::clock::Clock>::Instant>,
>;
type Single = RateLimiter<
    NotKeyed,
    InMemoryState,
    FakeRelativeClock,
    NoOpMiddleware<<FakeRelativeClock as governor::clock::Clock>::Instant>,
>;

/// A session of a source; those without an id are one.
pub(crate) type SessionKey = (SourceName, Option<SessionId>);

#[derive(Debug)]
pub(crate) struct Fatigue {
    /// The bridge's own time, which decides here too.
    clock: FakeRelativeClock,
    now: Option<Timestamp>,
    cards: Single,
    cards_of_room: Keyed<RoomName>,
    /// By the digest of the session's key, whose length is the agent's to choose.
    cards_of_session: Keyed<[u8; 32]>,
    presses: Keyed<PersonId>,
    refused: VecDeque<Refusals>,
}

/// How often in a row people refused one thing.
#[derive(Debug)]
struct Refusals {
    what: [u8; 32],
    times: u32,
    until: Timestamp,
}

impl Fatigue {
    pub(crate) fn new(pace: Pace) -> Self {
        let clock = FakeRelativeClock::default();
        Self {
            cards: RateLimiter::direct_with_clock(Quota::per_minute(pace.cards_a_minute), clock.clone()),
            cards_of_room: keyed(pace.cards_a_minute_in_room, &clock),
            cards_of_session: keyed(pace.cards_a_minute_of_session, &clock),
            presses: keyed(pace.presses_a_minute, &clock),
            clock,
            now: None,
            refused: VecDeque::new(),
        }
    }

    /// Another pace, which starts anew where it differs. What people refused stays refused.
    pub(crate) fn paced(&mut self, before: &Pace, now: &Pace) {
        if before.cards_a_minute != now.cards_a_minute {
            self.cards = RateLimiter::direct_with_clock(Quota::per_minute(now.cards_a_minute), self.clock.clone());
        }
        if before.cards_a_minute_in_room != now.cards_a_minute_in_room {
            self.cards_of_room = keyed(now.cards_a_minute_in_room, &self.clock);
        }
        if before.cards_a_minute_of_session != now.cards_a_minute_of_session {
            self.cards_of_session = keyed(now.cards_a_minute_of_session, &self.clock);
        }
        if before.presses_a_minute != now.presses_a_minute {
            self.presses = keyed(now.presses_a_minute, &self.clock);
        }
    }

    pub(crate) fn at(&mut self, now: Timestamp) {
        let before = self.now.replace(now).unwrap_or(now);
        self.clock.advance(now.since(before));
    }

    /// Whether one more card may be posted now, which then counts.
    pub(crate) fn may_post(&self, room: &RoomName, session: &SessionKey) -> bool {
        has_room(&self.cards_of_session, &digest(session)) && has_room(&self.cards_of_room, room) && self.cards.check().is_ok()
    }

    /// Whether a person may press once more, which then counts.
    pub(crate) fn may_press(&self, person: &PersonId) -> bool {
        has_room(&self.presses, person)
    }

    /// Whether people refused the same thing so often in a row that they are not asked again yet.
    pub(crate) fn was_refused(&self, now: Timestamp, request: &PermissionRequest, pace: &Pace) -> bool {
        if self.refused.is_empty() {
            // A request can be long, and usually there is nothing to compare it with.
            return false;
        }
        let what = what(request);
        let refusals = self.refused.iter().find(|refusals| refusals.what == what);
        refusals.is_some_and(|refusals| pace.refused_in_a_row.get() <= refusals.times && !refusals.until.has_passed(now))
    }

    pub(crate) fn answered(&mut self, now: Timestamp, request: &PermissionRequest, refused: bool, pace: &Pace) {
        let what = what(request);
        let before = self.refused.iter().position(|refusals| refusals.what == what).and_then(|at| self.refused.remove(at));
        if !refused {
            return;
        }
        let times = before.filter(|refusals| !refusals.until.has_passed(now)).map_or(0, |refusals| refusals.times);
        if REFUSED_MAX <= self.refused.len() {
            self.refused.pop_front();
        }
        self.refused.push_back(Refusals { what, times: times.saturating_add(1), until: now.after(pace.not_again_for) });
    }
}

fn keyed<K: Clone + Eq + std::hash::Hash>(a_minute: NonZeroU32, clock: &FakeRelativeClock) -> Keyed<K> {
    RateLimiter::new(Quota::per_minute(a_minute), HashMapStateStore::default(), clock.clone())
}

fn has_room<K: Clone + Eq + std::hash::Hash>(limiter: &Keyed<K>, key: &K) -> bool {
    if KEYS_MAX <= limiter.len() {
        limiter.retain_recent();
    }
    limiter.len() < KEYS_MAX && limiter.check_key(key).is_ok()
}

fn digest((source, session): &SessionKey) -> [u8; 32] {
    let parts = [Some(source.as_str()), session.as_ref().map(SessionId::as_str)];
    hashed(parts.map(|part| part.map(str::to_owned)))
}

/// The same thing asked again: of the same source, kind, title and arguments.
fn what(request: &PermissionRequest) -> [u8; 32] {
    let call = request.tool_call.as_ref();
    let title = call.and_then(|call| call.title.as_ref()).or(request.title.as_ref());
    let arguments = call.and_then(|call| call.raw_input.as_ref()).map(Value::to_string);
    let parts = [
        Some(request.from.source.as_str().to_owned()),
        Some(request.kind().name().to_owned()),
        title.cloned(),
        arguments,
        call.map(|call| format!("{:?}{:?}", call.locations, call.content)),
    ];
    hashed(parts)
}

fn hashed(parts: impl IntoIterator<Item = Option<String>>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        // One that is missing is not one that is empty.
        hash.update(part.as_ref().map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
        hash.update(part.unwrap_or_default());
    }
    hash.finalize().into()
}
