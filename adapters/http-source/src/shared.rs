//! What all connections share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bridge_core::SourceEvent;
use bridge_model::{Delivery, Ending, ReplyTo, Timestamp, Withdrawn};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tracing::warn;

use crate::body::Bytes;
use crate::table::Table;
use crate::tokens::{Grant, Tokens};
use crate::{Known, Options, ended, mark};

/// How often callers who are gone are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) tokens: Tokens,
    /// What bodies take that are being read.
    pub(crate) bytes: Bytes,
    table: Mutex<Table>,
    events: mpsc::Sender<SourceEvent>,
}

impl Shared {
    pub(crate) fn new(options: Options, events: mpsc::Sender<SourceEvent>) -> Self {
        Self { tokens: Tokens::of(&options.folder), options, bytes: Bytes::default(), table: Mutex::default(), events }
    }

    /// Held only between awaits.
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.options.outside.now)()
    }

    pub(crate) fn reply_to(&self, ask: u64) -> ReplyTo {
        ReplyTo { source: self.options.name.clone(), ask }
    }

    /// A number that no request has.
    pub(crate) fn next_ask(&self) -> u64 {
        loop {
            let ask = u64::from_ne_bytes((self.options.outside.random)());
            if !self.table().has(ask) {
                return ask;
            }
        }
    }

    /// Room to tell the bridge one thing, waited for while it has too much to do. `None`: it is ending.
    ///
    /// It is had before the table is changed, and used before the table is let go. So a caller that goes away in between
    /// leaves nothing in the table that the bridge is not told, and the bridge is told in the order of the table.
    pub(crate) async fn room_to_tell(&self) -> Option<mpsc::Permit<'_, SourceEvent>> {
        self.events.reserve().await.ok()
    }

    /// Takes up what earlier runs took.
    pub(crate) fn restore(&self, known: Vec<Known>) {
        let now = self.now();
        let mut table = self.table();
        for known in known {
            let Some(mark) = mark(&known) else {
                warn!("a request of an earlier run is not known again, so its caller cannot ask for it");
                continue;
            };
            let is_taken =
                known.ended.as_ref().is_some_and(|end| matches!(end.ending, Ending::Answered { delivery: Delivery::Taken, .. }));
            let end = known.ended.map(|end| ended(end.outcome.as_deref(), Some(&end.ending), end.at));
            table.restore(known.from.ask, mark, end, is_taken, now);
        }
    }

    /// What tokens have raised that are none any more.
    fn revoked(&self) -> Vec<u64> {
        // Where they cannot be read nothing is known of them.
        let Ok(tokens) = self.tokens.all() else { return Vec::new() };
        let ids: Vec<_> = tokens.iter().map(Grant::id).collect();
        self.table().of_others(&ids)
    }

    /// A request is taken back. What it was need not be told to anybody any more. `false`: the bridge is ending.
    pub(crate) async fn withdraw(&self, ask: u64, why: Withdrawn) -> bool {
        let end = ended(None, Some(&Ending::Withdrawn(why)), Some(self.now()));
        let Some(room) = self.room_to_tell().await else { return false };
        let mut table = self.table();
        if table.end(ask, end) {
            room.send(SourceEvent::Withdrawn(self.reply_to(ask), why));
        }
        true
    }
}

/// Withdraws what callers raised who are gone, for as long as the source is there.
pub(crate) fn watch_leases(shared: &Arc<Shared>) {
    let shared = Arc::downgrade(shared);
    tokio::spawn(async move {
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            look.tick().await;
            let Some(shared) = shared.upgrade() else { return };
            let since =
                shared.now().unix_millis().saturating_sub(u64::try_from(shared.options.lease.as_millis()).unwrap_or(u64::MAX));
            let abandoned = shared.table().abandoned(Timestamp::from_unix_millis(since));
            let revoked = shared.revoked();
            for ask in abandoned.into_iter().chain(revoked) {
                shared.withdraw(ask, Withdrawn::AgentGone).await;
            }
        }
    });
}
