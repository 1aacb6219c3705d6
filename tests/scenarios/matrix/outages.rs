//! The bridge is away for a while. On Matrix clicks wait for it.

use nix::sys::signal::Signal;
use serde_json::json;

use super::Stage;
use crate::stage::{PLAIN, Plan, selected};

#[tokio::test]
async fn a_click_that_was_made_while_the_bridge_stood_still_counts() {
    for encrypted in [false, true] {
        let mut stage = Stage::set(Plan { encrypted, ..PLAIN }).await;
        let (prompt, card) = stage.ask_and_see("asleep").await;
        stage.bridge.signal(Signal::SIGSTOP);
        stage.place.ada.press(&card, "Yes").await;
        for line in 0..40 {
            stage.place.bob.say(&stage.place.room, &format!("chat {line}")).await;
        }
        // Chat is not even asked for in a plain room. These are, and are more than one sync brings.
        let stray = json!({"m.relates_to": {"rel_type": "m.reference", "event_id": card.message_event}});
        for _ in 0..60 {
            stage.place.bob.http.send(&stage.place.room, "org.matrix.msc3381.poll.response", &stray).await;
        }
        stage.bridge.signal(Signal::SIGCONT);
        assert_eq!(stage.outcome(&prompt, "asleep").await, (selected("once:1"), true), "encrypted: {encrypted}");
    }
}
