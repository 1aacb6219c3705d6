//! What the adapter does while a request waits: it draws the card anew, calls people, asks one alone to confirm, and tells
//! who is there.

use std::collections::BTreeSet;

use bridge_core::wording::Words;
use bridge_core::{Board as _, Said};
use bridge_model::{Card, CardRef, ClickReply, Digest, Ending, PersonId, RoomName, Shown, Timestamp, ToConfirm};
use countersign_tests::{Post, until};
use serde_json::json;

use super::channel::Channel;
use crate::drawn::{ROOM, card, expired, request, to_confirm};

#[tokio::test]
async fn a_card_that_is_drawn_anew_keeps_its_buttons_and_its_file() {
    for times in [1, 3_000] {
        let channel = Channel::open().await;
        let at = channel.post(&card("Nobody has yet.", times)).await;
        let before = channel.message(&at).await;
        assert_eq!(before.file_texts.len(), usize::from(1 < times));
        channel.board.update(&at, &card("Ada has.", times)).await.expect("an edit");
        let now = channel.message(&at).await;
        assert!(now.text().contains("Two people have to allow it:** Ada has."), "{now:?}");
        assert_eq!((now.buttons(), &now.file_texts), (before.buttons(), &before.file_texts));
        channel.board.close(Some(&at), &expired()).await.expect("an edit");
        // What comes later than the end changes nothing.
        channel.board.update(&at, &card("Bob has.", times)).await.expect("nothing to do");
        let end = channel.message(&at).await;
        assert!(end.buttons().is_empty() && end.text().contains("Nobody answered in time"), "{end:?}");
    }
}

#[tokio::test]
async fn a_card_is_not_drawn_anew_as_another() {
    let channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    let before = channel.message(&at).await.content;
    let other = Card { digest: Digest::from_bytes([1; 32]), ..card("Ada has.", 1) };
    assert!(channel.board.update(&at, &other).await.is_err());
    assert_eq!(channel.message(&at).await.content, before);
}

#[tokio::test]
async fn a_closing_is_the_last_that_a_card_says_however_late_an_edit_is() {
    let channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    // So that the edit is tried a second time.
    channel.server.act("fault", json!({"kind": "status", "status": 500, "method": "PATCH"})).await;
    let (now, closed) = (card("Ada has.", 1), expired());
    let (updated, ended) = tokio::join!(channel.board.update(&at, &now), channel.board.close(Some(&at), &closed));
    updated.and(ended).expect("two edits");
    let end = channel.message(&at).await;
    assert!(end.buttons().is_empty() && end.text().contains("Nobody answered in time"), "{end:?}");
}

#[tokio::test]
async fn whoever_has_to_confirm_is_asked_alone_and_the_question_says_what_became_of_it() {
    let mut channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    let click = channel.press(&at.control, 0).await;
    let asked = to_confirm(77);
    channel.board.answer(&click.at, &ClickReply::ToConfirm(asked.clone())).await.expect("a follow-up");
    let people = channel.server.world.people.clone();
    let question = channel.server.wait_for_ephemeral(&people.ada, |post| !post.buttons().is_empty()).await;
    assert_eq!(question.buttons(), [(format!("countersign:{:032x}", 77), "Confirm: Yes".to_owned())]);
    for other in [&people.bob, &people.mallory] {
        assert!(channel.server.ephemerals(other).await.is_empty());
    }
    channel.server.click(&people.ada, &question.id, &question.buttons()[0].0).await;
    let confirmed = channel.clicked().await;
    assert_eq!((confirmed.token, confirmed.by.id.as_str()), (asked.button.token, people.ada.as_str()));
    assert_eq!((confirmed.at.room.as_str(), &confirmed.at.person), (ROOM, &confirmed.by.id));
    assert!(confirmed.at.control.as_str().ends_with(&question.id) && confirmed.at.control != at.control);
    channel.board.answer(&confirmed.at, &ClickReply::Chosen).await.expect("an edit");
    let told = channel.ephemerals().await;
    let [told] = &told[..] else { panic!("{told:?}") };
    assert!(told.id == question.id && told.buttons().is_empty() && told.text().starts_with("Confirmed."), "{told:?}");
}

#[tokio::test]
async fn a_question_whose_answer_came_too_late_says_so_and_touches_no_card() {
    let mut channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    let first = channel.press(&at.control, 0).await;
    channel.board.answer(&first.at, &ClickReply::ToConfirm(to_confirm(77))).await.expect("a follow-up");
    let question = channel.ephemerals().await.remove(0);
    channel.server.click(&channel.server.world.people.ada, &question.id, &question.buttons()[0].0).await;
    let late = channel.clicked().await;
    let edits = channel.edits().await;
    channel.board.answer(&late.at, &ClickReply::TooLate(Ending::Expired)).await.expect("an edit");
    let told = channel.ephemerals().await.remove(0);
    assert!(told.buttons().is_empty() && told.text().contains("Your click came too late"), "{told:?}");
    assert_eq!(channel.edits().await, edits);
}

#[tokio::test]
async fn a_new_question_about_a_card_takes_the_place_of_the_old_one() {
    let mut channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    for token in [77, 78] {
        let click = channel.press(&at.control, 0).await;
        channel.board.answer(&click.at, &ClickReply::ToConfirm(to_confirm(token))).await.expect("a follow-up");
    }
    let questions = channel.ephemerals().await;
    let tokens: Vec<_> = questions.iter().flat_map(Post::buttons).map(|(token, _)| token).collect();
    assert_eq!(tokens, [format!("countersign:{:032x}", 78)]);
}

#[tokio::test]
async fn a_question_that_nobody_answers_goes() {
    let mut channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    let click = channel.press(&at.control, 0).await;
    let asked = ToConfirm { until: Timestamp::from_unix_millis(0), ..to_confirm(77) };
    channel.board.answer(&click.at, &ClickReply::ToConfirm(asked)).await.expect("a follow-up");
    assert_eq!(channel.ephemerals().await.len(), 1);
    until("the end of the question", async || channel.ephemerals().await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn what_is_told_of_a_click_that_is_not_the_last_is_told_alone() {
    let mut channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    let differs = ClickReply::Differs { name: Shown::line("Bob"), option: Shown::line("Always") };
    for (reply, says) in [(ClickReply::IsFirst, "One more person has to choose the same"), (differs, "\"Bob\" chose \"Always\"")]
    {
        let click = channel.press(&at.control, 0).await;
        channel.board.answer(&click.at, &reply).await.expect("a follow-up");
        let told = channel.server.wait_for_ephemeral(click.by.id.as_str(), |post| post.text().contains(says)).await;
        assert!(told.buttons().is_empty());
    }
    assert_eq!(channel.server.posts(&channel.server.world.channel).await.len(), 1);
}

#[tokio::test]
async fn a_reminder_is_a_reply_that_calls_whom_it_names_and_comes_once() {
    let channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    let ada = PersonId::new(channel.server.world.people.ada.as_str());
    let said = |part: &str, about: Option<&CardRef>| Said {
        request: request(),
        part: part.to_owned(),
        room: RoomName::new(ROOM),
        about: about.cloned(),
        words: vec![Words::Ours("Request #7 still waits.".to_owned())],
        mention: vec![ada.clone()],
    };
    let lost = json!({"kind": "lose_answer", "method": "POST", "path": "/channels/*/messages"});
    channel.server.act("fault", lost).await;
    for _ in 0..2 {
        channel.board.say(&said("remind-50", Some(&at))).await.expect("a message");
    }
    channel.board.say(&said("escalate", None)).await.expect("another message");
    let posts = channel.server.posts(&channel.server.world.channel).await;
    assert_eq!(posts.len(), 3, "{posts:?}");
    assert!(posts[1..].iter().all(|post| post.buttons().is_empty() && post.content.ends_with(&format!(" <@{ada}>"))));
    let bodies = channel.bodies("POST", "/messages").await;
    let references: Vec<_> = bodies.iter().map(|body| body["message_reference"]["message_id"].as_str()).collect();
    let card = at.control.as_str().rsplit('/').next();
    assert_eq!(references, [None, card, card, card, None]);
    for body in &bodies[1..] {
        assert_eq!(body["allowed_mentions"], json!({"parse": [], "users": [ada.as_str()], "roles": []}));
    }
}

#[tokio::test]
async fn without_the_permission_to_read_a_reminder_is_no_reply() {
    let channel = Channel::open().await;
    let at = channel.post(&card("Nobody has yet.", 1)).await;
    let bot = channel.server.world.bot.clone();
    let deny = json!({"target": bot, "permissions": ["read_message_history"]});
    channel.server.act("deny", deny).await;
    let again = Channel::join(channel.server).await;
    let said = Said {
        request: request(),
        part: "remind-50".to_owned(),
        room: RoomName::new(ROOM),
        about: Some(at),
        words: vec![Words::Ours("Request #7 still waits.".to_owned())],
        mention: Vec::new(),
    };
    again.board.say(&said).await.expect("a message");
    assert!(again.bodies("POST", "/messages").await.last().expect("a message").get("message_reference").is_none());
}

#[tokio::test]
async fn who_is_there_is_who_may_answer_and_is_on_the_server() {
    let channel = Channel::open().await;
    let people = channel.server.world.people.clone();
    let among: BTreeSet<PersonId> = [&people.ada, &people.bob].map(|person| PersonId::new(person.as_str())).into();
    let look = async |among: Option<&BTreeSet<PersonId>>| {
        let people = channel.board.people(&RoomName::new(ROOM), among).await.expect("no error");
        people.map(|people| people.into_iter().map(|person| person.id.to_string()).collect::<BTreeSet<_>>())
    };
    assert_eq!(look(Some(&among)).await, Some([people.ada.clone(), people.bob.clone()].into()));
    channel.server.act("leave", json!({"user": people.bob})).await;
    assert_eq!(look(Some(&among)).await, Some([people.ada.clone()].into()));
    assert_eq!(look(Some(&BTreeSet::new())).await, Some(BTreeSet::new()));
    // Not to be told who is there is not to be told that nobody is.
    for (status, code) in [(500, 0), (403, 50001), (404, 0)] {
        let path = format!("/guilds/*/members/{}", people.ada);
        channel.server.act("fault", json!({"kind": "status", "status": status, "code": code, "path": path})).await;
        assert_eq!(look(Some(&among)).await, None, "{status}");
    }
    let many = (1..=17).map(|id| PersonId::new(id.to_string())).collect();
    assert_eq!(look(Some(&many)).await, None, "too many to look for");
    assert_eq!(look(None).await, None, "anybody may");
}
