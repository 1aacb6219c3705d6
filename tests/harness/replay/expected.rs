//! What a recording demands of a bridge that refuses everything.

use serde_json::{Value, json};

use crate::captures::{Capture, Dir, Frame};

/// A step that one of the two sides takes.
pub(super) enum Part<'a> {
    /// It has to reach the client as it is.
    FromAgent(&'a Frame),
    /// The agent sends it, and the client must not see it.
    Withheld(&'a Frame),
    /// It has to reach the agent as it is.
    FromClient(&'a Frame),
    /// The agent waits for the outcome of a permission request.
    Answer(usize),
}

/// A permission request of the recording.
pub(super) struct Asked {
    pub(super) id: Value,
    session: Value,
    tool_call: Value,
    /// Its own `reject_once` option, or `cancelled`.
    refusal: Value,
    /// The recording answers it.
    pub(super) answered: bool,
    /// Something ended it before it was answered, so that `cancelled` is as good.
    withdrawn: bool,
}

/// Takes a recording apart.
pub(super) fn parts(capture: &Capture) -> (Vec<Part<'_>>, Vec<Asked>) {
    let (mut parts, mut asked) = (Vec::new(), Vec::new());
    for frame in &capture.frames {
        let part = match frame.dir {
            Dir::Note => None,
            Dir::AgentToClient => Some(from_agent(frame, &mut asked)),
            Dir::ClientToAgent => from_client(frame, &mut asked),
        };
        parts.extend(part);
    }
    (parts, asked)
}

fn from_agent<'a>(frame: &'a Frame, asked: &mut Vec<Asked>) -> Part<'a> {
    match frame.method() {
        Some("session/request_permission") => {
            asked.push(Asked::read(frame));
            return Part::Withheld(frame);
        }
        Some("$/cancel_request") => {
            let about = &frame.json["params"]["requestId"];
            if let Some(asked) = asked.iter_mut().rev().find(|asked| asked.id == *about) {
                asked.withdrawn = true;
                return Part::Withheld(frame);
            }
        }
        Some("session/update") => {
            let (session, update) = (&frame.json["params"]["sessionId"], &frame.json["params"]["update"]);
            let over = matches!(update["status"].as_str(), Some("completed" | "failed" | "cancelled"));
            let idle = matches!(update["state"].as_str(), Some("idle" | "cancelled"));
            withdraw(asked, |asked| asked.session == *session && (idle || over && asked.tool_call == update["toolCallId"]));
        }
        Some(_) => {}
        // It may be the answer to the prompt.
        None => withdraw(asked, |_| true),
    }
    Part::FromAgent(frame)
}

fn from_client<'a>(frame: &'a Frame, asked: &mut [Asked]) -> Option<Part<'a>> {
    let is_cancelling = matches!(frame.method(), Some("session/cancel" | "$/cancel_request"));
    if is_cancelling {
        withdraw(asked, |_| true);
    }
    let is_response = frame.method().is_none();
    let about = asked.iter().rposition(|asked| is_response && Some(&asked.id) == frame.id());
    match about {
        None => Some(Part::FromClient(frame)),
        // The recorded client answered some requests twice.
        Some(at) if asked[at].answered => None,
        Some(at) => {
            asked[at].answered = true;
            Some(Part::Answer(at))
        }
    }
}

fn withdraw(asked: &mut [Asked], which: impl Fn(&Asked) -> bool) {
    for asked in asked.iter_mut().filter(|asked| !asked.answered && which(asked)) {
        asked.withdrawn = true;
    }
}

impl Asked {
    fn read(frame: &Frame) -> Self {
        let params = &frame.json["params"];
        let mut options = params["options"].as_array().into_iter().flatten();
        let reject = options.find(|option| option["kind"] == "reject_once");
        let refusal = reject.map_or_else(cancelled, |option| json!({"outcome": "selected", "optionId": option["optionId"]}));
        let subject = &params["subject"]["toolCall"];
        let tool_call = if subject.is_null() { &params["toolCall"] } else { subject };
        Self {
            id: frame.json["id"].clone(),
            session: params["sessionId"].clone(),
            tool_call: tool_call["toolCallId"].clone(),
            refusal,
            answered: false,
            withdrawn: false,
        }
    }

    fn accepts(&self, outcome: &Value) -> bool {
        *outcome == self.refusal || self.withdrawn && *outcome == cancelled()
    }
}

fn cancelled() -> Value {
    json!({"outcome": "cancelled"})
}

/// The agent's input: the client's lines byte for byte and in order, and in between one answer to each request.
pub(super) fn check_received(parts: &[Part<'_>], asked: &[Asked], received: &[u8]) -> Result<(), String> {
    let mut lines = parts.iter().filter_map(|part| match part {
        Part::FromClient(frame) => Some(format!("{}\n", frame.text)),
        Part::FromAgent(_) | Part::Withheld(_) | Part::Answer(_) => None,
    });
    let mut expected = lines.next();
    let mut open: Vec<&Asked> = asked.iter().collect();
    for line in received.split_inclusive(|byte| *byte == b'\n') {
        if expected.as_ref().is_some_and(|expected| expected.as_bytes() == line) {
            expected = lines.next();
            continue;
        }
        let text = String::from_utf8_lossy(line);
        let answer: Value = serde_json::from_slice(line).map_err(|error| format!("the agent got {text}: {error}"))?;
        // Ids return in later turns; requests are answered in the order in which they were asked with one id.
        let at = open.iter().position(|asked| asked.id == answer["id"] && answer.get("method").is_none());
        let at = at.ok_or_else(|| format!("the agent got a line that nobody sent, or that differs: {text}"))?;
        let asked = open.remove(at);
        if !asked.accepts(&answer["result"]["outcome"]) {
            return Err(format!("the agent should have got {} but got {text}", asked.refusal));
        }
    }
    match (expected, open.first()) {
        (None, None) => Ok(()),
        (Some(missing), _) => Err(format!("the agent did not get {missing}")),
        (None, Some(asked)) => Err(format!("the agent's request {} was not answered", asked.id)),
    }
}
