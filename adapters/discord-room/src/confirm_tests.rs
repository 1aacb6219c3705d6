use bridge_core::wording;
use bridge_model::{ButtonStyle, ButtonToken, MessageId as ClickId, PersonId, RoomName};
use serde_json::{Value, json};

use super::*;
use crate::render::tests::{HOSTILE, outside_of_code, parsed, text_of};

#[test]
fn a_question_is_seen_by_one_person_and_has_one_button() {
    let question = asked_with("Yes, always", "make *", "x");
    assert_eq!(question["flags"], json!(64 | 4));
    assert_eq!(question["allowed_mentions"], json!({"parse": [], "users": [], "roles": []}));
    let rows = question["components"].as_array().expect("rows");
    assert_eq!((rows.len(), rows[0]["components"].as_array().map(Vec::len)), (1, Some(1)));
    let button = &rows[0]["components"][0];
    assert_eq!(button["custom_id"], format!("countersign:{:032x}", 9));
    assert_eq!((&button["label"], &button["style"]), (&json!("Confirm: Yes, always"), &json!(2)));
    let content = text_of(&question);
    for part in [
        "You chose `Yes, always`, which",
        "`make *`",
        "confirm it. Otherwise nothing is decided. This question expires <t:1796020000:R>.",
    ] {
        assert!(content.contains(part), "{content}");
    }
}

#[test]
fn nothing_of_others_is_live_in_a_question_and_discord_takes_it() {
    let harmless = outside_of_code(&text_of(&asked_with("x", "x", "x")));
    for hostile in HOSTILE {
        let long = hostile.repeat(300);
        for text in [hostile, long.as_str(), &"`".repeat(300), &"🦀".repeat(300)] {
            let question = asked_with(text, text, text);
            let content = text_of(&question);
            assert_eq!(outside_of_code(&content), harmless, "{content}");
            assert!(units(&content) <= CONTENT_MAX, "{}", units(&content));
            let label = question["components"][0]["components"][0]["label"].as_str().expect("a label");
            assert!((1..=LABEL_MAX).contains(&units(label)), "{label}");
        }
    }
}

#[test]
fn a_question_that_is_answered_has_no_button_left() {
    let replies = [
        ClickReply::IsFirst,
        ClickReply::Differs { name: Shown::line("Ada"), option: Shown::line("<@1>") },
        ClickReply::TooLate(bridge_model::Ending::Expired),
        ClickReply::MayNotAnswer("no.".to_owned()),
        ClickReply::NothingWaits,
    ];
    for reply in replies {
        let words = wording::reply(&reply).expect("words");
        let edit = parsed(&told(&words, &reply));
        assert_eq!(edit["components"], json!([]));
        assert_eq!(text_of(&edit), render::sentence(&words));
        assert_eq!(edit["allowed_mentions"], json!({"parse": [], "users": [], "roles": []}));
    }
    let chosen = parsed(&told(&[Words::Ours("Confirmed.".to_owned())], &ClickReply::Chosen));
    assert_eq!((&chosen["components"], &chosen["content"]), (&json!([]), &json!("Confirmed.")));
}

#[test]
fn a_question_goes_when_its_time_is_over_and_while_discord_lets_it() {
    // Discord's documentation has this id and its time.
    let (click, made_at) = (click("175928847299117063"), 1_462_015_105_796);
    let left = |millis| left(&click, Timestamp::from_unix_millis(millis));
    assert_eq!(left(made_at + 60_000), Duration::from_mins(1));
    assert_eq!(left(made_at + 86_400_000), SHOWN_MAX);
    assert_eq!([left(made_at - 60_000), left(0)], [SHOWN_MIN; 2]);
}

fn asked_with(label: &str, covers: &str, object: &str) -> Value {
    let asked = ToConfirm {
        button: Button {
            token: ButtonToken::from_random(9),
            label: Shown::line(label).cut(200),
            style: ButtonStyle::AllowAlways,
        },
        headline: Shown::line(&format!("{} wants to run: {}", wording::quoted(label), Shown::line(object).cut(160))),
        covers: Some(Shown::line(covers).cut(300)),
        needs_another: false,
        until: Timestamp::from_unix_millis(1_796_020_000_999),
    };
    let words = wording::reply(&ClickReply::ToConfirm(asked.clone())).expect("words");
    parsed(&question(&words, &asked))
}

fn click(click: &str) -> ClickRef {
    ClickRef {
        room: RoomName::new("ops"),
        control: ClickId::new("1/2/3"),
        person: PersonId::new("11"),
        click: ClickId::new(click),
    }
}
