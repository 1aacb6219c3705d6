use std::task::{Context, Waker};

use futures_util::StreamExt as _;
use tokio::time::Instant;

use crate::id::Token;

use super::*;

#[tokio::test]
async fn news_come_in_their_order_to_those_who_may_see_the_room() {
    let streams = Streams::default();
    let (mut desk, mut ops) = (run(&streams, "a", 1, "desk"), run(&streams, "b", 2, "ops"));
    streams.tell(&room("desk"), CARD, "1");
    streams.tell(&room("ops"), CARD, "2");
    streams.tell(&room("desk"), CARD, "3");
    for expected in ["1", "3"] {
        assert_eq!(next(&mut desk).await, expected);
    }
    assert_eq!(next(&mut ops).await, "2");
}

#[tokio::test]
async fn a_stream_that_was_ended_is_not_open_and_counts_until_it_is_gone() {
    let streams = Streams::default();
    let all: Vec<_> = (0..OF_SESSION_MAX).map(|n| run(&streams, &n.to_string(), 1, "desk")).collect();
    assert_eq!(open(&streams, "more", 1).err(), Some(TooMany::OfSession));
    assert!(streams.is_open("0", &[1; 32]) && !streams.is_open("0", &[2; 32]));
    streams.end(&[1; 32]);
    assert!(!streams.is_open("0", &[1; 32]));
    // Whoever does not read holds a connection still.
    assert_eq!(open(&streams, "more", 1).err(), Some(TooMany::OfSession));
    for mut stream in all {
        assert!(stream.next().await.is_none());
    }
    assert!(open(&streams, "more", 1).is_ok());
}

#[tokio::test]
async fn only_sessions_that_are_kept_stay() {
    let streams = Streams::default();
    let (_one, mut two) = (run(&streams, "1", 1, "desk"), run(&streams, "2", 2, "desk"));
    assert_eq!(streams.keep(&[[1; 32]].into()), [[1; 32]].into());
    assert!(streams.is_open("1", &[1; 32]));
    assert!(two.next().await.is_none());
}

#[tokio::test]
async fn a_page_that_falls_too_far_behind_begins_anew() {
    let streams = Streams::default();
    let mut stream = run(&streams, "a", 1, "desk");
    for n in 0..=BEHIND_MAX {
        streams.tell(&room("desk"), CARD, &n.to_string());
    }
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_closing_waits_for_pages_to_take_it_and_once_for_one_that_does_not() {
    let streams = Streams::default();
    let _stalled = run(&streams, "a", 1, "desk");
    streams.tell(&room("desk"), CARD, "1");
    let began = Instant::now();
    streams.taken().await;
    assert_eq!(began.elapsed(), TAKEN_WITHIN);
    // Nobody waits for it a second time.
    streams.tell(&room("desk"), CARD, "2");
    streams.taken().await;
    assert_eq!(began.elapsed(), TAKEN_WITHIN);

    let member = member(2, "desk");
    let reads = streams.open("b", &member, member.rooms.iter().cloned().collect()).expect("room");
    let progress = Arc::clone(&reads.progress);
    let mut reads: Running = Box::pin(reads.run(Vec::new(), connection()));
    streams.tell(&room("desk"), CARD, "3");
    let mut taken = std::pin::pin!(streams.taken());
    let mut looks = Context::from_waker(Waker::noop());
    assert!(taken.as_mut().poll(&mut looks).is_pending());
    assert_eq!(next(&mut reads).await, "3");
    assert!(taken.as_mut().poll(&mut looks).is_pending(), "its connection has it, and has not sent it");
    progress.all_is_sent();
    taken.await;
    assert_eq!(began.elapsed(), TAKEN_WITHIN);
    // What it may not see is sent to it by saying nothing.
    streams.tell(&room("ops"), CARD, "4");
    assert!(reads.as_mut().poll_next(&mut looks).is_pending());
    streams.taken().await;
    assert_eq!(began.elapsed(), TAKEN_WITHIN);
}

type Running = std::pin::Pin<Box<dyn Stream<Item = Result<Event, Infallible>> + Send>>;

fn run(streams: &Streams, name: &str, session: u8, in_room: &str) -> Running {
    let member = member(session, in_room);
    let stream = streams.open(name, &member, member.rooms.iter().cloned().collect()).expect("room");
    Box::pin(stream.run(Vec::new(), connection()))
}

fn open(streams: &Streams, name: &str, session: u8) -> Result<EventStream, TooMany> {
    streams.open(name, &member(session, "desk"), BTreeSet::new())
}

fn member(session: u8, in_room: &str) -> Member {
    Member {
        person: PersonId::new(format!("person{session}")),
        rooms: vec![room(in_room)],
        session: [session; 32],
        cookie: Token::from_random([session; 32]),
    }
}

fn connection() -> Connection {
    Connection::new(([127, 0, 0, 1], 1).into())
}

fn room(name: &str) -> RoomName {
    RoomName::new(name)
}

/// The text of the next event.
async fn next(stream: &mut Running) -> String {
    let event = format!("{:?}", stream.next().await.expect("an event").expect("no error"));
    // An event shows its bytes and nothing else.
    let data = event.split("data: ").nth(1).expect("data");
    data.chars().take_while(char::is_ascii_digit).collect()
}
