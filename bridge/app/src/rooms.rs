//! Carries out what the bridge wants shown: posts, closings and private replies, none of which keeps another waiting.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Board, Clicks, Input, Room, RoomError, RoomEvent, Said};
use bridge_model::{Card, CardRef, ClickRef, ClickReply, ClosedCard, PersonId, RequestId, RoomName};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::hub::Inbox;
use crate::latest::Latest;

/// Closings carried out at once. The others wait; a newer one for the same card takes the older one's place.
const CLOSING_AT_ONCE: usize = 8;

/// Private replies on their way; one more is not sent.
const ANSWERS_MAX: usize = 16;

/// Messages about requests that never had a card, per minute. An agent must not flood a room with refusals.
const NOTICES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// Messages that call a request to mind, or people to one, per minute.
const CALLS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// How long a closing is tried. After that the next start closes the card.
const CLOSE_FOR: Duration = Duration::from_mins(15);

/// How long it may take to find out who is in a room. After that somebody may be.
const LOOK_FOR: Duration = Duration::from_secs(5);

/// How long a message or an update of a card is tried.
const SAY_FOR: Duration = Duration::from_secs(30);

/// Between two tries, at first and at most.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(15);

/// The way to a room of whatever kind.
#[derive(Clone)]
pub(crate) struct RoomHandle {
    commands: Arc<dyn Commands>,
}

/// The channel between the bridge and an adapter: erases the adapter's type.
trait Commands: Send + Sync {
    fn post(self: Arc<Self>, card: Card, within: Duration);
    fn resume(self: Arc<Self>, at: CardRef, card: Card, within: Duration);
    fn look(self: Arc<Self>, request: RequestId, room: RoomName, among: Option<BTreeSet<PersonId>>);
    fn update(self: Arc<Self>, at: CardRef, card: Card);
    fn say(self: Arc<Self>, said: Said);
    fn close(self: Arc<Self>, card: Option<CardRef>, closed: ClosedCard);
    fn answer(self: Arc<Self>, click: ClickRef, reply: ClickReply);
    fn unclosed(&self) -> watch::Receiver<usize>;
}

impl RoomHandle {
    pub(crate) fn post(&self, card: Card, within: Duration) {
        Arc::clone(&self.commands).post(card, within);
    }

    /// Takes up a card of an earlier run. What becomes of it is told like what becomes of a post.
    pub(crate) fn resume(&self, at: CardRef, card: Card, within: Duration) {
        Arc::clone(&self.commands).resume(at, card, within);
    }

    pub(crate) fn look(&self, request: RequestId, room: RoomName, among: Option<BTreeSet<PersonId>>) {
        Arc::clone(&self.commands).look(request, room, among);
    }

    pub(crate) fn update(&self, at: CardRef, card: Card) {
        Arc::clone(&self.commands).update(at, card);
    }

    pub(crate) fn say(&self, said: Said) {
        Arc::clone(&self.commands).say(said);
    }

    pub(crate) fn close(&self, card: Option<CardRef>, closed: ClosedCard) {
        Arc::clone(&self.commands).close(card, closed);
    }

    pub(crate) fn answer(&self, click: ClickRef, reply: ClickReply) {
        Arc::clone(&self.commands).answer(click, reply);
    }

    /// Waits until all closings are carried out, for `within` at most.
    pub(crate) async fn closed(&self, within: Duration) {
        let mut unclosed = self.commands.unclosed();
        if tokio::time::timeout(within, unclosed.wait_for(|count| *count == 0)).await.is_err() {
            warn!("some cards could not be closed in time; the next start closes them");
        }
    }
}

/// How far the connection is.
enum Connection<B> {
    Connecting,
    Open(Arc<B>),
    Failed(RoomError),
}

/// The card, if there is one, and what it has to say.
type Closing = (Option<CardRef>, ClosedCard);

struct Service<B> {
    connection: watch::Receiver<Connection<B>>,
    inbox: Inbox,
    /// What each card has to say next.
    closing: Latest<Closing>,
    unclosed: watch::Sender<usize>,
    /// Whose cards are being taken up.
    resuming: watch::Sender<BTreeSet<RequestId>>,
    /// What each card is to show next.
    updates: Latest<(CardRef, Card)>,
    updated: watch::Sender<()>,
    closing_at_once: Semaphore,
    answers: Arc<Semaphore>,
    notices: DefaultDirectRateLimiter,
    calls: DefaultDirectRateLimiter,
}

/// Connects an account in the background, for as long as it takes, and forwards what its rooms report.
///
/// `make` makes the room anew for each try. An error that is final loses all of `names`.
pub(crate) fn serve<R: Room + 'static>(make: impl Fn() -> R + Send + 'static, names: Vec<RoomName>, inbox: Inbox) -> RoomHandle {
    let (told, connection) = watch::channel(Connection::Connecting);
    let service = Service {
        connection,
        inbox: inbox.clone(),
        closing: Latest::default(),
        unclosed: watch::Sender::new(0),
        resuming: watch::Sender::default(),
        updates: Latest::default(),
        updated: watch::Sender::new(()),
        closing_at_once: Semaphore::new(CLOSING_AT_ONCE),
        answers: Arc::new(Semaphore::new(ANSWERS_MAX)),
        notices: RateLimiter::direct(Quota::per_minute(NOTICES_PER_MINUTE)),
        calls: RateLimiter::direct(Quota::per_minute(CALLS_PER_MINUTE)),
    };
    tokio::spawn(async move {
        let mut wait = PAUSE_MIN;
        let (board, mut clicks) = loop {
            match make().connect().await {
                Ok(connected) => break connected,
                Err(RoomError::Unavailable(why)) => {
                    warn!("the room's service cannot be reached and is tried again: {why}");
                    pause(&mut wait).await;
                }
                Err(error) => {
                    for name in names {
                        let _ = inbox.send(Input::Room(RoomEvent::RoomLost(name, error.to_string()))).await;
                    }
                    told.send_replace(Connection::Failed(error));
                    return;
                }
            }
        };
        info!("connected; permission requests can be shown");
        for name in &names {
            let _ = inbox.send(Input::RoomOpen(name.clone(), board.limits(name))).await;
        }
        let board = Arc::new(board);
        told.send_replace(Connection::Open(Arc::clone(&board)));
        while let Some(event) = clicks.next().await {
            if let RoomEvent::RoomFound(name) = &event {
                // It may show more or less than before.
                let _ = inbox.send(Input::RoomOpen(name.clone(), board.limits(name))).await;
            }
            if inbox.send(Input::Room(event)).await.is_err() {
                return;
            }
        }
        for name in names {
            let _ = inbox.send(Input::Room(RoomEvent::RoomLost(name, "its service sends nothing any more".to_owned()))).await;
        }
    });
    RoomHandle { commands: Arc::new(service) }
}

impl<B: Board> Service<B> {
    /// The board, once there is one.
    async fn board(&self) -> Result<Arc<B>, RoomError> {
        let mut connection = self.connection.clone();
        let settled = connection.wait_for(|connection| !matches!(connection, Connection::Connecting)).await;
        match settled.as_deref() {
            Ok(Connection::Open(board)) => Ok(Arc::clone(board)),
            Ok(Connection::Failed(error)) => Err(error.clone()),
            Ok(Connection::Connecting) | Err(_) => Err(RoomError::Unavailable("the bridge is ending".to_owned())),
        }
    }

    /// The board, and how much is left of `within` once there is one.
    async fn board_within(&self, within: Duration) -> Result<(Arc<B>, Duration), RoomError> {
        let until = Instant::now() + within;
        let unreachable = |_| RoomError::Unavailable("no connection within the request's lifetime".to_owned());
        let board = tokio::time::timeout_at(until, self.board()).await.map_err(unreachable)??;
        Ok((board, until.saturating_duration_since(Instant::now())))
    }

    async fn post_within(&self, card: &Card, within: Duration) -> Result<CardRef, RoomError> {
        let (board, left) = self.board_within(within).await?;
        board.post(card, left).await
    }

    async fn resume_within(&self, at: CardRef, card: &Card, within: Duration) -> Result<CardRef, RoomError> {
        let (board, left) = self.board_within(within).await?;
        board.resume(&at, card, left).await.map(|()| at)
    }

    /// Nothing else is asked for about a card that is being taken up.
    async fn resumed(&self, request: RequestId) {
        // Its sender is here.
        let _ = self.resuming.subscribe().wait_for(|resuming| !resuming.contains(&request)).await;
    }

    async fn update_now(&self, request: RequestId) {
        self.resumed(request).await;
        while let Some((at, card)) = self.next_update(request) {
            // A closing says how it ended, and must not be followed by a card that waits.
            if self.closing.has(request) {
                continue;
            }
            let shown = async { self.board().await?.update(&at, &card).await };
            match tokio::time::timeout(SAY_FOR, shown).await {
                Ok(Ok(())) => {}
                Ok(Err(problem)) => warn!(%problem, request.id = %request, "the card of request {request} is not up to date"),
                Err(_) => warn!(request.id = %request, "the card of request {request} could not be updated in time"),
            }
        }
    }

    fn next_update(&self, request: RequestId) -> Option<(CardRef, Card)> {
        let next = self.updates.next(request);
        if next.is_none() {
            self.updated.send_replace(());
        }
        next
    }

    /// A closing must be the last that its card says.
    async fn updates_over(&self, request: RequestId) {
        let mut updated = self.updated.subscribe();
        while self.updates.has(request) {
            if updated.changed().await.is_err() {
                return;
            }
        }
    }

    /// Until done, or until it is clear that it cannot be done.
    async fn close_now(&self, request: RequestId) {
        self.resumed(request).await;
        let until = Instant::now() + CLOSE_FOR;
        let mut wait = PAUSE_MIN;
        self.updates_over(request).await;
        while let Some((card, closed)) = self.next_closing(request) {
            let Ok(permit) = self.closing_at_once.acquire().await else { return };
            let tried = tokio::time::timeout_at(until, async { self.board().await?.close(card.as_ref(), &closed).await }).await;
            match tried {
                Ok(Ok(())) => {
                    let _ = self.inbox.send(Input::CardClosed(request)).await;
                }
                Ok(Err(RoomError::Unavailable(why))) => {
                    debug!(request.id = %request, "the card of request {request} cannot be closed yet: {why}");
                    self.closing.put_back(request, (card, closed));
                    // Another room's closings need not wait for this one's better days.
                    drop(permit);
                    pause(&mut wait).await;
                }
                Ok(Err(RoomError::Refused(why) | RoomError::NotShowable(why) | RoomError::NotAttached(why))) => {
                    warn!(request.id = %request, "the card of request {request} cannot be closed: {why}");
                    // Whatever keeps it from being closed now will not be different at the next start.
                    let _ = self.inbox.send(Input::CardClosed(request)).await;
                }
                Err(_) => {
                    warn!(request.id = %request, "the card of request {request} could not be closed; the next start closes it");
                    self.closing.give_up(request);
                }
            }
        }
    }

    /// What the card has to say now; `None` ends the closing.
    fn next_closing(&self, request: RequestId) -> Option<Closing> {
        let next = self.closing.next(request);
        if next.is_none() {
            self.unclosed.send_modify(|count| *count = self.closing.len());
        }
        next
    }
}

impl<B: Board> Commands for Service<B> {
    fn post(self: Arc<Self>, card: Card, within: Duration) {
        tokio::spawn(async move {
            let posted = self.post_within(&card, within).await;
            let _ = self.inbox.send(Input::Posted(card.request, posted)).await;
        });
    }

    fn resume(self: Arc<Self>, at: CardRef, card: Card, within: Duration) {
        let request = card.request;
        self.resuming.send_modify(|resuming| {
            resuming.insert(request);
        });
        tokio::spawn(async move {
            let resumed = self.resume_within(at, &card, within).await;
            self.resuming.send_modify(|resuming| {
                resuming.remove(&request);
            });
            let _ = self.inbox.send(Input::Posted(request, resumed)).await;
        });
    }

    fn look(self: Arc<Self>, request: RequestId, room: RoomName, among: Option<BTreeSet<PersonId>>) {
        tokio::spawn(async move {
            let people = async { self.board().await?.people(&room, among.as_ref()).await };
            let people = match tokio::time::timeout(LOOK_FOR, people).await {
                Ok(Ok(people)) => people,
                Ok(Err(problem)) => {
                    debug!(%problem, "it cannot be told who is in {room}");
                    None
                }
                Err(_) => None,
            };
            let _ = self.inbox.send(Input::People(request, people)).await;
        });
    }

    fn update(self: Arc<Self>, at: CardRef, card: Card) {
        let request = card.request;
        // The latest of a card counts; one that is being closed needs no more.
        let is_new = self.updates.put(request, (at, card));
        if is_new {
            tokio::spawn(async move { self.update_now(request).await });
        }
    }

    fn say(self: Arc<Self>, said: Said) {
        // Refusals, of which an agent can cause any number, must not silence what calls people.
        if self.calls.check().is_err() {
            debug!(request.id = %said.request, "too many messages in a minute; one is not sent");
            return;
        }
        tokio::spawn(async move {
            let told = async { self.board().await?.say(&said).await };
            match tokio::time::timeout(SAY_FOR, told).await {
                Ok(Ok(())) => {}
                Ok(Err(problem)) => warn!(%problem, request.id = %said.request, "a message in {} was not sent", said.room),
                Err(_) => warn!(request.id = %said.request, "a message in {} was not sent in time", said.room),
            }
        });
    }

    fn close(self: Arc<Self>, card: Option<CardRef>, closed: ClosedCard) {
        let request = closed.request;
        if card.is_none() && self.notices.check().is_err() {
            debug!(request.id = %request, "too many refusals in a minute; this one is not told to the room");
            return;
        }
        let is_new = self.closing.put(request, (card, closed));
        self.unclosed.send_modify(|count| *count = self.closing.len());
        if is_new {
            tokio::spawn(async move { self.close_now(request).await });
        }
    }

    fn answer(self: Arc<Self>, click: ClickRef, reply: ClickReply) {
        let Ok(permit) = Arc::clone(&self.answers).try_acquire_owned() else {
            debug!("too many private replies at once; one is not sent");
            return;
        };
        tokio::spawn(async move {
            let answered = async { self.board().await?.answer(&click, &reply).await }.await;
            if let Err(problem) = answered {
                debug!(%problem, "a private reply could not be sent");
            }
            drop(permit);
        });
    }

    fn unclosed(&self) -> watch::Receiver<usize> {
        self.unclosed.subscribe()
    }
}

/// Waits, and longer the next time.
#[expect(clippy::disallowed_methods, reason = "this is the one helper that backs off")]
async fn pause(wait: &mut Duration) {
    tokio::time::sleep(*wait).await;
    *wait = (*wait * 2).min(PAUSE_MAX);
}
