//! What does not fit into a message is in a file.

use countersign_tests::{Seen, SeenCard, Synapse, UploadFault, until};
use nix::sys::signal::Signal;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Stage;
use crate::stage::{Matrix, PLAIN, Place, Plan, cancelled, selected};

#[tokio::test]
async fn a_long_request_can_be_read_whole_and_allowed_in_a_plain_room() {
    can_be_read_whole_and_allowed(PLAIN).await;
}

#[tokio::test]
async fn a_long_request_can_be_read_whole_and_allowed_in_an_encrypted_room() {
    can_be_read_whole_and_allowed(Plan { encrypted: true, ..PLAIN }).await;
}

async fn can_be_read_whole_and_allowed(plan: Plan) {
    let mut stage = Stage::set(plan).await;
    let prompt = stage.ask_to_run("long", &long()).await;
    // Read by somebody else's client than the one that presses.
    let card = stage.place.bob.wait_for_card(&stage.place.room).await;
    let file = card.file.as_ref().expect("a file");
    let text = stage.place.bob.read(file).await;
    for shown in [&card.body, &card.html] {
        let digest = format!("{:x}", Sha256::digest(&text));
        for part in ["touch long", "; rm -rf ~", &digest, &file.name, "characters here are only in the file"] {
            assert!(shown.contains(part), "{part:?} is not in {shown}");
        }
    }
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.contains(&long().replace('\n', "\n    ")), "{text}");
    assert_eq!((file.content["info"]["size"].as_u64(), card.encrypted), (u64::try_from(text.len()).ok(), plan.encrypted));
    assert_eq!((file.content.get("file").is_some(), file.content.get("url").is_some()), (plan.encrypted, !plan.encrypted));

    let events = stage.place.bob.events(&stage.place.room);
    let place = |id: &str| events.iter().position(|seen| seen.id() == id).expect("it was seen");
    assert!(place(&file.event) < place(&card.message_event) && place(&card.message_event) < place(&card.poll_event));
    assert_eq!(card.labels(), ["Yes", "Always", "No"]);
    stage.place.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("once:1"), true));
    stays_readable(&stage, &card).await;
}

/// What was decided on can be seen afterwards.
async fn stays_readable(stage: &Stage, card: &SeenCard) {
    stage.place.closing(card, "The agent has it").await;
    stage.place.wait_until_dead(card).await;
    let (bob, room) = (&stage.place.bob, &stage.place.room);
    assert!(!bob.events(room).iter().any(|seen| seen.kind() == "m.room.redaction"));
    assert!(!bob.read(card.file.as_ref().expect("a file")).await.is_empty());
}

#[tokio::test]
async fn whoever_removes_the_file_withdraws_the_request() {
    for encrypted in [false, true] {
        let mut stage = Stage::set(Plan { encrypted, ..PLAIN }).await;
        let prompt = stage.ask_to_run("removed", &long()).await;
        let card = stage.place.ada.wait_for_card(&stage.place.room).await;
        stage.place.ada.http.redact(&stage.place.room, &card.file.expect("a file").event).await;
        assert_eq!(stage.outcome(&prompt, "removed").await, (cancelled(), false));
    }
}

#[tokio::test]
async fn a_file_that_was_removed_while_the_bridge_stood_still_is_missed() {
    let mut stage = Stage::set(PLAIN).await;
    let prompt = stage.ask_to_run("asleep", &long()).await;
    let card = stage.place.ada.wait_for_card(&stage.place.room).await;
    let stray = json!({"m.relates_to": {"rel_type": "m.reference", "event_id": card.message_event}});
    let stray = async || stage.place.bob.http.send(&stage.place.room, "org.matrix.msc3381.poll.response", &stray).await;
    stage.bridge.signal(Signal::SIGSTOP);
    // What it has asked for already brings this, and the next sync not all of the rest.
    stray().await;
    stage.place.ada.http.redact(&stage.place.room, &card.file.expect("a file").event).await;
    for _ in 0..60 {
        stray().await;
    }
    stage.bridge.signal(Signal::SIGCONT);
    assert_eq!(stage.outcome(&prompt, "asleep").await, (cancelled(), false));
}

#[tokio::test]
async fn a_file_that_is_too_large_for_the_homeserver_leaves_only_refusing() {
    let server = Synapse::start_with("max_upload_size: 8K\n").await;
    for encrypted in [false, true] {
        let stage = Matrix::on(&server, &Plan { encrypted, ..PLAIN }).await.play().await;
        leaves_only_refusing(stage, "the homeserver takes none so large").await;
    }
}

#[tokio::test]
async fn a_homeserver_without_a_media_repository_leaves_only_refusing() {
    let server = Synapse::start_with("enable_media_repo: false\n").await;
    leaves_only_refusing(Matrix::on(&server, &PLAIN).await.play().await, "its file could not be attached").await;
}

#[tokio::test]
async fn a_proxy_that_takes_no_large_bodies_leaves_only_refusing() {
    let (stage, _fault) = with_upload_fault(413, PLAIN).await;
    leaves_only_refusing(stage, "the homeserver takes none so large").await;
}

#[tokio::test]
async fn a_media_repository_that_stays_down_leaves_time_for_refusing() {
    for encrypted in [false, true] {
        let (stage, fault) = with_upload_fault(503, Plan { encrypted, lifetime: "24s", ..PLAIN }).await;
        let card = leaves_only_refusing(stage, "the homeserver failed (503").await;
        let left = card.body.split("within ").nth(1).and_then(|rest| rest.split_once(" s")).expect("how long it waits").0;
        assert!(left.parse::<u32>().is_ok_and(|seconds| 12 <= seconds), "{left}");
        assert!(1 < fault.refused(), "it was tried again");
    }
}

#[tokio::test]
async fn a_media_repository_that_comes_back_has_the_file() {
    let (mut stage, fault) = with_upload_fault(503, Plan { encrypted: true, ..PLAIN }).await;
    let prompt = stage.ask_to_run("long", &long()).await;
    until("a refused upload", async || (0 < fault.refused()).then_some(())).await;
    assert_eq!(stage.place.card_count().await, 0);
    fault.end();
    let card = stage.card("long").await;
    assert!(!stage.place.bob.read(card.file.as_ref().expect("a file")).await.is_empty());
    stage.place.ada.press(&card, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("once:1"), true));
}

/// Whoever wants to upload is given this status.
async fn with_upload_fault(status: u16, plan: Plan) -> (Stage, UploadFault) {
    let place = Matrix::gather(&plan).await;
    let fault = UploadFault::before(&place.bot.homeserver, status).await;
    place.home.reconfigure(&place.bot.homeserver, &fault.url());
    (place.play().await, fault)
}

async fn leaves_only_refusing(mut stage: Stage, why: &str) -> SeenCard {
    let prompt = stage.ask_to_run("long", &long()).await;
    let card = stage.place.ada.wait_for_card(&stage.place.room).await;
    assert_eq!(card.labels(), ["No"]);
    assert!(card.file.is_none(), "{card:?}");
    for part in ["touch long", "; rm -rf ~", why, "characters here are not shown", "it cannot be allowed from here"] {
        assert!(card.body.contains(part), "{part:?} is not in {}", card.body);
    }
    assert_eq!(stage.place.card_count().await, 1, "the other buttons were never there");
    stage.place.ada.press(&card, "No").await;
    assert_eq!(stage.outcome(&prompt, "long").await, (selected("no 3"), false));
    stage.place.closing(&card, "chose \"No\"").await;
    // What fits needs no file.
    let (prompt, short) = stage.ask_and_see("short").await;
    stage.place.ada.press(&short, "Yes").await;
    assert_eq!(stage.outcome(&prompt, "short").await, (selected("once:1"), true));
    card
}

#[tokio::test]
async fn hostile_text_calls_nobody_and_links_nowhere() {
    let mut stage = Stage::set(PLAIN).await;
    let bob = stage.place.bob.user_id.clone();
    let hostile = format!("@room {bob} https://matrix.to/#/{bob} #x:localhost </code><a href=\"https://evil.example\">x</a>");
    let options = json!([["y", format!("Yes {hostile}"), "allow_once"], ["n", "No", "reject_once"]]);
    let ask = json!({"title": hostile, "kind": "execute", "command": format!("touch h\n{hostile}"),
        "marker": stage.place.home.file("ran h"), "options": options});
    let prompt = stage.bridge.prompt(&stage.session, &json!({"ask": [ask]}).to_string()).await;
    let card = stage.place.bob.wait_for_card(&stage.place.room).await;
    assert!(!card.html.contains("<a") && card.html.contains("&lt;a "), "{}", card.html);
    assert!(!format!("{} {} {:?}", card.body, card.question, card.answers).contains("@room"), "{card:?}");
    stage.place.ada.press(&card, "2. No").await;
    stage.bridge.answer(&prompt).await;
    stage.place.closing(&card, "chose \"No\"").await;
    stage.place.wait_until_dead(&card).await;
    let sent = |seen: &&Seen| seen.sender() == stage.place.bot.user_id && seen.event.get("state_key").is_none();
    let events = stage.place.bob.events(&stage.place.room);
    assert!(events.iter().filter(sent).all(|seen| seen.event["content"]["m.mentions"] == json!({})));
    // Bob is told of the messages by his own homeserver, and of no call.
    let room = stage.place.bob.client().get_room(<&_>::try_from(stage.place.room.as_str()).expect("an id")).expect("a room");
    let counts = room.unread_notification_counts();
    assert!(0 < counts.notification_count, "{counts:?}");
    assert_eq!(counts.highlight_count, 0);
}

/// Fifty kilobytes whose end matters.
fn long() -> String {
    format!("touch long\n{}; rm -rf ~", "echo x # and so on\n".repeat(2_700))
}
