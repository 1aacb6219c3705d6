//! What people are told of a request: all that the agent said of it, before, in it and after.

use bridge_core::{SourceError, SourceEvent};
use bridge_model::{Content, OptionKind, ToolKind};

use super::rig::{MARK, Rig, ask, update};

#[tokio::test]
async fn a_thin_request_is_laid_over_what_came_before() {
    let mut rig = Rig::start(false).await;
    rig.client_says(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    rig.at_agent();
    rig.agent_says(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"coder","title":"Coder"}}}"#);
    rig.at_client();
    rig.client_says(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/srv"}}"#);
    rig.at_agent();
    rig.agent_says(r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","modes":{"currentModeId":"default"}}}"#);
    rig.agent_says(&update(r#""sessionUpdate":"tool_call","title":"bash","kind":"execute","rawInput":{"cwd":"/srv"}"#));
    rig.agent_says(&update(r#""sessionUpdate":"tool_call_update","title":"ls","rawInput":{"command":"ls"},"content":[{"type":"diff","path":"/a","oldText":null,"newText":"x"}]"#));
    rig.agent_says(&ask("0", "\"a\"").replace(r#","title":"make it","rawInput":{"command":"make"}"#, r#","kind":null"#));
    let request = rig.requested().await;
    assert_eq!(request.session.agent.as_deref(), Some("Coder"));
    assert_eq!((request.session.cwd.as_deref(), request.session.mode.as_deref()), (Some("/srv"), Some("default")));
    let call = request.tool_call.expect("a tool call");
    assert_eq!((call.title.as_deref(), call.kind), (Some("ls"), ToolKind::Execute));
    assert_eq!(call.raw_input, Some(serde_json::json!({"command": "ls"})));
    assert_eq!(call.content, [Content::Diff { path: "/a".into(), old: None, new: "x".into() }]);
}

#[tokio::test]
async fn version_two_and_unknown_kinds_are_understood() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(r#"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","title":"T","description":"D","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","kind":"teleport"}},"options":[{"optionId":"a","kind":"allow_persistent"},{"optionId":"b","name":"B\ud83d","kind":7}]}}"#);
    let request = rig.requested().await;
    assert_eq!((request.title.as_deref(), request.description.as_deref()), (Some("T"), Some("D")));
    assert_eq!(request.tool_call.expect("a tool call").kind, ToolKind::Unknown);
    let options = request.options.as_slice();
    assert_eq!(options[0].kind, OptionKind::Unknown("allow_persistent".into()));
    assert_eq!((options[1].name.as_str(), &options[1].kind), ("B\\ud83d", &OptionKind::Unknown(String::new())));
}

#[tokio::test]
async fn an_update_that_changes_the_deed_is_told_and_others_are_not() {
    for (fields, changes) in [
        (r#""rawInput":{"command":"rm -rf /"}"#, true),
        (r#""locations":[{"path":"/etc"}]"#, true),
        (r#""content":[{"type":"diff","path":"/a","newText":"x"}]"#, true),
        (r#""kind":"delete""#, true),
        (r#""rawInput":{}"#, true),
        (r#""rawInput":{"command":"make"}"#, false),
        (r#""rawInput":{"cwd":"/before"}"#, true),
        (r#""name":"other tool""#, true),
        (r#""toolCallId":"x""#, true),
        ("\"\\ud800\":1", true),
        (r#""status":"in_progress""#, false),
        (r#""title":"other words""#, false),
        (r#""plan":"rm -rf /""#, true),
        (r#""_meta":{"x":{"mcpServer":"other"}}"#, true),
        (r#""locations":[],"content":[],"rawInput":null"#, false),
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&update(r#""sessionUpdate":"tool_call","rawInput":{"cwd":"/before"}"#));
        rig.agent_says(&ask("0", "\"a\""));
        let request = rig.requested().await;
        rig.agent_says(&update(&format!(r#""sessionUpdate":"tool_call_update",{fields}"#)));
        rig.agent_says(&ask("1", "\"a\""));
        let changed = matches!(rig.event().await, SourceEvent::Changed { ask, .. } if ask == request.from);
        assert_eq!(changed, changes, "{fields}");
    }
}

#[tokio::test]
async fn a_change_that_hides_among_other_values_is_noticed() {
    let change = update(r#""sessionUpdate":"tool_call_update","rawInput":{"command":"rm -rf /"}"#);
    let twice = change.replace("\"method\":", "\"method\":\"x\",\"method\":");
    for line in [format!("[{MARK},{change}]"), format!("{MARK}{change}"), twice] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&ask("0", "\"a\""));
        let request = rig.requested().await;
        rig.agent_says(&line);
        assert!(matches!(rig.event().await, SourceEvent::Changed { ask, .. } if ask == request.from), "{line}");
        assert_eq!(rig.at_client(), line);
    }
}

#[tokio::test]
async fn what_is_not_understood_of_a_tool_call_is_kept_to_be_shown() {
    for fields in [
        r#""content":{"type":"content"}"#,
        r#""content":[{"type":"content","content":{"type":"resource","text":"decoy","uri":"file:///etc/passwd"}}]"#,
        r#""content":[{"type":"diff","path":"/a","newText":"x","patch":{"text":"other"}}]"#,
        r#""locations":[{"path":5}]"#,
        r#""input":{"command":"rm"}"#,
        r#""title":7"#,
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&ask("0", "\"a\"").replace(r#""title":"make it","#, &format!("{fields},")));
        let call = rig.requested().await.tool_call.expect("a tool call");
        assert!(matches!(call.content[..], [Content::Other(_)]), "{fields}: {:?}", call.content);
    }
}

#[tokio::test]
async fn what_changed_is_told_with_the_request_as_it_is_now() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    for (command, kind) in [("rm x", ToolKind::Other), ("rm y", ToolKind::Delete)] {
        let fields =
            format!(r#""sessionUpdate":"tool_call_update","kind":"{}","rawInput":{{"command":"{command}"}}"#, kind.name());
        rig.agent_says(&update(&fields));
        let SourceEvent::Changed { ask, now } = rig.event().await else { panic!("a change") };
        assert_eq!(ask, request.from);
        let now = now.expect("it can be told");
        assert_eq!((&now.from, &now.options), (&request.from, &request.options));
        let call = now.tool_call.as_ref().expect("a tool call");
        assert_eq!((call.kind, call.title.as_deref()), (kind, Some("make it")));
        assert_eq!(call.raw_input, Some(serde_json::json!({ "command": command })));
    }
    // The same again is no change, and once people are asked about it their answer goes to the request that was asked.
    rig.asked(&request.from);
    rig.agent_says(&update(r#""sessionUpdate":"tool_call_update","rawInput":{"command":"rm y"}"#));
    rig.choose(&request, 0).await.expect("taken");
    assert!(rig.at_agent().contains(r#""optionId":"a""#));
}

#[tokio::test]
async fn what_was_chosen_for_what_it_was_before_allows_nothing() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    rig.asked(&request.from);
    rig.agent_says(&update(r#""sessionUpdate":"tool_call_update","rawInput":{"command":"rm y"}"#));
    rig.event().await;
    assert_eq!(rig.choose(&request, 0).await, Err(SourceError::Withdrawn));
    assert!(rig.at_agent().contains(r#""outcome":"cancelled""#));
}

#[tokio::test]
async fn what_no_reader_takes_as_it_stands_is_refused() {
    let mut rig = Rig::start(false).await;
    let odd = ask("0", "\"a\"").replace(r#"{"command":"make"}"#, r#"{"$serde_json::private::RawValue":"{\"command\":\"ls\"}"}"#);
    assert!(odd.contains("private"));
    rig.agent_says(&odd);
    assert!(matches!(rig.event().await, SourceEvent::Malformed { .. }));
}

#[tokio::test]
async fn a_change_that_cannot_be_read_is_told_without_what_is_now() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    rig.agent_says(&update(&format!(r#""sessionUpdate":"tool_call_update","rawInput":{deep}"#)));
    let event = rig.event().await;
    assert!(matches!(&event, SourceEvent::Changed { ask, now: None } if *ask == request.from), "{event:?}");
}

#[tokio::test]
async fn what_is_told_of_a_call_that_waits_in_an_unknown_way_is_a_change() {
    let mut rig = Rig::start(false).await;
    rig.agent_says(&ask("0", "\"a\""));
    let request = rig.requested().await;
    let chunk = update(r#""sessionUpdate":"tool_call_content_chunk","content":{"type":"text","text":"rm -rf /"}"#);
    rig.agent_says(&chunk.replace(r#""toolCallId":""#, r#""toolCallId":"not-"#));
    rig.agent_says(&chunk);
    let event = rig.event().await;
    assert!(matches!(&event, SourceEvent::Changed { ask, now: None } if *ask == request.from), "{event:?}");
}

#[tokio::test]
async fn both_ends_of_the_wire_say_who_they_are() {
    for (client, agent) in [("clientInfo", "agentInfo"), ("info", "info")] {
        let mut rig = Rig::start(false).await;
        let info = |key: &str, name: &str| format!(r#""{key}":{{"name":"{name}","title":"The {name}","version":"1"}}"#);
        rig.client_says(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":1,{}}}}}"#,
            info(client, "client")
        ));
        rig.at_agent();
        rig.agent_says(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":1,{}}}}}"#, info(agent, "agent")));
        rig.at_client();
        rig.agent_says(&ask("0", "\"a\""));
        let session = rig.requested().await.session;
        assert_eq!((session.client.as_deref(), session.agent.as_deref()), (Some("The client"), Some("The agent")));
    }
}

#[tokio::test]
async fn what_the_agent_says_beside_its_request_is_kept_to_be_shown() {
    let mut rig = Rig::start(false).await;
    let ask = ask("0", "\"a\"")
        .replace(r#""kind":"allow_once""#, r#""kind":"allow_once","_meta":{"pattern":"make *"}"#)
        .replace(r#""sessionId":"s""#, r#""sessionId":"s","_meta":{"risk":"high"}"#);
    rig.agent_says(&ask);
    let request = rig.requested().await;
    assert_eq!(request.meta, Some(serde_json::json!({"risk": "high"})));
    let metas: Vec<_> = request.options.as_slice().iter().map(|option| option.meta.clone()).collect();
    assert_eq!(metas, [Some(serde_json::json!({"pattern": "make *"})), None]);
}

#[tokio::test]
async fn the_mcp_server_is_found_where_agents_tell_it() {
    for (fields, server) in [
        (r#""_meta":{"x":{"mcpServer":{"name":"stub","source":"dynamic"}}}"#, Some("stub")),
        (r#""_meta":{"x":{"mcpServer":"stub"}}"#, Some("stub")),
        (r#""name":"mcp__stub__wipe""#, Some("stub")),
        (r#""rawInput":{"server":"stub","tool":"wipe"}"#, Some("stub")),
        (r#""rawInput":{"server":"stub"}"#, None),
        (r#""name":"wipe""#, None),
        (r#""_meta":{"x":{"mcpServer":7}}"#, None),
        (r#""_meta":7"#, None),
    ] {
        let mut rig = Rig::start(false).await;
        rig.agent_says(&ask("0", "\"a\"").replace(r#""rawInput":{"command":"make"}"#, fields));
        let call = rig.requested().await.tool_call.expect("a tool call");
        assert_eq!(call.mcp_server.as_deref(), server, "{fields}");
    }
}
