//! Outcomes on their way to the agent.

use std::io;
use std::sync::{Arc, mpsc};
use std::thread;

use bridge_core::{Replies, SourceError};
use bridge_model::{Outcome, ReplyTo};
use serde_json::json;
use tokio::sync::oneshot;

use crate::wire::{Wire, locked};

/// Answers the agent. Each request is answered once: whoever takes it out of the table does.
pub struct AcpReplies {
    /// At most one for each request that is held.
    to_write: mpsc::Sender<ToWrite>,
}

struct ToWrite {
    ask: u64,
    outcome: Outcome,
    written: oneshot::Sender<Result<(), SourceError>>,
}

impl AcpReplies {
    /// Writes on a thread of its own: an agent that does not read its input keeps that thread waiting, and nobody else.
    pub(crate) fn start(wire: Arc<Wire>) -> io::Result<Self> {
        let (to_write, writing) = mpsc::channel::<ToWrite>();
        let write = move || {
            for ToWrite { ask, outcome, written } in writing {
                // Whoever asked may have stopped waiting.
                let _ = written.send(reply(&wire, ask, &outcome));
            }
        };
        thread::Builder::new().name("acp-replies".into()).spawn(write)?;
        Ok(Self { to_write })
    }
}

impl Replies for AcpReplies {
    async fn reply(&self, to: &ReplyTo, outcome: &Outcome) -> Result<(), SourceError> {
        let (written, told) = oneshot::channel();
        let to_write = ToWrite { ask: to.ask, outcome: outcome.clone(), written };
        self.to_write.send(to_write).map_err(|_| SourceError::Gone)?;
        told.await.unwrap_or(Err(SourceError::Gone))
    }
}

fn reply(wire: &Wire, ask: u64, outcome: &Outcome) -> Result<(), SourceError> {
    // With the agent's end in hand, so that a cancelling that was passed on before is seen here, and one that is seen
    // later is also read later by the agent.
    let mut agent = locked(&wire.agent);
    let mut state = locked(&wire.state);
    let (key, held) = state.take_ask(ask).ok_or(SourceError::Withdrawn)?;
    let client_was_asked = wire.options.also_ask_client && !state.is_unseen(&key);
    if client_was_asked {
        state.client_owes(key);
    }
    drop(state);
    wire.tell_room();
    let told = if held.withdrawn { &Outcome::Cancelled } else { outcome };
    agent.answer(&held.id, told).map_err(|_| SourceError::Gone)?;
    drop(agent);
    if client_was_asked {
        let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": held.id}});
        let _ = locked(&wire.client).line(&cancel);
    }
    if told == outcome { Ok(()) } else { Err(SourceError::Withdrawn) }
}
