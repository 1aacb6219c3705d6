//! What ends a request, or does not, on Matrix alone.

use countersign_tests::HttpMember;
use serde_json::json;

use super::Stage;
use crate::stage::{PLAIN, selected};

#[tokio::test]
async fn what_others_do_to_the_card_means_nothing() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("meddling").await;
    let (mallory, room) = (&stage.place.mallory, stage.place.room.as_str());
    let reference = json!({"rel_type": "m.reference", "event_id": card.poll_event});
    let end = json!({"m.relates_to": reference, "org.matrix.msc3381.poll.end": {}, "org.matrix.msc1767.text": "over"});
    mallory.http.try_send(room, "org.matrix.msc3381.poll.end", &end).await;
    let replace = json!({"rel_type": "m.replace", "event_id": card.poll_event});
    let edit = json!({"m.relates_to": replace, "m.new_content": {}, "org.matrix.msc3381.poll.start": {}});
    mallory.http.try_send(room, "org.matrix.msc3381.poll.start", &edit).await;
    stage.place.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "meddling").await, (selected("once:1"), true));
}

#[tokio::test]
async fn a_revoked_token_refuses_everything() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, _) = stage.ask_and_see("revoked").await;
    let bot = HttpMember::log_in(&stage.place.bot).await;
    bot.log_out_everywhere().await;
    assert_eq!(stage.outcome(&prompt, "revoked").await, (selected("no 3"), false));
    stage.bridge.stderr_contains("the room builds is lost").await;
}
