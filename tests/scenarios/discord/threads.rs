//! A thread for each session, and a thread as the room itself.

use std::mem;

use countersign_tests::DiscordCard;
use serde_json::{Value, json};

use super::Stage;
use crate::stage::{Discord, PLAIN, Place, Plan, Who, cancelled, selected};

const PER_SESSION: Plan = Plan { room: "threads = \"per-session\"", ..PLAIN };

#[tokio::test]
async fn each_session_has_one_thread_for_all_its_cards() {
    let mut stage = Stage::set(PER_SESSION).await;
    let (prompt, card) = stage.ask_and_see("one").await;
    stage.place.press(Who::Ada, &card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "one").await, (selected("once:1"), true));
    let first_prompt = stage.ask("two").await;
    let first = stage.card("two").await;
    let other = stage.bridge.open_session().await;
    let session = mem::replace(&mut stage.session, other);
    let (second_prompt, second) = stage.ask_and_see("three").await;
    assert_eq!(first.channel, card.channel);
    assert!(second.channel != first.channel && ![&first.channel, &second.channel].contains(&&stage.place.server.world.channel));
    stage.place.press(Who::Bob, &second, "No").await;
    assert_eq!(stage.outcome(&second_prompt, "three").await, (selected("no 3"), false));
    stage.session = session;
    stage.place.press(Who::Ada, &first, "Always").await;
    assert_eq!(stage.outcome(&first_prompt, "two").await, (selected("always/2"), true));
    for card in [&card, &first, &second] {
        stage.place.closing(card, "The agent has it").await;
    }
    assert_eq!(threads(&stage).await.len(), 2);
}

#[tokio::test]
async fn cards_that_are_asked_for_at_once_share_a_thread() {
    let mut stage = Stage::set(PER_SESSION).await;
    let names = ["first", "second", "third"];
    let prompt = stage.ask_all(&names, &json!([["y", "Yes", "allow_once"]])).await;
    for name in names {
        let card = stage.card(name).await;
        stage.place.press(Who::Ada, &card, "Yes").await;
    }
    stage.bridge.answer(&prompt).await;
    assert!(names.into_iter().all(|name| stage.has_run(name)));
    assert_eq!(threads(&stage).await.len(), 1);
}

#[tokio::test]
async fn a_card_in_a_thread_is_closed_at_the_next_start_though_the_thread_was_archived() {
    let mut stage = Stage::set(PER_SESSION).await;
    let (_, card) = stage.ask_and_see("killed").await;
    stage.bridge.stderr_contains("is in its room").await;
    stage.bridge.kill().await;
    Way::Archive.close(&stage, &card).await;
    let _again = stage.place.start().await;
    stage.place.closing(&card, "The bridge restarted. Nothing was allowed.").await;
    stage.assert_open("killed");
}

#[tokio::test]
async fn a_thread_is_archived_after_a_week_and_not_before() {
    const A_WEEK: u64 = 7 * 24 * 60;
    let mut stage = Stage::set(PER_SESSION).await;
    let (_, card) = stage.ask_and_see("week").await;
    let [thread] = &threads(&stage).await[..] else { panic!("one thread") };
    assert_eq!((thread["id"].as_str(), &thread["parent_id"]), (Some(&*card.channel), &json!(stage.place.server.world.channel)));
    assert_eq!(thread["thread_metadata"]["auto_archive_duration"], A_WEEK);
}

#[tokio::test]
async fn a_session_whose_thread_is_closed_loses_its_cards_and_gets_another_thread() {
    for way in WAYS {
        let mut stage = Stage::set(PER_SESSION).await;
        let (prompt, card) = stage.ask_and_see("before").await;
        way.close(&stage, &card).await;
        assert_eq!(stage.outcome(&prompt, "before").await, (cancelled(), false), "{way:?}");
        if way.has_edits() {
            stage.place.closing(&card, "The card was removed from the room").await;
        }
        let (prompt, next) = stage.ask_and_see("after").await;
        assert_ne!(next.channel, card.channel, "{way:?}");
        stage.place.press(Who::Ada, &next, "Yes").await;
        assert_eq!(stage.outcome(&prompt, "after").await, (selected("once:1"), true), "{way:?}");
    }
}

#[tokio::test]
async fn a_thread_that_is_deleted_while_nobody_is_told_is_missed_afterwards() {
    is_missed_afterwards(Way::Delete).await;
}

#[tokio::test]
async fn a_thread_that_is_archived_while_nobody_is_told_is_missed_afterwards() {
    is_missed_afterwards(Way::Archive).await;
}

async fn is_missed_afterwards(way: Way) {
    let mut stage = Stage::set(PER_SESSION).await;
    let (prompt, card) = stage.ask_and_see("missed").await;
    stage.bridge.stderr_contains("is in its room").await;
    stage.place.server.act("down", json!({})).await;
    // Nothing can be resumed.
    stage.place.server.act("drop", json!({"resumable": false})).await;
    way.close(&stage, &card).await;
    stage.place.server.act("up", json!({})).await;
    assert_eq!(stage.outcome(&prompt, "missed").await, (cancelled(), false));
}

#[tokio::test]
async fn a_thread_can_be_the_room_while_it_is_open() {
    for way in WAYS {
        let place = Discord::gather(&PLAIN).await;
        let thread = place.server.act("make_thread", json!({"name": "approvals"})).await;
        let thread = thread.as_str().expect("an id");
        place.home().reconfigure(&place.server.world.channel, thread);
        let mut stage = place.play().await;
        let (prompt, card) = stage.ask_and_see("open").await;
        assert_eq!(card.channel, thread);
        stage.place.press(Who::Ada, &card, "Yes").await;
        assert_eq!(stage.outcome(&prompt, "open").await, (selected("once:1"), true));
        let (prompt, card) = stage.ask_and_see("closed").await;
        way.close(&stage, &card).await;
        assert_eq!(stage.outcome(&prompt, "closed").await, (selected("no 3"), false), "{way:?}");
        stage.bridge.stderr_contains("the room builds is lost").await;
        if way == Way::Delete {
            continue;
        }
        stage.place.server.act("archive_thread", json!({"thread": thread, "archived": false})).await;
        stage.bridge.stderr_contains("the room builds can be used again").await;
        let (prompt, card) = stage.ask_and_see("again").await;
        stage.place.press(Who::Ada, &card, "Yes").await;
        assert_eq!(stage.outcome(&prompt, "again").await, (selected("once:1"), true), "{way:?}");
    }
}

/// How somebody closes a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Delete,
    Archive,
    Lock,
    ArchiveAndLock,
}

const WAYS: [Way; 4] = [Way::Delete, Way::Archive, Way::Lock, Way::ArchiveAndLock];

impl Way {
    async fn close(self, stage: &Stage, card: &DiscordCard) {
        let thread = &card.channel;
        let (act, with) = match self {
            Self::Delete => ("delete_channel", json!({"channel": thread})),
            Self::Archive => ("archive_thread", json!({"thread": thread})),
            Self::Lock => ("archive_thread", json!({"thread": thread, "archived": false, "locked": true})),
            Self::ArchiveAndLock => ("archive_thread", json!({"thread": thread, "locked": true})),
        };
        stage.place.server.act(act, with).await;
    }

    /// Whether the bot can still change what is in it, if need be by opening it again.
    fn has_edits(self) -> bool {
        matches!(self, Self::Archive | Self::Lock)
    }
}

async fn threads(stage: &Stage) -> Vec<Value> {
    stage.place.server.act("threads", json!({})).await.as_array().expect("a list").clone()
}
