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
/// Ended requests that are remembered; beyond them the oldest is forgotten.
const ENDED_MAX: usize = 10_000;

/// By what a request is known again after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The token that raised it, by name.
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
    stage: Stage,
    changes: watch::Sender<()>,
    /// Callers that are waiting for news.
    listening: usize,
    /// When a caller last was there.
    contact: Timestamp,
    /// Told once the caller has the outcome.
    taken: Option<oneshot::Sender<Result<(), SourceError>>>,
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
    TooMany,
}

#[derive(Default)]
pub(crate) struct Table {
    requests: BTreeMap<u64, Raised>,
    keys: BTreeMap<(String, String), u64>,
    /// The oldest first.
    ended: VecDeque<u64>,
}

impl Raised {
    fn new(mark: Mark, request: Option<Box<PermissionRequest>>, now: Timestamp) -> Self {
        Self { mark, request, stage: Stage::New, changes: watch::Sender::new(()), listening: 0, contact: now, taken: None }
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
    /// `ask`: a number that no other has.
    pub(crate) fn raise(&mut self, ask: u64, mark: Mark, request: PermissionRequest, now: Timestamp) -> Raising {
        let key = (mark.token.clone(), mark.key.clone());
        if let Some(known) = self.keys.get(&key) {
            let is_same = self.requests.get(known).is_some_and(|raised| raised.mark == mark);
            return if is_same { Raising::Known(*known) } else { Raising::Conflict };
        }
        let open = self.requests.len() - self.ended.len();
        let is_its_own = |raised: &&Raised| raised.mark.token == mark.token && !raised.is_ended();
        if OPEN_MAX <= open || OPEN_MAX_OF_TOKEN <= open && OPEN_MAX_OF_TOKEN <= self.requests.values().filter(is_its_own).count()
        {
            return Raising::TooMany;
        }
        self.keys.insert(key, ask);
        self.requests.insert(ask, Raised::new(mark, Some(Box::new(request)), now));
        Raising::New
    }

    /// One that an earlier run of the bridge took. `ended`: how, if it has.
    pub(crate) fn restore(&mut self, ask: u64, mark: Mark, ended: Option<Ended>, now: Timestamp) {
        self.keys.insert((mark.token.clone(), mark.key.clone()), ask);
        self.requests.insert(ask, Raised::new(mark, None, now));
        if let Some(ended) = ended {
            self.end(ask, ended);
        }
    }

    pub(crate) fn has(&self, ask: u64) -> bool {
        self.requests.contains_key(&ask)
    }

    pub(crate) fn of_token(&self, ask: u64, token: &str) -> Option<&Raised> {
        self.requests.get(&ask).filter(|raised| raised.mark.token == token)
    }

    /// In the order of their ids.
    pub(crate) fn all_of_token(&self, token: &str) -> impl Iterator<Item = (u64, &Raised)> {
        self.requests.iter().filter(move |(_, raised)| raised.mark.token == token).map(|(ask, raised)| (*ask, raised))
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
        raised.changes.send_replace(());
        self.ended.push_back(ask);
        if ENDED_MAX < self.ended.len()
            && let Some(oldest) = self.ended.pop_front()
            && let Some(forgotten) = self.requests.remove(&oldest)
        {
            self.keys.remove(&(forgotten.mark.token, forgotten.mark.key));
        }
        true
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
                let _ = taken.send(Err(SourceError::Gone));
            }
        }
        abandoned
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
