use serde_json::json;

use super::*;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_response_with_one_whole_token_is_a_click() {
    let said = read(&event(POLL_RESPONSE, &response_to("$poll", &json!([TOKEN])))).expect("a click");
    assert_eq!(said.sender.as_str(), "@ada:localhost");
    assert_eq!(said.what, What::Response { target: id("$poll"), token: ButtonToken::parse(TOKEN).expect("a token") });
}

#[test]
fn hostile_responses_are_nothing() {
    for answers in [
        json!([]),
        json!([TOKEN, TOKEN]),
        json!([TOKEN[1..]]),
        json!([TOKEN.to_uppercase()]),
        json!([1]),
        json!([[TOKEN]]),
        json!([null]),
        json!(TOKEN),
        json!({ "0": TOKEN }),
        json!(null),
    ] {
        assert_eq!(read(&event(POLL_RESPONSE, &response_to("$poll", &answers))), None, "{answers}");
    }
}

#[test]
fn another_relation_is_nothing() {
    let mut content = response_to("$poll", &json!([TOKEN]));
    for relation in [
        json!({ "rel_type": "m.thread", "event_id": "$poll" }),
        json!({ "rel_type": "m.annotation", "event_id": "$poll", "key": "Yes" }),
        json!({ "rel_type": "m.replace", "event_id": "$poll" }),
        json!({ "rel_type": "m.reference" }),
        json!({ "rel_type": "m.reference", "event_id": "poll" }),
        json!({ "m.in_reply_to": { "event_id": "$poll" } }),
        json!("$poll"),
    ] {
        content["m.relates_to"] = relation;
        assert_eq!(read(&event(POLL_RESPONSE, &content)), None, "{content}");
    }
}

#[test]
fn text_is_never_a_click() {
    let mut content = response_to("$poll", &json!([TOKEN]));
    content["msgtype"] = json!("m.text");
    content["body"] = json!("Yes");
    for kind in ["m.room.message", "m.poll.response", "m.poll.start", "org.matrix.msc3381.poll.end", "m.room.member", "m.sticker"]
    {
        assert_eq!(read(&event(kind, &content)), None, "{kind}");
    }
}

#[test]
fn a_state_event_is_never_a_click() {
    let mut json: Value = serde_json::from_str(&event(POLL_RESPONSE, &response_to("$poll", &json!([TOKEN])))).expect("json");
    json["state_key"] = json!("");
    assert_eq!(read(&json.to_string()), None);
}

#[test]
fn a_redaction_names_its_target_where_its_room_version_puts_it() {
    let in_content = event("m.room.redaction", &json!({ "redacts": "$card" }));
    assert_eq!(read(&in_content).expect("a redaction").what, What::Redaction { target: id("$card") });
    let mut on_top: Value = serde_json::from_str(&event("m.room.redaction", &json!({}))).expect("json");
    on_top["redacts"] = json!("$card");
    assert_eq!(read(&on_top.to_string()).expect("a redaction").what, What::Redaction { target: id("$card") });
}

#[test]
fn a_redacted_click_and_broken_json_are_nothing() {
    assert_eq!(read(&event(POLL_RESPONSE, &json!({}))), None);
    assert_eq!(read(&event(REACTION, &json!({}))), None);
    for text in ["", "{", "[]", "null", "{\"type\":\"org.matrix.msc3381.poll.response\"}"] {
        assert_eq!(read(text), None);
    }
}

fn response_to(poll: &str, answers: &Value) -> Value {
    json!({ "m.relates_to": { "rel_type": "m.reference", "event_id": poll }, POLL_RESPONSE: { "answers": answers } })
}

fn event(kind: &str, content: &Value) -> String {
    json!({ "type": kind, "event_id": "$click", "sender": "@ada:localhost", "origin_server_ts": 1, "content": content })
        .to_string()
}

fn id(text: &str) -> OwnedEventId {
    EventId::parse(text).expect("an id")
}
