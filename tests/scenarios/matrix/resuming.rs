//! The bridge is started again, and a request goes on waiting on the card that it had. On Matrix clicks wait for it.

use std::time::Duration;

use bridge_core::{Board as _, Clicks as _, Room as _, RoomError, RoomEvent};
use bridge_model::{Card, CardRef, Click, ClickReply, MessageId, PersonId, RoomName, Secret, Shown, Signature};
use countersign_tests::{SeenCard, Synapse, within};
use matrix_room::{Login, MatrixBoard, MatrixClicks, MatrixRoom, Options, RoomOptions};
use tokio::runtime::{Builder, Runtime};

use crate::drawn::{ROOM, buttons, card, expired, to_confirm};
use crate::stage::{Matrix, PLAIN, Plan};

const WITHIN: Duration = Duration::from_mins(5);
const ENCRYPTED: Plan = Plan { encrypted: true, ..PLAIN };

#[tokio::test]
async fn whoever_voted_while_no_bridge_was_running_is_told_of_and_before_whoever_votes_now() {
    for plan in [PLAIN, ENCRYPTED] {
        let (people, at, seen) = posted(&plan, &card("Nobody has yet.", 1)).await;
        people.ada.press(&seen, "Yes").await;
        people.bob.press(&seen, "No").await;
        let mut bridge = Run::start(&people).await;
        bridge.resume(&at, &card("Nobody has yet.", 1)).await.expect("it stands");
        people.ada.press(&seen, "No").await;
        let signature = if plan.encrypted { Signature::SignedDevice } else { Signature::Service };
        for (button, person) in [(0, &people.ada), (1, &people.bob), (1, &people.ada)] {
            let click = bridge.clicked().await;
            assert_eq!((click.token, &click.at.control), (buttons()[button].token, &at.control));
            assert_eq!((click.by.id.as_str(), click.by.signature), (person.user_id.as_str(), signature));
        }
        bridge.end().await;
    }
}

#[tokio::test]
async fn a_card_that_was_taken_up_is_drawn_anew_and_closed_like_any_other() {
    for (plan, times) in [(PLAIN, 1), (ENCRYPTED, 3_000)] {
        let (people, at, seen) = posted(&plan, &card("Nobody has yet.", times)).await;
        assert_eq!(seen.file.is_some(), 1 < times);
        let bridge = Run::start(&people).await;
        let shows = async |says: &str| people.bob.wait_for_edit(&seen.message_event, |shown| shown.body.contains(says)).await;
        for who_has in ["Ada has.", "Bob has.", "Ada has."] {
            bridge.resume(&at, &card(who_has, times)).await.expect("it stands");
            shows(who_has).await;
        }
        bridge.end().await;
        // The same again in the next run, so that the homeserver could take it for what it has already.
        let bridge = Run::start(&people).await;
        bridge.resume(&at, &card("Nobody has yet.", times)).await.expect("it stands");
        for who_has in ["Bob has.", "Ada has."] {
            bridge.board.update(&at, &card(who_has, times)).await.expect("an edit");
            shows(who_has).await;
        }
        bridge.board.close(Some(&at), &expired()).await.expect("an edit");
        shows("Nobody answered in time").await;
        people.bob.wait_for_poll_end(&seen.poll_event).await;
        bridge.end().await;
    }
}

#[tokio::test]
async fn whoever_removes_a_part_of_a_card_that_was_taken_up_is_told_of() {
    for part in [Part::Message, Part::Poll, Part::File] {
        let (people, at, seen) = posted(&PLAIN, &card("Nobody has yet.", 3_000)).await;
        let mut bridge = Run::start(&people).await;
        bridge.resume(&at, &card("Nobody has yet.", 3_000)).await.expect("it stands");
        part.remove(&people, &seen).await;
        assert!(matches!(bridge.event().await, RoomEvent::CardRemoved(removed) if removed == at), "{part:?}");
        bridge.end().await;
    }
}

#[tokio::test]
async fn a_card_of_which_somebody_removed_a_part_is_not_taken_up() {
    for plan in [PLAIN, ENCRYPTED] {
        for part in [Part::Message, Part::Poll, Part::File] {
            let (people, at, seen) = posted(&plan, &card("Nobody has yet.", 3_000)).await;
            part.remove(&people, &seen).await;
            people.ada.press(&seen, "Yes").await;
            is_refused(&people, &at, &card("Nobody has yet.", 3_000)).await;
        }
    }
}

#[tokio::test]
async fn a_card_that_was_closed_or_is_another_one_is_not_taken_up() {
    for plan in [PLAIN, ENCRYPTED] {
        let ours = card("Nobody has yet.", 1);
        let (people, at, seen) = posted(&plan, &ours).await;
        let mut other = ours.clone();
        other.buttons[0].token = to_confirm(77).button.token;
        is_refused(&people, &at, &other).await;
        let bridge = Run::start(&people).await;
        bridge.board.close(Some(&at), &expired()).await.expect("an edit");
        people.bob.wait_for_poll_end(&seen.poll_event).await;
        bridge.end().await;
        is_refused(&people, &at, &ours).await;
    }
}

#[tokio::test]
async fn a_poll_of_somebody_else_is_not_taken_up() {
    let ours = card("Nobody has yet.", 1);
    let (people, at, _) = posted(&PLAIN, &ours).await;
    let events = people.bob.events(&people.room);
    let poll = events.iter().find(|seen| seen.kind() == "org.matrix.msc3381.poll.start").expect("it was seen");
    let copy = people.mallory.send(&people.room, poll.kind(), &poll.event["content"]).await;
    is_refused(&people, &CardRef { control: MessageId::new(copy), ..at }, &ours).await;
}

#[tokio::test]
async fn reactions_that_were_seeded_count_on() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    let bridge = Run::start_with(&people, true).await;
    let at = bridge.board.post(&card("Nobody has yet.", 1), WITHIN).await.expect("a card");
    bridge.end().await;
    let seen = people.ada.wait_for_card(&people.room).await;
    people.ada.react(&people.room, &seen.message_event, "No").await;
    let mut bridge = Run::start_with(&people, true).await;
    bridge.resume(&at, &card("Nobody has yet.", 1)).await.expect("it stands");
    let click = bridge.clicked().await;
    assert_eq!((click.token, click.at.control), (buttons()[1].token, at.control));
    bridge.end().await;
}

#[tokio::test]
async fn whoever_is_asked_to_confirm_the_same_click_again_can_answer() {
    let people = Matrix::on(Synapse::shared().await, &PLAIN).await;
    let mut bridge = Run::start(&people).await;
    let at = bridge.board.post(&card("Nobody has yet.", 1), WITHIN).await.expect("a card");
    let seen = people.ada.wait_for_card(&people.room).await;
    people.ada.press(&seen, "Yes").await;
    let click = bridge.clicked().await;
    bridge.board.answer(&click.at, &ClickReply::ToConfirm(to_confirm(77))).await.expect("a poll");
    bridge.end().await;
    let mut bridge = Run::start(&people).await;
    bridge.resume(&at, &card("Nobody has yet.", 1)).await.expect("it stands");
    let click = bridge.clicked().await;
    let mut again = to_confirm(78);
    again.button.label = Shown::line("Again");
    bridge.board.answer(&click.at, &ClickReply::ToConfirm(again.clone())).await.expect("a poll");
    let asked = people.ada.wait_for_confirmation(&people.room, "Again").await;
    people.ada.press(&asked, "Again").await;
    assert_eq!(bridge.clicked().await.token, again.button.token);
    bridge.end().await;
}

/// People, and a card that a bridge posted for them which is not running any more.
async fn posted(plan: &Plan, card: &Card) -> (Matrix, CardRef, SeenCard) {
    let people = Matrix::on(Synapse::shared().await, plan).await;
    let bridge = Run::start(&people).await;
    let at = bridge.board.post(card, WITHIN).await.expect("a card");
    bridge.end().await;
    let seen = people.ada.wait_for_card(&people.room).await;
    assert_eq!((seen.poll_event.as_str(), seen.encrypted), (at.control.as_str(), plan.encrypted));
    (people, at, seen)
}

/// For good, and nothing of it is told.
async fn is_refused(people: &Matrix, at: &CardRef, card: &Card) {
    let bridge = Run::start(people).await;
    let refused = bridge.resume(at, card).await;
    assert!(matches!(refused, Err(RoomError::Refused(_))), "{refused:?}");
    bridge.end().await;
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Message,
    Poll,
    File,
}

impl Part {
    async fn remove(self, people: &Matrix, card: &SeenCard) {
        let event = match self {
            Self::Message => &card.message_event,
            Self::Poll => &card.poll_event,
            Self::File => &card.file.as_ref().expect("a file").event,
        };
        people.ada.http.redact(&people.room, event).await;
    }
}

/// The adapter as a process has it: with it ends all that it does.
struct Run {
    board: MatrixBoard,
    clicks: MatrixClicks,
    process: Runtime,
}

impl Run {
    async fn start(people: &Matrix) -> Self {
        Self::start_with(people, false).await
    }

    async fn start_with(people: &Matrix, reactions: bool) -> Self {
        let room = RoomOptions { name: RoomName::new(ROOM), id: people.room.clone(), reactions, ask_power: false };
        let options = Options {
            homeserver: people.bot.homeserver.clone(),
            user: people.bot.user_id.clone(),
            login: Login::Password(Secret::new(people.bot.password.clone())),
            device_name: "a test's".to_owned(),
            store_dir: people.home.file("store"),
            store_passphrase: None,
            recovery_key: None,
            rooms: vec![room],
            invites_from: vec![PersonId::new(people.ada.user_id.as_str())],
        };
        let process = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let connected = process.spawn(MatrixRoom::new(options).connect()).await.expect("no panic");
        let (board, clicks) = connected.expect("a connection");
        Self { board, clicks, process }
    }

    async fn resume(&self, at: &CardRef, card: &Card) -> Result<(), RoomError> {
        self.board.resume(at, card, WITHIN).await
    }

    async fn clicked(&mut self) -> Click {
        let event = self.event().await;
        let RoomEvent::Clicked(click) = event else { panic!("no click: {event:?}") };
        click
    }

    async fn event(&mut self) -> RoomEvent {
        within("an event", self.clicks.next()).await.expect("the sync goes on")
    }

    async fn end(self) {
        let Self { board, clicks, process } = self;
        // Waits for what is being written.
        tokio::task::spawn_blocking(move || drop((process, board, clicks))).await.expect("no panic");
    }
}
