//! The connection over which Discord tells what happens. Serenity keeps it, resumes it and begins it anew.
//!
//! It has a thread with a runtime of its own: serenity spawns a task for each event, and only where one thread runs them
//! all do they begin in Discord's order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bridge_core::{RoomError, RoomEvent};
use futures_util::StreamExt as _;
use serenity::all::{Context, Event, GatewayIntents, RawEventHandler, ShardManager};
use serenity::async_trait;
use serenity::gateway::{GatewayError, ShardManagerOptions};
use tokio::runtime::{self, Handle};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::timeout;
use tracing::error;

use crate::account::Account;
use crate::fault::TOKEN_GONE;
use crate::order::Order;
use crate::said::{self, Happened, Said};
use crate::{clicks, session};

/// Guild, channel, thread and role events, and deleted messages. Clicks need no intent; nothing here is privileged.
const INTENTS: GatewayIntents = GatewayIntents::GUILDS.union(GatewayIntents::GUILD_MESSAGES);

/// How long the first session may take to begin.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// Dropping it ends the connection.
#[derive(Debug)]
pub(crate) struct Gateway {
    /// Why Discord will have no more of it.
    ended: oneshot::Receiver<String>,
    _until_dropped: watch::Sender<()>,
}

impl Gateway {
    /// Returns once a session has begun.
    pub(crate) async fn connect(
        account: &Arc<Account>,
        events: mpsc::Sender<RoomEvent>,
        work: mpsc::Sender<Happened>,
    ) -> Result<Self, RoomError> {
        // Asked for here, since serenity's own client would fall back to a name that nobody configured.
        let url = session::gateway_url(account).await?;
        let (told, mut ready) = watch::channel(false);
        let handler = Handler {
            account: Arc::clone(account),
            at_once: Arc::new(Semaphore::new(clicks::AT_ONCE_MAX)),
            order: Arc::new(Order::new(events)),
            work,
            missed: AtomicBool::new(false),
            ready: told,
            elsewhere: Handle::current(),
        };
        let options = ShardManagerOptions {
            data: Arc::default(),
            event_handlers: Vec::new(),
            raw_event_handlers: vec![Arc::new(handler)],
            shard_index: 0,
            shard_init: 1,
            shard_total: 1,
            ws_url: Arc::new(tokio::sync::Mutex::new(url)),
            http: Arc::clone(&account.http),
            intents: INTENTS,
            presence: None,
        };
        let (until_dropped, stop) = watch::channel(());
        let (end, ended) = oneshot::channel();
        let unavailable = |error: io::Error| RoomError::Unavailable(format!("no thread for Discord's gateway ({error})"));
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(unavailable)?;
        let thread = thread::Builder::new().name("discord-gateway".to_owned());
        thread.spawn(move || runtime.block_on(keep(options, stop, end))).map_err(unavailable)?;
        let mut gateway = Self { ended, _until_dropped: until_dropped };
        tokio::select! {
            began = timeout(READY_WITHIN, async { ready.wait_for(|ready| *ready).await.is_ok() }) => match began {
                Ok(true) => Ok(gateway),
                Ok(false) | Err(_) => {
                    Err(RoomError::Unavailable("Discord's gateway did not begin a session in time".to_owned()))
                }
            },
            ended = &mut gateway.ended => Err(RoomError::Refused(why(ended.ok()))),
        }
    }

    /// Until Discord will have no more of it, which loses every room, or nobody listens.
    pub(crate) async fn run(self, account: Arc<Account>, events: mpsc::Sender<RoomEvent>, mut stop: watch::Receiver<()>) {
        let Self { ended, _until_dropped } = self;
        tokio::select! {
            ended = ended => {
                let why = why(ended.ok());
                for name in account.rooms.keys() {
                    let _ = events.send(RoomEvent::RoomLost(name.clone(), why.clone())).await;
                }
            }
            // Nothing is ever sent; it ends when the clicks are dropped.
            _ = stop.changed() => {}
        }
    }
}

/// Keeps the connection until Discord ends it for good or nobody wants it any more.
async fn keep(options: ShardManagerOptions, mut stop: watch::Receiver<()>, end: oneshot::Sender<String>) {
    let (shards, mut ended) = ShardManager::new(options);
    // It only puts a message into a queue, and has no way to fail.
    let _ = shards.initialize();
    tokio::select! {
        ended = ended.next() => {
            let _ = end.send(match ended {
                Some(Err(GatewayError::InvalidAuthentication)) => TOKEN_GONE.to_owned(),
                Some(Err(error)) => format!("Discord's gateway has ended the session for good: {error}"),
                Some(Ok(())) | None => why(None),
            });
        }
        _ = stop.changed() => {}
    }
    shards.shutdown_all().await;
}

fn why(ended: Option<String>) -> String {
    ended.unwrap_or_else(|| "the connection to Discord's gateway has ended".to_owned())
}

struct Handler {
    account: Arc<Account>,
    at_once: Arc<Semaphore>,
    order: Arc<Order>,
    work: mpsc::Sender<Happened>,
    /// The worker had no place for something, so that it has to look at everything.
    missed: AtomicBool,
    ready: watch::Sender<bool>,
    /// Where whatever takes time is done.
    elsewhere: Handle,
}

#[async_trait]
impl RawEventHandler for Handler {
    /// Never waits, so that events are taken one after the other.
    async fn raw_event(&self, _: Context, event: Event) {
        let Some(said) = said::read(event, self.account.bot) else { return };
        match said {
            Said::Pressed(pressed) => {
                if let Some(rest) = clicks::pressed(&self.account, &self.at_once, &self.order, *pressed) {
                    self.elsewhere.spawn(rest);
                }
            }
            Said::Unreadable => {
                error!(
                    "a click could not be read, and so did not count; Discord may have changed its form, look for a new version"
                );
            }
            Said::Happened(happened) => self.give(happened),
        }
    }
}

impl Handler {
    fn give(&self, happened: Happened) {
        if matches!(happened, Happened::Ready) {
            self.ready.send_replace(true);
        }
        let missed = self.missed.swap(false, Ordering::Relaxed);
        for happened in missed.then_some(Happened::Ready).into_iter().chain([happened]) {
            if self.work.try_send(happened).is_err() {
                self.missed.store(true, Ordering::Relaxed);
            }
        }
    }
}
