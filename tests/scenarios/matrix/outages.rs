//! The chat is away for a while, or the bridge is: nothing is lost, and nothing is allowed by it.

use countersign_tests::Synapse;
use nix::sys::signal::Signal;
use serde_json::json;

use crate::stage::{PLAIN, People, Plan, Stage, selected};

#[tokio::test]
async fn a_click_that_was_made_while_the_bridge_stood_still_counts() {
    for encrypted in [false, true] {
        let mut stage = Stage::set(Plan { encrypted, ..PLAIN }).await;
        let (prompt, card) = stage.ask_and_see("asleep").await;
        stage.bridge.signal(Signal::SIGSTOP);
        stage.people.ada.press(&card, "Yes").await;
        for line in 0..40 {
            stage.people.bob.say(&stage.people.room, &format!("chat {line}")).await;
        }
        // Chat is not even asked for in a plain room. These are, and are more than one sync brings.
        let stray = json!({"m.relates_to": {"rel_type": "m.reference", "event_id": card.message_event}});
        for _ in 0..60 {
            stage.people.bob.http.send(&stage.people.room, "org.matrix.msc3381.poll.response", &stray).await;
        }
        stage.bridge.signal(Signal::SIGCONT);
        assert_eq!(stage.outcome(&prompt, "asleep").await, (selected("once:1"), true), "encrypted: {encrypted}");
    }
}

#[tokio::test]
async fn a_homeserver_that_is_away_for_the_whole_lifetime_refuses_and_the_room_is_told_later() {
    let mut server = Synapse::start().await;
    let people = People::gather(&server, &Plan { lifetime: "3s", ..PLAIN }).await;
    let Stage { bridge, session, people } = people.play().await;
    let mut stage = Stage { bridge, session, people };
    server.stop();
    let prompt = stage.ask("away").await;
    assert_eq!(stage.outcome(&prompt, "away").await, (selected("no 3"), false));
    server.restart().await;
    let said = |seen: &countersign_tests::Seen| {
        let body = seen.event["content"]["body"].as_str().unwrap_or_default();
        body.contains("touch away") && body.contains("Nothing was allowed")
    };
    stage.people.bob.wait_for_event("what became of it", &stage.people.room, said).await;
    // And the next one is shown as if nothing had been.
    let (prompt, card) = stage.ask_and_see("back").await;
    stage.people.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "back").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_homeserver_that_is_away_while_a_card_is_open_loses_no_click() {
    let mut server = Synapse::start().await;
    let mut stage = People::gather(&server, &PLAIN).await.play().await;
    let (prompt, card) = stage.ask_and_see("gap").await;
    server.stop();
    server.restart().await;
    stage.people.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "gap").await, (selected("once:1"), true));
}

#[tokio::test]
async fn an_agent_starts_though_the_homeserver_does_not_and_is_asked_about_once_it_does() {
    let mut server = Synapse::start().await;
    let people = People::gather(&server, &PLAIN).await;
    server.stop();
    let mut bridge = people.start().await;
    let session = bridge.open_session().await;
    let mut stage = Stage { bridge, session, people };
    let prompt = stage.ask("early").await;
    server.restart().await;
    let card = stage.card("early").await;
    stage.people.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "early").await, (selected("once:1"), true));
}
