//! Connections break, answers are lost, and Discord says to wait.

use serde_json::json;

use super::Stage;
use crate::stage::{Discord, PLAIN, Place, Plan, Who, selected};

#[tokio::test]
async fn a_connection_that_breaks_is_resumed_or_begun_anew() {
    for (code, resumable) in [(4000, true), (4009, false), (1001, true)] {
        let mut stage = Stage::set(PLAIN).await;
        let (prompt, card) = stage.ask_and_see("broken").await;
        stage.place.server.act("drop", json!({"code": code, "resumable": resumable})).await;
        connected(&stage).await;
        stage.place.press(Who::Ada, &card, "Yes").await;
        assert_eq!(stage.outcome(&prompt, "broken").await, (selected("once:1"), true), "{code}");
    }
}

#[tokio::test]
async fn a_token_that_is_revoked_refuses_everything() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, _) = stage.ask_and_see("revoked").await;
    stage.place.server.act("fault", json!({"kind": "status", "status": 401, "times": 1_000_000})).await;
    stage.place.server.act("drop", json!({"code": 4004, "resumable": false})).await;
    assert_eq!(stage.outcome(&prompt, "revoked").await, (selected("no 3"), false));
    stage.bridge.stderr_contains("the room builds is lost").await;
}

#[tokio::test]
async fn a_card_whose_post_was_not_answered_is_there_once() {
    let mut stage = Stage::set(PLAIN).await;
    let post = json!({"kind": "lose_answer", "method": "POST", "path": "/channels/*/messages"});
    stage.place.server.act("fault", post).await;
    let (prompt, card) = stage.ask_and_see("once").await;
    stage.bridge.stderr_contains("is in its room").await;
    let posts = stage.place.server.posts(&card.channel).await;
    assert_eq!(posts.iter().filter(|post| post.card().is_some()).count(), 1);
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "once").await, (selected("once:1"), true));
}

#[tokio::test]
async fn a_card_whose_post_was_never_confirmed_is_closed_all_the_same() {
    let mut stage = Stage::set(Plan { lifetime: "3s", ..PLAIN }).await;
    // Longer than the request lives; the closing has to try again, too.
    let post = json!({"kind": "lose_answer", "method": "POST", "path": "/channels/*/messages", "times": 6});
    stage.place.server.act("fault", post).await;
    let (prompt, card) = stage.ask_and_see("unconfirmed").await;
    assert_eq!(stage.outcome(&prompt, "unconfirmed").await, (selected("no 3"), false));
    stage.place.closing(&card, "could not be used").await;
    stage.place.wait_until_dead(&card).await;
    assert_eq!(stage.place.server.posts(&card.channel).await.len(), 1);
}

#[tokio::test]
async fn a_rate_limit_is_waited_for() {
    let mut stage = Stage::set(PLAIN).await;
    let post = json!({"kind": "rate_limit", "method": "POST", "path": "/channels/*/messages", "retry_after": 1});
    stage.place.server.act("fault", post).await;
    let (prompt, card) = stage.ask_and_see("patience").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "patience").await, (selected("once:1"), true));
}

#[tokio::test]
async fn an_outage_of_the_guild_is_no_kick() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("before").await;
    stage.place.server.act("guild_outage", json!({})).await;
    stage.place.server.act("guild_outage", json!({"over": true})).await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "before").await, (selected("once:1"), true));
    let (prompt, card) = stage.ask_and_see("after").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "after").await, (selected("once:1"), true));
}

#[tokio::test]
async fn clicks_that_would_go_elsewhere_are_noticed_at_the_start() {
    let place = Discord::gather(&PLAIN).await;
    place.server.act("set_interactions_endpoint", json!({"url": "https://elsewhere.example"})).await;
    let mut stage = place.open().await;
    let prompt = stage.ask("elsewhere").await;
    assert_eq!(stage.outcome(&prompt, "elsewhere").await, (selected("no 3"), false));
    stage.bridge.stderr_contains("Interactions Endpoint URL").await;
}

/// The bot is connected to the gateway.
async fn connected(stage: &Stage) {
    let sessions = async || (stage.place.server.act("sessions", json!({})).await == 1).then_some(());
    countersign_tests::until("the bot to be connected", sessions).await;
}

#[tokio::test]
async fn an_outage_ends_though_the_first_looks_afterwards_fail() {
    let mut stage = Stage::set(PLAIN).await;
    stage.place.server.act("guild_outage", json!({})).await;
    let look = json!({"kind": "status", "status": 503, "method": "GET", "path": "/channels/*", "times": 3});
    stage.place.server.act("fault", look).await;
    stage.place.server.act("guild_outage", json!({"over": true})).await;
    let (prompt, card) = stage.ask_and_see("afterwards").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "afterwards").await, (selected("once:1"), true));
}
