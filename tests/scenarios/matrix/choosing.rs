//! One click of a person who may, and the agent has its own option back.

use countersign_tests::{Device, RawAgent};
use serde_json::{Value, json};

use crate::stage::{PLAIN, Plan, Stage, selected};

#[tokio::test]
async fn each_button_returns_its_option_in_a_plain_room() {
    each_button_returns_its_option(PLAIN).await;
}

#[tokio::test]
async fn each_button_returns_its_option_in_an_encrypted_room() {
    each_button_returns_its_option(Plan { encrypted: true, ..PLAIN }).await;
}

async fn each_button_returns_its_option(plan: Plan) {
    let encrypted = plan.encrypted;
    let mut stage = Stage::set(plan).await;
    for (label, id, runs) in [("Yes", "once:1", true), ("No", "no 3", false), ("Always", "always/2", true)] {
        let (prompt, card) = stage.ask_and_see(label).await;
        assert_eq!((card.encrypted, card.labels()), (encrypted, vec!["Yes", "Always", "No"]));
        stage.assert_open(label);
        stage.people.ada.press(&card, label).await;
        assert_eq!(stage.outcome(&prompt, label).await, (selected(id), runs));
        let closing = stage.closing(&card, "The agent has it").await;
        assert!(closing.contains(&format!("chose \"{label}\"")) && !closing.contains("pproved"), "{closing}");
        stage.people.ada.wait_for_poll_end(&card.poll_event).await;
    }
}

#[tokio::test]
async fn option_ids_of_any_shape_come_back_as_they_were_and_never_reach_the_room() {
    let long = "x".repeat(10_000);
    let ids =
        ["a:b:c", "a/b?c=d#e", "✅🏴", " spaces ", "\"quoted\\\"", "{\"json\":1}", "\n\t", "0", "cancelled", "selected", &long];
    let mut stage = Stage::set(PLAIN).await;
    for (at, id) in ids.into_iter().enumerate() {
        let name = format!("awkward {at}");
        let prompt = stage.ask_with(&name, &json!([[id, "Do it", "allow_once"], ["no", "Leave it", "reject_once"]])).await;
        let card = stage.card(&name).await;
        assert!(id.len() < 6 || !format!("{card:?}").contains(id), "{card:?}");
        stage.people.ada.press(&card, "Do it").await;
        assert_eq!(stage.outcome(&prompt, &name).await, (selected(id), true));
    }
}

#[tokio::test]
async fn of_two_cards_the_pressed_one_is_answered() {
    let mut stage = Stage::set(PLAIN).await;
    let ask = |name: &str| json!({"title": name, "kind": "execute", "command": format!("touch {name}"), "marker": stage.people.file(name), "options": [["y", "Yes", "allow_once"]]});
    let prompt = json!({"ask": [ask("first"), ask("second")], "parallel": true}).to_string();
    let prompt = stage.bridge.prompt(&stage.session, &prompt).await;
    let (first, second) = (stage.card("first").await, stage.card("second").await);
    stage.people.ada.press(&second, "Yes").await;
    stage.closing(&second, "The agent has it").await;
    assert!(!stage.people.file("first").exists() && !stage.people.ada.poll_ended(&first.poll_event));
    stage.people.ada.press(&first, "Yes").await;
    stage.bridge.answer(&prompt).await;
    assert!(stage.people.file("first").exists() && stage.people.file("second").exists());
}

#[tokio::test]
async fn the_first_of_two_people_wins_and_the_other_hears_who_it_was() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("race").await;
    stage.people.ada.press(&card, "No").await;
    stage.people.bob.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "race").await, (selected("no 3"), false));
    let (bob, bot, room) = (&stage.people.bob, &stage.people.bot.user_id, stage.people.room.as_str());
    bob.accept_invites_from(bot).await;
    let told = bob.wait_for_direct_message(bot, &[room], |text| text.contains("too late")).await;
    assert!(told.contains("chose \"No\""), "{told}");
}

#[tokio::test]
async fn a_double_click_and_a_changed_mind_change_nothing() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("twice").await;
    stage.people.ada.press(&card, "No").await;
    stage.people.ada.press(&card, "No").await;
    stage.people.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "twice").await, (selected("no 3"), false));
    stage.closing(&card, "chose \"No\"").await;
}

#[tokio::test]
async fn a_seeded_reaction_is_a_button_where_it_is_configured() {
    let mut stage = Stage::set(Plan { room: "reactions = true", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("react").await;
    stage.people.ada.wait_for_event("the seeds", &stage.people.room, |seen| is_seed(&seen.event, "No")).await;
    // An emoji that nobody put there means nothing, nor does a seed pressed by somebody who may not.
    stage.people.ada.react(&stage.people.room, &card.message_event, "👍").await;
    stage.people.mallory.react(&stage.people.room, &card.message_event, "Yes").await;
    stage.people.ada.react(&stage.people.room, &card.message_event, "No").await;
    assert_eq!(stage.outcome(&prompt, "react").await, (selected("no 3"), false));
}

fn is_seed(event: &Value, key: &str) -> bool {
    event["type"] == "m.reaction" && event["content"]["m.relates_to"]["key"] == key
}

#[tokio::test]
async fn a_reaction_never_counts_in_an_encrypted_room() {
    let mut stage = Stage::set(Plan { encrypted: true, room: "reactions = true", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("react").await;
    stage.people.ada.react(&stage.people.room, &card.message_event, "Yes").await;
    stage.people.ada.react(&stage.people.room, &card.poll_event, "Yes").await;
    stage.people.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "react").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_button_of_an_unsigned_device_does_not_count() {
    let mut stage = Stage::set(Plan { encrypted: true, device: Device::Unsigned, ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("unsigned").await;
    // Such a device cannot even read the card, but its owner may know the button from another.
    stage.people.bob.press(&card, "Yes").await;
    stage.people.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "unsigned").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_raw_answer_is_what_the_protocol_has() {
    let request = json!({"jsonrpc": "2.0", "id": "r", "method": "session/request_permission", "params": {"sessionId": "s",
        "toolCall": {"toolCallId": "c", "rawInput": {"command": "touch raw"}}, "options": [{"optionId": "o", "name": "Go", "kind": "allow_once"}]}});
    let agent = RawAgent::new(&[json!({"send": request}), json!({"expect": {"id": "r"}})]);
    let people = crate::stage::People::gather(countersign_tests::Synapse::shared().await, &PLAIN).await;
    let _bridge = countersign_tests::Launch::acp(Some(&people.config()), &agent.command()).await.start();
    let card = people.ada.wait_for_card(&people.room).await;
    people.ada.press(&card, "Go").await;
    agent.wait_to_receive("the answer", |frame| frame["id"] == "r").await;
    assert_eq!(
        agent.received_lines(),
        [r#"{"jsonrpc":"2.0","id":"r","result":{"outcome":{"outcome":"selected","optionId":"o"}}}"#]
    );
}
