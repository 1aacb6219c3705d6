//! The permission requests of a recording, as the source between client and agent understands them.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};

use acp_source::{AcpSource, Ends, Options};
use bridge_core::{Asks, Source, SourceEvent};
use bridge_model::{PermissionRequest, SourceName};

use crate::captures::{Capture, Dir, Frame};

/// All permission requests of a recording that can be understood, in their order.
pub async fn requests(capture: &Capture) -> Vec<PermissionRequest> {
    let [client_in, client_out, agent_in, agent_out] = [(); 4].map(|()| pipe().expect("a pipe"));
    let ends = Ends {
        client_in: Box::new(client_in.0),
        client_out: Box::new(client_out.1),
        agent_in: Box::new(agent_in.1),
        agent_out: Box::new(agent_out.0),
    };
    let source = AcpSource::new(Options { name: SourceName::new("acp"), also_ask_client: false, agent_name: None }, ends);
    let (mut asks, _replies) = source.connect().await.expect("connected");
    let mut to_agent = Way::new(client_in.1, agent_in.0);
    let mut to_client = Way::new(agent_out.1, client_out.0);
    let mut requests = Vec::new();
    for frame in &capture.frames {
        match frame.dir {
            Dir::ClientToAgent if !is_answer(frame) || is_of_client(capture, frame) => to_agent.carry(&frame.text),
            Dir::AgentToClient => {
                to_client.carry(&frame.text);
                if frame.method() == Some("session/request_permission") {
                    requests.extend(requested(&mut asks).await);
                }
            }
            Dir::ClientToAgent | Dir::Note => {}
        }
    }
    requests
}

/// What the agent has just asked; older news are passed over.
async fn requested(asks: &mut impl Asks) -> Option<PermissionRequest> {
    loop {
        match asks.next().await? {
            SourceEvent::Requested(request, _) => return Some(*request),
            SourceEvent::Malformed { .. } => return None,
            SourceEvent::Changed { .. } | SourceEvent::Withdrawn(..) => {}
        }
    }
}

fn is_answer(frame: &Frame) -> bool {
    frame.method().is_none()
}

/// Whether the agent asked the client for something other than permission under this id.
fn is_of_client(capture: &Capture, answer: &Frame) -> bool {
    let asked = |frame: &&Frame| frame.dir == Dir::AgentToClient && frame.method().is_some() && frame.id() == answer.id();
    capture.frames.iter().filter(asked).all(|frame| frame.method() != Some("session/request_permission"))
}

/// One direction of the wire: what is put in at one end is taken out at the other, so that nothing blocks.
struct Way {
    to: PipeWriter,
    from: BufReader<PipeReader>,
}

impl Way {
    fn new(to: PipeWriter, from: PipeReader) -> Self {
        Self { to, from: BufReader::new(from) }
    }

    /// Returns once the line, or what became of it, has been looked at.
    fn carry(&mut self, line: &str) {
        const MARK: &str = r#"{"jsonrpc":"2.0","method":"_recorded/mark"}"#;
        let text = format!("{line}\n{MARK}\n");
        let mut to = self.to.try_clone().expect("a pipe");
        // A line may be longer than a pipe holds.
        let writing = std::thread::spawn(move || to.write_all(text.as_bytes()).expect("written"));
        let mut carried = String::new();
        while carried.trim_end() != MARK {
            carried.clear();
            assert_ne!(self.from.read_line(&mut carried).expect("read"), 0, "the wire has ended");
        }
        writing.join().expect("written");
    }
}
