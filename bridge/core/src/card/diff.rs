//! A file before and after, as a unified diff.

use similar::TextDiff;

/// Lines of both sides together up to which a shortest diff is looked for; its cost grows with their square. Beyond it
/// everything is shown as removed and added, which is true as well.
const LINES_MAX: usize = 4_000;

/// `old` is `None` for a new file.
pub(super) fn unified(old: Option<&str>, new: &str) -> String {
    let old = old.unwrap_or_default();
    if LINES_MAX < old.lines().count() + new.lines().count() {
        let removed = old.lines().flat_map(|line| ["-", line, "\n"]);
        return removed.chain(new.lines().flat_map(|line| ["+", line, "\n"])).collect();
    }
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).to_string()
}
