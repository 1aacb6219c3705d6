//! The model of Discord, with the test as the bot.

use countersign_tests::{DiscordCard, Simcord};
use serde_json::{Value, json};

#[tokio::test]
async fn a_card_is_seen_pressed_and_closed() {
    let (discord, card) = with_card().await;
    assert_eq!((card.text.as_str(), card.buttons.len()), ("touch x\n\"\"\"all of it\"\"\"", 2));
    let click = discord.click(&discord.world.people.ada, &card.message, "countersign:0").await;
    let event = discord.act("interaction", json!({"interaction": click})).await["event"].take();
    assert_eq!(event["data"]["custom_id"], "countersign:0");
    assert_eq!(event["member"]["user"]["id"], discord.world.people.ada);
    assert_eq!(event["message"]["id"], card.message);
    assert_eq!(event["authorizing_integration_owners"], json!({"0": discord.world.guild}));
    assert_eq!((&event["context"], &event["guild_id"]), (&json!(0), &json!(discord.world.guild)));

    let path = format!("/channels/{}/messages/{}", card.channel, card.message);
    let closing = json!({"content": "over", "components": [], "attachments": []});
    discord.api().patch(&path, &closing).await.expect_ok();
    let closed = discord.posts(&card.channel).await.remove(0);
    assert_eq!((closed.text().as_str(), closed.card().is_none()), ("over", true));
    assert!(closed.edited_timestamp.is_some());
    // A click may be under way while the buttons are taken off; what was never there cannot be clicked.
    discord.click(&discord.world.people.bob, &card.message, "countersign:1").await;
    let never = json!({"user": discord.world.people.bob, "message": card.message, "custom_id": "countersign:2"});
    assert!(!discord.try_act("click", never).await.is_ok());
}

#[tokio::test]
async fn a_private_reply_is_seen_by_one_person_alone() {
    let (discord, card) = with_card().await;
    let people = &discord.world.people;
    let (id, token) = clicked(&discord, &people.mallory, &card).await;
    let (api, callback) = (discord.api(), format!("/interactions/{id}/{token}/callback"));
    assert_eq!(api.post(&callback, &json!({"type": 6})).await.status, 204);
    assert_eq!(api.post(&callback, &json!({"type": 6})).await.body["code"], 40060);
    let reply = json!({"content": "only `you`", "flags": 64});
    api.post(&format!("/webhooks/{}/{token}", discord.world.application), &reply).await.expect_ok();
    discord.wait_for_ephemeral(&people.mallory, |post| post.text() == "only \"you\"").await;
    assert_eq!(discord.ephemerals(&people.ada).await.len(), 0);
    assert_eq!(discord.posts(&card.channel).await.len(), 1);
}

#[tokio::test]
async fn a_click_that_is_not_acknowledged_in_time_is_gone() {
    let (discord, card) = with_card().await;
    let (id, token) = clicked(&discord, &discord.world.people.ada, &card).await;
    discord.act("advance", json!({"seconds": 4})).await;
    let late = discord.api().post(&format!("/interactions/{id}/{token}/callback"), &json!({"type": 6})).await;
    assert_eq!((late.status, &late.body["code"]), (404, &json!(10062)));
}

#[tokio::test]
async fn a_nonce_posts_once() {
    let discord = Simcord::start().await;
    let (api, path) = (discord.api(), format!("/channels/{}/messages", discord.world.channel));
    let post = async |nonce: &str| {
        let body = json!({"content": "once", "nonce": nonce, "enforce_nonce": true});
        api.post(&path, &body).await.expect_ok()["id"].take()
    };
    let first = post("a").await;
    assert_eq!(post("a").await, first);
    assert_ne!(post("b").await, first);
    // After some minutes it may be used again.
    discord.act("advance", json!({"seconds": 600})).await;
    assert_ne!(post("a").await, first);
    assert_eq!(discord.posts(&discord.world.channel).await.len(), 3);
}

#[tokio::test]
async fn requests_are_kept_and_meet_what_they_are_to_meet() {
    let discord = Simcord::start().await;
    let (api, channel) = (discord.api(), format!("/channels/{}", discord.world.channel));
    for (fault, status) in [(json!({"kind": "status", "status": 502}), 502), (json!({"kind": "rate_limit"}), 429)] {
        discord.act("fault", fault).await;
        assert_eq!(api.get(&channel).await.status, status);
        assert_eq!(api.get(&channel).await.status, 200);
    }
    discord.act("down", json!({})).await;
    assert_eq!(api.get("/gateway").await.status, 503);
    discord.act("up", json!({})).await;
    for path in ["/gateway", "/users/@me", &format!("/guilds/{}", discord.world.guild), "/oauth2/applications/@me"] {
        assert!(api.get(path).await.is_ok(), "{path}");
    }
    let member = format!("/guilds/{}/members/{}", discord.world.guild, discord.world.bot);
    assert_eq!(api.get(&member).await.expect_ok()["user"]["id"], discord.world.bot);
    discord.act("set_interactions_endpoint", json!({"url": "https://elsewhere.example"})).await;
    let application = api.get("/oauth2/applications/@me").await.expect_ok();
    assert_eq!(application["interactions_endpoint_url"], "https://elsewhere.example");
    let paths: Vec<Value> = discord.requests().await.into_iter().map(|mut request| request["path"].take()).collect();
    assert_eq!(&paths[..5], [&channel, &channel, &channel, &channel, "/gateway"]);
}

#[tokio::test]
async fn a_channel_can_be_moderated() {
    let discord = Simcord::start().await;
    let (api, world) = (discord.api(), &discord.world);
    let channel = format!("/channels/{}", world.channel);
    let role = discord.act("make_role", json!({"name": "release"})).await;
    discord.act("set_roles", json!({"user": world.people.ada, "roles": [role]})).await;
    let member = api.get(&format!("/guilds/{}/members/{}", world.guild, world.people.ada)).await.expect_ok();
    assert_eq!(member["roles"], json!([role]));
    discord.act("delete_role", json!({"role": role})).await;
    let thread = discord.act("make_thread", json!({"name": "a thread"})).await;
    discord.act("archive_thread", json!({"thread": thread})).await;
    let thread = api.get(&format!("/channels/{}", thread.as_str().expect("an id"))).await.expect_ok();
    assert_eq!(thread["thread_metadata"]["archived"], true);
    discord.act("deny", json!({"target": world.bot, "permissions": ["view_channel"]})).await;
    assert_eq!(api.get(&channel).await.body["code"], 50001);
    discord.act("kick_bot", json!({})).await;
    assert_eq!(api.get(&channel).await.body["code"], 50001);
    assert_eq!(api.get(&format!("/guilds/{}", world.guild)).await.body["code"], 10004);
}

#[tokio::test]
async fn nothing_is_edited_in_an_archived_thread_and_a_locked_one_stays_closed() {
    let discord = Simcord::start().await;
    let api = discord.api();
    let thread = discord.act("make_thread", json!({"name": "a thread"})).await;
    let path = format!("/channels/{}", thread.as_str().expect("an id"));
    let id = api.post(&format!("{path}/messages"), &json!({"content": "x"})).await.expect_ok()["id"].take();
    let message = format!("{path}/messages/{}", id.as_str().expect("an id"));
    discord.act("archive_thread", json!({"thread": thread})).await;
    assert_eq!(api.patch(&message, &json!({"content": "y"})).await.body["code"], 50083);
    api.patch(&path, &json!({"archived": false})).await.expect_ok();
    api.patch(&message, &json!({"content": "y"})).await.expect_ok();
    discord.act("archive_thread", json!({"thread": thread, "locked": true})).await;
    assert_eq!(api.patch(&path, &json!({"archived": false})).await.body["code"], 50013);
}

#[tokio::test]
async fn what_was_taken_from_the_bot_can_be_given_back() {
    let discord = Simcord::start().await;
    let (api, world) = (discord.api(), &discord.world);
    let is_seen = async || api.get(&format!("/channels/{}", world.channel)).await.is_ok();
    for (take, give) in [("deny", "allow"), ("kick_bot", "invite_bot")] {
        let (taken, given) = match take {
            "deny" => (json!({"target": world.bot, "permissions": ["view_channel"]}), json!({"target": world.bot})),
            _ => (json!({}), json!({})),
        };
        discord.act(take, taken).await;
        assert!(!is_seen().await, "{take}");
        discord.act(give, given).await;
        assert!(is_seen().await, "{give}");
    }
}

/// With a message of the bot that has two buttons and markup that only guards.
async fn with_card() -> (Simcord, DiscordCard) {
    let discord = Simcord::start().await;
    let button = |at: usize| json!({"type": 2, "style": 2, "label": format!("{at}"), "custom_id": format!("countersign:{at}")});
    let components = json!([{"type": 1, "components": [button(0), button(1)]}]);
    let body = json!({"content": "touch x\n```\u{200b}all of it```", "components": components});
    discord.api().post(&format!("/channels/{}/messages", discord.world.channel), &body).await.expect_ok();
    let card = discord.wait_for_post("the card", |post| post.card().is_some()).await.card().expect("a card");
    (discord, card)
}

/// Id and token of a new click.
async fn clicked(discord: &Simcord, user: &str, card: &DiscordCard) -> (String, String) {
    let id = discord.click(user, &card.message, "countersign:0").await;
    let event = discord.act("interaction", json!({"interaction": id})).await["event"].take();
    (id, event["token"].as_str().expect("a token").to_owned())
}
