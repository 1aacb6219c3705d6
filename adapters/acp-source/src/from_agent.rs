//! Lines on their way from the agent to its client.

use std::io::{self, Read};
use std::sync::Arc;

use aho_corasick::{AhoCorasick, packed};
use bridge_core::SourceEvent;
use bridge_model::{ReplyTo, Withdrawn};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tracing::{debug, warn};

use crate::asks;
use crate::calls::{Asked, UPDATE_BYTES_MAX, named};
use crate::json::{Message, RpcId, forgiven, object, read, text};
use crate::pump::{self, Fate, Sieve};
use crate::shape::Fields;
use crate::wire::{ClientsTurn, HeldAsk, Wire, locked};

/// What a line must contain to be looked at: an id, one of the names we follow, or an escape that could spell either.
const NEEDLES: [&str; 9] = [
    "\"id\"",
    "request_permission",
    "cancel_request",
    "tool_call",
    "state_update",
    "subagent_update",
    "current_mode_update",
    "config_option_update",
    "\\u00",
];

const PERMISSION: &str = "session/request_permission";

pub(crate) struct FromAgent {
    wire: Arc<Wire>,
    needles: Needles,
    /// Told once the line in question has been passed on, so that nobody acts on news the client does not have.
    news: Vec<SourceEvent>,
}

impl FromAgent {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self { wire, needles: Needles::new(), news: Vec::new() }
    }

    pub(crate) fn run(mut self, from: impl Read) {
        if let Err(error) = pump::run(from, &mut self) {
            warn!(%error, "the agent's output cannot be passed on any more");
        }
        let wire = self.wire;
        locked(&wire.client).close();
        let gone = locked(&wire.state).take_all();
        for held in gone {
            wire.tell(SourceEvent::Withdrawn(wire.reply_to(held.ask), Withdrawn::AgentGone));
        }
        wire.tell_closed();
    }

    /// `raw`: the message as it came.
    fn look_at(&mut self, message: &Message<'_>, raw: &str) -> Fate {
        if message.is_method(PERMISSION) {
            return self.permission(message, Ok(raw));
        }
        if message.is_method("session/update") {
            self.update(message);
        }
        if message.is_method("$/cancel_request") {
            return self.cancel(message);
        }
        if message.methods.is_empty() {
            self.response(message);
        } else if let Some(id) = message.id {
            locked(&self.wire.state).is_seen_now(&RpcId::parse(id));
        }
        Fate::Pass
    }

    /// `raw`: the message as it came, or what is wrong with it.
    fn permission(&mut self, message: &Message<'_>, raw: Result<&str, &str>) -> Fate {
        let Some(id) = message.id else {
            let problem = "it has no id, so nothing can be answered to it".to_owned();
            let ask = locked(&self.wire.state).next_ask();
            self.malformed(self.wire.reply_to(ask), problem);
            return Fate::Withhold;
        };
        let key = RpcId::parse(id);
        // A second request under the same id: the agent has forgotten the first.
        let superseded = locked(&self.wire.state).take(&key);
        if let Some(old) = superseded {
            self.news.push(SourceEvent::Withdrawn(self.wire.reply_to(old.ask), Withdrawn::Superseded));
        }
        // Too many without an answer: the agent's lines wait until there is room.
        let mut state = self.wire.wait_for_room();
        let ask = state.next_ask();
        let understood = raw.map_err(str::to_owned).and_then(|_| asks::understand(message.params, &state.sessions));
        let from = self.wire.reply_to(ask);
        let (understood, asked) = match understood {
            Ok(understood) => {
                let request = understood.request(from.clone(), state.sessions.describe(&understood.session));
                (Some(understood), Ok(request))
            }
            Err(problem) => (None, Err(problem)),
        };
        let session = understood.as_ref().map(|understood| understood.session.clone()).unwrap_or_default();
        // The client is asked once people are, or it could allow what policy refuses.
        let client = match raw {
            Ok(raw) if self.wire.options.also_ask_client && understood.is_some() => ClientsTurn::Later(raw.trim().into()),
            Ok(_) | Err(_) => ClientsTurn::Never,
        };
        state.hold(
            key,
            HeldAsk { ask, id: id.to_owned(), session, is_changed: false, withdrawn: understood.is_none(), understood, client },
        );
        drop(state);
        match asked {
            Ok(request) => self.news.push(SourceEvent::Requested(Box::new(request), Box::default())),
            Err(problem) => self.malformed(from, problem),
        }
        Fate::Withhold
    }

    fn malformed(&mut self, from: ReplyTo, problem: String) {
        warn!(%problem, "a permission request of the agent cannot be understood and is refused");
        let agent = locked(&self.wire.state).sessions.agent.clone().unwrap_or_else(|| "An agent".to_owned());
        let headline = format!("{agent} asked for something that cannot be understood");
        self.news.push(SourceEvent::Malformed { from, headline, problem });
    }

    fn cancel(&mut self, message: &Message<'_>) -> Fate {
        let cancelled: CancelParams<'_> = message.params();
        let Some(key) = cancelled.request_id.map(RpcId::parse) else { return Fate::Pass };
        let mut state = locked(&self.wire.state);
        let unseen = state.is_unseen(&key);
        let withdrawn = self.wire.withdraw(&mut state, Withdrawn::ByAgent, |_, held| RpcId::parse(&held.id) == key);
        if !withdrawn.is_empty() && !unseen {
            state.client_owes(key);
        }
        self.news.extend(withdrawn);
        // The client was never asked, so there is nothing for it to cancel.
        if unseen { Fate::Withhold } else { Fate::Pass }
    }

    fn update(&mut self, message: &Message<'_>) {
        let params = message.params.and_then(object::<UpdateParams<'_>>);
        let Some((Some(session), Some(update))) = params.map(|params| (params.session_id.and_then(text), params.update)) else {
            return self.unreadable_update(None);
        };
        let Some(head) = object::<UpdateHead<'_>>(update) else { return self.unreadable_update(Some(&session)) };
        let Some(kind) = head.kind.and_then(text) else { return self.unreadable_update(Some(&session)) };
        let mut state = locked(&self.wire.state);
        match kind.as_str() {
            "tool_call" | "tool_call_update" => {
                drop(state);
                self.tool_call(&session, update, &head, kind == "tool_call");
            }
            // Ends a turn of version 2; version 1 has no such update.
            "state_update" if head.state.and_then(text).is_some_and(|state| state == "idle" || state == "cancelled") => {
                self.news.extend(self.wire.withdraw(&mut state, Withdrawn::TurnEnded, |_, held| held.session == session));
            }
            "subagent_update" => {
                if let Some(child) = head.session_id.and_then(text) {
                    state.sessions.has_child(&session, &child);
                }
            }
            "current_mode_update" => {
                if let Some(mode) = head.current_mode_id.and_then(text) {
                    state.sessions.has_mode(&session, mode);
                }
            }
            "config_option_update" => {
                if let Some(mode) = head.config_options.and_then(read).as_ref().and_then(mode_option) {
                    state.sessions.has_mode(&session, mode);
                }
            }
            // Whatever it says of a tool call that waits: not knowing is a change.
            _ => {
                let call = head.tool_call_id.and_then(text);
                let changed = call.map(|call| state.changed(&session, &call, None)).unwrap_or_default();
                let news = changed.into_iter().map(|ask| SourceEvent::Changed { ask: self.wire.reply_to(ask), now: None });
                self.news.extend(news);
            }
        }
    }

    fn tool_call(&mut self, session: &str, update: &RawValue, head: &UpdateHead<'_>, anew: bool) {
        let Some(call) = head.tool_call_id.and_then(text) else { return self.unreadable_update(Some(session)) };
        let status = head.status.and_then(text);
        if matches!(status.as_deref(), Some("completed" | "failed" | "cancelled")) {
            let mut state = locked(&self.wire.state);
            state.sessions.end_call(session, &call);
            self.news.extend(self.wire.withdraw(&mut state, Withdrawn::TurnEnded, |_, held| held.is_about(session, &call)));
            return;
        }
        // What cannot be kept cannot be compared either; for a request that waits, not knowing is a change.
        let fields = (update.get().len() <= UPDATE_BYTES_MAX).then(|| read::<Fields>(update)).flatten();
        let is_readable = fields.is_some();
        let mut state = locked(&self.wire.state);
        let changed = state.changed(session, &call, fields.as_ref());
        if let Some(fields) = fields {
            state.sessions.update_call(session, &call, fields, anew);
        } else {
            debug!("an update of a tool call is too large, or cannot be read, and is not followed");
        }
        let news = changed.into_iter().map(|ask| {
            let ask = self.wire.reply_to(ask);
            let now = state.request(&ask).map(Box::new);
            SourceEvent::Changed { ask, now: now.filter(|_| is_readable) }
        });
        self.news.extend(news);
    }

    fn response(&mut self, message: &Message<'_>) {
        let (true, Some(id)) = (message.may_answer(), message.id) else { return };
        let mut state = locked(&self.wire.state);
        let Some(asked) = state.sessions.answered(&RpcId::parse(id)) else { return };
        let result = || message.result.and_then(object::<Results<'_>>).unwrap_or_default();
        match asked {
            Asked::Initialize => {
                let result = result();
                state.sessions.version =
                    result.protocol_version.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(1);
                state.sessions.agent = result.agent_info.or(result.info).and_then(read::<Value>).as_ref().and_then(named);
            }
            Asked::Session { id, cwd } => {
                let result = result();
                let current = result
                    .modes
                    .and_then(read::<Value>)
                    .and_then(|modes| modes.get("currentModeId")?.as_str().map(str::to_owned));
                let mode = current.or_else(|| result.config_options.and_then(read).as_ref().and_then(mode_option));
                if let Some(id) = result.session_id.and_then(text).or(id) {
                    state.sessions.opened(&id, cwd, mode);
                }
            }
            // In version 2 the answer comes at once and the turn goes on.
            Asked::Prompt { .. } if 2 <= state.sessions.version && !message.is_error => {}
            Asked::Prompt { session } => {
                self.news.extend(self.wire.withdraw(&mut state, Withdrawn::TurnEnded, |_, held| held.session == session));
            }
        }
    }

    /// A line that is not one JSON object as the standard has it, but that some reader might make something of.
    fn look_closer(&mut self, line: &[u8]) -> Fate {
        let Some((values, was_forgiven)) = forgiven(line) else { return self.look_at_wreck(line) };
        pump::each(&values, |value| match Message::parse(value.get()) {
            Some(message) if was_forgiven && message.is_method(PERMISSION) => {
                self.permission(&message, Err("it is not valid JSON"))
            }
            Some(message) => self.look_at(&message, value.get()),
            None => Fate::Pass,
        })
    }

    /// Something that begins like a message, and that nobody here can read. If it names our method, a reader that can
    /// might take it for a request.
    fn look_at_wreck(&mut self, line: &[u8]) -> Fate {
        let begins = line.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(begins, Some(b'{' | b'[')) || memchr::memmem::find(line, b"request_permission\"").is_none() {
            return Fate::Pass;
        }
        let ask = locked(&self.wire.state).next_ask();
        self.malformed(self.wire.reply_to(ask), "it is not valid JSON, so nothing can be answered to it".to_owned());
        Fate::Withhold
    }

    /// What a tool call is about has changed in a way that cannot be read: for all that waits in the session, not
    /// knowing is a change. Without a session, for all that waits.
    fn unreadable_update(&mut self, session: Option<&str>) {
        let changed = locked(&self.wire.state).may_have_changed(session);
        let news = |ask| SourceEvent::Changed { ask: self.wire.reply_to(ask), now: None };
        self.news.extend(changed.into_iter().map(news));
    }
}

impl Sieve for FromAgent {
    fn next_of_interest(&self, lines: &[u8]) -> Option<usize> {
        // No needle spans a line's end.
        self.needles.find(lines)
    }

    fn look(&mut self, line: &[u8]) -> Fate {
        match std::str::from_utf8(line).ok().and_then(|raw| Some((Message::parse(raw)?, raw))) {
            Some((message, raw)) => self.look_at(&message, raw),
            None => self.look_closer(line),
        }
    }

    fn passed(&mut self) {
        for news in self.news.drain(..) {
            self.wire.tell(news);
        }
    }

    fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.wire.flow.writing_to_client(true);
        let passed = locked(&self.wire.client).pass(bytes);
        self.wire.flow.writing_to_client(false);
        passed
    }
}

/// Finds the first needle: by vector instructions where the processor has them, which an agent's stream of tokens needs.
enum Needles {
    Packed(packed::Searcher),
    Plain(Box<AhoCorasick>),
}

impl Needles {
    fn new() -> Self {
        let plain = || AhoCorasick::new(NEEDLES).unwrap_or_else(|_| unreachable!("nine short needles"));
        packed::Searcher::new(NEEDLES).map_or_else(|| Self::Plain(Box::new(plain())), Self::Packed)
    }

    fn find(&self, lines: &[u8]) -> Option<usize> {
        match self {
            Self::Packed(searcher) => searcher.find(lines).map(|found| found.start()),
            Self::Plain(searcher) => searcher.find(lines).map(|found| found.start()),
        }
    }
}

/// The session's permission mode among its configuration options.
fn mode_option(options: &Value) -> Option<String> {
    let is_mode = |option: &&Value| {
        ["id", "configId", "category"].iter().any(|key| option.get(key).and_then(Value::as_str) == Some("mode"))
    };
    options.as_array()?.iter().find(is_mode)?.get("currentValue")?.as_str().map(str::to_owned)
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct CancelParams<'a> {
    #[serde(borrow, rename = "requestId")]
    pub(crate) request_id: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct UpdateParams<'a> {
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    update: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct UpdateHead<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    current_mode_id: Option<&'a RawValue>,
    #[serde(borrow)]
    config_options: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Results<'a> {
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_info: Option<&'a RawValue>,
    /// What version 2 has in its place.
    #[serde(borrow)]
    info: Option<&'a RawValue>,
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    modes: Option<&'a RawValue>,
    #[serde(borrow)]
    config_options: Option<&'a RawValue>,
}
