//! Text that is safe to show: whatever could hide or disguise something is spelled out.

use std::fmt::{self, Write as _};

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, GeneralCategoryGroup};
use icu_properties::{CodePointMapData, CodePointSetData};
use serde::{Deserialize, Serialize};

/// Text of any origin with every control, invisible and direction-changing character spelled out as `\u{…}`.
///
/// It holds no line break unless made by [`Shown::block`], never a character that does not advance the line except
/// up to [`Shown::MARKS_MAX`] combining marks in a row, and no space but U+0020.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct Shown(String);

impl Shown {
    /// Combining marks that may follow one another. Real scripts need three.
    pub const MARKS_MAX: usize = 3;

    /// One line: line breaks and tabs are spelled out too.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self::spell_out(text, |c| match c {
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            _ => None,
        })
    }

    /// Lines and tabs stay; a carriage return before a line feed goes, any other is spelled out.
    #[must_use]
    pub fn block(text: &str) -> Self {
        Self::spell_out(&text.replace("\r\n", "\n"), |c| match c {
            '\n' => Some("\n"),
            '\t' => Some("\t"),
            '\r' => Some("\\r"),
            _ => None,
        })
    }

    fn spell_out(text: &str, ours: impl Fn(char) -> Option<&'static str>) -> Self {
        let mut shown = String::with_capacity(text.len());
        let mut marks = 0;
        for c in text.chars() {
            if let Some(instead) = ours(c) {
                shown.push_str(instead);
                marks = 0;
                continue;
            }
            marks = if is_mark(c) { marks + 1 } else { 0 };
            if is_hidden(c) || Self::MARKS_MAX < marks {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            } else {
                shown.push(c);
            }
        }
        Self(shown)
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
        let total = self.0.chars().count();
        if total <= max {
            return self.clone();
        }
        let end = max.saturating_sub(1) / 2;
        let start = max.saturating_sub(1) - end;
        Self(self.0.chars().take(start).chain(['…']).chain(self.0.chars().skip(total - end)).collect())
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

fn is_mark(c: char) -> bool {
    const MARKS: GeneralCategoryGroup = GeneralCategoryGroup::NonspacingMark.union(GeneralCategoryGroup::EnclosingMark);
    MARKS.contains(category(c))
}

fn is_hidden(c: char) -> bool {
    const HIDDEN: GeneralCategoryGroup = GeneralCategoryGroup::Other.union(GeneralCategoryGroup::Separator);
    // Plain text is the common case by far. U+2800 is an empty braille cell: a symbol by category, a blank to the eye.
    let plain = (' '..='~').contains(&c);
    let ignorable = || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c);
    !plain && (c == '\u{2800}' || HIDDEN.contains(category(c)) || ignorable())
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_spelled_out() {
        for (text, shown) in [
            ("rm\u{200b} -rf", "rm\\u{200b} -rf"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
            ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
            ("a\u{e0100}", "a\\u{e0100}"),
            ("\u{3164}", "\\u{3164}"),
            ("a\u{a0}b", "a\\u{a0}b"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\u{85}b\u{2028}c\u{2029}d", "a\\u{85}b\\u{2028}c\\u{2029}d"),
            ("\u{2800}", "\\u{2800}"),
            ("\u{feff}\u{e000}\u{ad}", "\\u{feff}\\u{e000}\\u{ad}"),
            ("one\r\ntwo\tthree", "one\\r\\ntwo\\tthree"),
        ] {
            assert_eq!(Shown::line(text).as_str(), shown, "{text:?}");
        }
    }

    #[test]
    fn what_is_seen_stays() {
        for text in
            ["touch /srv/a-b_c.txt && echo \"ok\"", "Löschen größer als 5 €", "数据库を削除", "नमस्ते", "✅ مرحبا", "e\u{301}"]
        {
            assert_eq!(Shown::line(text).as_str(), text);
        }
    }

    #[test]
    fn a_flood_of_combining_marks_is_cut_to_what_scripts_need() {
        let flood = format!("a{}", "\u{301}".repeat(50));
        assert_eq!(Shown::line(&flood).as_str().matches("\\u{301}").count(), 47);
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(Shown::block("a\r\nb\tc\rd\n").as_str(), "a\nb\tc\\rd\n");
    }

    #[test]
    fn a_cut_is_marked() {
        assert_eq!(Shown::line("abcdef").cut(4).as_str(), "abc…");
        assert_eq!(Shown::line("abcd").cut(4).as_str(), "abcd");
        assert_eq!(Shown::line("abcdef").cut_inside(4).as_str(), "ab…f");
        assert_eq!(Shown::line("abcd").cut_inside(4).as_str(), "abcd");
    }
}
