//! The wire between a client and an agent that are both pipes held by the test.

mod client;
mod rig;
mod told;

use std::io::Write;

use bridge_core::{Asks, SourceError};
use bridge_model::{Outcome, Withdrawn};

use self::rig::{MARK, Rig, allow, ask, update};

#[tokio::test]
async fn everything_that_is_not_ours_passes_untouched_both_ways() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}"#,
        r#"{"jsonrpc" : "2.0","id":7,"method":"elicitation/create","params":{"message":"session/request_permission"}}"#,
        r#"{"jsonrpc":"2.0","method":"_vendor/thing","params":[1.0,1e400,"\ud800"]}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"session/request_permission"}}"#,
        "{\"broken\": session/request_permission",
        "debug: sent {\"method\":\"session/request_permission\"}",
        "\t \r",
        "",
        "[1,2,3]",
        "not json at all \u{0}",
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(line);
        assert_eq!(rig.at_client(), line);
        rig.client_says(line);
        assert_eq!(rig.at_agent(), line);
    }
}

#[tokio::test]
async fn a_request_is_withheld_and_answered_with_the_agents_own_bytes() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask(r#""a\u0062\/c ✅""#, r#"" x:\u0079/\ud800 ""#));
    let request = rig.requested().await;
    rig.agent_says(MARK);
    assert_eq!(rig.at_client(), MARK);
    rig.choose(&request, 0).await.expect("taken");
    assert_eq!(
        rig.at_agent(),
        r#"{"jsonrpc":"2.0","id":"a\u0062\/c ✅","result":{"outcome":{"outcome":"selected","optionId":" x:\u0079/\ud800 "}}}"#
    );
}

#[tokio::test]
async fn a_request_is_answered_once() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.choose(&request, 0).await.expect("taken");
    assert_eq!(rig.choose(&request, 0).await, Err(SourceError::Withdrawn));
    rig.at_agent();
    rig.client_says(MARK);
    assert_eq!(rig.at_agent(), MARK);
}

#[tokio::test]
async fn lines_keep_flowing_while_a_request_is_held() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    rig.requested().await;
    for n in 0..100 {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"fs/read_text_file"}}"#);
        rig.agent_says(&line);
        assert_eq!(rig.at_client(), line);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{n},"result":{{}}}}"#);
        rig.client_says(if n == 0 { MARK } else { &line });
        assert_eq!(rig.at_agent(), if n == 0 { MARK } else { &line });
    }
}

#[tokio::test]
async fn ids_that_start_again_name_new_requests() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let first = rig.requested().await;
    rig.choose(&first, 0).await.expect("taken");
    rig.agent_says(&ask("0", "\"b\""));
    let second = rig.requested().await;
    assert_ne!(first.from, second.from);
    rig.choose(&second, 0).await.expect("taken");
    assert!(rig.at_agent().contains("\"a\"") && rig.at_agent().contains("\"b\""));
}

#[tokio::test]
async fn one_and_the_text_one_are_two_requests() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("1", "\"a\""));
    rig.agent_says(&ask("\"1\"", "\"a\""));
    let (number, text) = (rig.requested().await, rig.requested().await);
    rig.choose(&text, 0).await.expect("taken");
    assert!(rig.at_agent().contains(r#""id":"1""#));
    rig.choose(&number, 0).await.expect("taken");
    assert!(rig.at_agent().contains(r#""id":1,"#));
}

#[tokio::test]
async fn a_request_under_an_id_still_held_supersedes_it() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let first = rig.requested().await;
    rig.agent_says(&ask("0", "\"b\""));
    assert_eq!(rig.withdrawn().await, (first.from.clone(), Withdrawn::Superseded));
    assert_eq!(rig.reply(&first.from, &Outcome::Cancelled).await, Err(SourceError::Withdrawn));
    let second = rig.requested().await;
    rig.choose(&second, 0).await.expect("taken");
    assert!(rig.at_agent().contains("\"b\""));
}

#[tokio::test]
async fn malformed_requests_are_reported_withheld_and_answerable() {
    let option = r#"{"optionId":"a","name":"A","kind":"allow_once"}"#;
    for (params, problem) in [
        (r#"{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}"#.to_owned(), "no options were offered"),
        (r#"{"sessionId":"s","toolCall":{"toolCallId":"c"}}"#.to_owned(), "no options were offered"),
        (r#"{"sessionId":"s","toolCall":{},"options":{"a":1}}"#.to_owned(), "its options are not a list"),
        (r#"{"sessionId":"s","toolCall":{},"options":[1]}"#.to_owned(), "an option is not an object"),
        (r#"{"sessionId":"s","toolCall":{},"options":[["a","A","allow_once"]]}"#.to_owned(), "an option is not an object"),
        (r#"{"sessionId":"s","toolCall":{},"options":[{"name":"A"}]}"#.to_owned(), "an option has no id"),
        (r#"{"sessionId":"s","toolCall":{},"options":[{"optionId":""}]}"#.to_owned(), "an option id is empty"),
        (r#"{"sessionId":"s","toolCall":{},"options":[{"optionId":5}]}"#.to_owned(), "an option id is not a string"),
        (format!(r#"{{"sessionId":"s","toolCall":{{}},"options":[{option},{option}]}}"#), "two options have the same id"),
        (format!(r#"{{"sessionId":5,"toolCall":{{}},"options":[{option}]}}"#), "its session id is missing or not a string"),
        (format!(r#"{{"sessionId":"s","options":[{option}]}}"#), "it has no tool call"),
        (
            format!(r#"{{"sessionId":"s","toolCall":{{}},"options":[{option}]}}"#),
            "its tool call has no id, or one that is not a string",
        ),
        (
            format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":1}},"options":[{option}]}}"#),
            "its tool call has no id, or one that is not a string",
        ),
        (
            format!(r#"{{"sessionId":"s","toolCall":[],"options":[{option}]}}"#),
            "its tool call is not an object, or nested too deeply",
        ),
        ("[1]".to_owned(), "its parameters are not an object"),
        ("null".to_owned(), "its parameters are not an object"),
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{params}}}"#));
        rig.agent_says(MARK);
        assert_eq!(rig.at_client(), MARK, "{params}");
        let (from, told) = rig.malformed().await;
        assert_eq!(told, problem, "{params}");
        rig.reply(&from, &Outcome::Cancelled).await.expect("taken");
        assert_eq!(rig.at_agent(), r#"{"jsonrpc":"2.0","id":9,"result":{"outcome":{"outcome":"cancelled"}}}"#);
    }
}

#[tokio::test]
async fn a_request_in_disguise_does_not_reach_the_client() {
    let plain = ask("9", "\"a\"");
    for line in [
        plain.replace("session/request_permission", "session\\/request_permission"),
        plain.replace("session/request_permission", "session/\\u0072equest_\\u0070ermission"),
        plain.replace("\"method\"", "\"m\\u0065thod\""),
        format!("[{plain}]"),
        format!("{plain}{plain}"),
        format!("{plain} trailing"),
        plain.replace("\"method\":", "\"method\":\"session/update\",\"method\":"),
        plain.replace("\"params\":", "\"method\":\"session/update\",\"params\":"),
        plain.replace("\"toolCallId\":\"c\"", "\"toolCallId\":\"c\",\"x\":NaN"),
        format!("  {plain}  \r"),
        format!("\u{feff}{plain}"),
        format!("\u{a0}\u{b}\u{c}\0\u{1e}{plain}"),
        format!("[[{plain}]]"),
        format!("[{plain},NaN]"),
        format!("{plain}NaN"),
        format!("{},}}", &plain[..plain.len() - 1]),
        format!("{{\"\\ud800\":0,{}", &plain[1..]),
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&line);
        rig.event().await;
        rig.agent_says(MARK);
        let mut seen = Vec::new();
        while seen.last().is_none_or(|line| line != MARK) {
            seen.push(rig.at_client());
        }
        assert!(!seen.iter().any(|line| line.contains("optionId")), "{line}: {seen:?}");
    }
}

#[tokio::test]
async fn the_others_of_a_batch_go_on() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&format!(r#"[{MARK},{},{{"b":1}}]"#, ask("9", "\"a\"")));
    rig.requested().await;
    assert_eq!((rig.at_client(), rig.at_client()), (MARK.to_owned(), r#"{"b":1}"#.to_owned()));
}

#[tokio::test]
async fn a_line_that_is_not_text_is_refused_and_not_passed() {
    let mut rig = Rig::start(false).await;
    let mut line = ask("9", "\"a\"").replacen("make", "\u{1}", 1).into_bytes();
    let at = line.iter().position(|byte| *byte == 1).expect("there");
    line[at] = 0xff;
    rig.agent_out.as_mut().expect("open").write_all(&[&line[..], b"\n"].concat()).expect("written");
    assert_eq!(rig.malformed().await.1, "it is not valid JSON");
}

#[tokio::test]
async fn a_cancelled_turn_cancels_its_requests_and_no_others() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    rig.agent_says(&ask("1", "\"a\"").replace("\"sessionId\":\"s\"", "\"sessionId\":\"other\""));
    let (cancelled, other) = (rig.requested().await, rig.requested().await);
    let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
    rig.client_says(cancel);
    assert_eq!(rig.at_agent(), cancel);
    assert_eq!(rig.withdrawn().await, (cancelled.from.clone(), Withdrawn::TurnCancelled));
    // Even a choice that was made in the same instant goes out as cancelled.
    assert_eq!(rig.choose(&cancelled, 0).await, Err(SourceError::Withdrawn));
    assert_eq!(rig.at_agent(), r#"{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}"#);
    rig.choose(&other, 0).await.expect("taken");
}

#[tokio::test]
async fn cancelling_a_prompt_cancels_its_turn() {
    let mut rig = Rig::start(false).await;
    rig.client_says(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s"}}"#);
    rig.at_agent();
    rig.agent_says(&ask("0", "\"a\""));
    rig.requested().await;
    rig.client_says(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"q"}}"#);
    rig.client_says(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#);
    assert_eq!(rig.withdrawn().await.1, Withdrawn::TurnCancelled);
}

#[tokio::test]
async fn what_the_agent_does_ends_its_request() {
    for (line, why) in [
        (r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#.to_owned(), Withdrawn::ByAgent),
        (update(r#""sessionUpdate":"tool_call_update","status":"completed""#), Withdrawn::TurnEnded),
        (
            update(
                r#""sessionUpdate":"tool_call_update","status":"failed","content":[{"type":"content","content":{"type":"text","text":"no"}}]"#,
            ),
            Withdrawn::TurnEnded,
        ),
        (update(r#""sessionUpdate":"state_update","state":"idle""#), Withdrawn::TurnEnded),
        (r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#.to_owned(), Withdrawn::TurnEnded),
        (r#"{"jsonrpc":"2.0","id":"p","error":{"code":1,"message":"x"}}"#.to_owned(), Withdrawn::TurnEnded),
    ] {
        let mut rig = Rig::start(false).await;
        rig.client_says(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s"}}"#);
        rig.at_agent();
        rig.agent_says(&ask("0", "\"a\""));
        let request = rig.requested().await;
        rig.agent_says(&line);
        assert_eq!(rig.withdrawn().await, (request.from.clone(), why), "{line}");
    }
}

#[tokio::test]
async fn in_version_two_the_prompts_answer_ends_nothing() {
    let mut rig = Rig::start(false).await;
    rig.client_says(r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#);
    rig.client_says(r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}"#);
    assert!(!rig.at_agent().is_empty() && !rig.at_agent().is_empty());
    rig.agent_says(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}}"#);
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.agent_says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(!rig.at_client().is_empty() && !rig.at_client().is_empty());
    rig.choose(&request, 0).await.expect("still open");
}

#[tokio::test]
async fn the_cancelling_of_what_the_client_never_saw_is_kept_from_it() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.choose(&request, 0).await.expect("taken");
    rig.agent_says(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#);
    rig.agent_says(MARK);
    assert_eq!(rig.at_client(), MARK);
}

#[tokio::test]
async fn an_answer_of_a_client_that_was_not_asked_does_not_count() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.client_says(&allow("0"));
    rig.client_says(MARK);
    assert_eq!(rig.at_agent(), MARK);
    rig.choose(&request, 0).await.expect("still open");
}

#[tokio::test]
async fn nor_does_one_in_disguise() {
    let plain = allow("1");
    for line in [
        format!("[{plain}]"),
        format!("{{}} {plain}"),
        format!("\u{feff}{plain}"),
        plain.replace("\"id\":1", "\"id\":1.0"),
        plain.replace("\"id\":1", "\"id\":1,\"method\":\"x\""),
        plain.replace("\"id\":1", "\"id\":1,\"x\":NaN"),
        plain.replace("\"id\":1", "\"id\":1,\"\\ud800\":0"),
        format!("{},}}", &plain[..plain.len() - 1]),
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&ask("1", "\"a\""));
        let request = rig.requested().await;
        rig.client_says(&line);
        rig.client_says(MARK);
        let mut seen = rig.at_agent();
        while seen != MARK {
            assert!(!seen.contains("optionId"), "{line}: {seen}");
            seen = rig.at_agent();
        }
        rig.choose(&request, 0).await.expect("still open");
    }
}

#[tokio::test]
async fn a_cancelled_turn_is_noticed_however_it_is_said() {
    let plain = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
    for line in [
        format!("[{plain}]"),
        format!("{{}} {plain}"),
        format!("\u{feff}{plain}"),
        plain.replace("\"sessionId\":", "\"sessionId\":\"t\",\"sessionId\":"),
        plain.replace("\"jsonrpc\"", "\"\\ud800\":0,\"jsonrpc\""),
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&ask("0", "\"a\""));
        rig.requested().await;
        rig.client_says(&line);
        assert_eq!(rig.withdrawn().await.1, Withdrawn::TurnCancelled, "{line}");
        assert_eq!(rig.at_agent(), line);
    }
}

#[tokio::test]
async fn a_flood_of_requests_is_answered_to_the_last() {
    const COUNT: usize = 1_500;
    let mut rig = Rig::start(false).await;
    let mut agent_out = rig.agent_out.take().expect("open");
    let flood = std::thread::spawn(move || {
        for id in 0..COUNT {
            writeln!(agent_out, "{}", ask(&id.to_string(), "\"a\"")).expect("written");
        }
        agent_out
    });
    for _ in 0..COUNT {
        let request = rig.requested().await;
        rig.choose(&request, 0).await.expect("taken");
        rig.at_agent();
    }
    drop(flood.join().expect("written"));
}

#[tokio::test]
async fn a_session_id_without_end_is_refused() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\"").replace("\"s\"", &format!("\"{}\"", "s".repeat(5_000))));
    assert!(rig.malformed().await.1.contains("5000 bytes"));
}

#[tokio::test]
async fn a_client_that_leaves_cancels_everything_before_the_agent_sees_the_end() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.client_in = None;
    assert_eq!(rig.at_agent(), r#"{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}"#);
    assert_eq!(rig.at_agent(), "");
    assert_eq!(rig.withdrawn().await, (request.from.clone(), Withdrawn::ClientGone));
    assert_eq!(rig.choose(&request, 0).await, Err(SourceError::Withdrawn));
}

#[tokio::test]
async fn an_agent_that_leaves_takes_its_requests_along() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.agent_out = None;
    assert_eq!(rig.withdrawn().await, (request.from, Withdrawn::AgentGone));
    assert!(rig.asks.next().await.is_none());
    assert_eq!(rig.at_client(), "");
}

#[tokio::test]
async fn our_line_never_continues_theirs() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.client_in.as_mut().expect("open").write_all(b"{\"no end\":1}").expect("written");
    rig.client_in = None;
    assert_eq!(rig.at_agent(), "{\"no end\":1}");
    assert!(rig.at_agent().contains("cancelled"));
    assert_eq!(rig.withdrawn().await.0, request.from);
}
