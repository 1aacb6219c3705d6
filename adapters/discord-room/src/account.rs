//! The bot and its rooms, shared by everything that acts for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bridge_core::{RoomError, RoomEvent};
use bridge_model::RoomName;
use serenity::all::{ApplicationId, ChannelId, GuildId, Permissions, UserId};
use serenity::http::Http;
use tokio::sync::{Semaphore, mpsc};

use crate::RoomOptions;
use crate::live::LiveTable;
use crate::questions::QUESTIONS_MAX;
use crate::rest::Rest;

/// How long one request to Discord may take.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) rest: Rest,
    /// For the gateway.
    pub(crate) http: Arc<Http>,
    pub(crate) bot: UserId,
    pub(crate) application: ApplicationId,
    pub(crate) rooms: BTreeMap<RoomName, ServedRoom>,
    live: Mutex<LiveTable>,
    /// A place for each question that goes by itself.
    pub(crate) asking: Arc<Semaphore>,
    /// It does not keep the events from ending.
    events: mpsc::WeakSender<RoomEvent>,
}

/// A configured channel or thread.
#[derive(Debug)]
pub(crate) struct ServedRoom {
    pub(crate) options: RoomOptions,
    pub(crate) channel: ChannelId,
    state: Mutex<RoomState>,
    /// Whether the bridge knows nothing better than that it cannot be used.
    is_lost: AtomicBool,
    /// The guild and the channel with its permissions, as they were seen last.
    last_place: Mutex<Option<(GuildId, ChannelId)>>,
    /// Held while a session's thread is made, so that a session gets one.
    pub(crate) making_thread: tokio::sync::Mutex<()>,
    /// Held from a look at it until the bridge is told, so that what is told last is what was seen last.
    pub(crate) looking: tokio::sync::Mutex<()>,
}

/// What is known of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RoomState {
    Ready(Ready),
    /// Discord says that the guild is unavailable for now.
    Away(Ready),
    /// The text says why, and what to do.
    Unfit(String),
}

/// A room that cards can be posted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) guild: GuildId,
    /// Where the permissions come from: the channel itself, or the one that a thread belongs to.
    pub(crate) parent: ChannelId,
    pub(crate) permissions: Permissions,
    /// Threads of an announcement channel are of another kind.
    pub(crate) is_announcements: bool,
}

impl Ready {
    pub(crate) fn may_attach(self) -> bool {
        self.permissions.intersects(Permissions::ATTACH_FILES | Permissions::ADMINISTRATOR)
    }

    /// Discord lets nobody reply to what they may not read.
    pub(crate) fn may_reply(self) -> bool {
        self.permissions.intersects(Permissions::READ_MESSAGE_HISTORY | Permissions::ADMINISTRATOR)
    }
}

impl Account {
    pub(crate) fn new(
        rest: Rest,
        http: Arc<Http>,
        bot: UserId,
        application: ApplicationId,
        rooms: BTreeMap<RoomName, ServedRoom>,
        events: mpsc::WeakSender<RoomEvent>,
    ) -> Self {
        let asking = Arc::new(Semaphore::new(QUESTIONS_MAX));
        Self { rest, http, bot, application, rooms, live: Mutex::default(), asking, events }
    }

    pub(crate) async fn report(&self, event: RoomEvent) {
        if let Some(events) = self.events.upgrade() {
            // The bridge outlives its rooms, or nobody cares any more.
            let _ = events.send(event).await;
        }
    }

    /// The one way for a room to become usable or not: the bridge is told of each change.
    pub(crate) async fn settle(&self, served: &ServedRoom, state: RoomState) {
        let before = served.set_state(state.clone());
        let name = served.options.name.clone();
        match (before, state) {
            (RoomState::Ready(_) | RoomState::Away(_), RoomState::Unfit(why)) => {
                served.is_lost.store(true, Ordering::Relaxed);
                self.report(RoomEvent::RoomLost(name, why)).await;
            }
            (RoomState::Ready(before) | RoomState::Away(before), RoomState::Ready(now))
                if before.may_attach() != now.may_attach() =>
            {
                self.report(RoomEvent::RoomFound(name)).await;
            }
            (_, RoomState::Ready(_)) if served.is_lost.swap(false, Ordering::Relaxed) => {
                self.report(RoomEvent::RoomFound(name)).await;
            }
            _ => {}
        }
    }

    /// Held only between awaits.
    pub(crate) fn live(&self) -> MutexGuard<'_, LiveTable> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn named(&self, name: &RoomName) -> Result<&ServedRoom, RoomError> {
        self.rooms.get(name).ok_or_else(|| RoomError::Refused(format!("{name} is not a Discord room")))
    }

    /// The room whose channel this is, or whose cards' thread.
    pub(crate) fn room_at(&self, channel: ChannelId) -> Option<RoomName> {
        let configured = self.rooms.values().find(|room| room.channel == channel);
        configured.map(|room| room.options.name.clone()).or_else(|| self.live().room_of_thread(channel))
    }
}

impl ServedRoom {
    pub(crate) fn new(options: RoomOptions, channel: ChannelId) -> Self {
        let state = Mutex::new(RoomState::Unfit("it was not looked at yet".to_owned()));
        Self {
            options,
            channel,
            state,
            is_lost: AtomicBool::new(false),
            last_place: Mutex::default(),
            making_thread: tokio::sync::Mutex::default(),
            looking: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn state(&self) -> RoomState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what was known before.
    fn set_state(&self, state: RoomState) -> RoomState {
        std::mem::replace(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner), state)
    }

    /// The bridge has to hear of it once it can be used.
    pub(crate) fn tell_when_found(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_in(&self, place: Ready) {
        *self.last_place.lock().unwrap_or_else(PoisonError::into_inner) = Some((place.guild, place.parent));
    }

    /// The guild whose events concern it, also while it cannot be used.
    pub(crate) fn last_guild(&self) -> Option<GuildId> {
        self.last_place().map(|(guild, _)| guild)
    }

    /// Whether this is its channel, or the one that its thread belongs to.
    pub(crate) fn is_at(&self, channel: ChannelId) -> bool {
        self.channel == channel || self.last_place().is_some_and(|(_, parent)| parent == channel)
    }

    fn last_place(&self) -> Option<(GuildId, ChannelId)> {
        *self.last_place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_announcements(&self) -> bool {
        match self.state() {
            RoomState::Ready(ready) | RoomState::Away(ready) => ready.is_announcements,
            RoomState::Unfit(_) => false,
        }
    }

    pub(crate) fn guild(&self) -> Option<GuildId> {
        match self.state() {
            RoomState::Ready(ready) | RoomState::Away(ready) => Some(ready.guild),
            RoomState::Unfit(_) => None,
        }
    }
}
