//! Outcomes on their way to the agent.

use std::io;
use std::sync::{Arc, mpsc};
use std::thread;

use bridge_core::{Replies, SourceError, Waiting};
use bridge_model::{Ending, Outcome, ReplyTo};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tracing::warn;

use crate::wire::{ClientsTurn, Wire, locked};

/// Messages that wait for a client that does not read; one more is not sent.
const TO_CLIENT_MAX: usize = 2_048;

/// Answers the agent. Each request is answered once: whoever takes it out of the table does.
pub struct AcpReplies {
    /// At most one for each request that is held.
    to_agent: mpsc::Sender<ToAgent>,
    /// `None`: the client is never asked.
    to_client: Option<ClientSender>,
    wire: Arc<Wire>,
}

type ClientSender = mpsc::SyncSender<ToClient>;

struct ToAgent {
    ask: u64,
    outcome: Outcome,
    written: oneshot::Sender<Result<(), SourceError>>,
}

enum ToClient {
    Ask(u64),
    Cancel(Box<RawValue>),
}

impl AcpReplies {
    /// Writes on threads of their own: a side that does not read its input keeps its thread waiting, and nobody else.
    pub(crate) fn start(wire: Arc<Wire>) -> io::Result<Self> {
        let to_client = wire.options.also_ask_client.then(|| start_telling_client(Arc::clone(&wire))).transpose()?;
        let (to_agent, for_agent) = mpsc::channel::<ToAgent>();
        let (cancel, own) = (to_client.clone(), Arc::clone(&wire));
        let write = move || {
            for ToAgent { ask, outcome, written } in for_agent {
                // Whoever asked may have stopped waiting.
                let _ = written.send(reply(&wire, cancel.as_ref(), ask, &outcome));
            }
        };
        thread::Builder::new().name("acp-replies".into()).spawn(write)?;
        Ok(Self { to_agent, to_client, wire: own })
    }
}

impl Replies for AcpReplies {
    fn asked(&self, to: &ReplyTo, _: &Waiting) {
        locked(&self.wire.state).is_asked(to.ask);
        send(self.to_client.as_ref(), ToClient::Ask(to.ask));
    }

    async fn reply(&self, to: &ReplyTo, outcome: &Outcome, _: Option<&Ending>) -> Result<(), SourceError> {
        let (written, told) = oneshot::channel();
        let to_agent = ToAgent { ask: to.ask, outcome: outcome.clone(), written };
        self.to_agent.send(to_agent).map_err(|_| SourceError::Gone)?;
        told.await.unwrap_or(Err(SourceError::Gone))
    }
}

fn start_telling_client(wire: Arc<Wire>) -> io::Result<ClientSender> {
    let (to_client, for_client) = mpsc::sync_channel(TO_CLIENT_MAX);
    let tell = move || for_client.into_iter().for_each(|told| tell_client(&wire, &told));
    thread::Builder::new().name("acp-to-client".into()).spawn(tell)?;
    Ok(to_client)
}

fn send(to_client: Option<&ClientSender>, told: ToClient) {
    if to_client.is_some_and(|to_client| to_client.try_send(told).is_err()) {
        warn!("the client does not read, and is not told of a permission request");
    }
}

fn tell_client(wire: &Wire, told: &ToClient) {
    // With the client's end in hand, so that the agent's cancelling of what it is asked comes after it.
    let mut client = locked(&wire.client);
    match told {
        ToClient::Ask(ask) => {
            let asked = locked(&wire.state).ask_client(*ask);
            // A client that is gone ends all that is held, elsewhere.
            let _ = asked.map(|asked| client.line(asked));
        }
        ToClient::Cancel(id) => {
            let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}});
            let _ = client.line(cancel);
        }
    }
}

fn reply(wire: &Wire, to_client: Option<&ClientSender>, ask: u64, outcome: &Outcome) -> Result<(), SourceError> {
    // With the agent's end in hand, so that a cancelling that was passed on before is seen here, and one that is seen
    // later is also read later by the agent.
    let mut agent = locked(&wire.agent);
    let mut state = locked(&wire.state);
    let (key, held) = state.take_ask(ask).ok_or(SourceError::Withdrawn)?;
    let client_was_asked = held.client == ClientsTurn::Asked;
    if client_was_asked {
        state.client_owes(key);
    }
    drop(state);
    wire.tell_room();
    // What was chosen was chosen for what it was before.
    let is_void = held.withdrawn || held.is_changed && !refuses(outcome);
    let told = if is_void { &Outcome::Cancelled } else { outcome };
    agent.answer(&held.id, told).map_err(|_| SourceError::Gone)?;
    drop(agent);
    if client_was_asked {
        send(to_client, ToClient::Cancel(held.id));
    }
    if told == outcome { Ok(()) } else { Err(SourceError::Withdrawn) }
}

fn refuses(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Selected(offered) => offered.option().kind.refuses(),
        Outcome::Cancelled => true,
    }
}
