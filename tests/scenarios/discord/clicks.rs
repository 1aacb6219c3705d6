//! Clicks that Discord says more about, and clicks that no client could make.

use countersign_tests::{Post, until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::Stage;
use crate::stage::{Discord, PLAIN, Place, Who, selected};

#[tokio::test]
async fn a_click_that_is_delivered_twice_counts_once() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("again").await;
    let server = &stage.place.server;
    let click = server.click(stage.place.id(Who::Ada), &card.message, Discord::token(&card, "No")).await;
    server.act("deliver_again", json!({"interaction": click})).await;
    assert_eq!(stage.outcome(&prompt, "again").await, (selected("no 3"), false));
    stage.place.closing(&card, "The agent has it").await;
    // The second one has not been told that it came too late.
    assert_eq!(stage.place.server.ephemerals(stage.place.id(Who::Ada)).await.len(), 0);
}

#[tokio::test]
async fn a_click_whose_parts_do_not_agree_does_not_count() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("forged").await;
    let (server, ada) = (&stage.place.server, stage.place.id(Who::Ada));
    let real = server.click(stage.place.id(Who::Mallory), &card.message, Discord::token(&card, "Yes")).await;
    let real = server.act("interaction", json!({"interaction": real})).await["event"].take();
    let thread = server.act("make_thread", json!({"name": "elsewhere"})).await;
    let changed = |part: &str, key: &str, value: Value| {
        let mut part = real[part].clone();
        part[key] = value;
        part
    };
    for patch in [
        json!({"member": null}),
        json!({"member": null, "user": {"id": ada, "username": "ada", "discriminator": "0"}, "context": 1}),
        json!({"context": 1}),
        json!({"context": 2}),
        json!({"context": null}),
        json!({"guild_id": null}),
        json!({"guild_id": "1"}),
        json!({"channel_id": thread}),
        json!({"application_id": "1"}),
        json!({"authorizing_integration_owners": {}}),
        json!({"authorizing_integration_owners": {"1": ada}}),
        json!({"message": changed("message", "id", json!("1"))}),
        json!({"message": changed("message", "channel_id", thread.clone())}),
        json!({"message": changed("message", "author", real["member"]["user"].clone())}),
        json!({"data": changed("data", "custom_id", json!("countersign:once:1"))}),
        json!({"data": changed("data", "custom_id", json!("Yes"))}),
    ] {
        server.forge_click(ada, &card.message, Discord::token(&card, "Yes"), patch).await;
    }
    stage.assert_open("forged");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "forged").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_member_who_is_silenced_or_still_screened_or_a_bot_does_not_count() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("standing").await;
    let (server, bob) = (&stage.place.server, stage.place.id(Who::Bob));
    let real = server.forge_click(bob, &card.message, "none", json!({})).await;
    let member = server.act("interaction", json!({"interaction": real})).await["event"]["member"].take();
    let with = |pointer: &str, value: Value| {
        let mut member = member.clone();
        *member.pointer_mut(pointer).expect("it is there") = value;
        json!({"member": member})
    };
    for patch in [with("/pending", json!(true)), with("/user/bot", json!(true)), with("/user/system", json!(true))] {
        server.forge_click(bob, &card.message, Discord::token(&card, "Yes"), patch).await;
    }
    server.act("time_out", json!({"user": bob, "seconds": 600})).await;
    stage.place.press(Who::Bob, &card, "Yes").await;
    server.wait_for_ephemeral(bob, |post: &Post| post.text().contains("did not count")).await;
    stage.assert_open("standing");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "standing").await, (selected("no 3"), false));
}

#[tokio::test]
async fn members_of_a_role_may_answer_while_they_have_it() {
    let place = Discord::gather(&PLAIN).await;
    let role = place.server.act("make_role", json!({"name": "release"})).await;
    let mallory = json!({"user": place.id(Who::Mallory), "roles": [role]});
    place.home().reconfigure("[rooms.builds]", &format!("[rooms.builds]\napprover_roles = [{role}]"));
    let mut stage = place.play().await;
    let (prompt, card) = stage.ask_and_see("role").await;
    stage.place.press(Who::Mallory, &card, "Yes").await;
    stage.place.private_reply(Who::Mallory, "did not count").await;
    stage.assert_open("role");
    stage.place.server.act("set_roles", mallory).await;
    stage.place.press(Who::Mallory, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "role").await, (selected("no 3"), false));
}

#[tokio::test]
async fn clicks_count_in_the_order_that_discord_tells_though_an_acknowledgement_takes_long() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("order").await;
    let slow = json!({"kind": "delay", "seconds": 0.5, "method": "POST", "path": "/interactions/*"});
    stage.place.server.act("fault", slow).await;
    stage.place.press(Who::Ada, &card, "No").await;
    stage.place.press(Who::Bob, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "order").await, (selected("no 3"), false));
    stage.place.private_reply(Who::Bob, "too late").await;
}

#[tokio::test]
async fn a_click_whose_acknowledgement_discord_does_not_take_does_not_count() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("unacknowledged").await;
    // Its person is shown that it failed; what they press next is what they mean.
    let mut failed = 0;
    for status in [404, 403, 400] {
        let refused = json!({"kind": "status", "status": status, "method": "POST", "path": "/interactions/*"});
        stage.place.server.act("fault", refused).await;
        stage.place.press(Who::Ada, &card, "Yes").await;
        failed += 1;
        have_failed(&stage, failed).await;
    }
    // So is one that was made when the bridge stood still for too long.
    stage.bridge.signal(Signal::SIGSTOP);
    stage.place.press(Who::Ada, &card, "Yes").await;
    stage.place.server.act("advance", json!({"seconds": 4})).await;
    stage.bridge.signal(Signal::SIGCONT);
    have_failed(&stage, failed + 1).await;
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "unacknowledged").await, (selected("no 3"), false));
}

async fn have_failed(stage: &Stage, clicks: usize) {
    let told = || stage.bridge.stderr().matches("took no acknowledgement of a click").count();
    until("a click to have failed", async || (clicks <= told()).then_some(())).await;
}

#[tokio::test]
async fn a_click_that_cannot_be_read_raises_an_alarm() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("unreadable").await;
    let ada = stage.place.id(Who::Ada);
    let changed = json!({"version": "two"});
    stage.place.server.forge_click(ada, &card.message, Discord::token(&card, "Yes"), changed).await;
    stage.bridge.stderr_contains("a click could not be read, and so did not count").await;
    stage.assert_open("unreadable");
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "unreadable").await, (selected("no 3"), false));
}
