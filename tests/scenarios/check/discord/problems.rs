//! What keeps the bot from serving, and what is to be done.

use serde_json::json;

use super::{check, fails};
use crate::stage::{Discord, PLAIN, Place};

#[tokio::test]
async fn a_wrong_token_is_told() {
    let place = Discord::gather(&PLAIN).await;
    for guess in ["wrong-guess", "MTA1.test.wrong-guess"] {
        place.home().secret("token", guess);
        fails(&place, &["Discord does not take the bot's token", "Reset Token"], &["wrong-guess", "room builds"]).await;
    }
}

#[tokio::test]
async fn clicks_that_would_go_elsewhere_are_told() {
    let place = Discord::gather(&PLAIN).await;
    place.server.act("set_interactions_endpoint", json!({"url": "https://elsewhere.example"})).await;
    fails(&place, &["Interactions Endpoint URL", "remove it in the Developer Portal under General Information"], &[]).await;
}

#[tokio::test]
async fn a_missing_permission_is_told_by_its_name() {
    for (threads, missing) in [
        ("none", &[("send_messages", "Send Messages")][..]),
        (
            "per-session",
            &[
                ("send_messages", "Send Messages"),
                ("send_messages_in_threads", "Send Messages in Threads"),
                ("create_public_threads", "Create Public Threads"),
            ],
        ),
    ] {
        let place = Discord::gather(&PLAIN).await;
        place.home().reconfigure("[rooms.builds]", &format!("[rooms.builds]\nthreads = \"{threads}\""));
        for (permission, name) in missing {
            deny(&place, permission).await;
            let problem = format!("  ! the bot lacks the permission \"{name}\" there; give it to the bot's role\n");
            let said = fails(&place, &[&format!("{name} NO"), &problem], &[]).await;
            assert_eq!(said.matches(" NO").count(), 1, "{said}");
        }
    }
}

#[tokio::test]
async fn a_permission_that_can_be_done_without_is_told_by_its_name() {
    let place = Discord::gather(&PLAIN).await;
    let role = place.server.act("make_role", json!({"name": "release"})).await;
    let mention = format!("[rooms.builds]\napprover_roles = [{role}]\nmention = true");
    place.home().reconfigure("[rooms.builds]", &mention);
    for (permission, name) in [
        ("attach_files", "Attach Files"),
        ("read_message_history", "Read Message History"),
        ("mention_everyone", "Mention @everyone, @here, and All Roles"),
    ] {
        deny(&place, permission).await;
        let (code, said) = check(&place).await;
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(&format!("{name} NO")), "{said}");
        assert!(said.contains(&format!("  ! without the permission \"{name}\", ")), "{said}");
    }
}

#[tokio::test]
async fn a_channel_that_is_hidden_or_not_there_is_told() {
    let unseen = ["  reachable          NO\n", "invite the bot to the server, let it view the channel, and check"];
    let place = Discord::gather(&PLAIN).await;
    deny(&place, "view_channel").await;
    fails(&place, &unseen, &["permissions "]).await;
    place.server.act("allow", json!({"target": place.server.world.bot})).await;
    assert_eq!(check(&place).await.0, Some(0));
    place.server.act("kick_bot", json!({})).await;
    fails(&place, &unseen, &[]).await;
    place.server.act("invite_bot", json!({})).await;
    assert_eq!(check(&place).await.0, Some(0));
    place.home().reconfigure(&place.server.world.channel, "123456789012345678");
    fails(&place, &unseen, &[]).await;
}

#[tokio::test]
async fn a_discord_that_does_not_answer_is_told() {
    let place = Discord::gather(&PLAIN).await;
    place.home().reconfigure(&place.server.address(), "127.0.0.1:9");
    fails(&place, &["Discord cannot be reached"], &[]).await;
}

async fn deny(place: &Discord, permission: &str) {
    place.server.act("deny", json!({"target": place.server.world.bot, "permissions": [permission]})).await;
}
