//! What is counted and timed for an operator, as Prometheus reads it.
//!
//! It names rooms, kinds and reasons, and never a person, a request or what a tool would do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use bridge_core::Entry;
use bridge_model::{Delivery, Ending, Refused, RequestId, RoomName, Timestamp};
use prometheus_client::encoding::EncodeLabelSet;
#[cfg(any(feature = "http", test))]
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Requests whose times are remembered; more are not held at once.
const TIMED_MAX: usize = 20_000;

/// Upper bounds in seconds, from a write to a disk to a person who thinks.
const BUCKETS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Ended {
    ending: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    option: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Room {
    room: String,
}

/// All of it. What shares it reads while the hub writes.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Inner>);

struct Inner {
    #[cfg_attr(not(any(feature = "http", test)), expect(dead_code, reason = "nobody reads it"))]
    registry: Registry,
    held: Gauge,
    allowed: Gauge,
    settled: Family<Ended, Counter>,
    answered: Family<Answered, Counter>,
    refused: Family<Reason, Counter>,
    undelivered: Counter,
    card: Histogram,
    answer: Histogram,
    lateness: Histogram,
    connected: Family<Room, Gauge>,
    rooms: BTreeSet<RoomName>,
    lost: Mutex<BTreeSet<RoomName>>,
    times: Mutex<BTreeMap<RequestId, Times>>,
}

/// When what happened to a request.
#[derive(Clone, Copy)]
struct Times {
    held: Timestamp,
    deadline: Timestamp,
    answered: Option<Timestamp>,
}

impl Metrics {
    /// `rooms`: all that are configured. None of them is connected yet.
    pub(crate) fn new(rooms: impl IntoIterator<Item = RoomName>) -> Self {
        let rooms: BTreeSet<_> = rooms.into_iter().collect();
        let mut registry = Registry::with_prefix("countersign");
        let histogram = || Histogram::new(BUCKETS);
        let inner = Inner {
            held: Gauge::default(),
            allowed: Gauge::default(),
            settled: Family::default(),
            answered: Family::default(),
            refused: Family::default(),
            undelivered: Counter::default(),
            card: histogram(),
            answer: histogram(),
            lateness: histogram(),
            connected: Family::default(),
            lost: Mutex::new(rooms.clone()),
            rooms,
            times: Mutex::default(),
            registry: Registry::default(),
        };
        registry.register("held", "Requests that wait for a person", inner.held.clone());
        registry.register("allowed", "Requests that the policy allowed without a person, since the start", inner.allowed.clone());
        registry.register("settled", "Requests that have ended, by how", inner.settled.clone());
        registry.register("answered", "Answers of people, by what the option does", inner.answered.clone());
        registry.register("refused", "Requests that were refused without a person, by why", inner.refused.clone());
        registry.register("undelivered", "Answers that did not reach the agent", inner.undelivered.clone());
        let seconds = |registry: &mut Registry, name: &str, help: &str, histogram: &Histogram| {
            registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
        };
        seconds(&mut registry, "card", "From a request to its card in the room", &inner.card);
        seconds(&mut registry, "delivery", "From an answer to the agent having it", &inner.answer);
        seconds(&mut registry, "expiry_lateness", "From a deadline to its refusal", &inner.lateness);
        registry.register("room_connected", "Whether a room can be used: 1 or 0", inner.connected.clone());
        for room in &inner.rooms {
            inner.connected.get_or_create(&Room { room: room.to_string() }).set(0);
        }
        Self(Arc::new(Inner { registry, ..inner }))
    }

    /// As Prometheus reads it.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.0.registry);
        text
    }

    /// Rooms that cannot be used now.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn not_ready(&self) -> Vec<RoomName> {
        self.0.lost.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn room(&self, room: &RoomName, is_connected: bool) {
        if !self.0.rooms.contains(room) {
            return;
        }
        self.0.connected.get_or_create(&Room { room: room.to_string() }).set(i64::from(is_connected));
        let mut lost = self.0.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if is_connected {
            lost.remove(room);
        } else {
            lost.insert(room.clone());
        }
    }

    pub(crate) fn now(&self, held: usize, allowed: u64) {
        self.0.held.set(i64::try_from(held).unwrap_or(i64::MAX));
        self.0.allowed.set(i64::try_from(allowed).unwrap_or(i64::MAX));
    }

    /// Something goes on record.
    pub(crate) fn entry(&self, entry: &Entry, now: Timestamp) {
        let mut times = self.0.times.lock().unwrap_or_else(PoisonError::into_inner);
        match entry {
            Entry::Held { request, deadline, .. } => {
                if times.len() < TIMED_MAX {
                    times.entry(*request).or_insert(Times { held: now, deadline: *deadline, answered: None });
                }
            }
            Entry::Posted { request, .. } => {
                if let Some(times) = times.get(request) {
                    self.0.card.observe(now.since(times.held).as_secs_f64());
                }
            }
            Entry::ChosenFirst { .. } => {}
            Entry::Settled { request, ending, .. } => {
                let known = times.remove(request);
                self.ended(*request, ending, known, now, &mut times);
            }
        }
    }

    fn ended(
        &self,
        request: RequestId,
        ending: &Ending,
        known: Option<Times>,
        now: Timestamp,
        times: &mut BTreeMap<RequestId, Times>,
    ) {
        let count = |ending| self.0.settled.get_or_create(&Ended { ending }).inc();
        match ending {
            Ending::Answered { does, delivery: Delivery::Pending, .. } => {
                count("answered");
                let option = option(*does);
                self.0.answered.get_or_create(&Answered { option }).inc();
                if let Some(known) = known {
                    times.insert(request, Times { answered: Some(now), ..known });
                }
            }
            // It was counted when it was chosen.
            Ending::Answered { delivery: Delivery::Taken, .. } => {
                if let Some(answered) = known.and_then(|known| known.answered) {
                    self.0.answer.observe(now.since(answered).as_secs_f64());
                }
            }
            Ending::Answered { delivery: Delivery::NotDelivered(_), .. } => drop(self.0.undelivered.inc()),
            Ending::Expired => {
                count("expired");
                if let Some(known) = known {
                    self.0.lateness.observe(now.since(known.deadline).as_secs_f64());
                }
            }
            Ending::Withdrawn(_) => drop(count("withdrawn")),
            Ending::Refused(why) => {
                count("refused");
                self.0.refused.get_or_create(&Reason { reason: reason(why) }).inc();
            }
        }
    }
}

fn option(does: bridge_model::ButtonStyle) -> &'static str {
    use bridge_model::ButtonStyle::{AllowAlways, AllowOnce, Neutral, Reject, RejectAlways};
    match does {
        AllowOnce => "allow_once",
        AllowAlways => "allow_always",
        Reject => "reject_once",
        RejectAlways => "reject_always",
        Neutral => "unknown",
    }
}

const fn reason(why: &Refused) -> &'static str {
    match why {
        Refused::ByPolicy(_) => "policy",
        Refused::Malformed(_) => "malformed",
        Refused::TooMany => "too_many",
        Refused::TooFast => "too_fast",
        Refused::RefusedBefore => "refused_before",
        Refused::Nobody => "nobody",
        Refused::NotShowable(_) => "not_showable",
        Refused::RoomUnavailable(_) => "room_unavailable",
        Refused::Changed(_) => "changed",
        Refused::NotRecorded => "not_recorded",
        Refused::NoRoom => "no_room",
    }
}

#[cfg(test)]
mod tests {
    use bridge_model::{Digest, Shown};

    use super::*;

    const REQUEST: RequestId = RequestId { run: 1, number: 1 };

    #[test]
    fn what_happens_is_counted_and_timed_and_nobody_is_named() {
        let room = RoomName::new("ops");
        let metrics = Metrics::new([room.clone()]);
        assert_eq!(metrics.not_ready(), std::slice::from_ref(&room));
        metrics.room(&room, true);
        assert_eq!(metrics.not_ready(), []);
        let at = Timestamp::from_unix_millis;
        let held = Entry::Held {
            request: REQUEST,
            room: room.clone(),
            headline: Shown::line("rm -rf secret"),
            deadline: at(60_000),
            shown: Digest::from_bytes([0; 32]),
            kept: None,
        };
        metrics.entry(&held, at(0));
        metrics.now(1, 3);
        let expired = Entry::Settled { request: REQUEST, ending: Ending::Expired, at: Some(at(60_020)), outcome: None };
        metrics.entry(&expired, at(60_020));
        let nobody = Entry::Settled { request: REQUEST, ending: Ending::Refused(Refused::Nobody), at: None, outcome: None };
        metrics.entry(&nobody, at(60_021));
        let text = metrics.text();
        for line in [
            "countersign_held 1",
            "countersign_allowed 3",
            "countersign_settled_total{ending=\"expired\"} 1",
            "countersign_refused_total{reason=\"nobody\"} 1",
            "countersign_expiry_lateness_seconds_bucket{le=\"0.025\"} 1",
            "countersign_expiry_lateness_seconds_bucket{le=\"0.01\"} 0",
            "countersign_room_connected{room=\"ops\"} 1",
        ] {
            assert!(text.lines().any(|told| told == line), "{line} in\n{text}");
        }
        assert!(!text.contains("secret"), "{text}");
        metrics.room(&room, false);
        assert_eq!(metrics.not_ready(), [room]);
    }
}
