//! Confirming a choice where a room has nothing that only one person sees.

use super::Stage;
use crate::stage::{PLAIN, Place, Plan, Who, selected};

#[tokio::test]
async fn only_whoever_chose_confirms_it_and_then_it_is_gone() {
    let mut stage = Stage::set(Plan { room: "confirm = [\"allow_always\"]", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("durable").await;
    stage.place.press(Who::Ada, &card, "Always").await;
    let asked = stage.place.ada.wait_for_confirmation(&stage.place.room, "Always").await;
    assert!(asked.question.contains(&stage.place.ada.user_id), "{asked:?}");
    stage.place.bob.press(&asked, "Always").await;
    stage.place.mallory.press(&asked, "Always").await;
    stage.place.private_reply(Who::Bob, "nothing waits for an answer there").await;
    stage.assert_open("durable");
    assert_eq!(stage.place.card_count().await, 1);
    stage.place.confirm(Who::Ada, "Always").await;
    assert_eq!(stage.outcome(&prompt, "durable").await, (selected("always/2"), true));
    stage.place.mallory.wait_for_poll_end(&asked.poll_event).await;
}

#[tokio::test]
async fn what_is_not_confirmed_ends_with_its_card() {
    let mut stage = Stage::set(Plan { room: "confirm = [\"allow_always\"]", encrypted: true, ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("unconfirmed").await;
    stage.place.press(Who::Ada, &card, "Always").await;
    let asked = stage.place.ada.wait_for_confirmation(&stage.place.room, "Always").await;
    assert!(asked.encrypted);
    stage.place.press(Who::Bob, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "unconfirmed").await, (selected("no 3"), false));
    stage.place.mallory.wait_for_poll_end(&asked.poll_event).await;
}
