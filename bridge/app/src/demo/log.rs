//! What the bridge and the agent say on standard error: kept, and followed for what becomes of the requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::ChildStderr;
use tokio::sync::{mpsc, watch};

use super::News;

/// Older lines are forgotten.
const LINES_MAX: usize = 200;
/// What is longer is taken for several lines.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// How much longer an agent's message takes than a line of the log.
const LAG: Duration = Duration::from_millis(30);

/// What the bridge says about a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) request: String,
    pub(super) what: Word,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// It waits for a person.
    Held,
    Ended(Ending),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Answered,
    Expired,
    /// The agent or its client needs no answer any more.
    Withdrawn,
    /// Anything else, in the bridge's words.
    Other(String),
}

/// The newest lines, as people read them.
pub(super) struct Log {
    lines: Mutex<VecDeque<String>>,
    first: watch::Sender<First>,
}

/// The first thing that the bridge said of whether it can serve.
#[derive(Clone, Debug)]
enum First {
    Nothing,
    /// Its page is up.
    Connected,
    Error(String),
}

/// What the bridge says once its page is up. Anybody may answer at the page's address.
const CONNECTED: &str = "connected; ";

impl Log {
    /// Follows it until it ends. With `verbose` every line is news.
    pub(super) fn follow(stderr: ChildStderr, news: mpsc::Sender<News>, verbose: bool) -> Arc<Self> {
        let log = Arc::new(Self { lines: Mutex::default(), first: watch::Sender::new(First::Nothing) });
        let followed = Arc::clone(&log);
        tokio::spawn(async move {
            let mut stderr = BufReader::new(stderr);
            loop {
                let mut line = Vec::new();
                match (&mut stderr).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => followed.take(String::from_utf8_lossy(&line).trim_end(), &news, verbose).await,
                }
            }
        });
        log
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Waits until the bridge says that its page is up, or why it is not.
    pub(super) async fn page_is_up(&self) -> Result<(), String> {
        let mut first = self.first.subscribe();
        match first.wait_for(|first| !matches!(first, First::Nothing)).await.as_deref() {
            Ok(First::Connected) => Ok(()),
            Ok(First::Error(why)) => Err(why.clone()),
            Ok(First::Nothing) | Err(_) => std::future::pending().await,
        }
    }

    async fn take(&self, line: &str, news: &mpsc::Sender<News>, verbose: bool) {
        let parsed = serde_json::from_str::<Line>(line).ok();
        let readable =
            parsed.as_ref().map_or_else(|| line.to_owned(), |line| format!("{:5} {}", line.level, line.fields.message));
        {
            let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() == LINES_MAX {
                lines.pop_front();
            }
            lines.push_back(readable.clone());
        }
        if verbose {
            let _ = news.send(News::Log(readable)).await;
        }
        let Some(line) = parsed else { return };
        let first = match line.level.as_str() {
            "ERROR" => First::Error(line.fields.message.clone()),
            "INFO" if line.fields.message.starts_with(CONNECTED) => First::Connected,
            _ => First::Nothing,
        };
        self.first.send_if_modified(|said| {
            let is_news = matches!(said, First::Nothing) && !matches!(first, First::Nothing);
            if is_news {
                *said = first;
            }
            is_news
        });
        if let Some(said) = line.fields.said() {
            if said.what == Word::Held {
                lag().await;
            }
            let _ = news.send(News::Said(said)).await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what the agent said before comes on another pipe, and is to be told before")]
async fn lag() {
    tokio::time::sleep(LAG).await;
}

#[derive(Deserialize)]
struct Line {
    level: String,
    fields: Fields,
}

#[derive(Deserialize)]
struct Fields {
    message: String,
    #[serde(rename = "request.id")]
    request: Option<String>,
    outcome: Option<String>,
    room: Option<String>,
}

impl Fields {
    fn said(self) -> Option<Said> {
        let what = match (self.outcome.as_deref(), self.room) {
            (Some("answered"), _) => Word::Ended(Ending::Answered),
            (Some("expired"), _) => Word::Ended(Ending::Expired),
            (Some("withdrawn"), _) => Word::Ended(Ending::Withdrawn),
            (Some(_), _) => Word::Ended(Ending::Other(self.message)),
            (None, Some(_)) => Word::Held,
            (None, None) => return None,
        };
        Some(Said { request: self.request?, what })
    }
}
