use bridge_model::{CardRef, PersonId};
use serde_json::{Value, json};

use super::*;
use crate::render::tests::told_as_json;

const NOW: Timestamp = Timestamp::from_unix_millis(1_000);

#[test]
fn a_line_names_whom_it_calls_and_says_whose_words_are_whose() {
    let mut lines = Lines::default();
    let words = vec![Words::Ours("Request #7 still waits: ".to_owned()), Words::Theirs("<b>@everyone</b>".to_owned())];
    let mention = vec![PersonId::new("ada"), PersonId::new("bob")];
    assert!(lines.add(&room("ops"), Note::of(&Said { words, mention, ..said(7, "escalate") }, NOW)));
    let line = &told(&lines, "ops")["lines"][0];
    assert_eq!((&line["calls"], &line["said_at"]), (&json!(["ada", "bob"]), &json!(1_000)));
    let words = [
        json!({"by": "person", "text": "ada"}),
        json!({"by": "us", "text": ", "}),
        json!({"by": "person", "text": "bob"}),
        json!({"by": "us", "text": ": "}),
        json!({"by": "us", "text": "Request #7 still waits: "}),
        json!({"by": "them", "text": "<b>@everyone</b>"}),
    ];
    assert_eq!(line["words"], json!(words));
}

#[test]
fn who_is_not_mentioned_is_not_called() {
    let note = Note::of(&said(7, "remind-50"), NOW);
    assert_eq!((note.calls.len(), note.words.len()), (0, 1));
}

#[test]
fn the_same_part_of_a_request_is_the_same_line() {
    let mut lines = Lines::default();
    let mut add = |number, part, place: &str| lines.add(&room(place), Note::of(&said(number, part), NOW));
    assert!(add(7, "escalate", "ops"));
    assert!(!add(7, "escalate", "ops"));
    assert!(add(8, "escalate", "ops") && add(7, "flood-1", "ops") && add(7, "escalate", "desk"));
    assert_eq!(count(&lines, "ops"), 3);
}

#[test]
fn one_line_too_many_takes_the_place_of_the_oldest_of_its_room() {
    let mut lines = Lines::default();
    lines.add(&room("desk"), Note::of(&said(1, "escalate"), NOW));
    for number in 0..100 {
        lines.add(&room("ops"), Note::of(&said(number, "escalate"), NOW));
    }
    assert_eq!((count(&lines, "ops"), count(&lines, "desk")), (NOTES_MAX, 1));
    let last = told(&lines, "ops")["lines"][NOTES_MAX - 1]["id"].clone();
    assert_eq!(last, json!(part_name(RequestId { run: 1, number: 99 }, "escalate")));
}

#[test]
fn a_request_that_has_ended_calls_nobody_any_more() {
    let mut lines = Lines::default();
    for (number, place) in [(7, "ops"), (8, "ops"), (8, "desk")] {
        lines.add(&room(place), Note::of(&said(number, "escalate"), NOW));
    }
    assert_eq!(lines.forget(RequestId { run: 1, number: 7 }), [room("ops")]);
    assert_eq!((count(&lines, "ops"), count(&lines, "desk")), (1, 1));
}

#[test]
fn a_room_in_which_nothing_was_said_has_no_lines() {
    assert_eq!(told(&Lines::default(), "desk"), json!({"room": "desk", "lines": []}));
}

/// In a room of its own, about no card.
pub(crate) fn said(number: u64, part: &str) -> Said {
    Said {
        request: RequestId { run: 1, number },
        part: part.to_owned(),
        room: RoomName::new("desk"),
        about: None,
        words: vec![Words::Ours(format!("said of {number}"))],
        mention: Vec::new(),
    }
}

/// About its card.
pub(crate) fn about(card: &CardRef, number: u64, part: &str) -> Said {
    Said { about: Some(card.clone()), room: card.room.clone(), ..said(number, part) }
}

fn told(lines: &Lines, place: &str) -> Value {
    told_as_json(&lines.json(&room(place)))
}

fn count(lines: &Lines, place: &str) -> usize {
    told(lines, place)["lines"].as_array().expect("lines").len()
}

fn room(name: &str) -> RoomName {
    RoomName::new(name)
}
