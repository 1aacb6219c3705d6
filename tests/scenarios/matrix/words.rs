//! Messages and votes of odd shapes decide nothing.

use serde_json::json;

use super::Stage;
use crate::stage::{PLAIN, Plan, selected};

#[tokio::test]
async fn nothing_of_an_odd_shape_answers_a_request_in_a_plain_room() {
    nothing_of_an_odd_shape_answers(PLAIN).await;
}

#[tokio::test]
async fn nothing_of_an_odd_shape_answers_a_request_in_an_encrypted_room() {
    nothing_of_an_odd_shape_answers(Plan { encrypted: true, ..PLAIN }).await;
}

async fn nothing_of_an_odd_shape_answers(plan: Plan) {
    let mut stage = Stage::set(plan).await;
    let (prompt, card) = stage.ask_and_see("words").await;
    let (ada, room) = (&stage.place.ada, stage.place.room.as_str());
    // A message dressed as a poll response, and a vote for several or no options.
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
    stage.place.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "words").await, (selected("no 3"), false));
}
