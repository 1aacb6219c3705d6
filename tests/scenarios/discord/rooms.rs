//! A channel is lost and found again, and what becomes of its cards.

use serde_json::json;

use super::Stage;
use crate::stage::{Discord, PLAIN, Place, Who, cancelled, selected};

#[tokio::test]
async fn a_permission_that_comes_back_brings_the_room_back() {
    for permission in ["send_messages", "view_channel"] {
        let mut stage = Stage::set(PLAIN).await;
        let bot = stage.place.server.world.bot.clone();
        lose(&mut stage, "deny", json!({"target": bot, "permissions": [permission]})).await;
        stage.place.server.act("allow", json!({"target": bot})).await;
        serves_again(&mut stage).await;
    }
}

#[tokio::test]
async fn a_permission_that_comes_back_brings_the_room_back_though_a_request_came_before_the_news() {
    let mut stage = Stage::set(PLAIN).await;
    let bot = stage.place.server.world.bot.clone();
    lose(&mut stage, "deny", json!({"target": bot, "permissions": ["send_messages"]})).await;
    stage.place.server.act("hush", json!({})).await;
    stage.place.server.act("allow", json!({"target": bot})).await;
    let prompt = stage.ask("between").await;
    assert_eq!(stage.outcome(&prompt, "between").await, (selected("no 3"), false));
    stage.place.said(&["touch between", "Nothing was allowed"]).await;
    stage.place.server.act("hush", json!({"over": true})).await;
    serves_again(&mut stage).await;
}

#[tokio::test]
async fn a_bot_that_is_invited_again_serves_again() {
    let mut stage = Stage::set(PLAIN).await;
    lose(&mut stage, "kick_bot", json!({})).await;
    stage.place.server.act("invite_bot", json!({})).await;
    serves_again(&mut stage).await;
}

#[tokio::test]
async fn a_room_is_lost_with_a_role_that_may_answer_and_with_no_other() {
    let place = Discord::gather(&PLAIN).await;
    let role = place.server.act("make_role", json!({"name": "release"})).await;
    let other = place.server.act("make_role", json!({"name": "another"})).await;
    place.home().reconfigure("[rooms.builds]", &format!("[rooms.builds]\napprover_roles = [{role}]"));
    let mut stage = place.play().await;
    let (prompt, card) = stage.ask_and_see("other").await;
    stage.place.server.act("delete_role", json!({"role": other})).await;
    // What is told after it has been dealt with by the time that this is answered.
    stage.place.press(Who::Mallory, &card, "Yes").await;
    stage.place.private_reply(Who::Mallory, "did not count").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "other").await, (selected("once:1"), true));
    assert!(!stage.bridge.stderr().contains("is lost"));
    lose(&mut stage, "delete_role", json!({"role": role})).await;
    stage.bridge.stderr_contains("whose members may answer, was deleted").await;
    // Nobody whom the deleted role let in may be told from the others: also those who are listed cannot answer.
    let prompt = stage.ask("after").await;
    assert_eq!(stage.outcome(&prompt, "after").await, (selected("no 3"), false));
}

#[tokio::test]
async fn an_outage_of_the_guild_keeps_what_is_open_and_holds_back_what_comes() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("before").await;
    stage.place.server.act("guild_outage", json!({})).await;
    stage.place.press(Who::Mallory, &card, "Yes").await;
    stage.place.private_reply(Who::Mallory, "not among the approvers").await;
    let session = stage.bridge.open_session().await;
    let first = std::mem::replace(&mut stage.session, session);
    let during = stage.ask("during").await;
    stage.bridge.stderr_contains("-2 is held").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.session = first;
    assert_eq!(stage.outcome(&prompt, "before").await, (selected("once:1"), true));
    stage.place.closing(&card, "The agent has it").await;
    assert_eq!(stage.place.card_count().await, 1);
    stage.place.server.act("guild_outage", json!({"over": true})).await;
    let card = stage.card("during").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&during, "during").await, (selected("once:1"), true));
}

/// What happens in a guild counts in Discord's order, however much of it is told at once.
#[tokio::test]
async fn an_outage_that_is_over_does_not_go_on() {
    let mut stage = Stage::set(PLAIN).await;
    for round in 0..20 {
        let name = format!("round {round}.");
        stage.place.server.act("guild_flickers", json!({"times": 1})).await;
        let (prompt, card) = stage.ask_and_see(&name).await;
        stage.place.press(Who::Ada, &card, "No").await;
        assert_eq!(stage.outcome(&prompt, &name).await, (selected("no 3"), false));
    }
}

#[tokio::test]
async fn a_card_that_is_deleted_while_nobody_is_told_is_missed_afterwards() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("missed").await;
    stage.bridge.stderr_contains("is in its room").await;
    let server = &stage.place.server;
    server.act("down", json!({})).await;
    // Nothing can be resumed.
    server.act("drop", json!({"resumable": false})).await;
    server.act("delete_messages", json!({"messages": [card.message]})).await;
    stage.assert_open("missed");
    stage.place.server.act("up", json!({})).await;
    assert_eq!(stage.outcome(&prompt, "missed").await, (cancelled(), false));
}

/// A request that waits is refused by this, and one that comes after it.
async fn lose(stage: &mut Stage, act: &str, with: serde_json::Value) {
    let (prompt, _) = stage.ask_and_see("waits").await;
    stage.place.server.act(act, with).await;
    assert_eq!(stage.outcome(&prompt, "waits").await, (selected("no 3"), false), "{act}");
    stage.bridge.stderr_contains("the room builds is lost").await;
    let prompt = stage.ask("comes").await;
    assert_eq!(stage.outcome(&prompt, "comes").await, (selected("no 3"), false), "{act}");
}

/// The room is found again, and the next request is shown and answered.
async fn serves_again(stage: &mut Stage) {
    stage.bridge.stderr_contains("the room builds can be used again").await;
    let (prompt, card) = stage.ask_and_see("again").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "again").await, (selected("once:1"), true));
}
