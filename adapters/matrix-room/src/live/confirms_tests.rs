use bridge_model::Card;

use super::super::tests::{card, id, posted, request, room, token};
use super::super::{CLICKS_MAX, Count};
use super::*;

#[test]
fn what_is_to_be_confirmed_counts_only_in_its_room_and_on_its_own_poll() {
    let mut table = asked(&["@ada:localhost"]);
    assert!(table.response(&room(), &id("$confirm0"), confirm(0)).is_some());
    assert_eq!(table.response(&RoomName::new("other"), &id("$confirm0"), confirm(0)), None);
    assert_eq!(table.response(&room(), &id("$poll1"), confirm(0)), None, "on the card");
    assert_eq!(table.response(&room(), &id("$eve"), confirm(0)), None, "on a poll of somebody else's");
    assert_eq!(table.response(&room(), &id("$confirm0"), token(1)), None, "the card's button on it");
    table.ask(&click("@bob:localhost"), confirm(1), until(), Instant::now()).expect("asked");
    assert_eq!(table.response(&room(), &id("$eve"), confirm(1)), None, "before its own poll is known");
}

#[test]
fn a_press_that_was_faster_than_the_servers_answer_is_looked_for() {
    let (mut table, now) = (asked(&["@ada:localhost"]), Instant::now());
    let due = table.take_due(&room(), now);
    assert_eq!(due.iter().flat_map(|card| card.confirms.clone()).collect::<Vec<_>>(), [id("$confirm0")]);
    assert!(table.check_soon(&room(), &id("$confirm0"), now).is_some(), "one that could not be read, too");
}

#[test]
fn one_that_is_used_or_over_counts_no_more() {
    let mut table = asked(&["@ada:localhost", "@bob:localhost", "@cy:localhost"]);
    let ada = PersonId::new("@ada:localhost");
    assert_eq!(table.take_used(&room(), &MessageId::new("$confirm0"), &ada), Some((request(1), id("$confirm0"))));
    assert_eq!(table.take_asked(request(1), confirm(1)), Some(id("$confirm1")));
    assert_eq!(table.take_asked(request(1), confirm(1)), None);
    assert_eq!(table.take_all_asked(request(1)), [id("$confirm2")]);
    for at in 0..3 {
        assert_eq!(table.response(&room(), &id(&format!("$confirm{at}")), confirm(at)), None);
    }
    assert!(table.response(&room(), &id("$poll1"), token(1)).is_some(), "the card still does");
}

#[test]
fn nobody_else_uses_it_up() {
    let mut table = asked(&["@ada:localhost"]);
    assert_eq!(table.take_used(&room(), &MessageId::new("$confirm0"), &PersonId::new("@eve:localhost")), None);
    assert_eq!(table.take_used(&RoomName::new("other"), &MessageId::new("$confirm0"), &PersonId::new("@ada:localhost")), None);
    assert_eq!(table.take_used(&room(), &MessageId::new("$poll1"), &PersonId::new("@ada:localhost")), None);
    assert!(table.response(&room(), &id("$confirm0"), confirm(0)).is_some());
}

#[test]
fn a_person_is_asked_one_thing_at_a_time_and_so_many_people_at_most() {
    let mut table = asked(&["@ada:localhost"]);
    let again = table.ask(&click("@ada:localhost"), confirm(1), until(), Instant::now()).expect("asked");
    assert_eq!(again.replaced, Some(id("$confirm0")));
    assert_eq!(table.response(&room(), &id("$confirm0"), confirm(0)), None);
    for at in 1..CONFIRMS_MAX {
        let person = format!("@p{at}:localhost");
        table.ask(&click(&person), confirm(10 + u64::try_from(at).expect("small")), until(), Instant::now()).expect("asked");
    }
    assert!(table.ask(&click("@eve:localhost"), confirm(99), until(), Instant::now()).is_err());
}

#[test]
fn it_ends_when_it_counts_no_more_and_never_after_its_card() {
    let (mut table, now) = (posted(&[1]), Instant::now());
    let deadline = card(1).deadline;
    let ends = table.get(request(1)).expect("a card").instant(deadline).expect("an instant");
    let before = Timestamp::from_unix_millis(deadline.unix_millis() - 10_000);
    let asking = table.ask(&click("@ada:localhost"), confirm(0), before, now).expect("asked");
    assert_eq!(ends - asking.until, std::time::Duration::from_secs(10));
    table.close(request(1));
    assert!(!table.asked(request(1), confirm(0), &id("$confirm0"), now), "its poll is not wanted any more");
    assert!(table.ask(&click("@ada:localhost"), confirm(1), before, now).is_err());
}

#[test]
fn taking_it_away_takes_no_card_away() {
    let mut table = asked(&["@ada:localhost"]);
    assert_eq!(table.removed(&room(), &id("$confirm0")), None);
}

#[test]
fn presses_of_it_are_counted_with_those_of_its_card() {
    let mut table = asked(&["@ada:localhost"]);
    let ada = matrix_sdk::ruma::UserId::parse("@ada:localhost").expect("an id");
    assert!((0..CLICKS_MAX).all(|_| table.count(token(1), &ada) == Count::Looked));
    assert_eq!(table.count(confirm(0), &ada), Count::FirstOver);
}

/// A card on which each of these is asked something.
fn asked(people: &[&str]) -> LiveTable {
    let (mut table, now) = (posted(&[1]), Instant::now());
    for (at, person) in (0..).zip(people) {
        table.ask(&click(person), confirm(at), until(), now).expect("asked");
        assert!(table.asked(request(1), confirm(at), &id(&format!("$confirm{at}")), now));
    }
    table
}

fn click(person: &str) -> ClickRef {
    let (control, click) = (MessageId::new("$poll1"), MessageId::new("$click"));
    ClickRef { room: room(), control, person: PersonId::new(person), click }
}

fn confirm(number: u64) -> ButtonToken {
    token(1_000 + number)
}

fn until() -> Timestamp {
    let Card { deadline, .. } = card(1);
    deadline
}
