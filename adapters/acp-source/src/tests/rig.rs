//! The four ends of the wire, and the lines that tests put there.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::time::Duration;

use bridge_core::{Asks, Replies, Source, SourceError, SourceEvent, Waiting};
use bridge_model::{Outcome, PermissionRequest, ReplyTo, RequestId, RoomName, SourceName, Timestamp, Withdrawn};

use super::super::*;

pub(super) const MARK: &str = r#"{"mark":1}"#;

/// A wire with the test at all four ends.
pub(super) struct Rig {
    pub(super) client_in: Option<PipeWriter>,
    pub(super) client_out: BufReader<PipeReader>,
    pub(super) agent_in: BufReader<PipeReader>,
    pub(super) agent_out: Option<PipeWriter>,
    pub(super) asks: AcpAsks,
    pub(super) replies: AcpReplies,
}

impl Rig {
    pub(super) async fn start(also_ask_client: bool) -> Self {
        let [client_in, client_out, agent_in, agent_out] = [(); 4].map(|()| pipe().expect("a pipe"));
        let ends = Ends {
            client_in: Box::new(client_in.0),
            client_out: Box::new(client_out.1),
            agent_in: Box::new(agent_in.1),
            agent_out: Box::new(agent_out.0),
        };
        let source = AcpSource::new(Options { name: SourceName::new("acp"), also_ask_client, agent_name: None }, ends);
        let (asks, replies) = source.connect().await.expect("connected");
        Self {
            client_in: Some(client_in.1),
            client_out: BufReader::new(client_out.0),
            agent_in: BufReader::new(agent_in.0),
            agent_out: Some(agent_out.1),
            asks,
            replies,
        }
    }

    pub(super) fn agent_says(&mut self, line: &str) {
        writeln!(self.agent_out.as_mut().expect("open"), "{line}").expect("written");
    }

    pub(super) fn client_says(&mut self, line: &str) {
        writeln!(self.client_in.as_mut().expect("open"), "{line}").expect("written");
    }

    pub(super) fn at_client(&mut self) -> String {
        line(&mut self.client_out)
    }

    pub(super) fn at_agent(&mut self) -> String {
        line(&mut self.agent_in)
    }

    pub(super) async fn event(&mut self) -> SourceEvent {
        tokio::time::timeout(Duration::from_secs(10), self.asks.next()).await.expect("in time").expect("an event")
    }

    pub(super) async fn requested(&mut self) -> PermissionRequest {
        let event = self.event().await;
        if let SourceEvent::Requested(request, _) = event { *request } else { panic!("{event:?}") }
    }

    pub(super) async fn withdrawn(&mut self) -> (ReplyTo, Withdrawn) {
        let event = self.event().await;
        if let SourceEvent::Withdrawn(from, why) = event { (from, why) } else { panic!("{event:?}") }
    }

    pub(super) async fn malformed(&mut self) -> (ReplyTo, String) {
        let event = self.event().await;
        if let SourceEvent::Malformed { from, problem, .. } = event { (from, problem) } else { panic!("{event:?}") }
    }

    pub(super) async fn choose(&self, request: &PermissionRequest, at: usize) -> Result<(), SourceError> {
        self.reply(&request.from, &Outcome::Selected(request.options.offered(at).expect("an option"))).await
    }

    pub(super) fn asked(&self, to: &ReplyTo) {
        let request = RequestId { run: 1, number: 1 };
        let waiting = Waiting { request, room: RoomName::new("builds"), deadline: Timestamp::from_unix_millis(0) };
        self.replies.asked(to, &waiting);
    }

    pub(super) async fn reply(&self, to: &ReplyTo, outcome: &Outcome) -> Result<(), SourceError> {
        self.replies.reply(to, outcome, None).await
    }
}

pub(super) fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).expect("text");
    line.strip_suffix('\n').map(str::to_owned).unwrap_or(line)
}

pub(super) fn ask(id: &str, option_id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission","params":{{"sessionId":"s","toolCall":{{"toolCallId":"c","title":"make it","rawInput":{{"command":"make"}}}},"options":[{{"optionId":{option_id},"name":"Yes","kind":"allow_once"}},{{"optionId":"no","name":"No","kind":"reject_once"}}]}}}}"#
    )
}

pub(super) fn update(fields: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"toolCallId":"c",{fields}}}}}}}"#
    )
}

pub(super) fn allow(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"outcome":{{"outcome":"selected","optionId":"a"}}}}}}"#)
}
