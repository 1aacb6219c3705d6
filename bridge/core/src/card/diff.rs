//! A file before and after, as a unified diff.

use similar::TextDiff;

/// Lines of both sides together, other than those that both begin or end with, up to which a shortest diff is looked for; its
/// cost grows with their square. Beyond it everything is shown as removed and added, which is true as well.
const LINES_MAX: usize = 1_000;

/// A diff, and how many lines it adds and removes.
pub(super) struct Change {
    pub(super) text: String,
    added: usize,
    removed: usize,
    is_new: bool,
}

impl Change {
    fn new(text: String, headers: usize, is_new: bool) -> Self {
        let begin_with = |sign| text.lines().filter(|line| line.starts_with(sign)).count().saturating_sub(headers);
        let (added, removed) = (begin_with('+'), begin_with('-'));
        Self { text, added, removed, is_new }
    }

    /// In words, for its heading.
    pub(super) fn count(&self) -> String {
        let count = |count: usize, what: &str| match count {
            1 => format!("1 line {what}"),
            count => format!("{count} lines {what}"),
        };
        match (self.is_new, self.added, self.removed) {
            (true, 0, 0) => "new file, empty".to_owned(),
            (true, added, _) => format!("new file, {}", count(added, "added")),
            (false, 0, 0) => "no line changes".to_owned(),
            (false, added, 0) => count(added, "added"),
            (false, 0, removed) => count(removed, "removed"),
            (false, added, removed) => format!("{}, {removed} removed", count(added, "added")),
        }
    }
}

/// `old` is `None` for a new file.
pub(super) fn unified(old: Option<&str>, new: &str) -> Change {
    let is_new = old.is_none();
    let old = old.unwrap_or_default();
    Change::new(text(old, new), 0, is_new)
}

/// A diff that the agent made itself. It is counted by its signs, without the lines that name its files.
pub(super) fn of_agent(patch: &str) -> Change {
    let is_header = |lines: &(&str, &str)| lines.0.starts_with("--- ") && lines.1.starts_with("+++ ");
    let headers = patch.lines().zip(patch.lines().skip(1)).filter(is_header).count();
    Change::new(patch.to_owned(), headers, false)
}

fn text(old: &str, new: &str) -> String {
    if old.is_empty() || new.is_empty() || LINES_MAX < differing_lines(old, new) {
        let mut text = String::with_capacity(old.len() + new.len() + 64);
        for (sign, lines) in [("-", old), ("+", new)] {
            lines.lines().for_each(|line| text.extend([sign, line, "\n"]));
        }
        return text;
    }
    // What is told of a file may be a part of it, whose end is not the file's.
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).missing_newline_hint(false).to_string()
}

/// Lines of both sides, without those that both begin or end with.
fn differing_lines(old: &str, new: &str) -> usize {
    let same_start = old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count();
    let same_end = old.lines().rev().zip(new.lines().rev()).take_while(|(old, new)| old == new).count();
    let left = |text: &str| text.lines().count().saturating_sub(same_start + same_end);
    left(old) + left(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_what_happens_to_them() {
        for (old, new, text, count) in [
            (Some("one\ntwo\n"), "one\n2\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "1 line added, 1 removed"),
            (None, "a\nb\n", "+a\n+b\n", "new file, 2 lines added"),
            (None, "", "", "new file, empty"),
            (Some("-- a\n"), "", "--- a\n", "1 line removed"),
            (Some("a\n"), "a\n", "", "no line changes"),
        ] {
            let change = unified(old, new);
            assert_eq!((change.text.as_str(), change.count().as_str()), (text, count), "{old:?} {new:?}");
        }
    }

    #[test]
    fn an_agents_own_diff_is_counted_without_its_headers() {
        let patch = "diff --git a b\n--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+++ z\n";
        assert_eq!(of_agent(patch).count(), "2 lines added, 1 removed");
    }

    #[test]
    fn what_is_too_much_to_compare_is_removed_and_added() {
        let lines = |name: &str| (0..3_000).fold(String::new(), |text, n| text + name + &n.to_string() + "\n");
        let (old, new) = (lines("a"), lines("b"));
        assert_eq!(unified(Some(&old), &new).count(), "3000 lines added, 3000 removed");
        // A small change of a long file is still found.
        let changed = old.replace("a1500\n", "x\n");
        assert_eq!(unified(Some(&old), &changed).count(), "1 line added, 1 removed");
    }
}
