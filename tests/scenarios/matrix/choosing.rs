//! Presses that only Matrix has.

use countersign_tests::Device;
use serde_json::Value;

use super::Stage;
use crate::stage::{PLAIN, Plan, selected};

#[tokio::test]
async fn a_seeded_reaction_is_a_button_where_it_is_configured() {
    let mut stage = Stage::set(Plan { room: "reactions = true", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("react").await;
    stage.place.ada.wait_for_event("the seeds", &stage.place.room, |seen| is_seed(&seen.event, "No")).await;
    // An emoji that nobody put there means nothing, nor does a seed pressed by somebody who may not.
    stage.place.ada.react(&stage.place.room, &card.message_event, "👍").await;
    stage.place.mallory.react(&stage.place.room, &card.message_event, "Yes").await;
    stage.place.ada.react(&stage.place.room, &card.message_event, "No").await;
    assert_eq!(stage.outcome(&prompt, "react").await, (selected("no 3"), false));
}

fn is_seed(event: &Value, key: &str) -> bool {
    event["type"] == "m.reaction" && event["content"]["m.relates_to"]["key"] == key
}

#[tokio::test]
async fn a_reaction_never_counts_in_an_encrypted_room() {
    let mut stage = Stage::set(Plan { encrypted: true, room: "reactions = true", ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("react").await;
    stage.place.ada.react(&stage.place.room, &card.message_event, "Yes").await;
    stage.place.ada.react(&stage.place.room, &card.poll_event, "Yes").await;
    stage.place.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "react").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_button_of_an_unsigned_device_does_not_count() {
    let mut stage = Stage::set(Plan { encrypted: true, device: Device::Unsigned, ..PLAIN }).await;
    let (prompt, card) = stage.ask_and_see("unsigned").await;
    // Such a device cannot even read the card, but its owner may know the button from another.
    stage.place.bob.press(&card, "Yes").await;
    stage.place.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "unsigned").await, (selected("no 3"), false));
}
