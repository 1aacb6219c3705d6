//! What happens, as it is told on the screen.

mod real;
mod scripted;
mod words;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::v1::schema::SessionUpdate;

use super::News;
use super::deeds::Deed;
use super::log::{Ending, Said, Word};
use super::report::Report;
use super::screen::{Row, Screen};
use real::Real;
use scripted::Scripted;

pub(super) struct Story {
    teller: Teller,
    lifetime: Duration,
    /// What the bridge has said of each request, in the order in which they were first heard of.
    requests: Vec<(String, Option<Ending>)>,
    /// For how many of them it has been told that they wait.
    waiting_told: usize,
}

enum Teller {
    Scripted(Scripted),
    Real(Real),
}

impl Story {
    /// One turn of the scripted agent.
    pub(super) fn scripted(deeds: Vec<Deed>, folder: PathBuf, lifetime: Duration) -> Self {
        Self::new(Teller::Scripted(Scripted { deeds, folder, asked: 0, rows: Vec::new() }), lifetime)
    }

    /// Turns of any other.
    pub(super) fn real(lifetime: Duration) -> Self {
        Self::new(Teller::Real(Real::default()), lifetime)
    }

    fn new(teller: Teller, lifetime: Duration) -> Self {
        Self { teller, lifetime, requests: Vec::new(), waiting_told: 0 }
    }

    /// What the scripted agent asked.
    pub(super) fn rows(&self) -> &[Row] {
        match &self.teller {
            Teller::Scripted(scripted) => &scripted.rows,
            Teller::Real(_) => &[],
        }
    }

    /// Whether this is an answer of which the bridge, on another way, has not yet said how it came about.
    pub(super) fn is_ahead_of_the_bridge(&self, news: &News) -> bool {
        match (&self.teller, news) {
            (Teller::Scripted(scripted), News::Update(update)) => {
                matches!(report(update), Some(Report::Told { .. })) && self.ending(scripted.asked).is_none()
            }
            (Teller::Scripted(_) | Teller::Real(_), _) => false,
        }
    }

    pub(super) fn take<W: Write>(&mut self, news: News, screen: &mut Screen<W>) {
        match news {
            News::Said(said) => self.bridge_said(said, screen),
            News::Update(update) => self.updated(*update, screen),
            News::AskedHere => {
                screen.loudly("A permission request has passed the bridge. It is refused here; please report this.");
            }
            News::Log(line) => screen.note(&line),
        }
    }

    fn bridge_said<W: Write>(&mut self, Said { request, what }: Said, screen: &mut Screen<W>) {
        let at = self.requests.iter().position(|(known, _)| *known == request).unwrap_or_else(|| {
            self.requests.push((request, None));
            self.requests.len() - 1
        });
        match what {
            Word::Held => self.tell_waiting(screen),
            // It is said again once the agent has it.
            Word::Ended(ending) if self.requests[at].1.is_none() => {
                if let Teller::Real(_) = &self.teller {
                    screen.detail(&words::ended(&ending));
                }
                self.requests[at].1 = Some(ending);
            }
            Word::Ended(_) => {}
        }
    }

    fn updated<W: Write>(&mut self, update: SessionUpdate, screen: &mut Screen<W>) {
        let ending = match &self.teller {
            Teller::Scripted(scripted) => self.ending(scripted.asked).cloned(),
            Teller::Real(_) => None,
        };
        match &mut self.teller {
            Teller::Real(real) => real.updated(update, screen),
            Teller::Scripted(scripted) => {
                if let Some(report) = report(&update) {
                    scripted.reported(report, ending.as_ref(), screen);
                    self.tell_waiting(screen);
                }
            }
        }
    }

    /// A scripted request waits once both the agent and the bridge have said so.
    fn tell_waiting<W: Write>(&mut self, screen: &mut Screen<W>) {
        let heard_of = match &self.teller {
            Teller::Scripted(scripted) => self.requests.len().min(scripted.asked),
            Teller::Real(_) => self.requests.len(),
        };
        if self.waiting_told < heard_of {
            self.waiting_told = heard_of;
            if self.ending(heard_of).is_none() {
                screen.waiting(self.lifetime);
            }
        }
    }

    /// Of the request that came as number `number`, from 1.
    fn ending(&self, number: usize) -> Option<&Ending> {
        self.requests.get(number.checked_sub(1)?)?.1.as_ref()
    }
}

pub(super) fn report(update: &SessionUpdate) -> Option<Report> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "reports come with tool calls alone")]
    match update {
        SessionUpdate::ToolCall(call) => Report::of_meta(call.meta.as_ref()),
        SessionUpdate::ToolCallUpdate(update) => Report::of_meta(update.meta.as_ref()),
        _ => None,
    }
}
