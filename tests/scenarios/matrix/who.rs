//! Whose click counts, where Matrix has more to say about it.

use serde_json::json;

use super::Stage;
use crate::stage::{PLAIN, Plan, selected};

#[tokio::test]
async fn power_is_asked_of_the_server_where_a_minimum_is_set() {
    let mut stage = Stage::set(Plan { room: "power_min = 60", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("power").await;
    // Bob has 50; Ada made the room.
    stage.place.bob.press(&card, "Yes").await;
    stage.place.bob.accept_invites_from(&stage.place.bot.user_id).await;
    stage.assert_open("power");
    stage.place.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "power").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_button_pressed_in_another_room_does_not_count() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("elsewhere").await;
    let ada = &stage.place.ada;
    let elsewhere = ada.create_room(false, &[&stage.place.bot.user_id]).await;
    let relation = json!({"rel_type": "m.reference", "event_id": card.poll_event});
    let answers = json!({"answers": [card.token("Yes")]});
    let press = json!({"m.relates_to": relation, "org.matrix.msc3381.poll.response": answers});
    ada.http.try_send(&elsewhere, "org.matrix.msc3381.poll.response", &press).await;
    ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "elsewhere").await, (selected("no 3"), false));
}

#[tokio::test]
async fn where_no_approver_is_in_the_room_nobody_is_asked() {
    let mut stage = Stage::set(Plan { room: "when_nobody = \"refuse\"", ..PLAIN }).await;
    for gone in [&stage.place.ada, &stage.place.bob] {
        gone.http.leave(&stage.place.room).await;
    }
    let prompt = stage.ask("nobody").await;
    assert_eq!(stage.outcome(&prompt, "nobody").await, (selected("no 3"), false));
    let refused = stage.place.mallory.wait_for_event("the refusal", &stage.place.room, |seen| {
        seen.event["content"]["body"].as_str().is_some_and(|body| body.contains("nobody who may answer is in this room"))
    });
    refused.await;
}
