//! A file before and after, as a unified diff.

use std::fmt::Write as _;

use similar::TextDiff;

/// What the shortest diffs of one card may cost together. That grows with the square of the lines of both sides, other than
/// those that both begin or end with. Beyond it everything is shown as removed and added, which is true as well.
pub(super) struct Effort(usize);

impl Default for Effort {
    fn default() -> Self {
        Self(1_000 * 1_000)
    }
}

impl Effort {
    fn covers(&mut self, lines: usize) -> bool {
        let left = self.0.checked_sub(lines.saturating_mul(lines));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

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
pub(super) fn unified(old: Option<&str>, new: &str, effort: &mut Effort) -> Change {
    let is_new = old.is_none();
    let old = old.unwrap_or_default();
    Change::new(text(old, new, effort), 0, is_new)
}

/// A diff that the agent made itself. It is counted by its signs, without the lines that name its files.
pub(super) fn of_agent(patch: &str) -> Change {
    let is_header = |lines: &(&str, &str)| lines.0.starts_with("--- ") && lines.1.starts_with("+++ ");
    let headers = patch.lines().zip(patch.lines().skip(1)).filter(is_header).count();
    Change::new(patch.to_owned(), headers, false)
}

fn text(old: &str, new: &str, effort: &mut Effort) -> String {
    if old.is_empty() || new.is_empty() || !effort.covers(differing_lines(old, new)) {
        let mut text = String::with_capacity(old.len() + new.len() + 64);
        for (sign, lines) in [("-", old), ("+", new)] {
            lines.lines().for_each(|line| text.extend([sign, line, "\n"]));
        }
        return text;
    }
    // Its lines have to be those that were counted: by itself the library ends one at a lone CR too, here and where it
    // writes them.
    let [old, new]: [Vec<&str>; 2] = [old, new].map(|text| text.split_inclusive('\n').collect());
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let mut text = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", hunk.header());
        for change in hunk.iter_changes() {
            // What is told of a file may be a part of it, whose end is not the file's.
            let line = change.value().strip_suffix('\n').unwrap_or(change.value());
            let _ = writeln!(text, "{}{line}", change.tag());
        }
    }
    text
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
            let change = unified(old, new, &mut Effort::default());
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
        let unified = |old: &str, new: &str| unified(Some(old), new, &mut Effort::default()).count();
        let lines = |name: &str| (0..3_000).fold(String::new(), |text, n| text + name + &n.to_string() + "\n");
        let (old, new) = (lines("a"), lines("b"));
        assert_eq!(unified(&old, &new), "3000 lines added, 3000 removed");
        // A small change of a long file is still found.
        assert_eq!(unified(&old, &old.replace("a1500\n", "x\n")), "1 line added, 1 removed");
        // A line is what was counted as one.
        assert_eq!(unified(&old.replace('\n', "\r"), &new.replace('\n', "\r")), "1 line added, 1 removed");
    }

    #[test]
    fn many_changes_share_what_is_spent_on_one() {
        let mut effort = Effort::default();
        let counts = [(); 4].map(|()| unified(Some(&"a\nb\n".repeat(150)), &"b\na\n".repeat(150), &mut effort).count());
        assert_eq!(counts[0], "1 line added, 1 removed");
        assert_eq!(counts[3], "300 lines added, 300 removed");
    }
}
