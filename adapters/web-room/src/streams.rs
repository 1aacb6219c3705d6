//! Open event streams: who is present, and the way to them.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::sse::Event;
use bridge_model::{PersonId, RoomName};
use futures_util::{Stream, stream};
use tokio::sync::{Notify, broadcast, oneshot};
use tokio::time::{Instant, timeout};

use crate::id::TokenHash;
use crate::people::Member;
use crate::serve::Connection;

/// Pages that one browser may have open; one more is refused. Browsers open six connections to a host, and a press needs
/// one as well.
const OF_SESSION_MAX: usize = 4;
/// Pages that one person may have open; one more is refused.
const OF_PERSON_MAX: usize = 8;
/// Pages that may be open at all; one more is refused.
const STREAMS_MAX: usize = 128;
/// News that a page has not taken yet; one that falls further behind has to begin anew.
const BEHIND_MAX: usize = 256;
/// A page that lost its connection is back within this time: it tries again every few seconds.
const BACK_WITHIN: Duration = Duration::from_secs(8);
/// How long a closing waits for pages to take it.
const TAKEN_WITHIN: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Streams {
    news: broadcast::Sender<News>,
    open: Arc<Mutex<HashMap<String, Open>>>,
    began: Instant,
    left: Arc<Mutex<VecDeque<Left>>>,
    /// How many news there have been.
    told: AtomicU64,
    sent_more: Arc<Notify>,
}

/// The names of what pages are told: a card as it is now, and all lines of a room.
pub(crate) const CARD: &str = "card";
pub(crate) const LINES: &str = "lines";

/// An event for those who may see a room.
#[derive(Clone, Debug)]
struct News {
    number: u64,
    room: RoomName,
    event: &'static str,
    json: Arc<str>,
}

/// A page that is gone, as far as can be told at that instant.
#[derive(Debug)]
struct Left {
    at: Instant,
    session: TokenHash,
    person: PersonId,
    rooms: BTreeSet<RoomName>,
}

/// It is counted until its connection is gone, also once it has been ended.
#[derive(Debug)]
struct Open {
    session: TokenHash,
    person: PersonId,
    rooms: BTreeSet<RoomName>,
    /// Dropping it ends the stream. `None`: it was ended.
    until_ended: Option<oneshot::Sender<()>>,
    progress: Arc<Progress>,
}

/// How far a stream is, in the numbers of news.
#[derive(Debug)]
pub(crate) struct Progress {
    received: AtomicU64,
    /// The last that its connection was given to send.
    given: AtomicU64,
    /// The last that its connection has sent.
    sent: AtomicU64,
    /// It kept a closing waiting. Nobody waits for it again until it has sent something.
    is_late: AtomicBool,
    sent_more: Arc<Notify>,
}

impl Progress {
    fn new(told: u64, sent_more: Arc<Notify>) -> Self {
        let [received, given, sent] = [told; 3].map(AtomicU64::new);
        Self { received, given, sent, is_late: AtomicBool::new(false), sent_more }
    }

    fn is_behind(&self, told: u64) -> bool {
        let [received, given, sent] = [&self.received, &self.given, &self.sent].map(|number| number.load(Ordering::SeqCst));
        received < told || sent < given
    }

    /// Called by the connection once everything that it was given has left this process.
    pub(crate) fn all_is_sent(&self) {
        self.sent.store(self.given.load(Ordering::SeqCst), Ordering::SeqCst);
        self.is_late.store(false, Ordering::SeqCst);
        self.sent_more.notify_waiters();
    }
}

/// Why a stream was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooMany {
    OfSession,
    OfPerson,
    AtAll,
}

impl Default for Streams {
    fn default() -> Self {
        let (news, _) = broadcast::channel(BEHIND_MAX);
        Self {
            news,
            open: Arc::default(),
            began: Instant::now(),
            left: Arc::default(),
            told: AtomicU64::new(0),
            sent_more: Arc::default(),
        }
    }
}

impl Streams {
    /// From now on nothing is missed. The stream is open until it is dropped or ended. What it says before any news is
    /// given to [`EventStream::run`].
    pub(crate) fn open(&self, name: &str, member: &Member, rooms: BTreeSet<RoomName>) -> Result<EventStream, TooMany> {
        let mut open = lock(&self.open);
        if STREAMS_MAX <= open.len() {
            return Err(TooMany::AtAll);
        }
        let count = |is_it: &dyn Fn(&Open) -> bool| open.values().filter(|stream| is_it(stream)).count();
        if OF_PERSON_MAX <= count(&|stream| stream.person == member.person) {
            return Err(TooMany::OfPerson);
        }
        if OF_SESSION_MAX <= count(&|stream| stream.session == member.session) {
            return Err(TooMany::OfSession);
        }
        let (until_ended, ended) = oneshot::channel();
        let told = self.told.load(Ordering::SeqCst);
        let progress = Arc::new(Progress::new(told, Arc::clone(&self.sent_more)));
        let stream = Open {
            session: member.session,
            person: member.person.clone(),
            rooms: rooms.clone(),
            until_ended: Some(until_ended),
            progress: Arc::clone(&progress),
        };
        open.insert(name.to_owned(), stream);
        Ok(EventStream {
            name: name.to_owned(),
            rooms,
            first: VecDeque::new(),
            news: self.news.subscribe(),
            ended,
            progress,
            open: Arc::clone(&self.open),
            left: Arc::clone(&self.left),
            connection: None,
        })
    }

    /// `event`: [`CARD`] or [`LINES`].
    pub(crate) fn tell(&self, room: &RoomName, event: &'static str, json: &str) {
        let number = self.told.fetch_add(1, Ordering::SeqCst) + 1;
        // Nobody may be there.
        let _ = self.news.send(News { number, room: room.clone(), event, json: json.into() });
    }

    /// Waits until all pages that keep up were sent what was told so far, so that the program may end.
    pub(crate) async fn taken(&self) {
        let told = self.told.load(Ordering::SeqCst);
        let behind = || {
            let open = lock(&self.open);
            let all = open.values().map(|stream| &stream.progress);
            all.filter(|at| !at.is_late.load(Ordering::SeqCst) && at.is_behind(told)).cloned().collect::<Vec<_>>()
        };
        let all = async {
            loop {
                let sent_more = self.sent_more.notified();
                if behind().is_empty() {
                    return;
                }
                sent_more.await;
            }
        };
        if timeout(TAKEN_WITHIN, all).await.is_err() {
            for late in behind() {
                late.is_late.store(true, Ordering::SeqCst);
            }
        }
    }

    /// Whether this session holds the stream of this name open.
    pub(crate) fn is_open(&self, name: &str, session: &TokenHash) -> bool {
        lock(&self.open).get(name).is_some_and(|stream| stream.session == *session && stream.until_ended.is_some())
    }

    /// Those of these sessions who have a page open that shows this room, or had one a moment ago. `None`: whoever had one
    /// open before this program was there may not be back yet.
    pub(crate) fn people(&self, room: &RoomName, sessions: &BTreeSet<TokenHash>) -> Option<BTreeSet<PersonId>> {
        if self.began.elapsed() < BACK_WITHIN {
            return None;
        }
        let is_there =
            |stream: &&Open| stream.until_ended.is_some() && stream.rooms.contains(room) && sessions.contains(&stream.session);
        let open: BTreeSet<_> = lock(&self.open).values().filter(is_there).map(|stream| stream.person.clone()).collect();
        let may_be_back =
            |left: &&Left| left.at.elapsed() < BACK_WITHIN && left.rooms.contains(room) && sessions.contains(&left.session);
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        Some(left.iter().filter(may_be_back).map(|left| left.person.clone()).chain(open).collect())
    }

    /// Ends the streams of all sessions but these; returns those that have one open.
    pub(crate) fn keep(&self, sessions: &BTreeSet<TokenHash>) -> BTreeSet<TokenHash> {
        self.end_where(|session| !sessions.contains(session));
        lock(&self.open).values().filter(|stream| stream.until_ended.is_some()).map(|stream| stream.session).collect()
    }

    pub(crate) fn end(&self, session: &TokenHash) {
        self.end_where(|other| other == session);
    }

    fn end_where(&self, is_over: impl Fn(&TokenHash) -> bool) {
        for stream in lock(&self.open).values_mut().filter(|stream| is_over(&stream.session)) {
            stream.until_ended = None;
        }
    }
}

/// What one page is told, from the moment it is made.
pub(crate) struct EventStream {
    name: String,
    rooms: BTreeSet<RoomName>,
    first: VecDeque<First>,
    news: broadcast::Receiver<News>,
    ended: oneshot::Receiver<()>,
    progress: Arc<Progress>,
    open: Arc<Mutex<HashMap<String, Open>>>,
    left: Arc<Mutex<VecDeque<Left>>>,
    connection: Option<Connection>,
}

/// An event that is drawn when it is its turn, so that a page that takes nothing costs little.
pub(crate) type First = Box<dyn FnOnce() -> Event + Send>;

impl EventStream {
    /// `first`: what the page is told before any news. `connection` knows of the stream while it lives.
    pub(crate) fn run(mut self, first: Vec<First>, connection: Connection) -> impl Stream<Item = Result<Event, Infallible>> {
        connection.carries(Some(Arc::clone(&self.progress)));
        self.first = first.into();
        self.connection = Some(connection);
        stream::unfold(self, |mut stream| async move { stream.next().await.map(|event| (Ok(event), stream)) })
    }

    /// Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.first.pop_front() {
            return Some(event());
        }
        loop {
            let news = tokio::select! {
                biased;
                _ = &mut self.ended => return None,
                // A page that fell behind begins anew, with everything as it is then.
                news = self.news.recv() => news.ok()?,
            };
            let is_for_it = self.rooms.contains(&news.room);
            if is_for_it {
                self.progress.given.store(news.number, Ordering::SeqCst);
            }
            self.progress.received.store(news.number, Ordering::SeqCst);
            if is_for_it {
                return Some(Event::default().event(news.event).data(&*news.json));
            }
            self.progress.sent_more.notify_waiters();
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let gone = lock(&self.open).remove(&self.name);
        // What was ended is not coming back.
        if let Some(Open { session, person, rooms, .. }) = gone.filter(|stream| stream.until_ended.is_some()) {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            if STREAMS_MAX <= left.len() {
                left.pop_front();
            }
            left.push_back(Left { at: Instant::now(), session, person, rooms });
        }
        if let Some(connection) = &self.connection {
            connection.carries(None);
        }
        self.progress.sent_more.notify_waiters();
    }
}

/// Held only between awaits.
fn lock(open: &Mutex<HashMap<String, Open>>) -> MutexGuard<'_, HashMap<String, Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
