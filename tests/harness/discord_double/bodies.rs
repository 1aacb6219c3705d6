//! Whether a body is what Discord's description of its API allows, and what the documentation says beyond it.
//!
//! `openapi.json` is an extract, made by `extract.py` beside it, which says how.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::http::UploadedFile;
use super::snowflake::Snowflake;

/// Which description a body has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Create,
    Edit,
    Callback,
    Followup,
    Thread,
    ThreadEdit,
}

const CONTENT_CHARS_MAX: usize = 2_000;
const LABEL_CHARS_MAX: usize = 80;
const CUSTOM_ID_CHARS_MAX: usize = 100;
const NONCE_CHARS_MAX: usize = 25;
const ROWS_MAX: usize = 5;
const BUTTONS_A_ROW_MAX: usize = 5;
const ACTION_ROW: u64 = 1;
const BUTTON: u64 = 2;
const LINK_STYLE: u64 = 5;
const COMPONENTS_V2: u64 = 1 << 15;

static VALIDATORS: LazyLock<HashMap<Kind, Validator>> = LazyLock::new(|| {
    let description: Value = serde_json::from_str(include_str!("openapi.json")).expect("JSON");
    let compile = |(kind, schemas): (Kind, &[&str])| {
        let any: Vec<Value> = schemas.iter().map(|name| json!({"$ref": format!("#/components/schemas/{name}")})).collect();
        let mut root = description.clone();
        // With one, the errors say where they are.
        let word = if any.len() == 1 { "allOf" } else { "anyOf" };
        root[word] = Value::Array(any);
        (kind, jsonschema::validator_for(&root).expect("a schema"))
    };
    let kinds: [(Kind, &[&str]); 6] = [
        (Kind::Create, &["MessageCreateRequest"]),
        (Kind::Edit, &["MessageEditRequestPartial"]),
        (Kind::Callback, &["CreateMessageInteractionCallbackRequest", "UpdateMessageInteractionCallbackRequest"]),
        (Kind::Followup, &["IncomingWebhookRequestPartial"]),
        (Kind::Thread, &["CreateTextThreadWithoutMessageRequest"]),
        (Kind::ThreadEdit, &["UpdateThreadRequestPartial"]),
    ];
    kinds.into_iter().map(compile).collect()
});

/// What is wrong with a body; empty: nothing.
pub(crate) fn problems(kind: Kind, body: &Value, files: &[UploadedFile], mentionable: &BTreeSet<Snowflake>) -> Vec<String> {
    let errors = VALIDATORS[&kind].iter_errors(body);
    let mut problems: Vec<String> =
        errors.map(|error| format!("{} at {:?}", error.masked(), error.instance_path().to_string())).collect();
    let message = match kind {
        Kind::Create | Kind::Edit | Kind::Followup => Some(body),
        Kind::Callback => body.get("data").filter(|data| !data.is_null()),
        Kind::Thread | Kind::ThreadEdit => None,
    };
    if let Some(message) = message {
        check_message(message, &mut problems);
        check_mentions(message, mentionable, &mut problems);
        check_attachments(message, files, kind, &mut problems);
    }
    if kind == Kind::Create {
        check_nonce(body, &mut problems);
    }
    problems
}

fn check_message(message: &Value, problems: &mut Vec<String>) {
    let content = message["content"].as_str().unwrap_or_default();
    let length = content.chars().count();
    if CONTENT_CHARS_MAX < length {
        problems.push(format!("content of {length} characters"));
    }
    let is_v2 = message["flags"].as_u64().is_some_and(|flags| flags & COMPONENTS_V2 != 0);
    if is_v2 && !content.is_empty() {
        problems.push("content beside components of version 2".to_owned());
    }
    let components = items(&message["components"]);
    if !is_v2 {
        let rows = components.iter().filter(|row| row["type"] == ACTION_ROW).count();
        if rows != components.len() || ROWS_MAX < rows {
            problems.push(format!("{} components, of which {rows} are rows", components.len()));
        }
    }
    let mut custom_ids = HashSet::new();
    for row in components {
        let buttons = items(&row["components"]);
        if row["type"] == ACTION_ROW && (buttons.is_empty() || BUTTONS_A_ROW_MAX < buttons.len()) {
            problems.push(format!("a row of {} buttons", buttons.len()));
        }
        for button in buttons.iter().filter(|button| button["type"] == BUTTON) {
            check_button(button, &mut custom_ids, problems);
        }
    }
}

fn check_button<'a>(button: &'a Value, custom_ids: &mut HashSet<&'a str>, problems: &mut Vec<String>) {
    let label = button["label"].as_str().map_or(0, |label| label.chars().count());
    if LABEL_CHARS_MAX < label || label == 0 && button["emoji"].is_null() {
        problems.push(format!("a label of {label} characters"));
    }
    let (custom_id, url) = (button["custom_id"].as_str(), button["url"].as_str());
    if button["style"] == LINK_STYLE {
        if custom_id.is_some() || url.is_none() {
            problems.push("a link button needs a URL and has no custom_id".to_owned());
        }
        return;
    }
    match custom_id {
        None => problems.push("a button without custom_id".to_owned()),
        Some(_) if url.is_some() => problems.push("a button with custom_id and URL".to_owned()),
        Some(id) if !(1..=CUSTOM_ID_CHARS_MAX).contains(&id.chars().count()) => problems.push(format!("custom_id {id:?}")),
        Some(id) if !custom_ids.insert(id) => problems.push(format!("custom_id {id:?} twice")),
        Some(_) => {}
    }
}

/// Without the key, an edit mentions whomever the text names.
fn check_mentions(message: &Value, mentionable: &BTreeSet<Snowflake>, problems: &mut Vec<String>) {
    let mentions = &message["allowed_mentions"];
    if mentions["parse"].as_array().is_none_or(|parse| !parse.is_empty()) {
        problems.push(format!("allowed_mentions with nothing parsed are needed, not {mentions}"));
    }
    for id in items(&mentions["users"]).iter().chain(items(&mentions["roles"])) {
        let known = id.as_str().and_then(Snowflake::parse).is_some_and(|id| mentionable.contains(&id));
        if !known {
            problems.push(format!("a mention of {id}"));
        }
    }
}

fn check_attachments(message: &Value, files: &[UploadedFile], kind: Kind, problems: &mut Vec<String>) {
    let named = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    for attachment in items(&message["attachments"]) {
        let part = format!("files[{}]", named(&attachment["id"]));
        // In an edit, it can be one that the message has already.
        if kind != Kind::Edit && files.iter().all(|file| file.part != part) {
            problems.push(format!("an attachment without {part}"));
        }
    }
}

fn check_nonce(body: &Value, problems: &mut Vec<String>) {
    let nonce = &body["nonce"];
    let length = nonce.as_str().map_or(0, |nonce| nonce.chars().count());
    if !(1..=NONCE_CHARS_MAX).contains(&length) || body["enforce_nonce"] != true {
        problems.push(format!("a message needs an enforced nonce, not {nonce}"));
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
