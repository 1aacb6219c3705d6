//! The conversation with the agent: turn after turn, until the person or the agent ends it.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{CancelNotification, SessionId, StopReason};
use agent_client_protocol::{Agent, Error, Result};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

use super::client::{self, Introduction};
use super::deeds::deeds;
use super::screen::Screen;
use super::story::Story;
use super::{News, workspace};
use crate::signals::Signals;

/// How long the bridge's log may be behind what the agent says.
const LOG_LAG: Duration = Duration::from_secs(1);

/// Lines typed ahead.
const LINES_MAX: usize = 16;

/// Why there are no more turns.
pub(super) enum Ended {
    Done,
    Signal(i32),
    /// The bridge has closed the connection.
    Lost,
    Agent {
        error: Error,
        agent: Introduction,
    },
}

/// What to do after the demo.
const NEXT: &str = "For your own agent: countersign init";

pub(super) struct Play<'a, W> {
    pub(super) connection: ConnectionTo<Agent>,
    pub(super) news: &'a mut mpsc::Receiver<News>,
    pub(super) signals: &'a mut Signals,
    pub(super) screen: &'a mut Screen<W>,
    pub(super) folder: &'a Path,
    pub(super) lifetime: Duration,
    pub(super) agent: Introduction,
}

impl<W: Write> Play<'_, W> {
    /// The scripted agent's turn, as often as the person wants to see it.
    pub(super) async fn scripted(mut self) -> Ended {
        let mut lines = io::stdin().is_terminal().then(typed_lines);
        if let Err(ended) = self.introduce(&mut self.scripted_story()).await {
            return ended;
        }
        loop {
            let stopped = match self.scripted_turn().await {
                Ok(stopped) => stopped,
                Err(ended) => return ended,
            };
            let Some(lines) = &mut lines else {
                self.screen.note(NEXT);
                let is_cancelled = stopped == StopReason::Cancelled;
                return if is_cancelled { Ended::Signal(SignalKind::interrupt().as_raw_value()) } else { Ended::Done };
            };
            self.screen.note(NEXT);
            self.screen.paragraph("Press Enter to see it again from the beginning, Ctrl-C to end.");
            tokio::select! {
                line = lines.recv() => if line.is_none() { return Ended::Done },
                signal = self.signals.next() => return self.at_rest(signal),
            }
            if let Err(error) = workspace::fill(self.folder) {
                return self.failed(Error::into_internal_error(error));
            }
        }
    }

    async fn scripted_turn(&mut self) -> Result<StopReason, Ended> {
        let mut story = self.scripted_story();
        let connection = self.connection.clone();
        // A new session, in which nothing is allowed "always" yet.
        let session = self.listen(&mut story, None, client::open_session(&connection, self.folder)).await?;
        let turn = client::prompt(&connection, &session, "Tidy up this folder.");
        let stopped = self.listen(&mut story, Some(&session), turn).await?;
        self.screen.table(story.rows());
        Ok(stopped)
    }

    fn scripted_story(&self) -> Story {
        // Where its page is does not matter for looking at the folder.
        let deeds = deeds(([127, 0, 0, 1], 0).into()).to_vec();
        Story::scripted(deeds, self.folder.to_owned(), self.lifetime)
    }

    /// A real agent does what is typed, line by line.
    pub(super) async fn real(mut self) -> Ended {
        let mut story = Story::real(self.lifetime);
        match self.real_session(&mut story).await {
            Ok(session) => self.real_turns(&mut story, &session).await,
            Err(ended) => ended,
        }
    }

    async fn real_session(&mut self, story: &mut Story) -> Result<SessionId, Ended> {
        self.introduce(story).await?;
        let name = self.agent.name.clone().unwrap_or_else(|| "The agent".to_owned());
        let connection = self.connection.clone();
        let session = self.listen(story, None, client::open_session(&connection, self.folder)).await?;
        self.screen.note(&format!("{name} is ready, in {}", self.folder.display()));
        self.screen.note("Type what it should do. Ctrl-C cancels it, and ends the demo where nothing runs.");
        Ok(session)
    }

    async fn real_turns(&mut self, story: &mut Story, session: &SessionId) -> Ended {
        let mut lines = typed_lines();
        let is_typed = io::stdin().is_terminal();
        loop {
            if is_typed {
                self.screen.prompt();
            }
            let line = loop {
                tokio::select! {
                    line = lines.recv() => break line,
                    Some(news) = self.news.recv() => story.take(news, self.screen),
                    signal = self.signals.next() => return self.at_rest(signal),
                }
            };
            let Some(line) = line else { return Ended::Done };
            if is_typed {
                self.screen.typed();
            } else {
                self.screen.paragraph(&format!("> {line}"));
            }
            if line.trim().is_empty() {
                continue;
            }
            let connection = self.connection.clone();
            match self.listen(story, Some(session), client::prompt(&connection, session, &line)).await {
                Ok(stopped) => self.stopped(stopped),
                // A turn can fail without the agent being lost.
                Err(Ended::Agent { error, agent }) => {
                    self.screen.loudly(&client::explain(&error, &agent));
                }
                Err(ended) => return ended,
            }
        }
    }

    /// Worth a word where a turn ended early.
    fn stopped(&mut self, reason: StopReason) {
        let why = match reason {
            StopReason::EndTurn => return,
            StopReason::Cancelled => "The turn was cancelled.",
            StopReason::Refusal => "The agent refuses to go on.",
            StopReason::MaxTokens | StopReason::MaxTurnRequests => "The agent has reached a limit.",
            _ => "The turn has ended early.",
        };
        self.screen.note(why);
    }

    async fn introduce(&mut self, story: &mut Story) -> Result<(), Ended> {
        let connection = self.connection.clone();
        self.agent = self.listen(story, None, client::initialize(&connection)).await?;
        Ok(())
    }

    /// Tells what happens until there is an answer. Ctrl-C cancels the session's turn; once more, or without one, it ends.
    async fn listen<T>(
        &mut self,
        story: &mut Story,
        session: Option<&SessionId>,
        answer: impl Future<Output = Result<T>>,
    ) -> Result<T, Ended> {
        let mut answer = pin!(answer);
        let mut cancelled = false;
        loop {
            tokio::select! {
                biased;
                Some(news) = self.news.recv() => self.take(story, news).await,
                answered = &mut answer => {
                    // All of it came before the answer.
                    while let Ok(news) = self.news.try_recv() {
                        self.take(story, news).await;
                    }
                    return answered.map_err(|error| self.failed(error));
                }
                signal = self.signals.next() => match session {
                    Some(session) if !cancelled && signal == SignalKind::interrupt().as_raw_value() => {
                        cancelled = true;
                        self.screen.interrupted();
                        self.screen.note("Cancelling. Ctrl-C once more ends the demo at once.");
                        let _ = self.connection.send_notification(CancelNotification::new(session.clone()));
                    }
                    Some(_) | None => return Err(Ended::Signal(signal)),
                },
            }
        }
    }

    /// What the agent was told is told together with why, which the bridge says on another way.
    async fn take(&mut self, story: &mut Story, news: News) {
        let mut later = VecDeque::from([news]);
        if story.is_ahead_of_the_bridge(&later[0]) {
            let _ = tokio::time::timeout(LOG_LAG, async {
                while story.is_ahead_of_the_bridge(&later[0]) {
                    match self.news.recv().await {
                        Some(said @ News::Said(_)) => story.take(said, self.screen),
                        Some(other) => later.push_back(other),
                        None => return,
                    }
                }
            })
            .await;
        }
        for news in later {
            story.take(news, self.screen);
        }
    }

    /// Ctrl-C where nothing runs is how the demo is meant to be ended.
    fn at_rest(&mut self, signal: i32) -> Ended {
        self.screen.interrupted();
        self.screen.end_line();
        if signal == SignalKind::interrupt().as_raw_value() { Ended::Done } else { Ended::Signal(signal) }
    }

    fn failed(&self, error: Error) -> Ended {
        if self.connection.is_incoming_closed() {
            return Ended::Lost;
        }
        Ended::Agent { error, agent: self.agent.clone() }
    }
}

/// What is typed, line by line, until its end.
fn typed_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(LINES_MAX);
    // A plain thread: a runtime would wait at its end for a line that nobody types.
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
