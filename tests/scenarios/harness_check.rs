//! The harness itself, without a bridge.

mod browser;
mod discord;

use countersign_tests::{BridgeProcess, Device, HttpMember, Launch, Member, RawAgent, Synapse, scripted_agent};
use serde_json::{Value, json};

#[tokio::test]
async fn a_card_is_seen_and_pressed_in_a_plain_room() {
    let server = Synapse::shared().await;
    let (bot, ada) = (server.register("bot").await, server.register("ada").await);
    let (bot, ada) = (HttpMember::log_in(&bot).await, Member::log_in(&ada, Device::CrossSigned).await);
    let room = ada.create_room(false, &[&bot.user_id]).await;
    bot.join(&room).await;
    let message = bot.send(&room, "m.room.message", &details("touch x")).await;
    let poll = bot.send(&room, POLL_START, &poll("touch x?")).await;

    let card = ada.wait_for_card(&room).await;
    assert_eq!((&card.message_event, &card.poll_event, card.question.as_str()), (&message, &poll, "touch x?"));
    assert_eq!((card.labels(), card.html.as_str(), card.encrypted), (vec!["Yes", "No"], "<b>touch x</b>", false));
    let pressed = ada.press(&card, "Yes").await;
    let response = bot.relations(&room, &poll).await.remove(0);
    assert_eq!(response["event_id"], pressed);
    assert_eq!(response["content"][POLL_RESPONSE]["answers"], json!(["a0"]));

    let relation = json!({"rel_type": "m.replace", "event_id": message});
    let new = json!({"msgtype": "m.text", "body": "over"});
    let edit = json!({"msgtype": "m.text", "body": "* over", "m.relates_to": relation, "m.new_content": new});
    bot.send(&room, "m.room.message", &edit).await;
    bot.send(&room, POLL_END, &json!({"m.relates_to": {"rel_type": "m.reference", "event_id": poll}})).await;
    ada.wait_for_edit(&message, |shown| shown.edited && shown.body == "over").await;
    ada.wait_for_poll_end(&poll).await;
}

#[tokio::test]
async fn a_card_is_seen_and_pressed_in_an_encrypted_room() {
    let server = Synapse::shared().await;
    let (bot, ada) = (server.register("bot").await, server.register("ada").await);
    let (bot, ada) = (Member::log_in(&bot, Device::CrossSigned).await, Member::log_in(&ada, Device::Unsigned).await);
    let room = ada.create_room(true, &[&bot.user_id]).await;
    bot.join(&room).await;
    bot.send(&room, "m.room.message", &details("touch x")).await;
    let poll = bot.send(&room, POLL_START, &poll("touch x?")).await;

    let card = ada.wait_for_card(&room).await;
    assert!(card.encrypted, "{card:?}");
    let pressed = ada.press(&card, "No").await;
    let response = ada.http.relations(&room, &poll).await.remove(0);
    assert_eq!((response["event_id"].as_str(), response["type"].as_str()), (Some(pressed.as_str()), Some("m.room.encrypted")));
    let seen = bot.wait_for_event("the press", &room, |seen| seen.id() == pressed).await;
    assert_eq!(seen.event["content"][POLL_RESPONSE]["answers"], json!(["a1"]));
}

#[tokio::test]
async fn a_room_can_be_moderated() {
    let server = Synapse::shared().await;
    let (ada, bob, eve) = (server.register("ada").await, server.register("bob").await, server.register("eve").await);
    let (ada, bob) = (Member::log_in(&ada, Device::CrossSigned).await, HttpMember::log_in(&bob).await);
    let eve = HttpMember::log_in(&eve).await;
    let room = ada.create_room(false, &[&bob.user_id, &eve.user_id]).await;
    bob.join(&room).await;
    eve.join(&room).await;
    for line in 0..40 {
        bob.say(&room, &format!("line {line}")).await;
    }
    let said = ada.wait_for_event("the last line", &room, |seen| seen.event["content"]["body"] == "line 39").await;
    let reaction = ada.react(&room, said.id(), "Yes").await;
    ada.http.redact(&room, said.id()).await;
    ada.wait_for_event("the redaction", &room, |seen| seen.kind() == "m.room.redaction").await;
    ada.http.set_power(&room, &bob.user_id, 0).await;
    ada.http.kick(&room, &bob.user_id).await;
    ada.http.ban(&room, &eve.user_id).await;
    assert_eq!(ada.http.membership_of(&room, &bob.user_id).await.as_deref(), Some("leave"));
    assert_eq!(ada.http.membership_of(&room, &eve.user_id).await.as_deref(), Some("ban"));
    assert!(!eve.try_send(&room, POLL_RESPONSE, &json!({})).await.is_ok());
    ada.http.tombstone(&room, "!elsewhere:localhost").await;
    let newest = ada.http.newest(&room, 10).await;
    assert!(newest.iter().any(|event| event["event_id"] == reaction), "{newest:?}");
    assert_eq!(newest[0]["type"], "m.room.tombstone");
}

#[tokio::test]
async fn a_person_gets_direct_messages() {
    let server = Synapse::shared().await;
    let (bot, ada) = (server.register("bot").await, server.register("ada").await);
    let (bot, ada) = (HttpMember::log_in(&bot).await, Member::log_in(&ada, Device::CrossSigned).await);
    let room = bot.create_room(&json!({"preset": "trusted_private_chat", "is_direct": true, "invite": [ada.user_id]})).await;
    bot.say(&room, "only for you").await;
    ada.wait_for_direct_message(&bot.user_id, &[], |text| text == "only for you").await;
}

#[tokio::test]
async fn a_homeserver_can_be_paused_killed_and_started_again() {
    let mut server = Synapse::start().await;
    let ada = HttpMember::log_in(&server.register("ada").await).await;
    let room = ada.create_room(&json!({})).await;
    server.pause();
    server.resume();
    ada.say(&room, "before").await;
    server.stop();
    server.restart().await;
    ada.say(&room, "after").await;
    let texts: Vec<Value> = ada.newest(&room, 2).await.iter().map(|event| event["content"]["body"].clone()).collect();
    assert_eq!(texts, ["after", "before"]);
}

#[tokio::test]
async fn a_scripted_agent_runs_a_tool_only_if_it_was_allowed() {
    assert!(ran_after(json!({"outcome": "selected", "optionId": "yes"})).await);
    assert!(!ran_after(json!({"outcome": "selected", "optionId": "no"})).await);
    assert!(!ran_after(json!({"outcome": "selected", "optionId": "never offered"})).await);
    assert!(!ran_after(json!({"outcome": "cancelled"})).await);
}

#[tokio::test]
async fn a_scripted_agent_ends_its_turn_when_cancelled() {
    let (mut agent, session, prompt) = asked().await;
    let request = agent.wait_for(is_permission).await;
    agent.cancel(&session).await;
    agent.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": {"outcome": "cancelled"}}})).await;
    assert_eq!(agent.answer(&prompt).await["result"]["stopReason"], "cancelled");
}

#[tokio::test]
async fn a_raw_agent_sends_and_keeps_every_byte() {
    let steps = [
        json!({"expect": {"id": 1}}),
        json!({"send": "not JSON \u{1b}[1m"}),
        json!({"send": {"b": 1, "a": "é"}}),
        json!({"write_bytes": "/wAK"}),
    ];
    let agent = RawAgent::new(&steps);
    let command = agent.command();
    let mut process = Launch::program(&command[0], &command[1..]).start();
    process.send_bytes(b"\xff\n{\"id\": 1,  \"x\":2}\n").await;
    assert_eq!(process.next_frame().await, "not JSON \u{1b}[1m\n".as_bytes());
    assert_eq!(process.wait_for(|frame| frame["b"] == 1).await, json!({"b": 1, "a": "é"}));
    assert_eq!(process.next_frame().await, b"\xff\0\n");
    process.send_bytes(b"no end").await;
    process.close_stdin();
    assert!(process.wait_exit().await.success());
    assert_eq!(agent.received(), b"\xff\n{\"id\": 1,  \"x\":2}\nno end");
}

const POLL_START: &str = "org.matrix.msc3381.poll.start";
const POLL_RESPONSE: &str = "org.matrix.msc3381.poll.response";
const POLL_END: &str = "org.matrix.msc3381.poll.end";

fn details(text: &str) -> Value {
    let html = format!("<b>{text}</b>");
    json!({"msgtype": "m.text", "body": text, "format": "org.matrix.custom.html", "formatted_body": html})
}

fn poll(question: &str) -> Value {
    let answers = json!([{"id": "a0", "org.matrix.msc1767.text": "Yes"}, {"id": "a1", "org.matrix.msc1767.text": "No"}]);
    let question = json!({"org.matrix.msc1767.text": question});
    json!({POLL_START: {"question": question, "kind": "org.matrix.msc3381.poll.disclosed", "max_selections": 1, "answers": answers}})
}

fn is_permission(frame: &Value) -> bool {
    frame["method"] == "session/request_permission"
}

/// The scripted agent without a bridge, with a permission request on its way.
async fn asked() -> (BridgeProcess, String, String) {
    let no_arguments: [&str; 0] = [];
    let mut agent = Launch::program(&scripted_agent()[0], &no_arguments).start();
    let session = agent.open_session().await;
    let options = json!([["yes", "Yes", "allow_once"], ["no", "No", "reject_once"]]);
    let ask = json!({"title": "touch x", "kind": "execute", "marker": agent.home().join("x"), "options": options});
    let prompt = agent.prompt(&session, &json!({"ask": [ask]}).to_string()).await;
    (agent, session, prompt)
}

async fn ran_after(outcome: Value) -> bool {
    let (mut agent, _, prompt) = asked().await;
    let request = agent.wait_for(is_permission).await;
    agent.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}})).await;
    let report = agent.wait_for(|frame| frame["params"]["update"]["sessionUpdate"] == "agent_message_chunk").await;
    assert_eq!(agent.answer(&prompt).await["result"]["stopReason"], "end_turn");
    let report: Value =
        serde_json::from_str(report["params"]["update"]["content"]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(report["outcome"], outcome);
    let ran = agent.home().join("x").exists();
    assert_eq!(report["ran"], ran);
    agent.close_stdin();
    assert!(agent.wait_exit().await.success());
    ran
}
