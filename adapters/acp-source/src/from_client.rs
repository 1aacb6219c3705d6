//! Lines on their way from the client to its agent.

use std::io::{self, Read};
use std::sync::Arc;

use bridge_core::SourceEvent;
use bridge_model::{Outcome, Withdrawn};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tracing::{debug, warn};

use crate::calls::{Asked, Sessions, named};
use crate::from_agent::CancelParams;
use crate::json::{Message, RpcId, forgiven, read, text};
use crate::pump::{self, Fate, Sieve};
use crate::wire::{HeldAsk, State, Wire, locked};

pub(crate) struct FromClient {
    wire: Arc<Wire>,
    /// Told once the line in question has been passed on, so that nobody acts on news the agent does not have.
    news: Vec<SourceEvent>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    client_info: Option<&'a RawValue>,
    /// What version 2 has in its place.
    #[serde(borrow)]
    info: Option<&'a RawValue>,
}

impl FromClient {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self { wire, news: Vec::new() }
    }

    pub(crate) fn run(mut self, from: impl Read) {
        if let Err(error) = pump::run(from, &mut self) {
            warn!(%error, "the client's input cannot be passed on any more");
        }
        // Nobody can be asked on the client's behalf any more. The refusals go out before the agent's input is closed,
        // so that no agent sees an end of input where it waits for an answer.
        let mut agent = locked(&self.wire.agent);
        let gone = locked(&self.wire.state).take_all();
        self.wire.tell_room();
        for held in &gone {
            let _ = agent.answer(&held.id, &Outcome::Cancelled);
        }
        agent.close();
        drop(agent);
        for held in gone {
            self.wire.tell(SourceEvent::Withdrawn(self.wire.reply_to(held.ask), Withdrawn::ClientGone));
        }
    }

    fn look_at(&mut self, message: &Message<'_>) -> Fate {
        let key = message.id.map(RpcId::parse);
        // Also where a method stands beside it: readers differ in what they make of that.
        if let Some(key) = key.as_ref().filter(|_| message.may_answer())
            && matches!(self.response(key), Fate::Withhold)
        {
            return Fate::Withhold;
        }
        for method in &message.methods {
            self.asked(method, key.clone(), message);
        }
        Fate::Pass
    }

    fn asked(&mut self, method: &str, key: Option<RpcId>, message: &Message<'_>) {
        let params: Params<'_> = message.params();
        let session = || params.session_id.and_then(text);
        let wire = Arc::clone(&self.wire);
        let mut state = locked(&wire.state);
        match (method, key) {
            ("session/cancel" | "session/close", _) => self.turn_cancelled(&mut state, session().as_deref()),
            ("$/cancel_request", _) => {
                let cancelled: CancelParams<'_> = message.params();
                let session = cancelled.request_id.and_then(|id| state.sessions.prompt(&RpcId::parse(id)));
                if session.is_some() {
                    self.turn_cancelled(&mut state, session.as_deref());
                }
            }
            ("initialize", Some(key)) => {
                state.sessions.client = params.client_info.or(params.info).and_then(read::<Value>).as_ref().and_then(named);
                state.sessions.asked(key, Asked::Initialize);
            }
            ("session/new" | "session/load" | "session/resume" | "session/fork", Some(key)) => {
                // A fork's answer names a session of its own.
                let id = (method != "session/fork").then(session).flatten();
                state.sessions.asked(key, Asked::Session { id, cwd: params.cwd.and_then(text) });
            }
            ("session/prompt", Some(key)) => {
                if let Some(session) = session() {
                    state.sessions.asked(key, Asked::Prompt { session });
                }
            }
            _ => {}
        }
    }

    /// Something that nobody here can read. While a request is held it must not be an answer to it.
    fn look_at_wreck(&self, line: &[u8]) -> Fate {
        let is_held = locked(&self.wire.state).held().next().is_some();
        if is_held && memchr::memmem::find(line, b"outcome\"").is_some() {
            warn!("the client sent what may be an answer to a permission request, but is not valid JSON; it is dropped");
            return Fate::Withhold;
        }
        Fate::Pass
    }

    fn turn_cancelled(&mut self, state: &mut State, session: Option<&str>) {
        // A cancelling that does not say of what is taken to mean everything.
        let is_meant =
            |sessions: &Sessions, held: &HeldAsk| session.is_none_or(|session| sessions.is_within(&held.session, session));
        self.news.extend(self.wire.withdraw(state, Withdrawn::TurnCancelled, is_meant));
    }

    /// An answer of the client's. To a request that is held it counts only if the client was asked as well.
    fn response(&mut self, key: &RpcId) -> Fate {
        let mut state = locked(&self.wire.state);
        if let Some(was_asked) = state.client_was_asked(key) {
            if !was_asked {
                drop(state);
                warn!("the client answered a permission request that it was not asked; its answer is dropped");
                return Fate::Withhold;
            }
            let answered = state.take(key).filter(|held| !held.withdrawn);
            self.wire.tell_room();
            let news = |held: HeldAsk| SourceEvent::Withdrawn(self.wire.reply_to(held.ask), Withdrawn::AnsweredInClient);
            self.news.extend(answered.map(news));
            return Fate::Pass;
        }
        if state.is_owed(key) {
            debug!("the client's answer to a permission request came second");
            return Fate::Withhold;
        }
        Fate::Pass
    }
}

impl Sieve for FromClient {
    fn next_of_interest(&self, lines: &[u8]) -> Option<usize> {
        (!lines.is_empty()).then_some(0)
    }

    fn look(&mut self, line: &[u8]) -> Fate {
        if let Some(message) = std::str::from_utf8(line).ok().and_then(Message::parse) {
            return self.look_at(&message);
        }
        match forgiven(line) {
            Some((values, _)) => {
                pump::each(&values, |value| Message::parse(value.get()).map_or(Fate::Pass, |message| self.look_at(&message)))
            }
            None => self.look_at_wreck(line),
        }
    }

    fn passed(&mut self) {
        for news in self.news.drain(..) {
            self.wire.tell(news);
        }
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        locked(&self.wire.agent).pass(bytes)
    }
}
