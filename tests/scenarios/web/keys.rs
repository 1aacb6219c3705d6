//! Keys: made, listed and taken away while the page is served.

use countersign_tests::{Launch, Visitor, until, within};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::desk::Desk;

#[tokio::test]
async fn a_revoked_key_neither_presses_nor_reads_from_then_on() {
    let mut desk = Desk::open().await;
    let (ada, mut adas) = desk.present("ada").await;
    let (bob, mut bobs) = desk.present("bob").await;
    let prompt = desk.ask("revoked").await;
    let card = within("a card", adas.card("waiting")).await;
    within("a card", bobs.card("waiting")).await;
    desk.web_room(&["revoke", "ada"]).await;
    assert_eq!(ada.press(&card, 0).await.status, 401);
    within("ada's page to be closed", async { while adas.next().await.is_some() {} }).await;
    assert_eq!(desk.stranger().get("/api/events").await.status, 401);
    assert_eq!(bob.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "revoked", "no 3", false).await;
    assert_eq!(within("bob's page to go on", bobs.card("taken")).await["id"], card["id"]);
}

/// The keys are asked once all of the press is there, however long its sender holds it back.
#[tokio::test]
async fn a_press_whose_end_comes_after_the_key_was_revoked_does_not_count() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let (bob, _bobs) = desk.present("bob").await;
    let prompt = desk.ask("held").await;
    let card = within("a card", events.card("waiting")).await;
    let body = Visitor::click(&card, 0);
    let first = format!("POST /api/click HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\n", desk.port, body.len());
    let others = ada.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let head: String = [first].into_iter().chain(others).collect();
    let mut connection = TcpStream::connect(desk.address()).await.expect("connected");
    connection.write_all(format!("{head}\r\n{}", &body[..10]).as_bytes()).await.expect("sent");
    desk.web_room(&["revoke", "ada"]).await;
    connection.write_all(&body.as_bytes()[10..]).await.expect("sent");
    let mut status = [0; 12];
    within("an answer", connection.read_exact(&mut status)).await.expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 401");
    assert_eq!(bob.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "held", "no 3", false).await;
}

#[tokio::test]
async fn who_has_a_key_is_listed_and_a_link_lets_in_more_than_one_browser() {
    let desk = Desk::open().await;
    let link = desk.link("ada").await;
    for _ in 0..2 {
        assert_eq!(desk.stranger().join(&link).await.status, 200);
    }
    desk.web_room(&["invite", "bob", "--link-for", "1h"]).await;
    let listed = desk.web_room(&["list"]).await;
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[0].starts_with("ada ") && lines[0].contains("in builds; joined in 2 browser(s)"), "{listed}");
    assert!(lines[1].starts_with("bob ") && lines[1].contains("another 59m"), "{listed}");
    assert!(!listed.contains(link.split_once('#').expect("a key").1));
}

#[tokio::test]
async fn a_key_for_one_room_neither_shows_nor_answers_another() {
    let (mut desk, mut ada, mut bob) = Desk::of_two_rooms().await;
    let (_adas, cards) = ada.open().await.expect("open");
    assert_eq!(cards, [Value::Null; 0]);
    let (mut bobs, _) = bob.open().await.expect("open");
    let prompt = desk.ask("elsewhere").await;
    let card = within("a card", bobs.card("waiting")).await;
    let (_again, cards) = ada.open().await.expect("open");
    assert_eq!(cards, [Value::Null; 0], "ada is not in that room");
    let answer = ada.press(&card, 0).await;
    assert_eq!((answer.status, &answer.json()["counted"]), (404, &Value::Bool(false)));
    assert_eq!(bob.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "elsewhere", "once:1", true).await;
}

#[tokio::test]
async fn keys_that_are_removed_lose_the_room_and_the_next_start_has_it_again() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    std::fs::remove_file(desk.home.file("state").join("web-room.sqlite3")).expect("removed");
    within("ada's page to be closed", async { while events.next().await.is_some() {} }).await;
    desk.bridge.stderr_contains("the room builds is lost").await;
    assert_eq!(ada.get("/api/events").await.status, 503);
    let prompt = desk.ask("lost").await;
    desk.assert_answered(&prompt, "lost", "no 3", false).await;
    // Whoever makes a new key brings the room back.
    let link = desk.link("ada").await;
    desk.bridge.stderr_contains("the room builds can be used again").await;
    let mut ada = desk.stranger();
    let joined = until("ada to join", async || Some(ada.join(&link).await).filter(|joined| joined.status == 200)).await;
    assert_eq!(joined.json()["person"], "ada");
    let (mut events, _) = ada.open().await.expect("open");
    let prompt = desk.ask("found").await;
    let card = within("a card", events.card("waiting")).await;
    assert_eq!(ada.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "found", "once:1", true).await;
}

#[tokio::test]
async fn what_cannot_be_a_person_or_a_room_is_refused_by_name() {
    let desk = Desk::open().await;
    let config = desk.home.config();
    let config = config.to_str().expect("UTF-8");
    for (arguments, status, said) in [
        (&["invite", "Ada Lovelace"][..], 2, "beginning with a letter"),
        (&["invite", "ada", "--room", "nowhere"], 1, "nowhere is not a room on the page; there is builds"),
        (&["invite", "ada", "--link-for", "soon"], 2, "soon"),
        (&["invite", "ada", "--link-for", "0s"], 2, "nobody can open it in no time"),
        (&["invite", "anyone"], 2, "beginning with a letter"),
        (&["revoke", "zoe"], 1, "zoe has no key"),
    ] {
        let arguments = [&["web-room"], arguments, &["--config", config]].concat();
        let mut command = Launch::countersign(&arguments).await.start();
        assert_eq!(command.rest_of_output().await, b"");
        assert_eq!(command.wait_exit().await.code(), Some(status), "{arguments:?}");
        command.stderr_contains(said).await;
    }
}

#[tokio::test]
async fn somebody_who_leaves_is_out_in_every_tab() {
    let desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    assert_eq!(ada.post("/api/leave", "{}").await.status, 204);
    within("the page to be closed", async { while events.next().await.is_some() {} }).await;
    assert_eq!(ada.get("/api/events").await.status, 401);
}
