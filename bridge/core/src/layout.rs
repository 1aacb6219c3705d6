//! How much of a card's sections a message holds, the same for every room.

use bridge_model::{Card, Section};

/// Characters that are kept of each section that is longer, from the most to the least.
const KEPT: [usize; 9] = [2_400, 1_400, 1_000, 700, 450, 300, 200, 120, KEPT_MIN];
/// Of fewer characters neither the start nor the end tells anything.
pub(crate) const KEPT_MIN: usize = 60;

/// A card's sections as far as a message holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laid {
    /// In the card's order.
    pub sections: Vec<Section>,
    /// How many sections are missing altogether.
    pub missing: usize,
    /// Whether the sections are all there is of the card.
    pub is_whole: bool,
}

/// The most of a card for which `fits` says that it fits: all of it; or all sections, the longest cut; or as many of them as
/// there is room for, but always the first, which tells what would be done. What nobody could decide without is never cut.
/// `None`: not even that fits.
///
/// `fits` may be asked about more than a message could ever hold, and should know so quickly.
pub fn lay_out(card: &Card, fits: impl Fn(&Laid) -> bool) -> Option<Laid> {
    let whole = Laid { sections: card.sections.clone(), missing: 0, is_whole: card.is_whole };
    if fits(&whole) {
        return Some(whole);
    }
    let cut = |kept: usize| Laid {
        sections: card.sections.iter().map(|section| cut(section, kept)).collect(),
        missing: 0,
        is_whole: false,
    };
    if let Some(cut) = KEPT.iter().map(|kept| cut(*kept)).find(&fits) {
        return Some(cut);
    }
    // The most telling come first, so that the last ones go first.
    let mut fewer = cut(KEPT_MIN);
    let first = fewer.sections.iter().position(|section| !section.is_vital());
    while let Some(last) = fewer.sections.iter().rposition(|section| !section.is_vital()).filter(|last| Some(*last) != first) {
        fewer.sections.remove(last);
        fewer.missing += 1;
        if fits(&fewer) {
            return Some(fewer);
        }
    }
    None
}

/// How many rows its sections take in all where so many columns fit into one, without what is vital, which is never cut.
#[must_use]
pub fn rows(laid: &Laid, columns: usize) -> usize {
    let cut = laid.sections.iter().filter(|section| !section.is_vital());
    cut.map(|section| section_rows(section, columns)).sum()
}

/// The rows of one section, its heading left out.
#[must_use]
pub fn section_rows(section: &Section, columns: usize) -> usize {
    section.text().lines().map(|line| crate::columns(line).div_ceil(columns).max(1)).sum()
}

/// A section of which so many characters are kept, unless it is vital.
pub(crate) fn cut(section: &Section, kept: usize) -> Section {
    if section.is_vital() { section.clone() } else { section.cut(kept) }
}

#[cfg(test)]
mod tests {
    use bridge_model::{Digest, Gap, Origin, RequestId, RoomName, SectionBody, Shown, SourceName, Timestamp};

    use super::*;

    #[test]
    fn what_fits_is_whole() {
        let laid = laid(&[("Command", 100), ("Arguments", 200)], 300).expect("fits");
        assert_eq!((lengths(&laid), laid.missing, laid.is_whole), (vec![100, 200], 0, true));
    }

    #[test]
    fn long_sections_are_cut_before_short_ones_are_touched() {
        let laid = laid(&[("Command", 100), ("Arguments", 200_000)], 2_000).expect("fits");
        assert_eq!((lengths(&laid), laid.missing, laid.is_whole), (vec![100, 1_400], 0, false));
        assert_eq!(laid.sections[1].gap, Some(Gap { at: 700, characters: 198_600 }));
    }

    #[test]
    fn the_last_sections_go_first_and_never_what_is_vital() {
        let laid = laid(&[("Command", 100), ("A", 100), ("B", 100), (Section::OPTIONS, 100)], 230).expect("fits");
        let headings: Vec<_> = laid.sections.iter().map(|section| section.heading).collect();
        assert_eq!((headings, laid.missing), (vec!["Command", "A", Section::OPTIONS], 1));
        assert_eq!(laid.sections[2].gap, None);
        assert_eq!(self::laid(&[("Command", 100), (Section::OPTIONS, 100)], 90), None);
    }

    #[test]
    fn what_would_be_done_is_never_missing() {
        let sections = [(Section::OUTSIDE, 50), ("Command", 100), ("A", 100), (Section::OPTIONS, 100)];
        let headings: Vec<_> = laid(&sections, 210).expect("fits").sections.iter().map(|section| section.heading).collect();
        assert_eq!(headings, [Section::OUTSIDE, "Command", Section::OPTIONS]);
        assert_eq!(laid(&sections, 209), None);
    }

    fn lengths(laid: &Laid) -> Vec<usize> {
        laid.sections.iter().map(|section| section.text().len()).collect()
    }

    fn laid(sections: &[(&'static str, usize)], room: usize) -> Option<Laid> {
        let section = |(heading, length): &(&'static str, usize)| {
            Section::new(heading, SectionBody::Code(Shown::line(&"x".repeat(*length))))
        };
        let card = Card {
            request: RequestId { run: 1, number: 1 },
            room: RoomName::new("r"),
            origin: Origin { source: SourceName::new("s"), session: None, agent: Shown::default() },
            headline: Shown::default(),
            sections: sections.iter().map(section).collect(),
            buttons: Vec::new(),
            deadline: Timestamp::from_unix_millis(0),
            is_whole: true,
            digest: Digest::from_bytes([0; 32]),
        };
        lay_out(&card, |laid| lengths(laid).iter().sum::<usize>() <= room)
    }
}
