//! Outcomes on their way to the agent.

use std::sync::Arc;

use bridge_core::{Replies, SourceError};
use bridge_model::{Outcome, ReplyTo};
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::wire::{Wire, locked};

/// Answers the agent. Each request is answered once: whoever takes it out of the table does.
pub struct AcpReplies {
    wire: Arc<Wire>,
}

impl AcpReplies {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self { wire }
    }
}

impl Replies for AcpReplies {
    async fn reply(&self, to: &ReplyTo, outcome: &Outcome) -> Result<(), SourceError> {
        let (wire, ask, outcome) = (Arc::clone(&self.wire), to.ask, outcome.clone());
        // An agent that does not read its input blocks this write, and nothing else.
        spawn_blocking(move || reply(&wire, ask, &outcome)).await.unwrap_or(Err(SourceError::Gone))
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
    let told = if held.withdrawn { &Outcome::Cancelled } else { outcome };
    agent.answer(&held.id, told).map_err(|_| SourceError::Gone)?;
    drop(agent);
    if client_was_asked {
        let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": held.id}});
        let _ = locked(&wire.client).line(&cancel);
    }
    if told == outcome { Ok(()) } else { Err(SourceError::Withdrawn) }
}
