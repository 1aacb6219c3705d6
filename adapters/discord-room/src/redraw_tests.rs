use bridge_core::file;
use bridge_model::{PersonId, Section, SectionBody, Shown};
use serde_json::{Value, json};

use super::*;
use crate::render::tests::{self, code_section, parsed, section, sections, text_of};
use crate::render::{CONTENT_MAX, units};

#[test]
fn a_card_that_is_drawn_anew_has_the_same_buttons_and_says_what_is_new() {
    let before = tests::body(&render::card(&decided_by_two(None, 1), &Mention::default(), true).expect("a card"));
    let now = drawn(&decided_by_two(Some("\"Ada\" chose \"Yes\""), 1), false);
    assert_eq!(now["components"], before["components"]);
    let content = text_of(&now);
    let news = "**Two people have to allow it** (one more has to choose the same): `\"Ada\" chose \"Yes\"`";
    assert!(content.contains(news) && content.contains("`ls `") && !content.contains("file"), "{content}");
}

#[test]
fn a_card_that_is_drawn_anew_keeps_its_file_and_says_the_same_of_it() {
    let before = render::card(&decided_by_two(None, 2_000), &Mention::default(), true).expect("a card");
    let attached = before.file.clone().expect("a file");
    let card = decided_by_two(Some("\"Ada\" chose \"Yes\""), 2_000);
    assert_eq!(file(&card), attached);
    let now = drawn(&card, true);
    // An edit that named the files would drop those that it did not name.
    assert!(now.get("attachments").is_none(), "{now}");
    let of_file = |content: &str| {
        let lines = content.lines().filter(|line| line.contains("Read the file") || line.contains("SHA-256"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (was, is) = (text_of(&tests::body(&before)), text_of(&now));
    assert_eq!((of_file(&is), of_file(&is).len()), (of_file(&was), 2));
    // Also if all of it would fit by now.
    assert_eq!(of_file(&text_of(&drawn(&decided_by_two(None, 1), true))).len(), 2);
}

#[test]
fn nothing_is_said_to_be_in_a_file_that_is_not_there() {
    for length in (0..700).step_by(7) {
        match body(&decided_by_two(Some(&"x".repeat(270)), length), &Mention::default(), false) {
            Ok(now) => {
                let content = text_of(&parsed(&Ok(now)));
                assert!(!content.contains("in the file") && units(&content) <= CONTENT_MAX, "{content}");
            }
            Err(error) => assert_eq!(error, RoomError::NotShowable("there is no room for what is new".to_owned())),
        }
    }
}

#[test]
fn whoever_has_chosen_fits_into_every_card_that_has_no_file() {
    let longest = format!("\"{}\" chose \"{}\"", "a".repeat(64), "y".repeat(200));
    let mut has_file = false;
    for length in 0..700 {
        let sent = render::card(&decided_by_two(None, length), &Mention::default(), true).expect("a card");
        has_file = sent.file.is_some();
        drawn(&decided_by_two(Some(&longest), length), has_file);
    }
    assert!(has_file);
}

#[test]
fn a_card_that_is_drawn_anew_calls_nobody_but_whom_it_called() {
    let mention = Mention { people: [PersonId::new("11")].into(), ..Mention::default() };
    let now = parsed(&body(&decided_by_two(Some("<@1> @everyone"), 1), &mention, false));
    assert_eq!(now["allowed_mentions"], json!({"parse": [], "users": ["11"], "roles": []}));
    assert!(text_of(&now).contains("`<@1> @everyone`"), "{now}");
}

fn drawn(card: &Card, has_file: bool) -> Value {
    parsed(&body(card, &Mention::default(), has_file))
}

/// `first`: who has chosen what; the command is so many times `ls `.
fn decided_by_two(first: Option<&str>, times: usize) -> Card {
    let body = first.map_or_else(|| SectionBody::Ours("Nobody has yet.".to_owned()), |said| SectionBody::Text(Shown::line(said)));
    let note = first.map(|_| "one more has to choose the same".to_owned()).unwrap_or_default();
    let two_people = Section { note, ..section(Section::TWO_PEOPLE, body) };
    sections(&[code_section(&"ls ".repeat(times)), two_people])
}
