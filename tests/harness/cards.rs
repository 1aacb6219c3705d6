//! Cards as people see them.

use serde_json::{Value, json};

use crate::sight::Seen;

const POLL_START: &str = "org.matrix.msc3381.poll.start";
const POLL_END: &str = "org.matrix.msc3381.poll.end";

/// A message with the details, and the poll with the buttons that follows it.
#[derive(Clone, Debug)]
pub struct SeenCard {
    /// Where the message does not hold all of it.
    pub file: Option<SeenFile>,
    pub room: String,
    pub sender: String,
    pub message_event: String,
    pub poll_event: String,
    pub question: String,
    /// Token and label of each button, in their order.
    pub answers: Vec<(String, String)>,
    pub html: String,
    pub body: String,
    pub encrypted: bool,
}

/// The file of a card, in the message before the card's own.
#[derive(Clone, Debug)]
pub struct SeenFile {
    pub event: String,
    pub name: String,
    pub content: Value,
}

/// A message as clients show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    pub body: String,
    pub html: String,
    pub edited: bool,
}

impl SeenCard {
    /// The token behind a label. Labels that several buttons share have to be told apart by [`SeenCard::answers`].
    pub fn token(&self, label: &str) -> &str {
        let answer = self.answers.iter().find(|(_, text)| text == label);
        answer.map_or_else(|| panic!("no button {label:?} on {:?}", self.answers), |(token, _)| token)
    }

    pub fn labels(&self) -> Vec<&str> {
        self.answers.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The agent's label alone, without what the card adds in its own words.
fn label(answer: &str) -> &str {
    let answer = answer.strip_prefix("Confirm: ").unwrap_or(answer);
    answer.split_once(": ").map_or(answer, |(_, label)| label)
}

/// All cards of a room so far.
pub(crate) fn cards(events: &[Seen], room: &str) -> Vec<SeenCard> {
    polls(events, room).filter(|(_, poll)| !is_reply(poll)).filter_map(|(at, poll)| card(&events[..at], poll)).collect()
}

/// The polls of a room that ask this person to confirm what they chose on a card, and that are not over. What they show as
/// the card's message is whatever stands before.
pub(crate) fn confirmations(events: &[Seen], room: &str, person: &str) -> Vec<SeenCard> {
    let is_theirs = |poll: &Seen| poll.event["content"]["m.mentions"]["user_ids"] == json!([person]);
    let asked = polls(events, room).filter(|(_, poll)| is_reply(poll) && is_theirs(poll));
    asked.filter(|(_, poll)| !is_ended(events, poll.id())).filter_map(|(at, poll)| card(&events[..at], poll)).collect()
}

fn polls<'a>(events: &'a [Seen], room: &str) -> impl Iterator<Item = (usize, &'a Seen)> {
    events.iter().enumerate().filter(move |(_, seen)| seen.room == room && seen.kind() == POLL_START)
}

fn is_reply(poll: &Seen) -> bool {
    poll.event["content"]["m.relates_to"].get("m.in_reply_to").is_some()
}

fn card(before: &[Seen], poll: &Seen) -> Option<SeenCard> {
    let is_details =
        |seen: &&Seen| seen.room == poll.room && seen.sender() == poll.sender() && is_message(seen) && edits(seen).is_none();
    let mut messages = before.iter().rev().filter(is_details);
    let message = messages.next()?;
    let file = messages.next().filter(|seen| seen.event["content"]["msgtype"] == "m.file").map(file);
    let start = &poll.event["content"][POLL_START];
    let answer = |answer: &Value| (string(&answer["id"]), label(&text(answer)).to_owned());
    let Shown { body, html, .. } = shown(&message.event["content"]);
    Some(SeenCard {
        file,
        room: poll.room.clone(),
        sender: poll.sender().to_owned(),
        message_event: message.id().to_owned(),
        poll_event: poll.id().to_owned(),
        question: text(&start["question"]),
        answers: start["answers"].as_array()?.iter().map(answer).collect(),
        html,
        body,
        encrypted: poll.encrypted,
    })
}

fn file(seen: &Seen) -> SeenFile {
    let content = seen.event["content"].clone();
    SeenFile { event: seen.id().to_owned(), name: string(&content["filename"]), content }
}

/// A message after its author's edits. `None` while it has not been seen.
pub(crate) fn latest(events: &[Seen], message: &str) -> Option<Shown> {
    let original = events.iter().find(|seen| seen.id() == message)?;
    let edit = events.iter().rev().find(|seen| edits(seen) == Some(message) && seen.sender() == original.sender());
    Some(match edit {
        Some(edit) => Shown { edited: true, ..shown(&edit.event["content"]["m.new_content"]) },
        None => shown(&original.event["content"]),
    })
}

/// Whether the poll's author has ended it.
pub(crate) fn is_ended(events: &[Seen], poll: &str) -> bool {
    let author = events.iter().find(|seen| seen.id() == poll).map(Seen::sender);
    events.iter().any(|seen| seen.kind() == POLL_END && seen.relates_to(poll, "m.reference") && Some(seen.sender()) == author)
}

fn is_message(seen: &Seen) -> bool {
    seen.kind() == "m.room.message"
}

fn edits(seen: &Seen) -> Option<&str> {
    let relation = &seen.event["content"]["m.relates_to"];
    (is_message(seen) && relation["rel_type"] == "m.replace").then(|| relation["event_id"].as_str()).flatten()
}

fn shown(content: &Value) -> Shown {
    Shown { body: string(&content["body"]), html: string(&content["formatted_body"]), edited: false }
}

fn text(of: &Value) -> String {
    string(&of["org.matrix.msc1767.text"])
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
