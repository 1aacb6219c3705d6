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
mod plain;
mod pump;
mod replies;
pub mod shape;
mod wire;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;

use bridge_core::{Source, SourceError, SourceEvent};
use bridge_model::SourceName;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::sync::{mpsc, watch};

pub use agent::{Agent, ExitHow, widen};
pub use plain::is_plain;
pub use replies::AcpReplies;
pub use wire::Flow;

use from_agent::FromAgent;
use from_client::FromClient;
use wire::{Counted, Wire};

/// Events that may wait for the bridge; beyond it the agent's and the client's lines wait.
const EVENTS_MAX: usize = 256;

/// How the source behaves.
#[derive(Clone, Debug)]
pub struct Options {
    pub name: SourceName,
    /// The client sees permission requests too and may answer them.
    pub also_ask_client: bool,
    /// What the operator calls the agent; otherwise cards have the agent's own name for itself.
    pub agent_name: Option<String>,
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
    client: watch::Sender<ClientState>,
    flow: Arc<Flow>,
}

/// Whether the client is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientState {
    There,
    /// It has closed its end. What it said before may still be on its way.
    HungUp,
    /// All that it said has been passed on, and the agent's input has been closed.
    Gone,
}

impl AcpSource {
    pub fn new(options: Options, ends: Ends) -> Self {
        Self { options, ends, client: watch::Sender::new(ClientState::There), flow: Arc::default() }
    }

    /// Between this process's standard input and output and an agent's pipes.
    pub fn on_stdio(options: Options, agent: &mut Agent) -> io::Result<Self> {
        let (agent_in, agent_out) = agent.take_pipes()?;
        // The standard library's handles copy through a line buffer of their own; the bare descriptors do not.
        let client_in = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let client_out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        widen(&client_in);
        widen(&client_out);
        let watched = client_in.try_clone()?;
        let (client_in, client_out) = (Box::new(client_in), Box::new(client_out));
        let source =
            Self::new(options, Ends { client_in, client_out, agent_in: Box::new(agent_in), agent_out: Box::new(agent_out) });
        let client = source.client.clone();
        thread::Builder::new().name("acp-client-watch".into()).spawn(move || watch_for_hangup(&watched, &client))?;
        Ok(source)
    }

    pub fn client(&self) -> watch::Receiver<ClientState> {
        self.client.subscribe()
    }

    pub fn flow(&self) -> Arc<Flow> {
        Arc::clone(&self.flow)
    }
}

impl Source for AcpSource {
    type Asks = AcpAsks;
    type Replies = AcpReplies;

    async fn connect(self) -> Result<(AcpAsks, AcpReplies), SourceError> {
        let Self { options, ends, client, flow } = self;
        let (events, inbox) = mpsc::channel(EVENTS_MAX);
        let agent_in = Box::new(Counted::new(ends.agent_in, Arc::clone(&flow)));
        let wire = Arc::new(Wire::new(options, agent_in, ends.client_out, flow, events));
        let (from_client, from_agent) = (FromClient::new(Arc::clone(&wire)), FromAgent::new(Arc::clone(&wire)));
        // Plain threads: they spend their lives in blocking reads, and a hop through a runtime would double the latency.
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.into()).spawn(run).map(drop).map_err(|_| SourceError::Gone)
        };
        let from_client = move || {
            from_client.run(ends.client_in);
            client.send_replace(ClientState::Gone);
        };
        spawn("acp-from-client", Box::new(from_client))?;
        spawn("acp-from-agent", Box::new(move || from_agent.run(ends.agent_out)))?;
        let replies = AcpReplies::start(wire).map_err(|_| SourceError::Gone)?;
        Ok((AcpAsks { inbox }, replies))
    }
}

/// Tells that the client closed its end, though its last words cannot be read yet because the agent takes nothing.
fn watch_for_hangup(client_in: &File, client: &watch::Sender<ClientState>) {
    // With no events asked for, only the end is told; a file or a terminal without one never does.
    let mut ends = [PollFd::new(client_in.as_fd(), PollFlags::empty())];
    while let Err(Errno::EINTR) = poll(&mut ends, PollTimeout::NONE) {}
    client.send_if_modified(|state| {
        let news = *state == ClientState::There;
        *state = (*state).max(ClientState::HungUp);
        news
    });
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
