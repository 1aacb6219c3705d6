//! Text that is safe to show: whatever could hide or disguise something is spelled out.

use std::fmt::{self, Write as _};
use std::iter::Peekable;
use std::str::Chars;

use icu_properties::props::{BidiClass, DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointSetData};
use serde::{Deserialize, Serialize};

/// Text of any origin with every control, invisible and direction-changing character spelled out as `\u{…}`.
///
/// It holds no line break unless made by [`Shown::block`], never a character that does not advance the line except
/// up to [`Shown::MARKS_MAX`] combining marks in a row after something that they can stand on, no space but U+0020, and
/// no run of spaces or empty lines that would push what follows out of sight. Many of one spelled-out character in a row
/// are spelled out once, with their number: `\u{a0}[×300]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct Shown(String);

/// What was done to a text to make it fit to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spelled {
    /// Characters that are spelled out, other than single line breaks and tabs.
    pub hidden: usize,
    /// Whether it has letters that are written from right to left, which a screen may show in another order.
    pub right_to_left: bool,
}

impl Shown {
    /// Combining marks that may follow one another. Real scripts need three.
    pub const MARKS_MAX: usize = 3;
    /// Equal spelled-out characters in a row that are still spelled out one by one.
    const EACH_MAX: usize = 3;
    /// Spaces in a row that are shown as they are. Code is rarely set in deeper.
    const SPACES_MAX: usize = 40;
    /// Tabs in a row, and line breaks.
    const BREAKS_MAX: usize = 12;

    /// One line: line breaks and tabs are spelled out too.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self::counted_line(text).0
    }

    /// Lines and tabs stay; a carriage return before a line feed goes, any other is spelled out.
    #[must_use]
    pub fn block(text: &str) -> Self {
        Self::counted_block(text).0
    }

    /// [`Shown::line`], and what had to be done to it.
    #[must_use]
    pub fn counted_line(text: &str) -> (Self, Spelled) {
        Self::spell_out(text, |c| match c {
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            _ => None,
        })
    }

    /// [`Shown::block`], and what had to be done to it.
    #[must_use]
    pub fn counted_block(text: &str) -> (Self, Spelled) {
        Self::spell_out(&text.replace("\r\n", "\n"), |c| match c {
            '\n' => Some("\n"),
            '\t' => Some("\t"),
            '\r' => Some("\\r"),
            _ => None,
        })
    }

    fn spell_out(text: &str, ours: impl Fn(char) -> Option<&'static str>) -> (Self, Spelled) {
        let mut shown = String::with_capacity(text.len());
        let mut spelled = Spelled::default();
        // A mark at the beginning would stand on whatever is put before it.
        let mut marks = Self::MARKS_MAX;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if let Some(instead) = ours(c) {
                let run = run_of(c, &mut chars);
                marks = Self::MARKS_MAX;
                if run <= Self::BREAKS_MAX {
                    shown.extend(std::iter::repeat_n(instead, run));
                } else {
                    spelled.hidden += run;
                    push_escape(&mut shown, c, run);
                }
            } else if c == ' ' {
                let run = run_of(c, &mut chars);
                marks = 0;
                if run <= Self::SPACES_MAX {
                    shown.extend(std::iter::repeat_n(c, run));
                } else {
                    spelled.hidden += run;
                    push_escape(&mut shown, c, run);
                }
            } else if ('!'..='~').contains(&c) {
                marks = 0;
                shown.push(c);
            } else if is_mark(c) && marks < Self::MARKS_MAX && !is_hidden(c) {
                marks += 1;
                shown.push(c);
            } else if is_mark(c) || is_hidden(c) {
                // What follows a spelled-out mark would stand on our spelling.
                marks = Self::MARKS_MAX;
                let run = run_of(c, &mut chars);
                spelled.hidden += run;
                push_escape(&mut shown, c, run);
            } else {
                marks = 0;
                spelled.right_to_left |= is_right_to_left(c);
                shown.push(c);
            }
        }
        (Self(shown), spelled)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// At most `max` characters, the cut marked by a closing `…`.
    #[must_use]
    pub fn cut(&self, max: usize) -> Self {
        match self.0.char_indices().nth(max) {
            None => self.clone(),
            Some(_) => Self(self.0.chars().take(max.saturating_sub(1)).chain(['…']).collect()),
        }
    }

    /// At most `max` characters, start and end of it, with a `…` between.
    #[must_use]
    pub fn cut_inside(&self, max: usize) -> Self {
        if self.0.char_indices().nth(max).is_none() {
            return self.clone();
        }
        let (start, end) = self.ends(None, max.saturating_sub(1));
        start.then(&Self("…".to_owned())).then(&end)
    }

    /// Its start and its end, of together at most `max` characters, without what stands between. Where `gap` says at which
    /// byte something is missing already, neither reaches beyond it.
    #[must_use]
    pub fn ends(&self, gap: Option<usize>, max: usize) -> (Self, Self) {
        let (head, tail) = match gap.and_then(|at| self.0.split_at_checked(at)) {
            Some(parts) => parts,
            None if self.0.char_indices().nth(max).is_none() => (self.0.as_str(), ""),
            None => (self.0.as_str(), self.0.as_str()),
        };
        let start = head.char_indices().nth(max.div_ceil(2)).map_or(head, |(at, _)| &head[..at]);
        let start = if tail.is_empty() { head } else { start };
        let end = match (max / 2).checked_sub(1) {
            None => "",
            Some(before_last) => tail.char_indices().rev().nth(before_last).map_or(tail, |(at, _)| &tail[at..]),
        };
        // A mark belongs to the character before it, which is cut off.
        (Self(start.to_owned()), Self(end.trim_start_matches(is_mark).to_owned()))
    }

    /// This text, then `other`.
    #[must_use]
    pub fn then(mut self, other: &Self) -> Self {
        self.0.push_str(&other.0);
        self
    }
}

/// Stored text may have been tampered with, so it is spelled out anew.
impl From<String> for Shown {
    fn from(text: String) -> Self {
        Self::block(&text)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many times `c` stands there in a row, the one before `rest` included.
fn run_of(c: char, rest: &mut Peekable<Chars<'_>>) -> usize {
    1 + std::iter::from_fn(|| rest.next_if_eq(&c)).count()
}

fn push_escape(shown: &mut String, c: char, run: usize) {
    let each = if run <= Shown::EACH_MAX { run } else { 1 };
    for _ in 0..each {
        // Writing to a string cannot fail.
        let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
    }
    if each < run {
        let _ = write!(shown, "[×{run}]");
    }
}

fn is_mark(c: char) -> bool {
    const MARKS: GeneralCategoryGroup = GeneralCategoryGroup::NonspacingMark.union(GeneralCategoryGroup::EnclosingMark);
    '~' < c && MARKS.contains(category(c))
}

fn is_hidden(c: char) -> bool {
    const HIDDEN: GeneralCategoryGroup = GeneralCategoryGroup::Other.union(GeneralCategoryGroup::Separator);
    // U+2800 is an empty braille cell: a symbol by category, a blank to the eye.
    let ignorable = || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c);
    c == '\u{2800}' || HIDDEN.contains(category(c)) || ignorable()
}

fn is_right_to_left(c: char) -> bool {
    matches!(CodePointMapData::<BidiClass>::new().get(c), BidiClass::RightToLeft | BidiClass::ArabicLetter)
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
