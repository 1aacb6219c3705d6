//! The terminal: what is shown, within 80 columns. Whatever comes from an agent is spelled out where it could disguise.

use std::fmt::Display;
use std::io::Write;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use bridge_core::wording::quoted;
use bridge_model::Shown;

/// For a line of somebody else's beside the margin.
const WIDTH: usize = 70;
/// Lines of what a tool gave out.
const OUTPUT_LINES_MAX: usize = 10;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const LINK: Style = AnsiColor::Cyan.on_default().bold();
const WAITING: Style = AnsiColor::Yellow.on_default();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();

/// Colours are left to what it writes to.
pub(super) struct Screen<W> {
    out: W,
    /// The agent's running text has not ended its line.
    is_within_line: bool,
}

/// What was asked, in the table at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) asked: String,
    pub(super) answer: String,
    pub(super) done: bool,
    /// Where the folder shows something.
    pub(super) seen: Option<&'static str>,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, is_within_line: false }
    }

    #[cfg(test)]
    pub(super) fn into_inner(self) -> W {
        self.out
    }

    pub(super) fn title(&mut self, title: &str) {
        self.line(&format!("\n  {BOLD}{title}{BOLD:#}\n"));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        for line in text.lines() {
            self.line(&format!("  {}", Shown::line(line)));
        }
    }

    pub(super) fn link(&mut self, link: &str) {
        self.line(&format!("\n  {LINK}{link}{LINK:#}\n"));
    }

    pub(super) fn step(&mut self, at: usize, of: usize, text: &str, what: &str) {
        let what = Shown::line(what).cut(WIDTH);
        self.line(&format!("\n  {DIM}{at}/{of}{DIM:#}  {text} {BOLD}{what}{BOLD:#}"));
    }

    pub(super) fn waiting(&mut self, lifetime: Duration) {
        self.line(&format!("       {WAITING}waiting for you in the browser{WAITING:#}, {} at most", span(lifetime)));
    }

    /// A detail of the step.
    pub(super) fn detail(&mut self, text: &str) {
        self.line(&format!("       {}", Shown::line(text)));
    }

    pub(super) fn outcome(&mut self, good: bool, text: &str) {
        let (style, sign) = if good { (GOOD, "✓") } else { (BAD, "✗") };
        self.line(&format!("     {style}{sign}{style:#} {}", Shown::line(text)));
    }

    pub(super) fn output(&mut self, output: &str) {
        let lines: Vec<_> = output.lines().collect();
        for line in lines.iter().take(OUTPUT_LINES_MAX) {
            self.line(&format!("       {DIM}│ {}{DIM:#}", Shown::line(line).cut(WIDTH)));
        }
        if let Some(more) = lines.len().checked_sub(OUTPUT_LINES_MAX).filter(|more| 0 < *more) {
            self.line(&format!("       {DIM}│ … and {more} more lines{DIM:#}"));
        }
    }

    pub(super) fn table(&mut self, rows: &[Row]) {
        const HEADINGS: [&str; 3] = ["The agent asked to", "It was told", "And then"];
        let asked = rows.iter().map(|row| row.asked.chars().count()).fold(HEADINGS[0].len(), usize::max).min(34);
        let answer = rows.iter().map(|row| row.answer.chars().count()).fold(HEADINGS[1].len(), usize::max).min(18);
        let [first, second, third] = HEADINGS;
        self.line(&format!("\n  {DIM}{first:asked$}  {second:answer$}    {third}{DIM:#}"));
        for row in rows {
            let (style, sign) = if row.done { (GOOD, "✓") } else { (BAD, "✗") };
            let then = row.seen.unwrap_or(if row.done { "done" } else { "not done" });
            let (what, told) = (Shown::line(&row.asked).cut(asked), Shown::line(&row.answer).cut(answer));
            self.line(&format!("  {:asked$}  {:answer$}  {style}{sign}{style:#} {then}", what.as_str(), told.as_str()));
        }
        self.line("");
    }

    /// A piece of the agent's running text.
    pub(super) fn says(&mut self, text: &str) {
        let shown = Shown::block(text);
        if shown.is_empty() {
            return;
        }
        let _ = write!(self.out, "{}", shown.as_str()).and_then(|()| self.out.flush());
        self.is_within_line = !shown.as_str().ends_with('\n');
    }

    /// Something about one of the agent's tool calls.
    pub(super) fn tool(&mut self, title: &str, status: &str) {
        let title = Shown::line(title).cut(WIDTH - status.len().min(WIDTH));
        let status = if status.is_empty() { String::new() } else { format!(" {DIM}{status}{DIM:#}") };
        self.line(&format!("  {DIM}·{DIM:#} {BOLD}{title}{BOLD:#}{status}"));
    }

    pub(super) fn note(&mut self, text: &str) {
        self.line(&format!("  {DIM}{}{DIM:#}", Shown::line(text)));
    }

    pub(super) fn loudly(&mut self, text: &str) {
        self.line(&format!("  {BAD}{}{BAD:#}", Shown::line(text)));
    }

    pub(super) fn problem(&mut self, text: &str) {
        self.line(&format!("\n  {BAD}The demo has ended:{BAD:#} {}\n", Shown::block(text).as_str().replace('\n', "\n  ")));
    }

    pub(super) fn log(&mut self, lines: &[String]) {
        self.line("  What the bridge said last:");
        for line in lines {
            self.line(&format!("  {DIM}│ {}{DIM:#}", Shown::line(line)));
        }
    }

    pub(super) fn prompt(&mut self) {
        self.end_line();
        let _ = write!(self.out, "\n{BOLD}>{BOLD:#} ").and_then(|()| self.out.flush());
        self.is_within_line = true;
    }

    /// A terminal shows the Ctrl-C where the cursor is.
    pub(super) fn interrupted(&mut self) {
        self.is_within_line = true;
    }

    /// The line has been ended by whoever typed it.
    pub(super) fn typed(&mut self) {
        self.is_within_line = false;
    }

    fn line(&mut self, line: &str) {
        self.end_line();
        // Nobody is there to be told that nobody is there.
        let _ = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
    }

    pub(super) fn end_line(&mut self) {
        if std::mem::take(&mut self.is_within_line) {
            let _ = writeln!(self.out);
        }
    }
}

/// An agent's or a person's word, in quotes that it cannot close.
pub(super) fn in_quotes(text: impl Display) -> String {
    quoted(Shown::line(&text.to_string()).cut(WIDTH).as_str())
}

/// As people say it: "2 min", "1 h 30 min".
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let parts = [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let parts: Vec<_> = parts.iter().filter(|(count, _)| 0 < *count).map(|(count, unit)| format!("{count} {unit}")).collect();
    if parts.is_empty() { "less than a second".to_owned() } else { parts.join(" ") }
}
