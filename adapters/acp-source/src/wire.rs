//! What both directions share: who is held, the sessions, and the two outgoing ends.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bridge_core::SourceEvent;
use bridge_model::{Outcome, PermissionRequest, ReplyTo, ToolCall, Withdrawn};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::Options;
use crate::asks::{Call, Understood};
use crate::calls::{Sessions, laid_over};
use crate::json::RpcId;
use crate::shape::{self, Fields};

/// Requests without an answer at once; the line of one more waits, and with it all that the agent says after it.
const HELD_MAX: usize = 1_024;

/// Ids of requests the client has not seen, remembered so that it does not see their cancelling either.
const UNSEEN_MAX: usize = 1_024;

/// What the source tells the bridge.
#[derive(Debug)]
pub(crate) enum Event {
    Source(SourceEvent),
    /// The agent's output has ended.
    AgentClosed,
}

/// Locks are taken in this order: `agent` or `client`, then `state`.
pub(crate) struct Wire {
    pub(crate) options: Options,
    pub(crate) state: Mutex<State>,
    pub(crate) agent: Mutex<LineEnd>,
    pub(crate) client: Mutex<LineEnd>,
    pub(crate) flow: Arc<Flow>,
    room: Condvar,
    events: mpsc::Sender<Event>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) sessions: Sessions,
    held: BTreeMap<RpcId, HeldAsk>,
    last_ask: u64,
    /// Requests the client never saw.
    unseen: VecDeque<RpcId>,
    /// Requests that the client saw too and that were answered elsewhere: its own answer must not reach the agent.
    client_owes: VecDeque<RpcId>,
}

/// A permission request that has no answer yet.
pub(crate) struct HeldAsk {
    pub(crate) ask: u64,
    /// The id as it stood on the wire, to be echoed.
    pub(crate) id: Box<RawValue>,
    pub(crate) session: String,
    /// `None`: it was not understood.
    pub(crate) understood: Option<Understood>,
    /// It has changed since people were asked, so that what they chose was something else.
    pub(crate) is_changed: bool,
    /// It needs no person's answer any more; `cancelled` is on its way.
    pub(crate) withdrawn: bool,
    pub(crate) client: ClientsTurn,
}

/// Whether the client is asked as well. As long as it was not, its answer does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClientsTurn {
    Never,
    /// Once people are asked: the request as it came.
    Later(Box<str>),
    Asked,
}

impl Wire {
    pub(crate) fn new(
        options: Options,
        agent: Box<dyn Write + Send>,
        client: Box<dyn Write + Send>,
        flow: Arc<Flow>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        let (agent, client) = (Mutex::new(LineEnd::new(agent)), Mutex::new(LineEnd::new(client)));
        let state = Mutex::new(State { sessions: Sessions::of(options.agent_name.clone()), ..State::default() });
        Self { options, state, agent, client, flow, room: Condvar::new(), events }
    }

    /// Waits for room in the bridge's inbox. A bridge that is gone hears nothing, and has refused everything itself.
    pub(crate) fn tell(&self, event: SourceEvent) {
        let _ = self.events.blocking_send(Event::Source(event));
    }

    pub(crate) fn tell_closed(&self) {
        let _ = self.events.blocking_send(Event::AgentClosed);
    }

    pub(crate) fn wait_for_room(&self) -> MutexGuard<'_, State> {
        let is_full = |state: &mut State| HELD_MAX <= state.held.len();
        self.room.wait_while(locked(&self.state), is_full).unwrap_or_else(PoisonError::into_inner)
    }

    /// Something was taken out of the table of held requests.
    pub(crate) fn tell_room(&self) {
        self.room.notify_all();
    }

    pub(crate) fn reply_to(&self, ask: u64) -> ReplyTo {
        ReplyTo { source: self.options.name.clone(), ask }
    }

    /// Marks what `which` picks as withdrawn: from here on it is answered `cancelled` whatever else is said. Returns what
    /// is to be told about it.
    pub(crate) fn withdraw(
        &self,
        state: &mut State,
        why: Withdrawn,
        which: impl Fn(&Sessions, &HeldAsk) -> bool,
    ) -> Vec<SourceEvent> {
        let State { sessions, held, .. } = state;
        let picked = held.values_mut().filter(|held| !held.withdrawn && which(sessions, held));
        picked
            .map(|held| {
                held.withdrawn = true;
                SourceEvent::Withdrawn(self.reply_to(held.ask), why)
            })
            .collect()
    }
}

impl ClientsTurn {
    /// What it is asked now, if its turn has come.
    fn begin(&mut self) -> Option<Box<str>> {
        match std::mem::replace(self, Self::Asked) {
            Self::Later(request) => Some(request),
            before @ (Self::Never | Self::Asked) => {
                *self = before;
                None
            }
        }
    }
}

impl HeldAsk {
    pub(crate) fn call(&self) -> Option<&Call> {
        self.understood.as_ref()?.call.as_ref()
    }

    pub(crate) fn is_about(&self, session: &str, call: &str) -> bool {
        self.session == session && self.call().is_some_and(|held| held.id == call)
    }
}

impl State {
    pub(crate) fn hold(&mut self, key: RpcId, held: HeldAsk) {
        remember(&mut self.unseen, key.clone());
        self.held.insert(key, held);
    }

    /// What the client is asked now, if this still waits and it was not asked before.
    pub(crate) fn ask_client(&mut self, ask: u64) -> Option<Box<str>> {
        let (key, held) = self.held.iter_mut().find(|(_, held)| held.ask == ask && !held.withdrawn)?;
        let request = held.client.begin()?;
        let key = key.clone();
        self.is_seen_now(&key);
        Some(request)
    }

    /// What is held in a session, or all that is held, may have changed in any way; which that is.
    pub(crate) fn may_have_changed(&mut self, session: Option<&str>) -> Vec<u64> {
        let is_meant = |held: &&mut HeldAsk| !held.withdrawn && session.is_none_or(|session| held.session == session);
        let meant = self.held.values_mut().filter(is_meant);
        meant
            .map(|held| {
                held.is_changed = true;
                held.ask
            })
            .collect()
    }

    /// People are asked about it as it is now.
    pub(crate) fn is_asked(&mut self, ask: u64) {
        if let Some(held) = self.held.values_mut().find(|held| held.ask == ask) {
            held.is_changed = false;
        }
    }

    pub(crate) fn next_ask(&mut self) -> u64 {
        self.last_ask += 1;
        self.last_ask
    }

    pub(crate) fn held(&self) -> impl Iterator<Item = &HeldAsk> {
        self.held.values()
    }

    /// Lays an update over the held requests that are about this tool call. Returns those of which it changes what would be
    /// done; what cannot be read may change everything.
    pub(crate) fn changed(&mut self, session: &str, call: &str, update: Option<&Fields>) -> Vec<u64> {
        let about = self.held.values_mut().filter(|held| held.is_about(session, call) && !held.withdrawn);
        let changed = about.filter_map(|held| {
            let about = held.understood.as_mut()?.call.as_mut()?;
            let is_changed = update.is_none_or(|update| is_changed(about, update));
            held.is_changed |= is_changed;
            if let Some(update) = update.filter(|_| is_changed) {
                about.shown = laid_over(std::mem::take(&mut about.shown), update.clone());
            }
            is_changed.then_some(held.ask)
        });
        changed.collect()
    }

    /// A held request as it is by now.
    pub(crate) fn request(&self, from: &ReplyTo) -> Option<PermissionRequest> {
        let held = self.held.values().find(|held| held.ask == from.ask)?;
        let understood = held.understood.as_ref()?;
        Some(understood.request(from.clone(), self.sessions.describe(&held.session)))
    }

    /// Whether the client was asked what is held under this id; `None`: nothing is.
    pub(crate) fn client_was_asked(&self, key: &RpcId) -> Option<bool> {
        self.held.get(key).map(|held| held.client == ClientsTurn::Asked)
    }

    /// Takes the request with this id out, so that nobody else can answer it. Followed by [`Wire::tell_room`], as all
    /// takings are.
    pub(crate) fn take(&mut self, key: &RpcId) -> Option<HeldAsk> {
        self.held.remove(key)
    }

    pub(crate) fn take_ask(&mut self, ask: u64) -> Option<(RpcId, HeldAsk)> {
        let key = self.held.iter().find(|(_, held)| held.ask == ask).map(|(key, _)| key.clone())?;
        self.held.remove_entry(&key)
    }

    pub(crate) fn take_all(&mut self) -> Vec<HeldAsk> {
        std::mem::take(&mut self.held).into_values().collect()
    }

    pub(crate) fn is_unseen(&self, key: &RpcId) -> bool {
        self.unseen.contains(key)
    }

    /// The agent uses this id for something the client does see.
    pub(crate) fn is_seen_now(&mut self, key: &RpcId) {
        self.unseen.retain(|unseen| unseen != key);
    }

    pub(crate) fn client_owes(&mut self, key: RpcId) {
        remember(&mut self.client_owes, key);
    }

    /// Whether the client's answer to this id comes too late to count.
    pub(crate) fn is_owed(&mut self, key: &RpcId) -> bool {
        let at = self.client_owes.iter().position(|owed| owed == key);
        at.and_then(|at| self.client_owes.remove(at)).is_some()
    }
}

/// Whether an update alters what people see of the deed.
///
/// Its title counts only where it is all that is known: agents reword titles freely.
fn is_changed(held: &Call, update: &Fields) -> bool {
    let seen = |fields: &Fields| {
        let call = shape::tool_call(&held.id, fields);
        let only_titled = call.locations.is_empty() && call.content.is_empty() && call.raw_input.as_ref().is_none_or(is_empty);
        ToolCall { title: call.title.filter(|_| only_titled), raw_input: call.raw_input.filter(|input| !is_empty(input)), ..call }
    };
    seen(&held.shown) != seen(&laid_over(held.shown.clone(), update.clone()))
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// Beyond the limit the oldest is forgotten; all that follows is a line that its reader ignores.
fn remember(ids: &mut VecDeque<RpcId>, key: RpcId) {
    if UNSEEN_MAX <= ids.len() {
        ids.pop_front();
    }
    ids.push_back(key);
}

/// What can be seen of the flow from outside, so that nobody waits for a side that will never move again.
#[derive(Debug, Default)]
pub struct Flow {
    to_agent_bytes: AtomicU64,
    is_writing_to_client: AtomicBool,
}

impl Flow {
    /// Bytes that the agent's end has taken so far.
    pub fn to_agent_bytes(&self) -> u64 {
        self.to_agent_bytes.load(Ordering::Relaxed)
    }

    /// Whether the client is being written to, which takes as long as it does not read.
    pub fn is_writing_to_client(&self) -> bool {
        self.is_writing_to_client.load(Ordering::Relaxed)
    }

    pub(crate) fn writing_to_client(&self, is_writing: bool) {
        self.is_writing_to_client.store(is_writing, Ordering::Relaxed);
    }
}

/// Writes in pieces and counts them, so that a reader who is slow is told from one who does not read.
pub(crate) struct Counted {
    to: Box<dyn Write + Send>,
    flow: Arc<Flow>,
}

impl Counted {
    pub(crate) fn new(to: Box<dyn Write + Send>, flow: Arc<Flow>) -> Self {
        Self { to, flow }
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const PIECE: usize = 256 << 10;
        let written = self.to.write(&bytes[..bytes.len().min(PIECE)])?;
        self.flow.to_agent_bytes.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// An outgoing end that knows whether a line is open, so that a line of ours never continues one of theirs.
pub(crate) struct LineEnd {
    to: Option<Box<dyn Write + Send>>,
    line_open: bool,
}

impl LineEnd {
    fn new(to: Box<dyn Write + Send>) -> Self {
        Self { to: Some(to), line_open: false }
    }

    /// Passes bytes on as they are.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        let to = self.to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        to.write_all(bytes)?;
        to.flush()?;
        if let Some(last) = bytes.last() {
            self.line_open = *last != b'\n';
        }
        Ok(())
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, message: impl Display) -> io::Result<()> {
        let start = if self.line_open { "\n" } else { "" };
        self.pass(format!("{start}{message}\n").as_bytes())
    }

    pub(crate) fn answer(&mut self, id: &RawValue, outcome: &Outcome) -> io::Result<()> {
        let start = if self.line_open { "\n" } else { "" };
        let outcome = match outcome {
            Outcome::Selected(offered) => format!(r#"{{"outcome":"selected","optionId":{}}}"#, offered.option().id.raw()),
            Outcome::Cancelled => r#"{"outcome":"cancelled"}"#.to_owned(),
        };
        self.pass(format!("{start}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"outcome\":{outcome}}}}}\n").as_bytes())
    }

    pub(crate) fn close(&mut self) {
        self.to = None;
    }
}

/// A panic elsewhere leaves these values whole: each critical section is a few assignments.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
