//! What one client has seen, in the order it came, decrypted where it could be.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use matrix_sdk::deserialized_responses::EncryptionInfo;
use matrix_sdk::ruma::events::AnySyncTimelineEvent;
use matrix_sdk::ruma::serde::Raw;
use matrix_sdk::{Client, Room};
use serde_json::Value;
use tokio::sync::watch;

use crate::wait::PATIENCE;

#[derive(Clone)]
pub(crate) struct Sight {
    events: Arc<Mutex<Vec<Seen>>>,
    changed: Arc<watch::Sender<()>>,
}

/// An event in a room.
#[derive(Clone, Debug)]
pub struct Seen {
    pub room: String,
    pub event: Value,
    /// It was encrypted, and could be read.
    pub encrypted: bool,
}

impl Seen {
    pub fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap_or_default()
    }

    pub fn id(&self) -> &str {
        self.event["event_id"].as_str().unwrap_or_default()
    }

    pub fn sender(&self) -> &str {
        self.event["sender"].as_str().unwrap_or_default()
    }

    /// Whether it relates to `event` in this way.
    pub fn relates_to(&self, event: &str, how: &str) -> bool {
        let relation = &self.event["content"]["m.relates_to"];
        relation["event_id"] == event && relation["rel_type"] == how
    }
}

impl Sight {
    pub(crate) fn of(client: &Client) -> Self {
        let sight = Self { events: Arc::default(), changed: Arc::new(watch::Sender::new(())) };
        let eyes = sight.clone();
        client.add_event_handler(move |event: Raw<AnySyncTimelineEvent>, room: Room, encryption: Option<EncryptionInfo>| {
            let event = event.deserialize_as_unchecked().expect("an event is JSON");
            eyes.add(Seen { room: room.room_id().to_string(), event, encrypted: encryption.is_some() });
            std::future::ready(())
        });
        sight
    }

    fn add(&self, seen: Seen) {
        self.events().push(seen);
        self.changed.send_replace(());
    }

    pub(crate) fn events(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until what was seen so far contains what `find` looks for.
    pub(crate) async fn wait_for<T>(&self, what: &str, mut find: impl FnMut(&[Seen]) -> Option<T>) -> T {
        let mut changed = self.changed.subscribe();
        let finding = async {
            loop {
                changed.borrow_and_update();
                if let Some(found) = find(&self.events()) {
                    return found;
                }
                changed.changed().await.expect("`self` holds the sender");
            }
        };
        let found = tokio::time::timeout(PATIENCE, finding).await;
        found.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain for {what}; seen: {:#?}", self.events()))
    }
}
