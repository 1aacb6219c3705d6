//! Too much of everything: the page stays, and whoever has a key is still served.

use std::time::Duration;

use countersign_tests::{Events, Visitor, rest, until, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::desk::Desk;

/// The page waits 20 seconds for whoever says nothing.
const BEFORE_SILENCE_ENDS_IT: Duration = Duration::from_secs(5);

/// More than there may be of anything.
const MANY: usize = 1_000;

#[tokio::test]
async fn a_thousand_streams_are_refused_and_the_page_lives() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    // With no key, and with one.
    let stranger = desk.stranger();
    for _ in 0..MANY {
        assert_eq!(stranger.get("/api/events").await.status, 401);
    }
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut mallory = desk.visitor("mallory").await;
        let opened = as_many_as_possible(&mut mallory, 6, 429).await;
        assert_eq!(opened.len(), 4, "of one browser");
        open.extend(opened);
    }
    let mut mallory = desk.visitor("mallory").await;
    assert!(as_many_as_possible(&mut mallory, MANY, 429).await.is_empty(), "of one person");
    let prompt = desk.ask("crowd").await;
    let card = within("a card", events.card("waiting")).await;
    assert_eq!(ada.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "crowd", "once:1", true).await;
    // A page that is closed makes room for another.
    drop(open.pop());
    until("room for another page", async || mallory.open().await.ok().map(drop)).await;
}

#[tokio::test]
async fn a_crowd_with_keys_is_refused_beyond_what_is_served_and_whoever_is_there_stays() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let mut open = Vec::new();
    for n in 0..16 {
        let link = desk.link(&format!("person{n}")).await;
        for _ in 0..2 {
            let mut visitor = desk.stranger();
            assert_eq!(visitor.join(&link).await.status, 200);
            // The last of them finds no place.
            let refused = if open.len() == 124 { 503 } else { 429 };
            open.extend(as_many_as_possible(&mut visitor, 5, refused).await);
        }
    }
    assert_eq!(open.len(), 127, "beside ada's");
    let prompt = desk.ask("full").await;
    let card = within("a card", events.card("waiting")).await;
    assert_eq!(ada.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "full", "once:1", true).await;
}

async fn as_many_as_possible(visitor: &mut Visitor, tries: usize, refused: u16) -> Vec<Events> {
    let mut open = Vec::new();
    for _ in 0..tries {
        match visitor.open().await {
            Ok((events, _)) => open.push(events),
            Err(status) => assert_eq!(status, refused),
        }
    }
    open
}

#[tokio::test]
async fn a_thousand_connections_that_say_nothing_keep_nobody_out() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let mut silent = Vec::new();
    for n in 0..MANY {
        let mut connection = TcpStream::connect(desk.address()).await.expect("connected");
        if n % 2 == 0 {
            // Somebody who never comes to the end of what he wants.
            let _ = connection.write_all(b"POST /api/click HTTP/1.1\r\nHost: ").await;
        }
        silent.push(connection);
    }
    let prompt = desk.ask("silent").await;
    let card = within("a card", events.card("waiting")).await;
    assert_eq!(ada.press(&card, 0).await.json()["counted"], true);
    desk.assert_answered(&prompt, "silent", "once:1", true).await;
    // The oldest had to go, long before it would have gone for saying nothing.
    let mut closed = [0; 16];
    let read = timeout(BEFORE_SILENCE_ENDS_IT, silent[0].read(&mut closed)).await;
    assert!(matches!(read, Ok(Ok(0) | Err(_))), "{read:?}");
}

#[tokio::test]
async fn somebody_who_presses_without_end_is_slowed_and_nobody_else() {
    let mut desk = Desk::open().await;
    let (ada, mut events) = desk.present("ada").await;
    let (mallory, _theirs) = desk.present("mallory").await;
    let prompt = desk.ask("hammered").await;
    let card = within("a card", events.card("waiting")).await;
    let mut slowed = 0;
    for _ in 0..100 {
        let answer = mallory.press(&card, 0).await;
        assert_eq!(answer.json()["counted"], false);
        slowed += usize::from(answer.status == 429);
    }
    assert!(50 < slowed, "{slowed}");
    assert_eq!(ada.press(&card, 2).await.json()["counted"], true);
    desk.assert_answered(&prompt, "hammered", "no 3", false).await;
}

#[tokio::test]
async fn what_is_no_request_at_all_ends_its_connection_alone() {
    let desk = Desk::open().await;
    let origin = desk.origin();
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n".to_vec(),
        [b"GET / HTTP/1.1\r\nHost: x\r\nX: ".as_slice(), &vec![b'x'; 100_000]].concat(),
        format!("GET {origin}/ HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", desk.port).into_bytes(),
        format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nHost: 127.0.0.1:{0}\r\n\r\n", desk.port).into_bytes(),
        b"POST /api/join HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nContent-Length: 20\r\n\r\n".to_vec(),
    ] {
        let mut connection = TcpStream::connect(desk.address()).await.expect("connected");
        let _ = connection.write_all(&bytes).await;
        let mut head = [0; 15];
        let read = within("an answer or the end", connection.read(&mut head)).await.unwrap_or(0);
        assert!(!head[..read].ends_with(b"200 OK"), "{}", String::from_utf8_lossy(&bytes));
    }
    // Says nothing for a moment, and is served all the same.
    let mut slow = TcpStream::connect(desk.address()).await.expect("connected");
    rest(Duration::from_millis(300)).await;
    slow.write_all(format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", desk.port).as_bytes()).await.expect("sent");
    let mut head = [0; 15];
    within("an answer", slow.read_exact(&mut head)).await.expect("an answer");
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    assert_eq!(Visitor::new(&origin).get("/").await.status, 200);
}
