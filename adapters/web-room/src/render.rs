//! A card as the page's script is told of it. It is set as text there, so that nothing here has to be escaped.

use std::sync::Arc;

use bridge_core::wording::{self, Words};
use bridge_core::{CardFile, RoomError, file};
use bridge_model::{
    Button, ButtonStyle, Card, ClosedCard, Delivery, Ending, PersonId, RequestId, RoomName, Section, SectionBody, Timestamp,
};
use serde::Serialize;

use crate::notes::{Note, Notes};
use crate::sheet;

/// A card, as it is now.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Drawn {
    id: String,
    number: u64,
    room: String,
    state: &'static str,
    headline: Vec<Piece>,
    sections: Vec<DrawnSection>,
    /// How many sections are missing altogether.
    missing: usize,
    /// What holds all that is left out here; `None` where nothing is, or where it is nowhere.
    file: Option<DrawnFile>,
    /// Empty once it has ended.
    buttons: Vec<DrawnButton>,
    /// How many it had when it was new.
    had_buttons: usize,
    ending: Option<Vec<Piece>>,
    /// What was said about it while it waits.
    notes: Notes,
    /// Unix time in milliseconds.
    asked_at: u64,
    #[serde(skip)]
    text: Option<Arc<CardFile>>,
    #[serde(skip)]
    deadline: Option<Timestamp>,
}

/// What a page is told: the card, and how much time is left by the bridge's own clock.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    card: &'a Drawn,
    left_ms: Option<u128>,
}

/// A piece of a sentence, and whose words it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Piece {
    by: &'static str,
    text: String,
    /// Of a time, in milliseconds of Unix time.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
struct DrawnSection {
    heading: &'static str,
    note: String,
    kind: &'static str,
    is_warning: bool,
    /// All of it, or what stands before the gap.
    head: String,
    /// How many characters are left out.
    left_out: Option<usize>,
    tail: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct DrawnFile {
    name: String,
    characters: usize,
    /// In hexadecimal digits.
    sha256: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct DrawnButton {
    token: String,
    label: String,
    does: &'static str,
    style: &'static str,
}

#[derive(Serialize)]
struct Hello<'a> {
    person: &'a str,
    rooms: Vec<&'a str>,
    /// Names the stream that it is sent on.
    stream: &'a str,
}

pub(crate) fn hello<'a>(person: &'a PersonId, rooms: impl IntoIterator<Item = &'a RoomName>, stream: &'a str) -> String {
    json(&Hello { person: person.as_str(), rooms: rooms.into_iter().map(RoomName::as_str).collect(), stream })
}

pub(crate) fn card(card: &Card, now: Timestamp) -> Result<Drawn, RoomError> {
    let laid = sheet::laid(card)?;
    let text = (card.is_whole && !laid.is_whole).then(|| Arc::new(file(card)));
    let buttons: Vec<_> = card.buttons.iter().map(button).collect();
    Ok(Drawn {
        sections: laid.sections.iter().map(section).collect(),
        missing: laid.missing,
        file: text.as_ref().map(|text| DrawnFile {
            name: text.name.clone(),
            characters: text.characters(),
            sha256: card.digest.to_string(),
        }),
        text,
        had_buttons: buttons.len(),
        buttons,
        deadline: Some(card.deadline),
        ..bare(card.request, &card.room, card.headline.as_str(), now)
    })
}

/// A request that has no card here, and never will.
pub(crate) fn ended(closed: &ClosedCard, now: Timestamp) -> Drawn {
    let mut drawn = bare(closed.request, &closed.room, closed.headline.as_str(), now);
    drawn.end(closed);
    drawn
}

fn bare(request: RequestId, room: &RoomName, headline: &str, now: Timestamp) -> Drawn {
    Drawn {
        id: request.to_string(),
        number: request.number,
        room: room.to_string(),
        state: "waiting",
        headline: wording::headline(headline).iter().map(piece).collect(),
        sections: Vec::new(),
        missing: 0,
        file: None,
        buttons: Vec::new(),
        had_buttons: 0,
        ending: None,
        notes: Notes::default(),
        asked_at: now.unix_millis(),
        text: None,
        deadline: None,
    }
}

impl Drawn {
    pub(crate) fn has_ended(&self) -> bool {
        self.ending.is_some()
    }

    /// All of the card, where the page is not told all of it.
    pub(crate) fn file(&self) -> Option<&Arc<CardFile>> {
        self.text.as_ref()
    }

    /// What stays as it was while a card is drawn anew.
    pub(crate) fn in_place_of(self, before: &Self) -> Self {
        Self { asked_at: before.asked_at, had_buttons: before.had_buttons, notes: before.notes.clone(), ..self }
    }

    /// `false`: it was said already.
    pub(crate) fn note(&mut self, note: Note) -> bool {
        self.notes.add(note)
    }

    /// Its details stay, so that people can see later what was decided.
    pub(crate) fn end(&mut self, closed: &ClosedCard) {
        self.state = state(&closed.ending);
        self.ending = Some(wording::ending(&closed.ending, closed.at).iter().map(piece).collect());
        self.buttons.clear();
        self.notes.clear();
    }

    pub(crate) fn json(&self, now: Timestamp) -> String {
        let left = self.deadline.filter(|_| !self.has_ended()).map(|deadline| deadline.since(now).as_millis());
        json(&Told { card: self, left_ms: left })
    }
}

/// A sentence as plain text. On this page a name is the id, so that it is said once.
pub(crate) fn plain(words: &[Words]) -> String {
    words.iter().map(|words| if let Words::Person { id, .. } = words { id.to_string() } else { words.plain() }).collect()
}

pub(crate) fn button(button: &Button) -> DrawnButton {
    DrawnButton {
        token: button.token.to_string(),
        label: button.label.to_string(),
        does: wording::does(button.style),
        style: style(button.style),
    }
}

pub(crate) fn piece(words: &Words) -> Piece {
    let (by, text) = match words {
        Words::Ours(text) => ("us", text.clone()),
        Words::Theirs(text) => ("them", text.clone()),
        Words::Name(name) => ("them", wording::quoted(name)),
        Words::Time(at) => ("time", at.to_string()),
        Words::Due(_) => ("due", words.plain()),
        Words::Person { id, .. } => ("person", id.to_string()),
    };
    let at = if let Words::Time(at) | Words::Due(at) = words { Some(at.unix_millis()) } else { None };
    Piece { by, text, at }
}

fn section(section: &Section) -> DrawnSection {
    let kind = match section.body {
        SectionBody::Ours(_) => "ours",
        SectionBody::Text(_) => "text",
        SectionBody::Code(_) => "code",
        SectionBody::Diff(_) => "diff",
    };
    let (head, after) = section.around_gap();
    DrawnSection {
        heading: section.heading,
        note: section.note.clone(),
        kind,
        is_warning: section.is_warning(),
        head: head.to_owned(),
        left_out: after.map(|(characters, _)| characters),
        tail: after.map(|(_, tail)| tail.to_owned()),
    }
}

const fn style(style: ButtonStyle) -> &'static str {
    match style {
        ButtonStyle::AllowOnce => "allow-once",
        ButtonStyle::AllowAlways => "allow-always",
        ButtonStyle::Reject => "reject",
        ButtonStyle::RejectAlways => "reject-always",
        ButtonStyle::Neutral => "neutral",
    }
}

const fn state(ending: &Ending) -> &'static str {
    match ending {
        Ending::Answered { delivery: Delivery::Pending, .. } => "chosen",
        Ending::Answered { delivery: Delivery::Taken, .. } => "taken",
        Ending::Answered { delivery: Delivery::NotDelivered(_), .. } => "not-delivered",
        Ending::Expired => "expired",
        Ending::Withdrawn(_) => "withdrawn",
        Ending::Refused(_) => "refused",
    }
}

pub(crate) fn json(value: &impl Serialize) -> String {
    // These types hold nothing that JSON cannot.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
#[path = "render_tests.rs"]
pub(crate) mod tests;
