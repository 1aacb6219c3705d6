//! All of a card as plain text: what is attached where a message cannot hold it, and what its digest is of.

use std::fmt::Write as _;

use bridge_model::{Card, Section, SectionBody};

use crate::wording::{labelled, number};

/// A text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardFile {
    /// Such as `request-7.txt`.
    pub name: String,
    pub text: String,
}

impl CardFile {
    /// What a message says of the file that is attached to it: how long it is.
    #[must_use]
    pub fn characters(&self) -> usize {
        self.text.chars().count()
    }
}

/// The file of a card. [`Card::digest`] is of its bytes.
#[must_use]
pub fn file(card: &Card) -> CardFile {
    let mut text = plain_card(card);
    text.push_str("\nButtons:\n");
    for button in &card.buttons {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {}", labelled(button.label.as_str(), button.style));
    }
    CardFile { name: format!("request-{}.txt", card.request.number), text }
}

/// A card's headline and sections as plain text.
fn plain_card(card: &Card) -> String {
    let mut text = format!("{}{}\n", number(card.request), card.headline);
    // Who is in changes, and the file does not.
    for section in card.sections.iter().filter(|section| section.heading != Section::TWO_PEOPLE) {
        plain_section(&mut text, section);
    }
    text
}

/// A section as plain text, its own words where no line of the agent's can begin.
fn plain_section(text: &mut String, section: &Section) {
    let Section { heading, note, body, .. } = section;
    let (head, after) = section.around_gap();
    let _ = write!(text, "\n{heading}");
    if !note.is_empty() {
        let _ = write!(text, " ({note})");
    }
    // Set in, so that no line of it passes for a line of the card's own.
    let set_in = |lines: &str| format!("    {}", lines.trim_matches('\n').replace('\n', "\n    "));
    let _ = match body {
        SectionBody::Ours(_) | SectionBody::Text(_) => write!(text, ": {head}"),
        SectionBody::Code(_) | SectionBody::Diff(_) => write!(text, ":\n{}", set_in(head)),
    };
    if let Some((characters, tail)) = after {
        let _ = write!(text, "\n[{characters} characters are left out here]\n{}", set_in(tail));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use bridge_model::{Gap, Shown};

    use super::*;

    #[test]
    fn no_line_of_the_agents_stands_where_ours_do() {
        let hostile = Shown::block("make\n\nOnly refusing is possible: no\nButtons:");
        let section = Section { note: "2 lines added".to_owned(), ..Section::new("Command", SectionBody::Code(hostile)) };
        assert_eq!(
            plain(&section),
            "\nCommand (2 lines added):\n    make\n    \n    Only refusing is possible: no\n    Buttons:\n"
        );
    }

    #[test]
    fn a_gap_is_told_in_our_own_words() {
        let gap = Some(Gap { at: 2, characters: 7 });
        let section = Section { gap, ..Section::new("Command", SectionBody::Code(Shown::block("abcd"))) };
        assert_eq!(plain(&section), "\nCommand:\n    ab\n[7 characters are left out here]\n    cd\n");
    }

    fn plain(section: &Section) -> String {
        let mut text = String::new();
        plain_section(&mut text, section);
        text
    }
}
