//! Programs that raise permission requests over HTTP, and wait for their outcomes.
//!
//! A token can raise, look at and withdraw its own requests, and nothing else: there is no way to answer over it. A request
//! is known by the caller's own key, so that raising it again is not a second one. It waits on while its caller is there, or
//! for as long as it may if it is detached; a caller takes an outcome by a receipt.
//!
//! Connections come over TCP or over a Unix socket. Requests that come back after a restart of the bridge are known again by
//! the mark that the bridge kept for this source.

mod api;
mod body;
pub mod client;
mod fault;
mod listen;
mod raise;
mod read;
mod routes;
mod shared;
mod table;
mod tokens;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Replies, SourceError, SourceEvent, Waiting};
use bridge_model::{Ending, Outcome, ReplyTo, RoomName, SourceName, Timestamp};
use policy::Policy;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

pub use api::{Asker, HowEnded, Problem, State, Status, TakenBack, WherePaths};
pub use listen::{ListenError, Listening};
pub use tokens::{Grant, Tokens, TokensError};

use api::words;
use shared::Shared;
use table::{Ended, Mark};

/// Events that may wait for the bridge; beyond it callers wait.
const EVENTS_MAX: usize = 256;

/// The clock and the randomness of the program.
#[derive(Clone)]
pub struct Outside {
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub random: fn() -> [u8; 8],
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outside")
    }
}

/// How the source behaves.
#[derive(Clone, Debug)]
pub struct Options {
    pub name: SourceName,
    /// Where the tokens are.
    pub folder: PathBuf,
    /// The rooms that there are.
    pub rooms: BTreeMap<RoomName, RoomFacts>,
    /// Which one is asked where a request names none.
    pub room: Option<RoomName>,
    /// The operator's policy as it is now. It says what a request may not widen; the bridge itself narrows by it.
    pub policy: watch::Receiver<Arc<Policy>>,
    /// How long a caller may be away before its requests are withdrawn that are not detached.
    pub lease: Duration,
    pub outside: Outside,
}

/// What a caller has to know of a room.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoomFacts {
    /// Whoever asks may not answer, so that it has to be known who that is.
    pub asks_who_launched: bool,
}

/// A request that an earlier run of the bridge took.
#[derive(Clone, Debug)]
pub struct Known {
    pub from: ReplyTo,
    /// As the source told the bridge.
    pub comes_back: String,
    /// `None`: it goes on.
    pub ended: Option<KnownEnd>,
}

/// How it ended.
#[derive(Clone, Debug)]
pub struct KnownEnd {
    /// The chosen option's id as JSON, or `null`; `None`: there is nothing to tell.
    pub outcome: Option<String>,
    pub ending: Ending,
    pub at: Option<Timestamp>,
}

/// The source, which is served from now on.
pub struct HttpSource {
    shared: Arc<Shared>,
    events: mpsc::Receiver<SourceEvent>,
}

impl HttpSource {
    /// `known`: what earlier runs took.
    #[must_use]
    pub fn new(options: Options, known: Vec<Known>) -> Self {
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let shared = Arc::new(Shared::new(options, sender));
        shared.restore(known);
        Self { shared, events }
    }

    /// Begins to serve; callers may have connected before.
    #[must_use]
    pub fn serve(self, listening: Listening) -> (HttpAsks, HttpReplies) {
        listening.serve(&self.shared);
        shared::watch_leases(&self.shared);
        (HttpAsks { events: self.events }, HttpReplies { shared: self.shared })
    }
}

/// What programs ask.
pub struct HttpAsks {
    events: mpsc::Receiver<SourceEvent>,
}

impl bridge_core::Asks for HttpAsks {
    async fn next(&mut self) -> Option<SourceEvent> {
        self.events.recv().await
    }
}

/// Keeps outcomes until they are taken.
pub struct HttpReplies {
    shared: Arc<Shared>,
}

impl Replies for HttpReplies {
    fn asked(&self, to: &ReplyTo, waiting: &Waiting) {
        self.shared.table().held(to.ask, waiting.clone());
    }

    async fn reply(&self, to: &ReplyTo, outcome: &Outcome, ending: Option<&Ending>) -> Result<(), SourceError> {
        let taken = {
            let mut table = self.shared.table();
            let ended = ended(Some(&acp(outcome)), ending, Some((self.shared.options.outside.now)()));
            if !table.end(to.ask, ended) {
                // Whoever took it back knows how it ended.
                return Err(SourceError::Withdrawn);
            }
            table.when_taken(to.ask)
        };
        // Only of what a person chose somebody wants to know whether it arrived.
        match ending {
            Some(Ending::Answered { .. }) => taken.await.unwrap_or(Err(SourceError::Gone)),
            Some(Ending::Expired | Ending::Withdrawn(_) | Ending::Refused(_)) | None => Ok(()),
        }
    }
}

/// The chosen option's id as JSON, or `null`.
fn acp(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Selected(offered) => offered.option().id.raw().get().to_owned(),
        Outcome::Cancelled => "null".to_owned(),
    }
}

fn ended(outcome: Option<&str>, ending: Option<&Ending>, at: Option<Timestamp>) -> Ended {
    let outcome = outcome.map(|id| match id {
        "null" => r#"{"outcome":"cancelled"}"#.to_owned(),
        id => format!(r#"{{"outcome":"selected","optionId":{id}}}"#),
    });
    Ended {
        outcome: outcome.and_then(|outcome| RawValue::from_string(outcome).ok()),
        how: api::HowEnded::of(ending),
        words: words(ending, at),
    }
}

fn mark(known: &Known) -> Option<Mark> {
    serde_json::from_str(&known.comes_back).ok()
}

#[cfg(test)]
mod tests;
