//! Text as Discord's clients draw it: what others wrote stands in code, where nothing links, pings or formats, and what we
//! say outside of it.
//!
//! A backtick in code is followed by U+200B, so that no run of them ends the code; it can hold no U+200B of its own. No
//! markup of ours encloses code, since it would end at the first mark of its kind within.

use bridge_core::wrapped;

/// Phones cut a line of code at the screen's edge, and narrow ones show about this many characters before.
const CODE_WIDTH: usize = 30;
/// As the core has it: what begins the rest of a line. Nobody else's line begins with it.
const CONTINUED: char = '↳';
const ZERO_WIDTH_SPACE: &str = "\u{200b}";

/// How the lines of a fence are to be read.
#[derive(Clone, Copy)]
pub(crate) enum Lines {
    Code,
    /// Those that are added and removed have colours where a client has some, and their signs everywhere.
    Diff,
}

/// One line of code.
pub(crate) fn code(text: &str) -> String {
    match text.replace('\n', "\\n") {
        text if text.is_empty() => "*(empty)*".to_owned(),
        text if text.contains('`') => format!("`` {} ``", unfenced(&text)),
        text => format!("`{text}`"),
    }
}

/// Several lines of code. Discord takes a fence without anything in it for no fence, and what follows for its inside.
pub(crate) fn fence(lines: Lines, text: &str) -> String {
    let text = text.trim_matches('\n');
    if text.is_empty() {
        return "*(only empty lines)*".to_owned();
    }
    let pieces: Vec<_> = text.split('\n').map(|line| fitted(lines, line)).collect();
    enclosed(lines, &pieces)
}

/// The same of what follows a gap, which may begin within a line.
pub(crate) fn fence_after_gap(lines: Lines, text: &str) -> String {
    let mut rest = text.trim_end_matches('\n').split('\n');
    let first = wrapped(rest.next().unwrap_or_default(), CODE_WIDTH - 1);
    let pieces: Vec<_> = std::iter::once(format!("{CONTINUED}{first}")).chain(rest.map(|line| fitted(lines, line))).collect();
    enclosed(lines, &pieces)
}

/// Our own words, of which nothing is taken for markup. They stand after others in their line.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_word_end = rest.peek().is_none_or(|next| next.is_whitespace());
        if "\\`*_~|<>[]@/".contains(c) || (c == ':' && !is_word_end) {
            plain.push('\\');
        }
        plain.push(if c == '\n' { ' ' } else { c });
    }
    plain
}

fn enclosed(lines: Lines, text: &[String]) -> String {
    let language = match lines {
        Lines::Code => "",
        Lines::Diff => "diff",
    };
    format!("```{language}\n{}\n```", unfenced(&text.join("\n")))
}

fn fitted(lines: Lines, line: &str) -> String {
    let signed = match lines {
        Lines::Code => None,
        Lines::Diff => line.chars().next().filter(|sign| ['+', '-', ' '].contains(sign)),
    };
    let Some(sign) = signed else { return wrapped(line, CODE_WIDTH) };
    // Each piece has the sign of its line, and so its colour.
    let pieces = wrapped(&line[1..], CODE_WIDTH - 1);
    pieces.split('\n').map(|piece| format!("{sign}{piece}")).collect::<Vec<_>>().join("\n")
}

fn unfenced(text: &str) -> String {
    text.replace('`', &format!("`{ZERO_WIDTH_SPACE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_change_keeps_its_sign_on_each_piece() {
        let long = format!("+{}", "x".repeat(40));
        let drawn = fence(Lines::Diff, &format!("@@ -1 +1 @@\n-a\n{long}\n b"));
        let pieces = format!("+{}\n+↳{}", "x".repeat(29), "x".repeat(11));
        assert_eq!(drawn, format!("```diff\n@@ -1 +1 @@\n-a\n{pieces}\n b\n```"));
        assert_eq!(fence(Lines::Code, &long), format!("```\n+{}\n↳{}\n```", "x".repeat(29), "x".repeat(11)));
    }

    #[test]
    fn what_follows_a_gap_passes_for_no_line_of_its_own() {
        assert_eq!(fence_after_gap(Lines::Diff, "+b\n-c\n"), "```diff\n↳+b\n-c\n```");
        assert_eq!(fence_after_gap(Lines::Code, "\n; rm"), "```\n↳\n; rm\n```");
        // Nobody but us continues a line.
        assert_eq!(fence(Lines::Diff, "+↳ x"), "```diff\n+\\u{21b3} x\n```");
    }

    #[test]
    fn one_line_of_code_stays_one() {
        assert_eq!(code("a\n# b"), "`a\\n# b`");
        assert_eq!(code("a`"), "`` a`\u{200b} ``");
        assert_eq!(code(""), "*(empty)*");
    }

    #[test]
    fn our_own_words_have_no_markup() {
        assert_eq!(plain("2 lines added, 1 removed; it is #7"), "2 lines added, 1 removed; it is #7");
        assert_eq!(
            plain("Discord says: **x** <t:0> :skull: https://a.b/c @here\n# x"),
            "Discord says: \\*\\*x\\*\\* \\<t\\:0\\> \\:skull: https\\:\\/\\/a.b\\/c \\@here # x"
        );
    }
}
