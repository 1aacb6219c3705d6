//! The poll by which one person confirms what they chose.

use bridge_core::RoomError;
use bridge_core::wording::{self, Words};
use bridge_model::{ClickRef, ToConfirm};
use matrix_sdk::ruma::EventId;
use serde_json::{Value, json};

use super::{POLL_END, POLL_START, TEXT, check_size};
use crate::draft::inert;

/// In reply to the card that was pressed, for whoever pressed it, with the one answer that confirms it.
pub(crate) fn poll(click: &ClickRef, asked: &ToConfirm, words: &[Words], encrypted: bool) -> Result<Value, RoomError> {
    let ClickRef { control, person, .. } = click;
    let question = format!("Only for {person}: {}", words.iter().map(said).collect::<String>());
    let answer = wording::confirming(&wording::labelled(&inert(asked.button.label.as_str()), asked.button.style));
    let content = json!({
        POLL_START: {
            "kind": "org.matrix.msc3381.poll.disclosed",
            "max_selections": 1,
            "question": { TEXT: question },
            "answers": [{ "id": asked.button.token.to_string(), TEXT: answer }],
        },
        TEXT: format!("{question}\n1. {answer}"),
        "m.relates_to": { "m.in_reply_to": { "event_id": control.as_str() } },
        "m.mentions": { "user_ids": [person.as_str()] },
    });
    check_size(&content, encrypted)?;
    Ok(content)
}

/// A question is plain text, in which clients look for ids and calls all the same.
fn said(words: &Words) -> String {
    match words {
        Words::Theirs(_) | Words::Name(_) => inert(&words.plain()),
        Words::Ours(_) | Words::Person { .. } | Words::Time(_) | Words::Due(_) => words.plain(),
    }
}

pub(crate) fn end(poll: &EventId) -> Value {
    json!({
        "m.relates_to": { "rel_type": "m.reference", "event_id": poll },
        POLL_END: {},
        TEXT: "This is over.",
        "m.mentions": {},
    })
}

#[cfg(test)]
mod tests {
    use bridge_core::wording::reply;
    use bridge_model::{Button, ButtonStyle, ButtonToken, ClickReply, MessageId, PersonId, RoomName, Shown, Timestamp};

    use super::*;

    #[test]
    fn one_person_is_asked_one_thing_in_reply_to_the_card() {
        let content = drawn("Always", "\"Coder\" wants to run: ls");
        let start = &content[POLL_START];
        assert_eq!(start["max_selections"], 1);
        let answer = "Confirm: Allows more than this once, as far as the agent decides: Always";
        assert_eq!(start["answers"], json!([{ "id": format!("{:032x}", 9), TEXT: answer }]));
        assert_eq!(content["m.relates_to"], json!({ "m.in_reply_to": { "event_id": "$poll" } }));
        assert_eq!(content["m.mentions"], json!({ "user_ids": ["@ada:localhost"] }));
    }

    #[test]
    fn it_says_for_whom_it_is_and_that_nothing_is_decided_without_it() {
        let content = drawn("Always", "\"Coder\" wants to run: ls");
        let question = content[POLL_START]["question"][TEXT].as_str().expect("a question");
        assert!(question.starts_with("Only for @ada:localhost: You chose \"Always\", which allows more"), "{question}");
        assert!(question.contains("\"Coder\" wants to run: ls") && question.contains("/srv"), "{question}");
        assert!(question.contains("Otherwise nothing is decided. This question expires at "), "{question}");
    }

    #[test]
    fn what_an_agent_says_calls_nobody() {
        let content = drawn("@room yes", "\"@room\" wants to run: echo @eve:x.example");
        for text in [&content[POLL_START]["question"][TEXT], &content[POLL_START]["answers"][0][TEXT], &content[TEXT]] {
            let text = text.as_str().expect("a text");
            assert!(!text.contains("@room") && !text.contains("@eve") && text.contains("\\u{40}room"), "{text}");
        }
    }

    #[test]
    fn what_is_too_long_to_be_sent_is_not_asked() {
        let asked = asked("Always", &"x".repeat(50_000));
        let words = reply(&ClickReply::ToConfirm(asked.clone())).expect("a reply");
        assert!(matches!(poll(&click(), &asked, &words, true), Err(RoomError::NotShowable(_))));
    }

    fn drawn(label: &str, headline: &str) -> Value {
        let asked = asked(label, headline);
        let words = reply(&ClickReply::ToConfirm(asked.clone())).expect("a reply");
        poll(&click(), &asked, &words, false).expect("drawn")
    }

    fn asked(label: &str, headline: &str) -> ToConfirm {
        let token = ButtonToken::from_random(9);
        ToConfirm {
            button: Button { token, label: Shown::line(label), style: ButtonStyle::AllowAlways },
            headline: Shown::line(headline),
            covers: Some(Shown::line("/srv")),
            needs_another: false,
            until: Timestamp::from_unix_millis(0),
        }
    }

    fn click() -> ClickRef {
        ClickRef {
            room: RoomName::new("ops"),
            control: MessageId::new("$poll"),
            person: PersonId::new("@ada:localhost"),
            click: MessageId::new("$click"),
        }
    }
}
