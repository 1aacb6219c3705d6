//! A card: what a room shows of a held request. Room-independent; each room draws it in its own markup.

use std::fmt;

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
    /// The most telling first.
    pub sections: Vec<Section>,
    /// One per option in the agent's order; options that must not be chosen have none, and a section says why.
    pub buttons: Vec<Button>,
    pub deadline: Timestamp,
    /// Whether the sections hold all there is to see. If so, a room that cannot show them whole attaches the card's file;
    /// if not, the rest is nowhere, and only refusing options have a button.
    pub is_whole: bool,
    /// Of the card's file, which is all that this card shows, as plain text.
    pub digest: Digest,
}

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// In hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
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
    /// What we say of it, in our own words, such as `2 lines added`. Often empty.
    pub note: String,
    pub body: SectionBody,
    /// Where something of the text is left out.
    pub gap: Option<Gap>,
}

/// A place in a section's text at which something is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The byte before which it is.
    pub at: usize,
    /// How many characters are left out.
    pub characters: usize,
}

impl Section {
    /// The heading of the options' whole names, where the buttons carry numbers.
    pub const OPTIONS: &str = "Options";
    /// The heading of why there are only refusing buttons.
    pub const ONLY_REFUSING: &str = "Only refusing is possible";
    /// The heading of what lies outside of where the session works.
    pub const OUTSIDE: &str = "Outside the workspace";
    /// The heading of what is not as it was on an earlier card.
    pub const CHANGED: &str = "Asked again";

    /// The heading of who has chosen already, where it takes two.
    pub const TWO_PEOPLE: &str = "Two people have to allow it";

    /// The heading of what the operator keeps from the room.
    pub const NOT_SHOWN: &str = "Not shown";
    /// The headings of who asks and from where.
    pub const WHO_ASKS: [&str; 6] = ["Kind", "Agent", "Client", "Works in", "Mode", "Session"];

    /// A section of which nothing is left out.
    #[must_use]
    pub const fn new(heading: &'static str, body: SectionBody) -> Self {
        Self { heading, note: String::new(), body, gap: None }
    }

    /// Whether nobody could decide without it, so that it is shown whole or the card is not.
    #[must_use]
    pub fn is_vital(&self) -> bool {
        self.is_warning() || [Self::OPTIONS, Self::NOT_SHOWN, Self::TWO_PEOPLE].contains(&self.heading)
    }

    /// Whether it has to stand out.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        [Self::ONLY_REFUSING, Self::OUTSIDE, Self::CHANGED].contains(&self.heading)
    }

    /// Whether it only tells who asks and from where.
    #[must_use]
    pub fn tells_who_asks(&self) -> bool {
        Self::WHO_ASKS.contains(&self.heading)
    }

    #[must_use]
    pub fn text(&self) -> &str {
        match &self.body {
            SectionBody::Ours(text) => text,
            SectionBody::Text(text) | SectionBody::Code(text) | SectionBody::Diff(text) => text.as_str(),
        }
    }

    /// The text before the gap, and where there is one, how many characters are left out and the text after it.
    #[must_use]
    pub fn around_gap(&self) -> (&str, Option<(usize, &str)>) {
        let text = self.text();
        match self.gap.and_then(|gap| Some((gap.characters, text.split_at_checked(gap.at)?))) {
            None => (text, None),
            Some((characters, (head, tail))) => (head, Some((characters, tail))),
        }
    }

    /// Start and end of it, together at most `max` characters; what stands between is left out. Our own words stay.
    #[must_use]
    pub fn cut(&self, max: usize) -> Self {
        let (SectionBody::Text(text) | SectionBody::Code(text) | SectionBody::Diff(text)) = &self.body else {
            return self.clone();
        };
        let total = text.as_str().chars().count();
        if total <= max {
            return self.clone();
        }
        let (start, end) = text.ends(self.gap.map(|gap| gap.at), max);
        let missing = self.gap.map_or(0, |gap| gap.characters);
        let characters = missing + total - start.as_str().chars().count() - end.as_str().chars().count();
        let gap = Some(Gap { at: start.as_str().len(), characters });
        let both = start.then(&end);
        let body = match &self.body {
            SectionBody::Ours(_) | SectionBody::Text(_) => SectionBody::Text(both),
            SectionBody::Code(_) => SectionBody::Code(both),
            SectionBody::Diff(_) => SectionBody::Diff(both),
        };
        Self { heading: self.heading, note: self.note.clone(), body, gap }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionBody {
    /// A sentence of our own.
    Ours(String),
    /// One line of running text.
    Text(Shown),
    /// Text whose line breaks and spaces matter.
    Code(Shown),
    /// The same, of which the lines that begin with `+` are added and those with `-` removed. The first names the file.
    Diff(Shown),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardLimits {
    pub buttons_max: usize,
    /// In UTF-16 units, which are the most that a service can mean by characters.
    pub label_max: usize,
    /// Characters of a label that are seen on every screen; labels that are alike so far are numbered.
    pub label_seen: usize,
    /// All texts of a card together, in UTF-8 bytes, those in its file included. Of a longer one only a part is shown, and
    /// only refusing options have a button.
    pub text_bytes_max: usize,
    /// The same, without a file.
    pub unattached_bytes_max: usize,
}

/// A posted card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// When it ended; `None` where nobody saw that.
    pub at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_both_ends_and_counts_the_rest() {
        let cut = code("abcdefghij").cut(4);
        assert_eq!(cut.around_gap(), ("ab", Some((6, "ij"))));
        assert_eq!(cut.cut(4), cut);
        assert_eq!(cut.cut(2).around_gap(), ("a", Some((8, "j"))));
        assert_eq!(code("abcd").cut(4).around_gap(), ("abcd", None));
    }

    #[test]
    fn what_was_left_out_before_is_never_bridged() {
        let section = Section { gap: Some(Gap { at: 1, characters: 100 }), ..code("abcdefghij") };
        assert_eq!(section.cut(6).around_gap(), ("a", Some((106, "hij"))));
        let section = Section { gap: Some(Gap { at: 9, characters: 100 }), ..code("abcdefghij") };
        assert_eq!(section.cut(6).around_gap(), ("abc", Some((106, "j"))));
    }

    #[test]
    fn our_own_words_are_never_cut() {
        let ours = Section::new("x", SectionBody::Ours("It is as it is.".to_owned()));
        assert_eq!(ours.cut(3), ours);
    }

    fn code(text: &str) -> Section {
        Section::new("Command", SectionBody::Code(Shown::line(text)))
    }
}
