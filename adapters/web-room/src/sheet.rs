//! How much of a card the page shows by itself. All of it is a press away, in the card's file.

use bridge_core::{Laid, RoomError, lay_out, section_rows};
use bridge_model::{Card, Section};

/// Characters of a line of code on a phone.
const COLUMNS: usize = 32;
/// Such lines of a section: three screens of a phone.
const SECTION_MAX: usize = 100;
/// Of all of them: six screens, or some 6,000 characters.
const ROWS_MAX: usize = 200;
/// What a heading takes, and what stands around it.
const HEADING: usize = 2;

pub(crate) fn laid(card: &Card) -> Result<Laid, RoomError> {
    // What is vital takes what it takes. It is not cut, so that counting it would make nothing shorter than it is.
    let fits = |laid: &Laid| {
        let rows: Vec<usize> = laid.sections.iter().filter(|section| !section.is_vital()).map(rows).collect();
        rows.iter().all(|rows| *rows <= SECTION_MAX) && rows.iter().sum::<usize>() <= ROWS_MAX
    };
    lay_out(card, fits).ok_or_else(|| RoomError::NotShowable("the card does not fit on the page".to_owned()))
}

fn rows(section: &Section) -> usize {
    HEADING + section_rows(section, COLUMNS)
}

#[cfg(test)]
mod tests {
    use bridge_model::{Gap, SectionBody, Shown};

    use super::*;
    use crate::render::tests::card;

    #[test]
    fn what_a_phone_shows_in_a_few_screens_is_shown_whole() {
        let laid = laid(&card(vec![code("Command", &"x".repeat(3_000)), code("Arguments", &"y".repeat(3_000))])).expect("laid");
        assert_eq!((laid.is_whole, laid.missing), (true, 0));
    }

    #[test]
    fn of_a_long_text_start_and_end_are_shown() {
        let laid = laid(&card(vec![code("Command", &"x".repeat(50_000))])).expect("laid");
        assert_eq!(laid.sections[0].gap, Some(Gap { at: 1_200, characters: 47_600 }));
        assert!(!laid.is_whole);
    }

    #[test]
    fn many_short_lines_are_as_long_as_few_long_ones() {
        let laid = laid(&card(vec![code("Command", &"x\n".repeat(1_000))])).expect("laid");
        assert!(!laid.is_whole && rows(&laid.sections[0]) <= SECTION_MAX, "{laid:?}");
    }

    #[test]
    fn what_is_vital_is_never_cut_and_takes_nothing_from_the_rest() {
        let options = code(Section::OPTIONS, &"x".repeat(20_000));
        let laid = laid(&card(vec![code("Command", "ls"), options.clone()])).expect("laid");
        assert_eq!((laid.sections, laid.is_whole), (vec![code("Command", "ls"), options], true));
    }

    #[test]
    fn the_last_of_very_many_sections_are_in_the_file_alone() {
        let laid = laid(&card((0..300).map(|_| code("Change", "+x")).collect())).expect("laid");
        assert_eq!((laid.sections.len() + laid.missing, laid.is_whole), (300, false));
        assert!(20 < laid.sections.len() && laid.sections.len() < 100, "{}", laid.sections.len());
    }

    fn code(heading: &'static str, text: &str) -> Section {
        Section::new(heading, SectionBody::Code(Shown::block(text)))
    }
}
