use bridge_model::{Button, ButtonToken, Digest, Gap, Origin, Shown, SourceName};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::*;
use crate::preview;

#[test]
fn a_page_is_told_each_section_by_its_kind_with_what_we_say_of_it() {
    let note = "1 line added, 1 removed".to_owned();
    let told = told(&card(vec![
        Section { note, ..section("Change", SectionBody::Diff, "/srv/a\n-x\n+y") },
        section("Kind", SectionBody::Text, "edit"),
        Section::new(Section::ONLY_REFUSING, SectionBody::Ours("It is too long.".to_owned())),
    ]));
    let whole = |heading, note, kind, is_warning, head| json!({"heading": heading, "note": note, "kind": kind, "is_warning": is_warning, "head": head, "left_out": null, "tail": null});
    let sections = [
        whole("Change", "1 line added, 1 removed", "diff", false, "/srv/a\n-x\n+y"),
        whole("Kind", "", "text", false, "edit"),
        whole("Only refusing is possible", "", "ours", true, "It is too long."),
    ];
    assert_eq!(told["sections"], json!(sections));
    assert_eq!((&told["file"], &told["missing"]), (&Value::Null, &json!(0)));
}

#[test]
fn what_lies_outside_and_what_has_changed_is_a_warning_too() {
    for (heading, is_warning) in
        [(Section::OUTSIDE, true), (Section::CHANGED, true), (Section::OPTIONS, false), ("Command", false)]
    {
        let told = told(&card(vec![section(heading, SectionBody::Code, "/etc/passwd")]));
        assert_eq!(told["sections"][0]["is_warning"], json!(is_warning), "{heading}");
    }
}

#[test]
fn what_is_left_out_is_counted_and_stands_in_a_file_with_the_cards_digest() {
    let card = card(vec![section("Command", SectionBody::Code, &format!("{}; rm -rf ~", "x".repeat(50_000)))]);
    let preview = preview(&card).expect("showable");
    let told = &preview.bodies[0];
    let section = &told["sections"][0];
    assert!(section["tail"].as_str().is_some_and(|tail| tail.ends_with("; rm -rf ~")), "{section}");
    let seen = ["head", "tail"].map(|part| section[part].as_str().map_or(0, str::len)).iter().sum::<usize>();
    assert_eq!(section["left_out"], json!(50_010 - seen));
    let file = preview.file.expect("a file");
    assert!(file.text.contains("; rm -rf ~") && 50_010 < file.text.len());
    let sha256 = Digest::from_bytes(Sha256::digest(&file.text).into()).to_string();
    assert_eq!(told["file"], json!({"name": "request-7.txt", "characters": file.characters(), "sha256": sha256}));
}

#[test]
fn what_is_nowhere_whole_has_no_file() {
    let gap = Some(Gap { at: 1, characters: 12_345 });
    let card = Card { is_whole: false, ..card(vec![Section { gap, ..section("Command", SectionBody::Code, "ab") }]) };
    let preview = preview(&card).expect("showable");
    let section = &preview.bodies[0]["sections"][0];
    assert_eq!((&section["head"], &section["left_out"], &section["tail"]), (&json!("a"), &json!(12_345), &json!("b")));
    assert_eq!((&preview.bodies[0]["file"], preview.file), (&Value::Null, None));
}

#[test]
fn an_ending_says_when_in_a_form_that_each_page_puts_into_its_readers_time() {
    let closed = ClosedCard {
        request: RequestId { run: 1, number: 7 },
        room: RoomName::new("desk"),
        headline: Shown::line("headline"),
        ending: Ending::Expired,
        at: Some(Timestamp::from_unix_millis(1_500)),
    };
    let told = ended(&closed, Timestamp::from_unix_millis(2_000)).json(Timestamp::from_unix_millis(2_000));
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let time = json!({"by": "time", "text": "1970-01-01 00:00:01 UTC", "at": 1_500});
    assert_eq!(told["ending"].as_array().expect("pieces")[2], time, "{told}");
}

pub(crate) fn told_as_json(told: &str) -> Value {
    serde_json::from_str(told).expect("JSON")
}

fn told(card: &Card) -> Value {
    preview(card).expect("showable").bodies.remove(0)
}

fn section(heading: &'static str, body: fn(Shown) -> SectionBody, text: &str) -> Section {
    Section::new(heading, body(Shown::block(text)))
}

/// A card of these sections, with one button.
pub(crate) fn card(sections: Vec<Section>) -> Card {
    let button = Button { token: ButtonToken::from_random(7), label: Shown::line("Yes"), style: ButtonStyle::AllowOnce };
    let mut card = Card {
        request: RequestId { run: 1, number: 7 },
        room: RoomName::new("desk"),
        origin: Origin { source: SourceName::new("acp"), session: None, agent: Shown::line("An agent") },
        headline: Shown::line("headline"),
        sections,
        buttons: vec![button],
        deadline: Timestamp::from_unix_millis(60_000),
        is_whole: true,
        digest: Digest::from_bytes([0; 32]),
    };
    card.digest = Digest::from_bytes(Sha256::digest(file(&card).text).into());
    card
}
