//! Agents to put behind the bridge.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binaries::own_binary;
use crate::wait::until;

/// The agent that does what the prompt says, on the official crate; see `agents/scripted.rs`.
pub fn scripted_agent() -> Vec<OsString> {
    vec![own_binary("scripted-agent").into()]
}

/// The agent that sends back what it is sent; see `agents/echo_agent.py`.
pub fn echo_agent() -> Vec<OsString> {
    vec!["python3".into(), python_script("echo_agent.py").into()]
}

/// Asks, and reads nothing until somebody writes to the gate; see `agents/deaf_agent.py`. Its option `o` is called `Go`.
pub fn deaf_agent(gate: &Path, received: &Path) -> Vec<OsString> {
    let options = json!([{"optionId": "o", "name": "Go", "kind": "allow_once"}]);
    let call = json!({"toolCallId": "c", "rawInput": {"command": "touch deaf"}});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    let request = json!({"jsonrpc": "2.0", "id": "r", "method": "session/request_permission", "params": params});
    let script = python_script("deaf_agent.py");
    vec!["python3".into(), script.into(), request.to_string().into(), gate.into(), received.into()]
}

/// An agent that plays steps and keeps every byte it receives; see `agents/raw_agent.py`.
pub struct RawAgent {
    home: TempDir,
}

impl RawAgent {
    pub fn new(steps: &[Value]) -> Self {
        let home = tempfile::Builder::new().prefix("countersign-agent-").tempdir().expect("a temporary directory");
        let steps: Vec<String> = steps.iter().map(Value::to_string).collect();
        fs::write(home.path().join("steps"), steps.join("\n")).expect("the steps can be written");
        Self { home }
    }

    pub fn command(&self) -> Vec<OsString> {
        let script = python_script("raw_agent.py");
        let (steps, received) = (self.home.path().join("steps"), self.received_file());
        vec!["python3".into(), script.into(), steps.into(), "--received".into(), received.into()]
    }

    /// Every byte that came to its standard input.
    pub fn received(&self) -> Vec<u8> {
        fs::read(self.received_file()).unwrap_or_default()
    }

    /// Whole lines, without their ends.
    pub fn received_lines(&self) -> Vec<String> {
        let received = self.received();
        received
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| String::from_utf8_lossy(line).trim_end_matches('\n').to_owned())
            .collect()
    }

    /// Waits for a line that is JSON and satisfies.
    pub async fn wait_to_receive(&self, what: &str, satisfies: impl Fn(&Value) -> bool) -> Value {
        let parsed = |line: String| serde_json::from_str::<Value>(&line).ok();
        until(what, async || self.received_lines().into_iter().filter_map(parsed).find(|frame| satisfies(frame))).await
    }

    fn received_file(&self) -> PathBuf {
        self.home.path().join("received")
    }
}

pub(crate) fn python_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("agents").join(name)
}
