//! A card: what a room shows of a held request. Room-independent; each room draws it in its own markup.

use crate::{ButtonToken, Ending, MessageId, RequestId, RoomName, Shown, Timestamp};

/// A card to post. Every text is [`Shown`]: free of control and invisible characters, but not yet escaped for any
/// markup, which is the room's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub request: RequestId,
    pub room: RoomName,
    /// One line in plain words: who wants what. A phone's notification shows little more.
    pub headline: Shown,
    pub sections: Vec<Section>,
    /// One per option in the agent's order; options that must not be chosen have none, and a section says why.
    pub buttons: Vec<Button>,
    pub deadline: Timestamp,
}

/// A titled part of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Our own words, such as `Command`.
    pub heading: &'static str,
    pub body: SectionBody,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonStyle {
    AllowOnce,
    AllowAlways,
    Reject,
    Neutral,
}

/// What a room can show on one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLimits {
    pub buttons_max: usize,
    /// In characters.
    pub label_max: usize,
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
