//! The page as it is served, shared by everything that acts for it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bridge_core::RoomEvent;
use bridge_model::{PersonId, RoomName};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{Semaphore, mpsc};
use tracing::warn;

use crate::clicks::Asking;
use crate::keys::{Keys, KeysError};
use crate::listen::{Listening, Own, Trust};
use crate::live::LiveTable;
use crate::routes::Said;
use crate::streams::Streams;
use crate::{Options, Outside};

/// Questions to the keys that are answered at once. The others wait; connections are as many as there may be.
const KEYS_AT_ONCE: usize = 8;

/// Why the keys did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoKeys {
    #[error(transparent)]
    Because(KeysError),
    #[error("the bridge is ending")]
    Ending,
}

/// A page that cannot stay connected tries again every few seconds.
const OPENINGS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).unwrap();
const OPENINGS_BURST: NonZeroU32 = NonZeroU32::new(40).unwrap();

const WARNINGS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(6).unwrap();

#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) rooms: BTreeSet<RoomName>,
    pub(crate) keys: Keys,
    pub(crate) own: Own,
    pub(crate) trust: Trust,
    pub(crate) outside: Outside,
    pub(crate) streams: Streams,
    pub(crate) asking: Asking,
    /// Each person's pages and files. Opening one costs more than anything else.
    pub(crate) openings: DefaultKeyedRateLimiter<PersonId>,
    /// How often the log says what anybody can bring about.
    pub(crate) warnings: DefaultDirectRateLimiter,
    turns: Arc<Semaphore>,
    live: Mutex<LiveTable>,
    /// It does not keep the events from ending.
    events: mpsc::WeakSender<RoomEvent>,
}

impl Served {
    pub(crate) fn new(options: &Options, keys: Keys, listening: &Listening, events: mpsc::WeakSender<RoomEvent>) -> Self {
        Self {
            rooms: options.rooms.clone(),
            keys,
            own: listening.own.clone(),
            trust: listening.trust.clone(),
            outside: options.outside.clone(),
            streams: Streams::default(),
            asking: Asking::default(),
            openings: RateLimiter::keyed(Quota::per_minute(OPENINGS_PER_MINUTE).allow_burst(OPENINGS_BURST)),
            warnings: RateLimiter::direct(Quota::per_minute(WARNINGS_PER_MINUTE)),
            turns: Arc::new(Semaphore::new(KEYS_AT_ONCE)),
            live: Mutex::default(),
            events,
        }
    }

    /// Held only between awaits.
    pub(crate) fn live(&self) -> MutexGuard<'_, LiveTable> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the keys, which waits for the disk, and before that for its turn.
    pub(crate) async fn ask_keys<T: Send + 'static>(
        self: &Arc<Self>,
        ask: impl FnOnce(&Keys) -> Result<T, KeysError> + Send + 'static,
    ) -> Result<T, NoKeys> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| NoKeys::Ending)?;
        let served = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || {
            let told = ask(&served.keys);
            // Whoever asked may have left meanwhile; the next one's turn comes only now.
            drop(turn);
            told
        });
        asked.await.map_err(|_| NoKeys::Ending)?.map_err(NoKeys::Because)
    }

    /// The reason is the operator's to read.
    pub(crate) fn unavailable(&self, problem: &NoKeys) -> Said {
        if self.warnings.check().is_ok() {
            warn!("the keys of the page cannot be asked: {problem}");
        }
        Said::Unavailable
    }

    /// Waits while the bridge has too much to do. `false`: it is ending.
    pub(crate) async fn report(&self, event: RoomEvent) -> bool {
        match self.events.upgrade() {
            Some(events) => events.send(event).await.is_ok(),
            None => false,
        }
    }

    /// Forgets those who have done nothing for a while.
    pub(crate) fn forget(&self) {
        self.asking.forget();
        self.openings.retain_recent();
    }

    /// Those of a key's rooms that are on this page.
    pub(crate) fn shown_to(&self, rooms: &[RoomName]) -> BTreeSet<RoomName> {
        rooms.iter().filter(|room| self.rooms.contains(*room)).cloned().collect()
    }
}
