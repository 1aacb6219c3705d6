use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bodies::{Kind, problems};
use super::http::UploadedFile;
use super::snowflake::Snowflake;

#[test]
fn a_card_with_buttons_is_accepted() {
    check(Kind::Create, &card(), &[]);
    let disabled = json!({"content": "", "components": [], "allowed_mentions": {"parse": []}});
    check(Kind::Edit, &disabled, &[]);
    check(Kind::Followup, &json!({"content": "no", "flags": 64, "allowed_mentions": {"parse": []}}), &[]);
    check(Kind::Callback, &json!({"type": 6}), &[]);
    check(Kind::Thread, &json!({"name": "session", "type": 11, "auto_archive_duration": 1440}), &[]);
    check(Kind::ThreadEdit, &json!({"archived": false}), &[]);
}

#[test]
fn a_label_has_80_characters_at_most() {
    check(Kind::Create, &with("/components/0/components/0/label", json!("ß".repeat(80))), &[]);
    check(Kind::Create, &with("/components/0/components/0/label", json!("x".repeat(81))), &["a label of 81"]);
    check(Kind::Create, &with("/components/0/components/0/label", json!("")), &["a label of 0"]);
}

#[test]
fn a_button_needs_a_custom_id_of_its_own() {
    check(Kind::Create, &with("/components/0/components/1/custom_id", json!("a")), &["\"a\" twice"]);
    check(Kind::Create, &with("/components/0/components/0/custom_id", Value::Null), &["without custom_id"]);
    check(Kind::Create, &with("/components/0/components/0/custom_id", json!("x".repeat(101))), &["custom_id \"xxx"]);
}

#[test]
fn a_link_button_needs_a_url_and_no_custom_id() {
    let link = json!({"type": 2, "style": 5, "label": "more", "url": "https://example.org"});
    check(Kind::Create, &with("/components/0/components/0", link), &[]);
    check(Kind::Create, &with("/components/0/components/0/style", json!(5)), &["a link button"]);
}

#[test]
fn an_unknown_key_is_refused() {
    check(Kind::Create, &with("/contents", json!("typo")), &["contents"]);
    check(Kind::Edit, &json!({"allowed_mentions": {"parse": []}, "nonce": "1"}), &["nonce"]);
    check(Kind::Create, &with("/components/0/components/0/custom_ids", json!("a")), &["/components/0"]);
}

#[test]
fn mentions_are_denied_on_everything_that_carries_text() {
    let without = json!({"content": "hello"});
    for kind in [Kind::Edit, Kind::Followup] {
        check(kind, &without, &["allowed_mentions"]);
    }
    check(Kind::Callback, &json!({"type": 7, "data": without}), &["allowed_mentions"]);
    check(Kind::Create, &with("/allowed_mentions", json!({"users": []})), &["allowed_mentions"]);
    check(Kind::Create, &with("/allowed_mentions", json!({"parse": ["everyone"]})), &["allowed_mentions"]);
}

#[test]
fn only_configured_ids_are_mentioned() {
    check(Kind::Create, &with("/allowed_mentions", json!({"parse": [], "roles": ["77"]})), &[]);
    check(Kind::Create, &with("/allowed_mentions", json!({"parse": [], "users": ["78"]})), &["a mention of \"78\""]);
}

#[test]
fn content_has_2000_characters_at_most() {
    check(Kind::Create, &with("/content", json!("ß".repeat(2_000))), &[]);
    check(Kind::Create, &with("/content", json!("x".repeat(2_001))), &["content of 2001"]);
}

#[test]
fn a_row_has_five_buttons_and_a_message_five_rows() {
    let button = |id: usize| json!({"type": 2, "style": 2, "label": "x", "custom_id": id.to_string()});
    let row =
        |first: usize, count: usize| json!({"type": 1, "components": (first..first + count).map(button).collect::<Vec<_>>()});
    let rows = |count: usize| (0..count).map(|number| row(number * 5, 5)).collect::<Vec<_>>();
    check(Kind::Create, &with("/components", json!(rows(5))), &[]);
    check(Kind::Create, &with("/components", json!(rows(6))), &["6 components"]);
    check(Kind::Create, &with("/components", json!([row(0, 6)])), &["a row of 6"]);
}

#[test]
fn a_message_needs_an_enforced_nonce() {
    check(Kind::Create, &with("/nonce", json!("x".repeat(26))), &["nonce"]);
    check(Kind::Create, &with("/enforce_nonce", json!(false)), &["nonce"]);
}

#[test]
fn an_attachment_needs_its_file() {
    let body = with("/attachments", json!([{"id": "0", "filename": "request.txt"}]));
    check(Kind::Create, &body, &["without files[0]"]);
    let file = UploadedFile { part: "files[0]".to_owned(), name: "request.txt".to_owned(), content: Vec::new() };
    assert_eq!(problems(Kind::Create, &body, &[file], &BTreeSet::new()), Vec::<String>::new());
}

/// Every expected piece of text is in the problems, and there are none when none are expected.
fn check(kind: Kind, body: &Value, expected: &[&str]) {
    let found = problems(kind, body, &[], &BTreeSet::from([Snowflake(77)]));
    assert_eq!(found.is_empty(), expected.is_empty(), "{body:#}: {found:#?}");
    for text in expected {
        assert!(found.iter().any(|problem| problem.contains(text)), "{text:?} is not in {found:#?}");
    }
}

fn card() -> Value {
    let button = |id: &str| json!({"type": 2, "style": 3, "label": "Yes", "custom_id": id});
    json!({
        "content": "An agent wants to run touch x",
        "components": [{"type": 1, "components": [button("a"), button("b")]}],
        "allowed_mentions": {"parse": []},
        "nonce": "0123456789",
        "enforce_nonce": true,
        "flags": 4,
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut card = card();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = card.pointer_mut(parent).expect("there");
    match key.parse::<usize>() {
        Ok(index) => parent[index] = value,
        Err(_) => parent[key] = value,
    }
    card
}
