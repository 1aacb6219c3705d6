//! What the scripted agent reports.

use std::io::Write;
use std::path::PathBuf;

use super::words::{briefly, decided, told};
use crate::demo::deeds::Deed;
use crate::demo::log::Ending;
use crate::demo::report::Report;
use crate::demo::screen::{Row, Screen};

pub(super) struct Scripted {
    pub(super) deeds: Vec<Deed>,
    pub(super) folder: PathBuf,
    /// How often it has asked.
    pub(super) asked: usize,
    pub(super) rows: Vec<Row>,
}

impl Scripted {
    /// `ending`: of what it asked last, as the bridge has it.
    pub(super) fn reported<W: Write>(&mut self, report: Report, ending: Option<&Ending>, screen: &mut Screen<W>) {
        match report {
            Report::Asks { at, of, what } => {
                screen.step(at, of, "The agent asks to", &what);
                self.asked += 1;
                self.begin(what, "nothing");
            }
            Report::NeedNotAsk { at, of, what } => {
                screen.step(at, of, "The agent is going to", &what);
                screen.detail("It need not ask again, because of the \"always\" before.");
                self.begin(what, "(not asked)");
            }
            Report::Told { answer } => {
                screen.detail(&decided(ending, &answer));
                screen.detail(&told(ending, &answer));
                if let Some(row) = self.rows.last_mut() {
                    row.answer = briefly(&answer, ending);
                }
            }
            Report::Ended { done, problem, output } => {
                let seen = self.seen();
                let (is_seen_done, seen) = seen.unzip();
                let words = [if done { "Done" } else { "Not done" }].into_iter().chain(problem.as_deref()).chain(seen);
                screen.outcome(done, &words.collect::<Vec<_>>().join(": "));
                screen.output(&output);
                if is_seen_done.is_some_and(|is_seen_done| is_seen_done != done) {
                    screen.loudly("That is not what the agent says!");
                }
                if let Some(row) = self.rows.last_mut() {
                    (row.done, row.seen) = (is_seen_done.unwrap_or(done), seen);
                }
            }
        }
    }

    fn begin(&mut self, what: String, answer: &str) {
        self.rows.push(Row { asked: what, answer: answer.to_owned(), done: false, seen: None });
    }

    /// What the folder shows of the deed that was begun last.
    fn seen(&self) -> Option<(bool, &'static str)> {
        self.deeds.get(self.rows.len().checked_sub(1)?)?.seen(&self.folder)
    }
}
