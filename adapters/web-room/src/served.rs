//! The page as it is served, shared by everything that acts for it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bridge_core::RoomEvent;
use bridge_model::RoomName;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::mpsc;

use crate::clicks::Asking;
use crate::keys::Keys;
use crate::listen::{Listening, Origins, Trust};
use crate::live::LiveTable;
use crate::streams::Streams;
use crate::{Options, Outside};

const GUESSES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(6).unwrap();

#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) rooms: BTreeSet<RoomName>,
    pub(crate) keys: Keys,
    pub(crate) origins: Origins,
    pub(crate) trust: Trust,
    pub(crate) outside: Outside,
    pub(crate) streams: Streams,
    pub(crate) asking: Asking,
    /// How often it is said that somebody tried to join with no key.
    pub(crate) guesses: DefaultDirectRateLimiter,
    live: Mutex<LiveTable>,
    /// It does not keep the events from ending.
    events: mpsc::WeakSender<RoomEvent>,
}

impl Served {
    pub(crate) fn new(options: &Options, keys: Keys, listening: &Listening, events: mpsc::WeakSender<RoomEvent>) -> Self {
        Self {
            rooms: options.rooms.clone(),
            keys,
            origins: listening.origins.clone(),
            trust: listening.trust.clone(),
            outside: options.outside.clone(),
            streams: Streams::default(),
            asking: Asking::default(),
            guesses: RateLimiter::direct(Quota::per_minute(GUESSES_PER_MINUTE)),
            live: Mutex::default(),
            events,
        }
    }

    /// Held only between awaits.
    pub(crate) fn live(&self) -> MutexGuard<'_, LiveTable> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the keys, which waits for the disk.
    pub(crate) async fn ask_keys<T: Send + 'static>(
        self: &Arc<Self>,
        ask: impl FnOnce(&Keys) -> Result<T, crate::KeysError> + Send + 'static,
    ) -> Result<T, String> {
        let served = Arc::clone(self);
        match tokio::task::spawn_blocking(move || ask(&served.keys)).await {
            Ok(Ok(told)) => Ok(told),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the bridge is ending".to_owned()),
        }
    }

    /// Waits while the bridge has too much to do. `false`: it is ending.
    pub(crate) async fn report(&self, event: RoomEvent) -> bool {
        match self.events.upgrade() {
            Some(events) => events.send(event).await.is_ok(),
            None => false,
        }
    }

    /// Those of a key's rooms that are on this page.
    pub(crate) fn shown_to(&self, rooms: &[RoomName]) -> BTreeSet<RoomName> {
        rooms.iter().filter(|room| self.rooms.contains(*room)).cloned().collect()
    }
}
