//! An agent for benchmarks: it answers `initialize`, echoes, and floods, and does as little else as it can.
//!
//! `_bench/echo` is answered with its own params. `_bench/flood` sends `count` chunks of a message of 300 bytes each and
//! is answered afterwards. The chunks are written 64 KiB at a time, so that what is measured is not this program.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::fd::AsFd;

use serde_json::value::RawValue;

const BUFFER_BYTES: usize = 64 * 1024;
const CHUNK_BYTES: usize = 300;

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, File::from(io::stdin().as_fd().try_clone_to_owned()?));
    // The bare descriptor, because the standard library's handle writes line by line.
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? != 0 {
        if let Some(answer) = answer(&line, &mut output)? {
            output.write_all(&answer)?;
        }
        line.clear();
    }
    Ok(())
}

/// The response to a request; `None` for anything else.
fn answer(line: &[u8], output: &mut File) -> io::Result<Option<Vec<u8>>> {
    let frame: BTreeMap<&str, &RawValue> = serde_json::from_slice(line)?;
    let (Some(id), Some(method)) = (frame.get("id"), frame.get("method")) else { return Ok(None) };
    let params = frame.get("params").map_or("null", |params| params.get());
    Ok(Some(match method.get() {
        "\"initialize\"" => result(id, r#"{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}"#),
        "\"_bench/echo\"" => result(id, params),
        "\"_bench/flood\"" => {
            flood(params, output)?;
            result(id, "{}")
        }
        _ => {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":-32601,\"message\":\"?\"}}}}\n", id.get()).into_bytes()
        }
    }))
}

fn result(id: &RawValue, result: &str) -> Vec<u8> {
    let parts = ["{\"jsonrpc\":\"2.0\",\"id\":", id.get(), ",\"result\":", result, "}\n"];
    parts.concat().into_bytes()
}

fn flood(params: &str, output: &mut File) -> io::Result<()> {
    let params: BTreeMap<&str, u64> = serde_json::from_str(params)?;
    let chunk = chunk();
    let mut output = BufWriter::with_capacity(BUFFER_BYTES, output);
    for _ in 0..params.get("count").copied().unwrap_or(0) {
        output.write_all(&chunk)?;
    }
    output.flush()
}

/// One notification, padded to its length.
fn chunk() -> Vec<u8> {
    let (head, tail) = (
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"bench","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#,
        "\"}}}}\n",
    );
    let text = "x".repeat(CHUNK_BYTES - head.len() - tail.len());
    [head, &text, tail].concat().into_bytes()
}
