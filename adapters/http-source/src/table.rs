//! Requests that were raised, and what became of them.

use std::collections::{BTreeMap, VecDeque};

use bridge_core::{SourceError, Waiting};
use bridge_model::{PermissionRequest, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};

use crate::api::{HowEnded, State, Status};

/// Requests without an end at once, over all tokens; one more is not taken.
const OPEN_MAX: usize = 10_000;
/// Of one token.
const OPEN_MAX_OF_TOKEN: usize = 5_000;
/// Memory that open requests take, roughly, over all tokens; one more is not taken.
const WEIGHT_MAX: usize = 512 << 20;
/// Of one token.
const WEIGHT_MAX_OF_TOKEN: usize = WEIGHT_MAX / 2;
/// Ended requests that are remembered; beyond them the oldest is forgotten of the token that has most of them, so that no
/// token can make the outcomes of another be forgotten.
const ENDED_MAX: usize = 10_000;

/// By what a request is known again after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The token that raised it, by its id.
    pub(crate) token: String,
    /// The caller's own name for it.
    pub(crate) key: String,
    /// SHA-256 of what was asked, in hexadecimal digits.
    pub(crate) digest: String,
    pub(crate) detached: bool,
}

pub(crate) struct Raised {
    pub(crate) mark: Mark,
    /// What was asked, while it waits in the run that took it.
    pub(crate) request: Option<Box<PermissionRequest>>,
    /// Bytes that it takes while it is open, with the changes that were made to it.
    weight: usize,
    stage: Stage,
    changes: watch::Sender<()>,
    /// Callers that are waiting for news.
    listening: usize,
    /// When a caller last was there.
    contact: Timestamp,
    /// Told once the caller has the outcome.
    taken: Option<oneshot::Sender<Result<(), SourceError>>>,
    /// The caller has said that it has the outcome.
    is_taken: bool,
}

enum Stage {
    /// The bridge has not said anything yet.
    New,
    Held(Waiting),
    Ended(Ended),
}

#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// As ACP has it; `None`: there is nothing to tell.
    pub(crate) outcome: Option<Box<RawValue>>,
    pub(crate) how: HowEnded,
    pub(crate) words: String,
}

/// What comes of raising a request.
pub(crate) enum Raising {
    New,
    /// The same was raised before.
    Known(u64),
    /// Something else was raised under its key.
    Conflict,
    /// The same was raised before, and its outcome was taken.
    Taken,
    TooMany,
}

#[derive(Default)]
pub(crate) struct Table {
    requests: BTreeMap<u64, Raised>,
    keys: BTreeMap<(String, String), u64>,
    /// Of each token, the oldest first. No list is empty.
    ended: BTreeMap<String, VecDeque<u64>>,
    ended_count: usize,
    /// Of all that are open.
    weight: usize,
}

impl Raised {
    fn new(mark: Mark, request: Option<Box<PermissionRequest>>, weight: usize, now: Timestamp) -> Self {
        let (stage, changes) = (Stage::New, watch::Sender::new(()));
        Self { mark, request, weight, stage, changes, listening: 0, contact: now, taken: None, is_taken: false }
    }

    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    pub(crate) fn is_new(&self) -> bool {
        matches!(self.stage, Stage::New)
    }

    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(crate) fn status(&self, id: u64, now: Timestamp) -> Status {
        let (waiting, ended) = match &self.stage {
            Stage::New => (None, None),
            Stage::Held(waiting) => (Some(waiting), None),
            Stage::Ended(ended) => (None, Some(ended)),
        };
        let left = |waiting: &Waiting| u64::try_from(waiting.deadline.since(now).as_millis()).unwrap_or(u64::MAX);
        Status {
            id: text(id),
            state: if ended.is_some() { State::Settled } else { State::Held },
            room: waiting.map(|waiting| waiting.room.to_string()),
            number: waiting.map(|waiting| waiting.request.number),
            expires_in_ms: waiting.map(left),
            outcome: ended.and_then(|ended| ended.outcome.clone()),
            ending: ended.map(|ended| ended.how),
            words: ended.map(|ended| ended.words.clone()),
        }
    }
}

impl Table {
    /// `ask`: a number that no other has. `weight`: bytes that it takes, roughly.
    pub(crate) fn raise(&mut self, ask: u64, mark: Mark, request: PermissionRequest, weight: usize, now: Timestamp) -> Raising {
        let key = (mark.token.clone(), mark.key.clone());
        if let Some(known) = self.keys.get(&key) {
            let is_same = self.requests.get(known).is_some_and(|raised| raised.mark == mark);
            let is_taken = self.requests.get(known).is_some_and(|raised| raised.is_taken);
            return match (is_same, is_taken) {
                (true, false) => Raising::Known(*known),
                (true, true) => Raising::Taken,
                (false, _) => Raising::Conflict,
            };
        }
        if !self.has_room(&mark.token, 1, weight) {
            return Raising::TooMany;
        }
        self.weight += weight;
        self.keys.insert(key, ask);
        self.requests.insert(ask, Raised::new(mark, Some(Box::new(request)), weight, now));
        Raising::New
    }

    /// Whether so many more requests of a token can be open, and take so much.
    fn has_room(&self, token: &str, more: usize, weight: usize) -> bool {
        let (open, all) = (self.requests.len() - self.ended_count + more, self.weight + weight);
        if OPEN_MAX < open || WEIGHT_MAX < all {
            return false;
        }
        if open <= OPEN_MAX_OF_TOKEN && all <= WEIGHT_MAX_OF_TOKEN {
            return true;
        }
        let own = self.requests.values().filter(|raised| raised.mark.token == token && !raised.is_ended());
        let (count, own) = own.fold((more, weight), |(count, sum), raised| (count + 1, sum + raised.weight));
        count <= OPEN_MAX_OF_TOKEN && own <= WEIGHT_MAX_OF_TOKEN
    }

    /// A change of an open request takes so much more. `false`: there is no room for it.
    pub(crate) fn grow(&mut self, ask: u64, weight: usize) -> bool {
        let Some(token) = self.requests.get(&ask).map(|raised| raised.mark.token.clone()) else { return false };
        let has_room = self.has_room(&token, 0, weight);
        if has_room && let Some(raised) = self.requests.get_mut(&ask) {
            raised.weight += weight;
            self.weight += weight;
        }
        has_room
    }

    /// One that an earlier run of the bridge took. `ended`: how, if it has.
    pub(crate) fn restore(&mut self, ask: u64, mark: Mark, ended: Option<Ended>, is_taken: bool, now: Timestamp) {
        if self.has(ask) {
            return;
        }
        self.keys.insert((mark.token.clone(), mark.key.clone()), ask);
        self.requests.insert(ask, Raised::new(mark, None, 0, now));
        if let Some(ended) = ended {
            self.end(ask, ended);
        }
        if let Some(raised) = self.requests.get_mut(&ask) {
            raised.is_taken = is_taken;
        }
    }

    pub(crate) fn has(&self, ask: u64) -> bool {
        self.requests.contains_key(&ask)
    }

    pub(crate) fn of_token(&self, ask: u64, token: &str) -> Option<&Raised> {
        self.requests.get(&ask).filter(|raised| raised.mark.token == token)
    }

    /// Those that are open first, and so many at most.
    pub(crate) fn list(&self, token: &str, max: usize, now: Timestamp) -> Vec<Status> {
        let own = || self.requests.iter().filter(|(_, raised)| raised.mark.token == token);
        let open = own().filter(|(_, raised)| !raised.is_ended());
        let listed = open.chain(own().filter(|(_, raised)| raised.is_ended())).take(max);
        listed.map(|(ask, raised)| raised.status(*ask, now)).collect()
    }

    pub(crate) fn held(&mut self, ask: u64, waiting: Waiting) {
        if let Some(raised) = self.requests.get_mut(&ask).filter(|raised| !raised.is_ended()) {
            raised.stage = Stage::Held(waiting);
            raised.changes.send_replace(());
        }
    }

    /// The first end counts. `false`: it had ended.
    pub(crate) fn end(&mut self, ask: u64, ended: Ended) -> bool {
        let Some(raised) = self.requests.get_mut(&ask).filter(|raised| !raised.is_ended()) else { return false };
        raised.stage = Stage::Ended(ended);
        raised.request = None;
        self.weight -= std::mem::take(&mut raised.weight);
        raised.changes.send_replace(());
        self.ended.entry(raised.mark.token.clone()).or_default().push_back(ask);
        self.ended_count += 1;
        if ENDED_MAX < self.ended_count {
            self.forget();
        }
        true
    }

    fn forget(&mut self) {
        let Some((token, of_token)) = self.ended.iter_mut().max_by_key(|(_, of_token)| of_token.len()) else { return };
        let oldest = of_token.pop_front();
        if of_token.is_empty() {
            let token = token.clone();
            self.ended.remove(&token);
        }
        self.ended_count -= 1;
        if let Some(forgotten) = oldest.and_then(|oldest| self.requests.remove(&oldest)) {
            self.keys.remove(&(forgotten.mark.token, forgotten.mark.key));
        }
    }

    /// Tells once the caller has taken the outcome; at once where nobody can take it any more.
    pub(crate) fn when_taken(&mut self, ask: u64) -> oneshot::Receiver<Result<(), SourceError>> {
        let (told, taken) = oneshot::channel();
        if let Some(raised) = self.requests.get_mut(&ask) {
            raised.taken = Some(told);
        }
        taken
    }

    /// The caller has the outcome. `false`: there is none yet.
    pub(crate) fn taken(&mut self, ask: u64) -> bool {
        let Some(raised) = self.requests.get_mut(&ask).filter(|raised| raised.is_ended()) else { return false };
        raised.is_taken = true;
        if let Some(taken) = raised.taken.take() {
            let _ = taken.send(Ok(()));
        }
        true
    }

    /// A caller begins to listen for news, or stops.
    pub(crate) fn listens(&mut self, ask: u64, is_there: bool, now: Timestamp) {
        if let Some(raised) = self.requests.get_mut(&ask) {
            raised.listening = if is_there { raised.listening + 1 } else { raised.listening.saturating_sub(1) };
            raised.contact = now;
        }
    }

    /// Those whose callers were last there before `since`. They will not come for an outcome any more, and whoever wants to
    /// know is told so.
    pub(crate) fn abandoned(&mut self, since: Timestamp) -> Vec<u64> {
        let is_left = |raised: &Raised| !raised.mark.detached && raised.listening == 0 && raised.contact < since;
        let mut abandoned = Vec::new();
        for (ask, raised) in self.requests.iter_mut().filter(|(_, raised)| is_left(raised)) {
            if !raised.is_ended() {
                abandoned.push(*ask);
            } else if let Some(taken) = raised.taken.take() {
                // Its card says from now on that nothing was allowed, and so it is.
                let words = "Its caller was gone for too long, so that it was not delivered. Nothing was allowed.".to_owned();
                raised.stage = Stage::Ended(Ended { outcome: None, how: HowEnded::Withdrawn, words });
                let _ = taken.send(Err(SourceError::Gone));
            }
        }
        abandoned
    }

    /// Open requests of tokens that are none of these.
    pub(crate) fn of_others(&self, tokens: &[String]) -> Vec<u64> {
        let is_other = |raised: &Raised| !raised.is_ended() && !tokens.contains(&raised.mark.token);
        self.requests.iter().filter(|(_, raised)| is_other(raised)).map(|(ask, _)| *ask).collect()
    }
}

/// As callers know it.
pub(crate) fn text(ask: u64) -> String {
    format!("{ask:016x}")
}

/// Exactly what [`text`] wrote.
pub(crate) fn parse(id: &str) -> Option<u64> {
    let ask = u64::from_str_radix(id, 16).ok()?;
    (text(ask) == id).then_some(ask)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
