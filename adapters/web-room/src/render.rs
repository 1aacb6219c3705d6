//! A card as the page's script is told of it. It is set as text there, so that nothing here has to be escaped.

use bridge_core::wording::{self, Words};
use bridge_model::{
    ButtonStyle, Card, ClosedCard, Delivery, Ending, PersonId, RequestId, RoomName, Section, SectionBody, Timestamp,
};
use serde::Serialize;

/// A card, as it is now.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Drawn {
    id: String,
    number: u64,
    room: String,
    state: &'static str,
    headline: Vec<Piece>,
    sections: Vec<DrawnSection>,
    /// Empty once it has ended.
    buttons: Vec<DrawnButton>,
    /// How many it had when it was new.
    had_buttons: usize,
    ending: Option<Vec<Piece>>,
    /// Unix time in milliseconds.
    asked_at: u64,
    ended_at: Option<u64>,
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
#[derive(Clone, Debug, Serialize)]
struct Piece {
    by: &'static str,
    text: String,
}

#[derive(Clone, Debug, Serialize)]
struct DrawnSection {
    heading: &'static str,
    /// Its lines and spaces matter.
    code: bool,
    text: String,
}

#[derive(Clone, Debug, Serialize)]
struct DrawnButton {
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

pub(crate) fn card(card: &Card, now: Timestamp) -> Drawn {
    let buttons = card.buttons.iter().map(|button| DrawnButton {
        token: button.token.to_string(),
        label: button.label.to_string(),
        does: wording::does(button.style),
        style: style(button.style),
    });
    let buttons: Vec<_> = buttons.collect();
    Drawn {
        sections: card.sections.iter().map(section).collect(),
        had_buttons: buttons.len(),
        buttons,
        deadline: Some(card.deadline),
        ..bare(card.request, &card.room, card.headline.as_str(), now)
    }
}

/// A request that has no card here, and never will.
pub(crate) fn ended(closed: &ClosedCard, now: Timestamp) -> Drawn {
    let mut drawn = bare(closed.request, &closed.room, closed.headline.as_str(), now);
    drawn.end(closed, now);
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
        buttons: Vec::new(),
        had_buttons: 0,
        ending: None,
        asked_at: now.unix_millis(),
        ended_at: None,
        deadline: None,
    }
}

impl Drawn {
    pub(crate) fn has_ended(&self) -> bool {
        self.ending.is_some()
    }

    /// Its details stay, so that people can see later what was decided.
    pub(crate) fn end(&mut self, closed: &ClosedCard, now: Timestamp) {
        self.state = state(&closed.ending);
        self.ending = Some(wording::ending(&closed.ending).iter().map(piece).collect());
        self.buttons.clear();
        self.ended_at.get_or_insert(now.unix_millis());
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

fn piece(words: &Words) -> Piece {
    let (by, text) = match words {
        Words::Ours(text) => ("us", text.clone()),
        Words::Theirs(text) => ("them", text.clone()),
        Words::Name(name) => ("them", wording::quoted(name)),
        Words::Person { id, .. } => ("person", id.to_string()),
    };
    Piece { by, text }
}

fn section(section: &Section) -> DrawnSection {
    let code = matches!(section.body, SectionBody::Code(_));
    DrawnSection { heading: section.heading, code, text: section.text().to_owned() }
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

fn json(value: &impl Serialize) -> String {
    // These types hold nothing that JSON cannot.
    serde_json::to_string(value).unwrap_or_default()
}
