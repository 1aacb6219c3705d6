//! Stands between an ACP client and its agent, and holds the agent's permission requests.
//!
//! Two threads carry lines, one each way. Whatever is not ours goes on byte for byte and in order, and a line that waits
//! for a person never keeps another from passing. Only what must be understood is parsed: permission requests, what they
//! are about, and what ends them.
//!
//! By default the client never sees a permission request, because a client may answer it by itself. With
//! [`Options::also_ask_client`] both are asked, the first answer counts, and the other side is told with
//! `$/cancel_request`.

mod agent;
mod asks;
mod calls;
mod from_agent;
mod from_client;
mod json;
mod pump;
mod replies;
mod wire;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;

use bridge_core::{Source, SourceError, SourceEvent};
use bridge_model::SourceName;
use tokio::sync::{mpsc, watch};

pub use agent::{Agent, ExitHow, widen};
pub use replies::AcpReplies;

use from_agent::FromAgent;
use from_client::FromClient;
use wire::Wire;

/// Events that may wait for the bridge; beyond it the agent's and the client's lines wait.
const EVENTS_MAX: usize = 256;

/// How the source behaves.
#[derive(Clone, Debug)]
pub struct Options {
    pub name: SourceName,
    /// The client sees permission requests too and may answer them.
    pub also_ask_client: bool,
}

/// The four ends of the wire.
pub struct Ends {
    pub client_in: Box<dyn Read + Send>,
    pub client_out: Box<dyn Write + Send>,
    pub agent_in: Box<dyn Write + Send>,
    pub agent_out: Box<dyn Read + Send>,
}

/// The wire before it carries anything.
pub struct AcpSource {
    options: Options,
    ends: Ends,
    client_gone: watch::Sender<bool>,
}

impl AcpSource {
    pub fn new(options: Options, ends: Ends) -> Self {
        Self { options, ends, client_gone: watch::Sender::new(false) }
    }

    /// Between this process's standard input and output and an agent's pipes.
    pub fn on_stdio(options: Options, agent: &mut Agent) -> io::Result<Self> {
        let (agent_in, agent_out) = agent.take_pipes()?;
        // The standard library's handles copy through a line buffer of their own; the bare descriptors do not.
        let client_in = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let client_out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        widen(&client_in);
        widen(&client_out);
        let (client_in, client_out) = (Box::new(client_in), Box::new(client_out));
        Ok(Self::new(options, Ends { client_in, client_out, agent_in: Box::new(agent_in), agent_out: Box::new(agent_out) }))
    }

    /// Turns `true` once the client's input has ended and the agent's has been closed after it.
    pub fn client_gone(&self) -> watch::Receiver<bool> {
        self.client_gone.subscribe()
    }
}

impl Source for AcpSource {
    type Asks = AcpAsks;
    type Replies = AcpReplies;

    async fn connect(self) -> Result<(AcpAsks, AcpReplies), SourceError> {
        let Self { options, ends, client_gone } = self;
        let (events, inbox) = mpsc::channel(EVENTS_MAX);
        let wire = Arc::new(Wire::new(options, ends.agent_in, ends.client_out, events));
        let (from_client, from_agent) = (FromClient::new(Arc::clone(&wire)), FromAgent::new(Arc::clone(&wire)));
        // Plain threads: they spend their lives in blocking reads, and a hop through a runtime would double the latency.
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.into()).spawn(run).map(drop).map_err(|_| SourceError::Gone)
        };
        let from_client = move || {
            from_client.run(ends.client_in);
            client_gone.send_replace(true);
        };
        spawn("acp-from-client", Box::new(from_client))?;
        spawn("acp-from-agent", Box::new(move || from_agent.run(ends.agent_out)))?;
        let replies = AcpReplies::start(wire).map_err(|_| SourceError::Gone)?;
        Ok((AcpAsks { inbox }, replies))
    }
}

/// What the agent asks. It ends when the agent's output does.
pub struct AcpAsks {
    inbox: mpsc::Receiver<wire::Event>,
}

impl bridge_core::Asks for AcpAsks {
    async fn next(&mut self) -> Option<SourceEvent> {
        match self.inbox.recv().await {
            Some(wire::Event::Source(event)) => Some(event),
            Some(wire::Event::AgentClosed) | None => None,
        }
    }
}

#[cfg(test)]
mod tests;
