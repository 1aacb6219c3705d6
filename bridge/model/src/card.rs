//! A card: what a room shows of a held request. Room-independent; each room draws it in its own markup.

use serde::{Deserialize, Serialize};

use crate::{ButtonToken, Ending, MessageId, RequestId, RoomName, SessionId, Shown, SourceName, Timestamp};

/// A card to post. Every text is [`Shown`]: free of control and invisible characters, but not yet escaped for any
/// markup, which is the room's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub request: RequestId,
    pub room: RoomName,
    pub origin: Origin,
    /// One line in plain words: who wants what. A phone's notification shows little more.
    pub headline: Shown,
    pub sections: Vec<Section>,
    /// One per option in the agent's order; options that must not be chosen have none, and a section says why.
    pub buttons: Vec<Button>,
    pub deadline: Timestamp,
}

/// Whose request a card shows, for rooms that keep each session's cards together. For grouping only: two cards may
/// belong together only if both parts are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub source: SourceName,
    pub session: Option<SessionId>,
    /// The agent's name, or `An agent`.
    pub agent: Shown,
}

/// A titled part of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Our own words, such as `Command`.
    pub heading: &'static str,
    pub body: SectionBody,
}

impl Section {
    /// The heading of the options' whole names, where the buttons carry numbers.
    pub const OPTIONS: &str = "Options";
    /// The heading of why there are only refusing buttons.
    pub const ONLY_REFUSING: &str = "Only refusing is possible";

    /// Whether nobody could decide without it, so that it is shown whole or the card is not.
    #[must_use]
    pub fn is_vital(&self) -> bool {
        [Self::OPTIONS, Self::ONLY_REFUSING].contains(&self.heading)
    }

    #[must_use]
    pub fn text(&self) -> &str {
        match &self.body {
            SectionBody::Text(text) | SectionBody::Code(text) => text.as_str(),
        }
    }

    /// The same section with another text, in lines.
    #[must_use]
    pub fn with_text(&self, text: &str) -> Self {
        let text = Shown::block(text);
        let body = match self.body {
            SectionBody::Text(_) => SectionBody::Text(text),
            SectionBody::Code(_) => SectionBody::Code(text),
        };
        Self { heading: self.heading, body }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionBody {
    /// One line, or a few, of running text.
    Text(Shown),
    /// Text whose line breaks and spaces matter.
    Code(Shown),
}

/// One button, for one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub token: ButtonToken,
    /// The agent's own label, or its number and the beginning of it where labels are long or alike.
    pub label: Shown,
    pub style: ButtonStyle,
}

/// Follows the option's kind where it is known, never its label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ButtonStyle {
    AllowOnce,
    AllowAlways,
    Reject,
    RejectAlways,
    #[default]
    Neutral,
}

/// What a room can show on one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLimits {
    pub buttons_max: usize,
    /// In UTF-16 units, which are the most that a service can mean by characters.
    pub label_max: usize,
    /// Characters of a label that are seen on every screen; labels that are alike so far are numbered.
    pub label_seen: usize,
    /// All texts of a card together, in UTF-8 bytes.
    pub text_bytes_max: usize,
}

/// A posted card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardRef {
    pub room: RoomName,
    /// The message that carries the buttons; a click names it.
    pub control: MessageId,
    /// The other messages that make up the card, in a form only its room's adapter reads.
    pub parts: Vec<MessageId>,
}

/// What a card says once its request has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedCard {
    pub request: RequestId,
    pub room: RoomName,
    pub headline: Shown,
    pub ending: Ending,
}
