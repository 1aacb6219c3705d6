//! The bridge is started again, and a request goes on waiting on the card that it had.

use std::time::Duration;

use bridge_core::{Board as _, RoomError, RoomEvent};
use bridge_model::{Card, CardRef, ClickReply, Digest, MessageId, SessionId};
use countersign_tests::Simcord;
use discord_room::Threads;
use serde_json::json;

use super::channel::Channel;
use crate::drawn::{buttons, card, expired, to_confirm};

const WITHIN: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_card_that_was_taken_up_is_pressed_drawn_anew_and_closed_like_any_other() {
    for times in [1, 3_000] {
        let (mut channel, at) = restarted(&card("Nobody has yet.", times)).await;
        let before = channel.message(&at).await;
        channel.board.resume(&at, &card("Nobody has yet.", times), WITHIN).await.expect("it is there");
        let click = channel.press(&at.control, 1).await;
        assert_eq!((click.token, click.at.control), (buttons()[1].token, at.control.clone()));
        assert_eq!(click.by.id.as_str(), channel.server.world.people.ada);
        channel.board.update(&at, &card("Ada has.", times)).await.expect("an edit");
        let now = channel.message(&at).await;
        assert!(now.text().contains("Two people have to allow it:** Ada has."), "{now:?}");
        assert_eq!((now.buttons(), &now.file_texts), (before.buttons(), &before.file_texts));
        channel.board.close(Some(&at), &expired()).await.expect("an edit");
        channel.board.update(&at, &card("Bob has.", times)).await.expect("nothing to do");
        let end = channel.message(&at).await;
        assert!(end.buttons().is_empty() && end.text().contains("Nobody answered in time"), "{end:?}");
    }
}

#[tokio::test]
async fn only_a_card_that_shows_something_else_is_edited() {
    let (channel, at) = restarted(&card("Nobody has yet.", 1)).await;
    channel.board.resume(&at, &card("Nobody has yet.", 1), WITHIN).await.expect("it is there");
    assert_eq!(channel.edits().await, 0);
    let channel = channel.again().await;
    channel.board.resume(&at, &card("Ada has.", 1), WITHIN).await.expect("it is there");
    let now = channel.message(&at).await;
    assert!(now.text().contains("Ada has.") && now.buttons().len() == buttons().len(), "{now:?}");
}

#[tokio::test]
async fn who_removes_a_card_that_was_taken_up_is_told_of() {
    let (mut channel, at) = restarted(&card("Nobody has yet.", 1)).await;
    channel.board.resume(&at, &card("Nobody has yet.", 1), WITHIN).await.expect("it is there");
    channel.server.act("delete_messages", json!({"messages": [message(&at)]})).await;
    assert!(matches!(channel.event().await, RoomEvent::CardRemoved(removed) if removed == at));
}

#[tokio::test]
async fn what_is_no_open_card_of_this_request_is_not_taken_up() {
    let ours = card("Nobody has yet.", 1);
    let (channel, at) = restarted(&ours).await;
    let said = channel.server.act("say", json!({"user": channel.server.world.people.ada, "content": "Yes"})).await;
    let place = at.control.as_str().rsplit_once('/').expect("a message").0;
    let anothers = CardRef { control: MessageId::new(format!("{place}/{}", said.as_str().expect("an id"))), ..at.clone() };
    is_refused(&channel, &anothers, &ours).await;
    let mut other = ours.clone();
    other.buttons[0].token = to_confirm(77).button.token;
    is_refused(&channel, &at, &other).await;
    channel.board.close(Some(&at), &expired()).await.expect("an edit");
    is_refused(&channel, &at, &ours).await;
    channel.server.act("delete_messages", json!({"messages": [message(&at)]})).await;
    is_refused(&channel, &at, &ours).await;
}

#[tokio::test]
async fn a_card_with_the_file_of_another_is_not_taken_up() {
    let ours = card("Nobody has yet.", 3_000);
    let (channel, at) = restarted(&ours).await;
    is_refused(&channel, &at, &Card { digest: Digest::from_bytes([1; 32]), ..ours }).await;
    assert_eq!(channel.edits().await, 0);
}

#[tokio::test]
async fn a_card_is_taken_up_once_discord_answers() {
    let (mut channel, at) = restarted(&card("Nobody has yet.", 1)).await;
    let fault = json!({"kind": "status", "status": 500, "method": "GET", "path": "/channels/*/messages/*", "times": 2});
    channel.server.act("fault", fault).await;
    channel.board.resume(&at, &card("Ada has.", 1), WITHIN).await.expect("it is there");
    channel.press(&at.control, 0).await;
}

#[tokio::test]
async fn in_a_thread_it_is_taken_up_with_its_thread() {
    let (ours, server) = (in_session(7), Simcord::start().await);
    let channel = Channel::join_with(server, Threads::PerSession).await;
    let at = channel.post(&ours).await;
    let mut channel = channel.again().await;
    channel.board.resume(&at, &ours, WITHIN).await.expect("it is there");
    let click = channel.press(&at.control, 0).await;
    channel.board.answer(&click.at, &ClickReply::ToConfirm(to_confirm(77))).await.expect("a follow-up");
    let question = channel.ephemerals().await.remove(0);
    channel.server.click(click.by.id.as_str(), &question.id, &question.buttons()[0].0).await;
    assert_eq!(channel.clicked().await.token, to_confirm(77).button.token);
    let next = channel.post(&in_session(8)).await;
    assert_eq!(thread(&next), thread(&at), "the session has one thread");
    channel.server.act("archive_thread", json!({"thread": thread(&at)})).await;
    let removed = [channel.event().await, channel.event().await];
    assert!(removed.iter().all(|event| matches!(event, RoomEvent::CardRemoved(_))), "{removed:?}");
}

#[tokio::test]
async fn a_card_in_a_thread_that_is_closed_or_not_of_the_room_is_not_taken_up() {
    let (ours, server) = (in_session(7), Simcord::start().await);
    let mut channel = Channel::join_with(server, Threads::PerSession).await;
    let (at, own) = (channel.post(&ours).await, channel.server.world.channel.clone());
    let elsewhere = channel.server.act("make_thread", json!({"name": "approvals"})).await;
    elsewhere.as_str().expect("an id").clone_into(&mut channel.server.world.channel);
    channel.threads = Threads::None;
    let mut channel = channel.again().await;
    is_refused(&channel, &at, &ours).await;
    own.clone_into(&mut channel.server.world.channel);
    let channel = channel.again().await;
    channel.board.resume(&at, &ours, WITHIN).await.expect("it is there");
    let channel = channel.again().await;
    channel.server.act("archive_thread", json!({"thread": thread(&at)})).await;
    is_refused(&channel, &at, &ours).await;
}

/// A card that an earlier run posted, and the adapter that was connected since.
async fn restarted(card: &Card) -> (Channel, CardRef) {
    let channel = Channel::open().await;
    let at = channel.post(card).await;
    (channel.again().await, at)
}

/// For good, and it is not one of the adapter's cards.
async fn is_refused(channel: &Channel, at: &CardRef, card: &Card) {
    let refused = channel.board.resume(at, card, WITHIN).await;
    assert!(matches!(refused, Err(RoomError::Refused(_))), "{refused:?}");
    let edits = channel.edits().await;
    channel.board.update(at, card).await.expect("nothing to do");
    assert_eq!(channel.edits().await, edits);
}

fn in_session(number: u64) -> Card {
    let mut card = card("Nobody has yet.", 1);
    card.request.number = number;
    card.origin.session = Some(SessionId::new("s"));
    card
}

fn message(at: &CardRef) -> &str {
    at.control.as_str().rsplit('/').next().expect("an id")
}

fn thread(at: &CardRef) -> &str {
    at.control.as_str().split('/').nth(1).expect("an id")
}
