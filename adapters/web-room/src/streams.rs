//! Open event streams: who is present, and the way to them.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::sse::Event;
use bridge_model::{PersonId, RoomName};
use futures_util::{Stream, stream};
use tokio::sync::{Notify, broadcast, oneshot};
use tokio::time::timeout;

use crate::id::TokenHash;
use crate::people::Member;

/// Pages that one person may have open; one more is refused.
const OF_PERSON_MAX: usize = 8;
/// Pages that may be open at all; one more is refused.
const STREAMS_MAX: usize = 128;
/// News that a page has not taken yet; one that falls further behind has to begin anew.
const BEHIND_MAX: usize = 256;
/// How long a closing waits for pages to take it.
const TAKEN_WITHIN: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Streams {
    news: broadcast::Sender<News>,
    open: Arc<Mutex<HashMap<String, Open>>>,
    /// News that streams have in hand and have not passed on.
    in_hand: Arc<AtomicUsize>,
    passed_on: Arc<Notify>,
}

/// An event for those who may see a room.
#[derive(Clone, Debug)]
struct News {
    room: RoomName,
    json: Arc<str>,
}

#[derive(Debug)]
struct Open {
    session: TokenHash,
    person: PersonId,
    /// Dropping it ends the stream.
    _until_ended: oneshot::Sender<()>,
}

/// Why a stream was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooMany {
    OfPerson,
    AtAll,
}

impl Default for Streams {
    fn default() -> Self {
        let (news, _) = broadcast::channel(BEHIND_MAX);
        Self { news, open: Arc::default(), in_hand: Arc::default(), passed_on: Arc::default() }
    }
}

impl Streams {
    /// From now on nothing is missed. The stream is open until it is dropped or ended.
    pub(crate) fn open(&self, name: &str, member: &Member, rooms: BTreeSet<RoomName>) -> Result<EventStream, TooMany> {
        let mut open = lock(&self.open);
        if STREAMS_MAX <= open.len() {
            return Err(TooMany::AtAll);
        }
        if OF_PERSON_MAX <= open.values().filter(|stream| stream.person == member.person).count() {
            return Err(TooMany::OfPerson);
        }
        let (until_ended, ended) = oneshot::channel();
        let stream = Open { session: member.session, person: member.person.clone(), _until_ended: until_ended };
        open.insert(name.to_owned(), stream);
        Ok(EventStream {
            name: name.to_owned(),
            rooms,
            first: VecDeque::new(),
            news: self.news.subscribe(),
            ended,
            has_in_hand: false,
            open: Arc::clone(&self.open),
            in_hand: Arc::clone(&self.in_hand),
            passed_on: Arc::clone(&self.passed_on),
            connection: Arc::default(),
        })
    }

    pub(crate) fn tell(&self, room: &RoomName, json: &str) {
        // Nobody may be there.
        let _ = self.news.send(News { room: room.clone(), json: json.into() });
    }

    /// Waits until pages that can keep up have been sent all that they were told. The program may end afterwards.
    pub(crate) async fn taken(&self) {
        let all = async {
            loop {
                let passed_on = self.passed_on.notified();
                if self.news.is_empty() && self.in_hand.load(Ordering::SeqCst) == 0 {
                    return;
                }
                passed_on.await;
            }
        };
        // A page that hangs is no reason to wait longer; it begins anew.
        let _ = timeout(TAKEN_WITHIN, all).await;
    }

    /// Whether this session holds the stream of this name open.
    pub(crate) fn is_open(&self, name: &str, session: &TokenHash) -> bool {
        lock(&self.open).get(name).is_some_and(|stream| stream.session == *session)
    }

    /// Ends the streams of all sessions but these.
    pub(crate) fn keep(&self, sessions: &[TokenHash]) {
        lock(&self.open).retain(|_, stream| sessions.contains(&stream.session));
    }

    pub(crate) fn end(&self, session: &TokenHash) {
        lock(&self.open).retain(|_, stream| stream.session != *session);
    }
}

/// What one page is told, from the moment it is made.
pub(crate) struct EventStream {
    name: String,
    rooms: BTreeSet<RoomName>,
    first: VecDeque<Event>,
    news: broadcast::Receiver<News>,
    ended: oneshot::Receiver<()>,
    has_in_hand: bool,
    open: Arc<Mutex<HashMap<String, Open>>>,
    in_hand: Arc<AtomicUsize>,
    passed_on: Arc<Notify>,
    /// Tells the server not to close this connection for another.
    connection: Arc<AtomicBool>,
}

impl EventStream {
    /// `first`: what the page is told before any news. `connection` is marked while the stream lives.
    pub(crate) fn run(mut self, first: Vec<Event>, connection: Arc<AtomicBool>) -> impl Stream<Item = Result<Event, Infallible>> {
        connection.store(true, Ordering::SeqCst);
        self.first = first.into();
        self.connection = connection;
        stream::unfold(self, |mut stream| async move { stream.next().await.map(|event| (Ok(event), stream)) })
    }

    /// Cancel-safe.
    async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.first.pop_front() {
            return Some(event);
        }
        self.put_down();
        loop {
            let news = tokio::select! {
                biased;
                _ = &mut self.ended => return None,
                // A page that fell behind begins anew, with everything as it is then.
                news = self.news.recv() => news.ok()?,
            };
            if self.rooms.contains(&news.room) {
                self.in_hand.fetch_add(1, Ordering::SeqCst);
                self.has_in_hand = true;
                return Some(Event::default().event("card").data(&*news.json));
            }
            self.passed_on.notify_waiters();
        }
    }

    /// What it had in hand was passed on when it is asked for more.
    fn put_down(&mut self) {
        if std::mem::take(&mut self.has_in_hand) {
            self.in_hand.fetch_sub(1, Ordering::SeqCst);
        }
        self.passed_on.notify_waiters();
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        lock(&self.open).remove(&self.name);
        self.connection.store(false, Ordering::SeqCst);
        self.put_down();
    }
}

/// Held only between awaits.
fn lock(open: &Mutex<HashMap<String, Open>>) -> MutexGuard<'_, HashMap<String, Open>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
