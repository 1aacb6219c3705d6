use bridge_core::wording::Words;
use bridge_model::{CardRef, RoomName};
use serde_json::{Value, json};

use super::*;
use crate::render::tests::{self, HOSTILE, outside_of_code, text_of};

#[test]
fn exactly_those_who_are_called_are_mentioned() {
    let mention = ["11", "12", "11", "@ada:localhost", "&9"].map(PersonId::new);
    let sent = sent(&Said { mention: mention.to_vec(), ..said("remind-50", "<@13>") }, None);
    assert_eq!(sent["allowed_mentions"], json!({"parse": [], "users": ["11", "12"], "roles": []}));
    assert_eq!(text_of(&sent), "Still waits: `<@13>` <@11> <@12>");
    let nobody = self::sent(&said("remind-50", "<@13>"), None);
    assert_eq!(nobody["allowed_mentions"], json!({"parse": [], "users": [], "roles": []}));
}

#[test]
fn who_has_no_room_in_the_text_is_not_called_by_stealth() {
    let mention = (1_000_000_000_000_000_000..).take(200).map(|id: u64| PersonId::new(id.to_string())).collect();
    let sent = sent(&Said { mention, ..said("escalate", &"`".repeat(400)) }, None);
    let content = text_of(&sent);
    assert!(units(&content) <= CONTENT_MAX, "{}", units(&content));
    let users = sent["allowed_mentions"]["users"].as_array().expect("a list");
    assert!((10..200).contains(&users.len()));
    assert_eq!(content.matches("<@").count(), users.len());
}

#[test]
fn what_is_said_has_no_buttons_and_no_previews_and_no_markup_of_others() {
    for hostile in HOSTILE {
        let (sent, harmless) = (sent(&said("remind-50", hostile), None), sent(&said("remind-50", "x"), None));
        assert_eq!(outside_of_code(&text_of(&sent)), outside_of_code(&text_of(&harmless)), "{sent}");
        assert!(sent["flags"] == json!(4) && sent.get("components").is_none(), "{sent}");
    }
}

#[test]
fn the_same_part_is_the_same_message_and_no_other_is() {
    let nonce = |number, part: &str| {
        let said = Said { request: RequestId { run: u64::MAX, number }, ..said(part, "x") };
        let sent = sent(&said, None);
        assert_eq!(sent["enforce_nonce"], json!(true));
        sent["nonce"].as_str().expect("a nonce").to_owned()
    };
    assert_eq!(nonce(7, "remind-50"), nonce(7, "remind-50"));
    let all = [nonce(7, "remind-50"), nonce(7, "remind-75"), nonce(8, "remind-50"), nonce(7, "escalate")];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one) && one.len() <= 25, "{all:?}");
        // Nor is it a card.
        assert!(!one.chars().all(|c| c.is_ascii_hexdigit()), "{one}");
    }
}

#[test]
fn it_is_a_reply_to_its_card_where_the_bot_may_read_that() {
    let card = Spot { guild: 1.into(), channel: 2.into(), message: 3.into() };
    let about = Some(CardRef { room: RoomName::new("ops"), control: card.message_id(), parts: Vec::new() });
    let said = Said { about, ..said("remind-50", "x") };
    let reference = json!({"type": 0, "message_id": "3", "channel_id": "2", "guild_id": "1", "fail_if_not_exists": false});
    assert_eq!(sent(&said, Some(card))["message_reference"], reference);
    assert!(sent(&said, None).get("message_reference").is_none());
}

fn sent(said: &Said, reply_to: Option<Spot>) -> Value {
    tests::body(&message(said, reply_to))
}

fn said(part: &str, theirs: &str) -> Said {
    Said {
        request: RequestId { run: 1, number: 7 },
        part: part.to_owned(),
        room: RoomName::new("ops"),
        about: None,
        words: vec![Words::Ours("Still waits: ".to_owned()), Words::Theirs(theirs.to_owned())],
        mention: Vec::new(),
    }
}
