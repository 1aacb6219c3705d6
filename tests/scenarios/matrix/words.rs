//! Words decide nothing, whoever types them.

use serde_json::json;

use crate::stage::{PLAIN, Plan, Stage, selected};

#[tokio::test]
async fn nothing_that_is_typed_answers_a_request_in_a_plain_room() {
    nothing_that_is_typed_answers(PLAIN).await;
}

#[tokio::test]
async fn nothing_that_is_typed_answers_a_request_in_an_encrypted_room() {
    nothing_that_is_typed_answers(Plan { encrypted: true, ..PLAIN }).await;
}

async fn nothing_that_is_typed_answers(plan: Plan) {
    let mut stage = Stage::set(plan).await;
    let (prompt, card) = stage.ask_and_see("words").await;
    let (ada, room) = (&stage.people.ada, stage.people.room.as_str());
    for text in [
        "yes",
        "y",
        "ok",
        "Yes",
        "approve",
        "/approve",
        "!approve",
        "👍",
        "allow all",
        "no, don't approve",
        "once:1",
        card.token("Yes"),
    ] {
        ada.say(room, text).await;
    }
    // Replies and threads to the card, a message dressed as a poll response, and a vote for several or no options.
    let reply = json!({"msgtype": "m.text", "body": "Yes", "m.relates_to": {"m.in_reply_to": {"event_id": card.poll_event}}});
    ada.send(room, "m.room.message", &reply).await;
    let reference = json!({"rel_type": "m.reference", "event_id": card.poll_event});
    let answers =
        |answers: serde_json::Value| json!({"m.relates_to": reference, "org.matrix.msc3381.poll.response": {"answers": answers}});
    let mut dressed = answers(json!([card.token("Yes")]));
    dressed["msgtype"] = json!("m.text");
    dressed["body"] = json!("Yes");
    ada.send(room, "m.room.message", &dressed).await;
    for odd in [json!([]), json!([card.token("Yes"), card.token("No")]), json!(["Yes"]), json!(card.token("Yes")), json!([1])] {
        ada.press_raw(room, &answers(odd)).await;
    }
    let stable = json!({"m.relates_to": reference, "m.selections": [card.token("Yes")]});
    ada.press_raw(room, &stable).await;
    stage.assert_open("words");
    stage.people.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "words").await, (selected("no 3"), false));
}
