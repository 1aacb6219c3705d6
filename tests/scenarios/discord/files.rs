//! What does not fit into a message: it is attached, or it cannot be allowed.

use countersign_tests::DiscordCard;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Stage;
use crate::stage::{Discord, OPTIONS, PLAIN, Place, Who, selected};

const TAIL: &str = "; rm -rf ~";

#[tokio::test]
async fn a_long_command_is_attached_whole_and_its_end_is_in_sight() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = ask_long(&mut stage).await;
    let post = posts(&stage, &card).await.remove(0);
    let [(name, text)] = post.file_texts.iter().collect::<Vec<_>>()[..] else { panic!("{post:?}") };
    let digest = Sha256::digest(text).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let characters = text.chars().count();
    let read = format!("**Read the file before you decide:** `{name}`, {characters} characters\n-# SHA-256 `{digest}`");
    for part in [read.as_str(), &format!("{TAIL}\n```"), "characters are left out here; they are in the file"] {
        assert!(post.content.contains(part), "{part:?} is not in {}", post.content);
    }
    assert!(text.contains(&long().replace('\n', "\n    ")) && 50_000 < characters);
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("once:1"), true));
    let told = stage.place.closing(&card, "The agent has it").await;
    for part in ["\"Ada\" (<@", "chose \"Yes\" (allows once) at <t:", ":f>. The agent has it."] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
}

#[tokio::test]
async fn a_file_that_discord_does_not_take_leaves_only_refusing() {
    for (status, code) in [(413, 40005), (403, 50013), (400, 50035), (413, 0)] {
        let mut stage = Stage::set(PLAIN).await;
        let refused = json!({"kind": "status", "status": status, "code": code, "method": "POST", "path": "/channels/*/messages"});
        stage.place.server.act("fault", refused).await;
        can_only_be_refused(&mut stage, &format!("({code})")).await;
        assert_eq!(stage.place.server.requests().await.iter().filter(|request| is_post(request)).count(), 2);
    }
}

#[tokio::test]
async fn a_permission_that_goes_before_the_news_of_it_leaves_only_refusing() {
    let mut stage = Stage::set(PLAIN).await;
    let (prompt, card) = stage.ask_and_see("before").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "before").await, (selected("once:1"), true));
    stage.place.server.act("hush", json!({})).await;
    let deny = json!({"target": stage.place.server.world.bot, "permissions": ["attach_files"]});
    stage.place.server.act("deny", deny).await;
    let (prompt, card) = ask_long(&mut stage).await;
    assert_eq!(Discord::labels(&card), ["No"]);
    assert!(card.text.contains("**Only refusing is possible:**"), "{}", card.text);
    stage.place.server.act("hush", json!({"over": true})).await;
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("no 3"), false));
}

#[tokio::test]
async fn a_card_whose_file_may_have_been_taken_is_there_once_whatever_is_said_afterwards() {
    let mut stage = Stage::set(PLAIN).await;
    let post = |kind| json!({"kind": kind, "status": 413, "code": 40005, "method": "POST", "path": "/channels/*/messages"});
    stage.place.server.act("fault", post("lose_answer")).await;
    stage.place.server.act("fault", post("status")).await;
    let (prompt, card) = ask_long(&mut stage).await;
    stage.bridge.stderr_contains("is in its room").await;
    assert_eq!(Discord::labels(&card), ["Yes", "Always", "No"]);
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("once:1"), true));
    assert_eq!(posts(&stage, &card).await.len(), 1);
}

#[tokio::test]
async fn a_card_that_is_there_though_its_file_was_refused_is_closed_and_no_other_comes() {
    let mut stage = Stage::set(PLAIN).await;
    let lie = json!({"kind": "lie", "status": 413, "code": 40005, "method": "POST", "path": "/channels/*/messages"});
    stage.place.server.act("fault", lie).await;
    let prompt = prompt_long(&mut stage).await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("no 3"), false));
    stage.place.said(&["echo start", "another message of this request is there already"]).await;
    let posts = stage.place.server.posts(&stage.place.server.world.channel).await;
    assert!(posts.len() == 1 && posts[0].card().is_none() && !posts[0].file_texts.is_empty(), "{posts:?}");
}

/// The card that comes has one button, says why, and is taken.
async fn can_only_be_refused(stage: &mut Stage, why: &str) {
    let (prompt, card) = ask_long(stage).await;
    assert_eq!(Discord::labels(&card), ["No"]);
    let post = posts(stage, &card).await.remove(0);
    assert!(post.file_texts.is_empty() && !post.content.contains("Read the file"), "{post:?}");
    for part in ["⚠️ **Only refusing is possible:**", "its file could not be attached", TAIL, "characters are not shown"] {
        assert!(post.content.contains(part), "{part:?} is not in {}", post.content);
    }
    assert!(why == "(0)" || post.content.contains(why), "{}", post.content);
    stage.place.press(Who::Ada, &card, "No").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("no 3"), false));
    stage.place.closing(&card, "The agent has it").await;
    assert_eq!(posts(stage, &card).await.len(), 1);
}

fn is_post(request: &Value) -> bool {
    request["method"] == "POST" && request["path"].as_str().is_some_and(|path| path.ends_with("/messages"))
}

async fn posts(stage: &Stage, card: &DiscordCard) -> Vec<countersign_tests::Post> {
    stage.place.server.posts(&card.channel).await
}

async fn ask_long(stage: &mut Stage) -> (String, DiscordCard) {
    let prompt = prompt_long(stage).await;
    (prompt, stage.place.card("echo start").await)
}

async fn prompt_long(stage: &mut Stage) -> String {
    let marker = stage.place.home().file("ran long");
    let ask = json!({"title": "long", "kind": "execute", "command": long(), "marker": marker, "options": OPTIONS});
    stage.bridge.prompt(&stage.session, &json!({"ask": [ask]}).to_string()).await
}

fn long() -> String {
    format!("echo start\n{}{TAIL}", "cp -a build/out/module.js /srv/app/static &&\n".repeat(1_200))
}
