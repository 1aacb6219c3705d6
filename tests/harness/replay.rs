//! Plays a recording through a bridge that has no room, and checks every byte on both sides.
//!
//! The agent sends what the recorded agent sent, and the client what the recorded client sent except its answers to
//! permission requests; each waits for the other where the recording has it so. A bridge without a room has to withhold
//! every permission request and to refuse it, once.

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::agents::{RawAgent, python_script};
use crate::bridge_process::BridgeProcess;
use crate::captures::Capture;
use crate::launch::Launch;

mod expected;

use expected::{Asked, Part, parts};

/// The agent's last frame: it has every answer that it waits for, so the client may close.
const OVER: &str = r#"{"jsonrpc":"2.0","method":"_replay/over"}"#;

/// A stand-in for the bridge, to see that a replay can fail; `mode` is one of those in `agents/fake_bridge.py`.
pub fn fake_bridge(mode: &str) -> impl FnOnce(&[OsString]) -> Launch {
    let mode = OsString::from(mode);
    move |agent| {
        let script = python_script("fake_bridge.py").into();
        Launch::program("python3", &[&[script, mode, "--".into()], agent].concat())
    }
}

/// Replays a recording through what `launch` makes of an agent's command. The error says what differs.
pub async fn replay(capture: &Capture, launch: impl AsyncFnOnce(&[OsString]) -> Launch) -> Result<(), String> {
    let (parts, asked) = parts(capture);
    let agent = RawAgent::new(&steps(&parts, &asked));
    let mut bridge = launch(&agent.command()).await.start();
    let played = play_client(&parts, &mut bridge).await;
    let received = agent.received();
    let context = |problem| format!("{}: {problem}\nthe bridge said:\n{}", capture.name, bridge.stderr());
    played.and_then(|()| expected::check_received(&parts, &asked, &received)).map_err(context)
}

/// What the agent does.
fn steps(parts: &[Part<'_>], asked: &[Asked]) -> Vec<Value> {
    let expect_answer = |asked: &Asked| json!({"expect": {"id": asked.id, "result": {"outcome": {}}}});
    let mut steps: Vec<Value> = parts
        .iter()
        .map(|part| match part {
            Part::FromAgent(frame) | Part::Withheld(frame) => json!({"send": frame.text}),
            Part::FromClient(frame) => json!({"expect": frame.json}),
            Part::Answer(at) => expect_answer(&asked[*at]),
        })
        .collect();
    steps.extend(asked.iter().filter(|asked| !asked.answered).map(expect_answer));
    steps.push(json!({"send": OVER}));
    steps
}

async fn play_client(parts: &[Part<'_>], bridge: &mut BridgeProcess) -> Result<(), String> {
    for part in parts {
        match part {
            Part::FromClient(frame) => bridge.send_bytes(format!("{}\n", frame.text).as_bytes()).await,
            Part::FromAgent(frame) => same_line(&frame.text, bridge.try_next_frame().await)?,
            Part::Withheld(_) | Part::Answer(_) => {}
        }
    }
    same_line(OVER, bridge.try_next_frame().await)?;
    bridge.close_stdin();
    if let Some(more) = bridge.try_next_frame().await {
        return Err(format!("the client got a line too many: {}", String::from_utf8_lossy(&more)));
    }
    let status = bridge.wait_exit().await;
    if status.success() { Ok(()) } else { Err(format!("the bridge ended with {status}")) }
}

fn same_line(expected: &str, line: Option<Vec<u8>>) -> Result<(), String> {
    let line = line.ok_or_else(|| format!("the client did not get {expected}"))?;
    let wanted = format!("{expected}\n");
    if line == wanted.as_bytes() {
        return Ok(());
    }
    Err(format!("the client got\n{}instead of\n{wanted}", String::from_utf8_lossy(&line)))
}
