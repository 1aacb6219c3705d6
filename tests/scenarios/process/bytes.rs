//! What is not a permission request passes byte for byte, in order and at once.

use std::ffi::OsString;

use countersign_tests::{Launch, RawAgent, countersign, echo_agent};
use matrix_sdk::ruma::serde::Base64;
use matrix_sdk::ruma::serde::base64::Standard;
use serde_json::json;

use super::shell;

#[tokio::test]
async fn a_frame_of_64_mib_passes_both_ways() {
    let mut frame = br#"{"jsonrpc":"2.0","id":1,"method":"_echo","params":{"text":""#.to_vec();
    frame.resize(64 << 20, b'x');
    frame.extend(b"\"}}\n");
    let mut bridge = Launch::acp(None, &echo_agent()).await.start();
    bridge.send_bytes(&frame).await;
    let back = bridge.next_frame().await;
    assert!(back == frame, "{} bytes became {}", frame.len(), back.len());
    assert!(bridge.rest_of_output().await.is_empty());
    assert!(bridge.wait_exit().await.success());
}

/// Each piece that is sent holds the end of one line and the beginning of the next, and is not followed by another
/// before the line it ends has come back.
#[tokio::test]
async fn frames_of_the_client_may_be_split_at_any_byte() {
    let mut bridge = Launch::acp(None, &echo_agent()).await.start();
    let mut held_back = line(0);
    for number in 0..LINE_BYTES {
        let (begun, rest) = split(number + 1);
        bridge.send_bytes(&[held_back, begun].concat()).await;
        assert_eq!(bridge.next_frame().await, line(number));
        held_back = rest;
    }
    bridge.send_bytes(&held_back).await;
    assert_eq!(bridge.next_frame().await, line(LINE_BYTES));
}

#[tokio::test]
async fn frames_of_the_agent_may_be_split_at_any_byte() {
    let mut held_back = line(0);
    let mut steps = Vec::new();
    for number in 0..LINE_BYTES {
        let (begun, rest) = split(number + 1);
        steps.push(json!({"write_bytes": base64(&[held_back, begun].concat())}));
        steps.push(json!({"expect": {"seen": number}}));
        held_back = rest;
    }
    steps.push(json!({"write_bytes": base64(&held_back)}));
    let agent = RawAgent::new(&steps);
    let mut bridge = Launch::acp(None, &agent.command()).await.start();
    for number in 0..LINE_BYTES {
        assert_eq!(bridge.next_frame().await, line(number));
        bridge.send(&json!({"seen": number})).await;
    }
    assert_eq!(bridge.next_frame().await, line(LINE_BYTES));
}

#[tokio::test]
async fn bytes_that_are_no_frames_pass_as_they_are() {
    for bytes in [
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_a\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n".as_slice(),
        b"\n\r\n\n \n\r\r\n",
        b"\xff\xfe\x00\x80\n{\"id\":1,\"method\":\"_a\",\"params\":\"\xff\"}\n\xc3\n\xa9\n",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_a\"}\n",
        b"{\"id\":1,\"method\":\"_a\"\n}}}\n[1,{\"id\":2}]\n\"id\"\nnull\n{\"id\":1,\"id\":2,\"method\":1}\n{\"id\":{}}\n",
        b"{ \"method\" : \"_a\",  \"id\":1.0e0, \"params\":{\"b\":1,\"a\":\"\\u00e9\\/\"} }\t\n",
        b"words\x1b[1m\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_a\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"no end\"}",
        b"no end",
        b"\r",
        b"",
    ] {
        let mut bridge = Launch::acp(None, &echo_agent()).await.start();
        bridge.send_bytes(bytes).await;
        let back = bridge.rest_of_output().await;
        assert_eq!(back, bytes, "{:?} became {:?}", String::from_utf8_lossy(bytes), String::from_utf8_lossy(&back));
        assert!(bridge.wait_exit().await.success());
    }
}

#[tokio::test]
async fn the_last_words_of_an_agent_arrive_without_a_line_end() {
    let mut bridge = Launch::acp(None, &shell("printf '{\"id\":1}\\n{\"id\":'")).await.start();
    assert_eq!(bridge.next_frame().await, b"{\"id\":1}\n");
    assert_eq!(bridge.next_frame().await, b"{\"id\":");
    assert_eq!(bridge.try_next_frame().await, None);
    assert!(bridge.wait_exit().await.success());
}

/// The agent has long ended when its client begins to read.
#[tokio::test]
async fn the_last_words_of_an_agent_wait_for_a_client_that_reads_late() {
    const BYTES: usize = 3 << 20;
    let agent = format!("python3 -c \"print('x' * {BYTES})\"");
    let client = format!("\"$0\" acp -- sh -c '{}' | (sleep 8; cat)", agent.replace('\'', "'\\''"));
    let arguments: [OsString; 3] = ["-c".into(), client.into(), countersign().await.as_os_str().to_owned()];
    let mut client = Launch::program("sh", &arguments).start();
    assert_eq!(client.next_frame().await.len(), BYTES + 1);
}

#[tokio::test]
async fn a_thousand_frames_keep_their_order_both_ways_at_once() {
    const FRAMES: usize = 1_000;
    let steps: Vec<_> = (0..FRAMES).map(|number| json!({"send": {"id": number, "method": "_from_agent"}})).collect();
    let agent = RawAgent::new(&steps);
    let mut bridge = Launch::acp(None, &agent.command()).await.start();
    let mut sent = Vec::new();
    for number in 0..FRAMES {
        let frame = format!("{{\"id\":{number},\"method\":\"_from_client\"}}\n");
        bridge.send_bytes(frame.as_bytes()).await;
        sent.extend(frame.into_bytes());
    }
    for number in 0..FRAMES {
        assert_eq!(bridge.next_frame().await, format!("{{\"id\":{number},\"method\":\"_from_agent\"}}\n").into_bytes());
    }
    assert!(bridge.rest_of_output().await.is_empty());
    assert!(bridge.wait_exit().await.success());
    assert!(agent.received() == sent, "the agent got:\n{}", String::from_utf8_lossy(&agent.received()));
}

#[tokio::test]
async fn what_the_agent_says_to_its_operator_is_heard() {
    let mut bridge = Launch::acp(None, &shell("echo 'out of coffee' >&2")).await.start();
    bridge.stderr_contains("out of coffee").await;
    assert!(bridge.rest_of_output().await.is_empty());
}

/// Two of its bytes belong to one character, and two to one line end.
fn line(number: usize) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{number:04},\"method\":\"_\u{e9}\"}}\r\n").into_bytes()
}

const LINE_BYTES: usize = 44;

/// The line with this number, split after as many bytes.
fn split(number: usize) -> (Vec<u8>, Vec<u8>) {
    let mut line = line(number);
    assert_eq!(line.len(), LINE_BYTES);
    let rest = line.split_off(number);
    (line, rest)
}

/// With the padding that Python asks for.
fn base64(bytes: &[u8]) -> String {
    let unpadded = Base64::<Standard, _>::new(bytes).encode();
    let padding = "=".repeat((4 - unpadded.len() % 4) % 4);
    format!("{unpadded}{padding}")
}
