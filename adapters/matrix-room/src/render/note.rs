//! A message without buttons.

use bridge_core::{RoomError, Said};
use matrix_sdk::ruma::OwnedUserId;
use serde_json::{Value, json};

use super::check_size;
use crate::draft::{CodeForm, Draft};
use crate::id;

/// As `m.room.message`, in reply to the card that it is about. It is no `m.notice`, of which clients tell nobody.
pub(crate) fn note(said: &Said, encrypted: bool) -> Result<Value, RoomError> {
    // What is no user id of Matrix is nobody who could be called.
    let called: Vec<OwnedUserId> = said.mention.iter().filter_map(|person| id::user_id(person.as_str()).ok()).collect();
    let mut draft = Draft::new(CodeForm::Lines);
    for user in &called {
        draft.call(user);
        draft.ours(" ");
    }
    draft.words(&said.words);
    let mut content = draft.content("m.text");
    if !called.is_empty() {
        content["m.mentions"] = json!({ "user_ids": called });
    }
    if let Some(card) = &said.about {
        content["m.relates_to"] = json!({ "m.in_reply_to": { "event_id": card.control.as_str() } });
    }
    check_size(&content, encrypted)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use bridge_core::wording::Words;
    use bridge_model::{CardRef, MessageId, PersonId, RequestId, RoomName};

    use super::*;

    #[test]
    fn a_note_calls_exactly_whom_it_mentions() {
        let content = drawn(&["@ada:localhost", "@o/b:localhost", "everybody"], "ls");
        assert_eq!(content["m.mentions"], json!({ "user_ids": ["@ada:localhost", "@o/b:localhost"] }));
        let html = content["formatted_body"].as_str().expect("HTML");
        assert!(html.starts_with("<a href=\"https://matrix.to/#/@ada:localhost\">@ada:localhost</a> "), "{html}");
        assert!(html.contains("<a href=\"https://matrix.to/#/@o%2Fb:localhost\">@o/b:localhost</a> Request #7"), "{html}");
        assert!(content["body"].as_str().expect("a text").starts_with("@ada:localhost @o/b:localhost Request #7"));
        assert_eq!(drawn(&[], "ls")["m.mentions"], json!({}));
    }

    #[test]
    fn what_others_wrote_calls_and_links_nobody() {
        let content = drawn(&[], "@room @ada:localhost <a href=\"https://evil.example\">x</a>");
        let (body, html) = (content["body"].as_str().expect("a text"), content["formatted_body"].as_str().expect("HTML"));
        assert!(!body.contains("@room") && !body.contains("@ada"), "{body}");
        assert!(!html.contains("<a") && html.contains("<code>@room"), "{html}");
        assert_eq!(content["m.mentions"], json!({}));
    }

    #[test]
    fn a_note_about_a_card_replies_to_it_and_has_nothing_to_press() {
        let content = drawn(&[], "ls");
        assert_eq!(content["m.relates_to"], json!({ "m.in_reply_to": { "event_id": "$poll" } }));
        assert_eq!(content["msgtype"], "m.text");
        let elsewhere = note(&Said { about: None, ..said(&[], "ls") }, false).expect("drawn");
        assert_eq!(elsewhere.get("m.relates_to"), None);
    }

    fn drawn(mention: &[&str], theirs: &str) -> Value {
        note(&said(mention, theirs), false).expect("drawn")
    }

    fn said(mention: &[&str], theirs: &str) -> Said {
        let room = RoomName::new("ops");
        let about = CardRef { room: room.clone(), control: MessageId::new("$poll"), parts: vec![MessageId::new("$card")] };
        Said {
            request: RequestId { run: 1, number: 7 },
            part: "remind-50".to_owned(),
            room,
            about: Some(about),
            words: vec![Words::Ours("Request #7 still waits: ".to_owned()), Words::Theirs(theirs.to_owned())],
            mention: mention.iter().map(|person| PersonId::new(*person)).collect(),
        }
    }
}
