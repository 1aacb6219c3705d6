//! Long lines in pieces that a phone shows, since phones cut a line of code at the edge of the screen.

/// What joins one command to the next in a shell. It stands at the beginning of a line, where it is seen.
const JOINTS: [&str; 5] = ["&&", "||", "|", ";", "&"];
/// What begins the rest of a line that was too long. An agent's own is spelled out.
const CONTINUED: char = '↳';

/// How many columns a text takes at most. What is not ASCII may take two, and a few signs take very many.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.chars().map(column).sum()
}

fn column(c: char) -> usize {
    match c {
        '\0'..='\x7f' => 1,
        '\u{fdfd}' | '\u{2e3a}' | '\u{2e3b}' | '\u{12000}'..='\u{1254f}' => 10,
        _ => 2,
    }
}

/// A line in pieces of at most `width` columns, each but the first marked as the rest of the one before. Tabs become spaces.
#[must_use]
pub fn wrapped(line: &str, width: usize) -> String {
    let spelled = line.replace('\t', "    ").replace(CONTINUED, "\\u{21b3}");
    let spelled: Vec<char> = spelled.chars().collect();
    let mut rest = spelled.as_slice();
    let mut pieces = String::with_capacity(line.len());
    let mut room = width;
    while let Some(fitting) = fitting(rest, room) {
        let (piece, after) = rest.split_at(break_at(&rest[..fitting]));
        pieces.extend(piece);
        pieces.push('\n');
        pieces.push(CONTINUED);
        rest = after;
        // The mark takes its place.
        room = width.saturating_sub(1).max(1);
    }
    pieces.extend(rest);
    pieces
}

/// How many characters fit; `None` if all do.
fn fitting(line: &[char], room: usize) -> Option<usize> {
    let mut used = 0;
    let beyond = line.iter().position(|c| {
        used += column(*c);
        room < used
    });
    beyond.map(|at| at.max(1)).filter(|at| *at < line.len())
}

/// After a space in the second half of the line, else anywhere; never between a joint and what it joins.
fn break_at(line: &[char]) -> usize {
    let is_late = |at: &usize| line.len() / 2 < *at;
    let spaces: Vec<usize> = line.iter().enumerate().filter(|(_, c)| **c == ' ').map(|(at, _)| at + 1).collect();
    let Some(at) = spaces.last().copied().filter(is_late) else { return line.len() };
    let before = spaces.iter().rev().nth(1).copied().unwrap_or(0);
    let word: String = line[before..at - 1].iter().collect();
    let joins = JOINTS.contains(&word.as_str());
    if joins && 0 < before { before } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_under_a_mark() {
        assert_eq!(wrapped("short", 10), "short");
        assert_eq!(wrapped("abcdefghijkl", 5), "abcde\n↳fghi\n↳jkl");
        assert_eq!(wrapped("one two three", 10), "one two \n↳three");
        // A space in the first half would leave most of the line empty.
        assert_eq!(wrapped("a bcdefghijklm", 10), "a bcdefghi\n↳jklm");
        assert_eq!(wrapped("exactlyten", 10), "exactlyten");
    }

    #[test]
    fn what_is_wide_takes_its_room() {
        assert_eq!(wrapped("你你你你你", 6), "你你你\n↳你你");
        assert_eq!(wrapped("\u{fdfd};rm", 10), "\u{fdfd}\n↳;rm");
        assert_eq!(wrapped("\u{fdfd}\u{fdfd}", 3), "\u{fdfd}\n↳\u{fdfd}");
    }

    #[test]
    fn what_joins_commands_begins_a_line() {
        assert_eq!(wrapped("make all && rm -rf ~", 13), "make all \n↳&& rm -rf ~");
        assert_eq!(wrapped("cargo test | sh -c x", 13), "cargo test \n↳| sh -c x");
    }

    #[test]
    fn the_mark_is_ours_alone() {
        assert_eq!(wrapped("a ↳b", 80), "a \\u{21b3}b");
    }

    #[test]
    fn nothing_is_lost() {
        for width in 1..40 {
            let line = "cat a && b || c | d; e & f verylongwordthatgoeson   spaces";
            assert_eq!(wrapped(line, width).replace("\n↳", ""), line, "{width}");
        }
    }
}
