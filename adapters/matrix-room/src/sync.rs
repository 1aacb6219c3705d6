//! The sync loop: asks the server for what happened, one request after the other, and hands it to the rooms' workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Backoff, RoomEvent};
use bridge_model::RoomName;
use matrix_sdk::Room;
use matrix_sdk::config::SyncSettings;
use matrix_sdk::ruma::api::client::filter::{
    Filter as GlobalFilter, FilterDefinition, LazyLoadOptions, RoomEventFilter, RoomFilter,
};
use matrix_sdk::ruma::api::client::sync::sync_events::v3::Filter;
use matrix_sdk::ruma::presence::PresenceState;
use matrix_sdk::ruma::{OwnedRoomId, RoomId, UInt};
use matrix_sdk::sync::{JoinedRoomUpdate, State, SyncResponse};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tracing::{info, warn};

use crate::account::{Account, REQUEST_TIMEOUT, ServedRoom};
use crate::clicks::{Work, accept};
use crate::fault::{Fault, TOKEN_GONE};
use crate::render::{POLL_RESPONSE, REACTION};
use crate::replies::Replies;
use crate::wait::pause;

/// How long the server may hold a request while nothing happens.
const HELD: Duration = Duration::from_secs(20);
const TIMELINE_MAX: u32 = 50;
/// Invites that are told in the log, once each.
const INVITES_TOLD_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct SyncLoop {
    pub(crate) account: Arc<Account>,
    pub(crate) replies: Arc<Replies>,
    pub(crate) work: BTreeMap<RoomName, mpsc::Sender<Work>>,
    /// Its sender is dropped when nobody listens any more.
    pub(crate) stop: watch::Receiver<()>,
    pub(crate) lost: BTreeSet<RoomName>,
    pub(crate) invites_told: BTreeSet<OwnedRoomId>,
}

impl SyncLoop {
    /// Runs until it is stopped or the account is gone. It is never aborted: a store that is being written would suffer.
    pub(crate) async fn run(mut self) {
        let (mut backoff, mut failing) = (Backoff::new(), false);
        while self.stop.has_changed().is_ok() {
            match self.account.client.sync_once(settings(&self.account, HELD)).await {
                Ok(response) => {
                    if std::mem::take(&mut failing) {
                        info!("the homeserver answers again");
                        backoff.reset();
                        for served in self.account.rooms.values() {
                            self.give(&served.name, Work::Reconcile).await;
                        }
                    }
                    self.take_in(response).await;
                }
                Err(error) => match Fault::of(&error) {
                    Fault::TokenGone => return self.lose_all().await,
                    Fault::Later(why, after) => {
                        if !std::mem::replace(&mut failing, true) {
                            warn!(why, "the homeserver stopped answering");
                        }
                        pause(after.unwrap_or_else(|| backoff.next_span())).await;
                    }
                    Fault::TooLarge | Fault::Final(_) => {
                        if !std::mem::replace(&mut failing, true) {
                            warn!(%error, "the sync with the homeserver failed");
                        }
                        pause(backoff.next_span()).await;
                    }
                },
            }
        }
    }

    async fn take_in(&mut self, response: SyncResponse) {
        let account = Arc::clone(&self.account);
        for (id, update) in &response.rooms.joined {
            let Some((served, room)) = account.served(id).zip(account.client.get_room(id)) else { continue };
            self.take_in_room(served, &room, update).await;
        }
        for id in response.rooms.left.keys() {
            let Some(served) = account.served(id) else { continue };
            self.lose(&served.name, "the bot is no longer in the room: it was removed or banned".to_owned()).await;
        }
        for id in response.rooms.invited.keys() {
            if let Some(room) = account.client.get_room(id) {
                self.consider_invite(&room).await;
            }
        }
    }

    async fn take_in_room(&mut self, served: &ServedRoom, room: &Room, update: &JoinedRoomUpdate) {
        if update.timeline.limited {
            // What was left out is older than what is here, so it goes first.
            self.give(&served.name, Work::Reconcile).await;
        }
        for event in &update.timeline.events {
            if let Some(work) = accept(&self.account, &self.replies, served, room, event) {
                self.give(&served.name, work).await;
            }
        }
        let (State::Before(state) | State::After(state)) = &update.state;
        let is_state = |json: &str| json.contains("\"state_key\"");
        let has_changed = !state.is_empty() || update.timeline.events.iter().any(|event| is_state(event.raw().json().get()));
        if has_changed && let Some(why) = self.account.why_unfit(room).await {
            self.lose(&served.name, why).await;
        }
    }

    pub(crate) async fn consider_invite(&mut self, room: &Room) {
        let account = Arc::clone(&self.account);
        if is_wanted(&account, room).await {
            let id = room.room_id().to_owned();
            tokio::spawn(async move { join(&account, &id).await });
        } else if self.invites_told.len() < INVITES_TOLD_MAX && self.invites_told.insert(room.room_id().to_owned()) {
            let room = room.room_id();
            info!(%room, "an invite to {room} was left alone: the room, or who invites, is not configured");
        }
    }

    /// Told once per room.
    async fn lose(&mut self, room: &RoomName, why: String) {
        if self.lost.insert(room.clone()) {
            warn!(%room, why, "room {room} is lost");
            self.give(room, Work::Report(RoomEvent::RoomLost(room.clone(), why))).await;
        }
    }

    async fn lose_all(&mut self) {
        let account = Arc::clone(&self.account);
        for room in account.rooms.keys() {
            self.lose(room, TOKEN_GONE.to_owned()).await;
        }
    }

    /// Waits where a room's worker has too much to do, and lets the server hold what comes next.
    async fn give(&self, room: &RoomName, work: Work) {
        if let Some(worker) = self.work.get(room) {
            // A worker ends early only when nobody listens any more.
            let _ = worker.send(work).await;
        }
    }
}

/// Accepts the invites that were waiting; whether there were any.
pub(crate) async fn accept_invites(account: &Account) -> bool {
    let mut any = false;
    for room in account.client.invited_rooms() {
        if is_wanted(account, &room).await {
            join(account, room.room_id()).await;
            any = true;
        }
    }
    any
}

/// Whether it is an invite to a configured room by a configured person.
async fn is_wanted(account: &Account, room: &Room) -> bool {
    let inviter = room.invite_details().await.ok().map(|invite| invite.inviter_id);
    inviter.is_some_and(|inviter| account.invites_from.contains(&inviter)) && account.served(room.room_id()).is_some()
}

/// Joins a configured room by the invite of a configured person.
async fn join(account: &Account, id: &RoomId) {
    const TRIES_MAX: usize = 5;
    let mut backoff = Backoff::new();
    for _ in 0..TRIES_MAX {
        match timeout(REQUEST_TIMEOUT * 3, account.client.join_room_by_id(id)).await {
            Ok(Ok(_)) => return info!(room = %id, "the bot joined {id}"),
            Ok(Err(error)) => match Fault::of(&error) {
                Fault::Later(..) => pause(backoff.next_span()).await,
                Fault::TooLarge | Fault::TokenGone | Fault::Final(_) => break,
            },
            Err(_) => {}
        }
    }
    warn!(room = %id, "the bot could not join {id}; invite it again");
}

/// One request, which the server may hold for `held`.
///
/// The filter is a promise: `m.room.message` is not among the types, so what people write in a plain room does not
/// reach this process. In an encrypted room nobody can tell messages from poll responses before decrypting them.
pub(crate) fn settings(account: &Account, held: Duration) -> SyncSettings {
    let mut timeline = RoomEventFilter::default();
    let mut types = vec![
        POLL_RESPONSE,
        "m.room.redaction",
        "m.room.encrypted",
        "m.room.member",
        "m.room.power_levels",
        "m.room.tombstone",
        "m.room.encryption",
    ];
    if account.rooms.values().any(|room| room.reactions) {
        types.push(REACTION);
    }
    timeline.types = Some(owned(&types));
    timeline.rooms = Some(account.rooms.values().map(|room| room.id.clone()).collect());
    timeline.not_senders = vec![account.user.clone()];
    timeline.limit = Some(UInt::from(TIMELINE_MAX));
    timeline.lazy_load_options = LazyLoadOptions::Enabled { include_redundant_members: false };

    let mut state = RoomEventFilter::with_lazy_loading();
    state.types = Some(owned(&[
        "m.room.create",
        "m.room.encryption",
        "m.room.history_visibility",
        "m.room.member",
        "m.room.power_levels",
        "m.room.tombstone",
        "io.element.functional_members",
    ]));

    let mut room = RoomFilter::default();
    room.timeline = timeline;
    room.state = state;
    room.ephemeral = RoomEventFilter::ignore_all();
    room.account_data = RoomEventFilter::ignore_all();

    let mut account_data = GlobalFilter::default();
    account_data.types =
        Some(owned(&["m.direct", "m.secret_storage.*", "m.cross_signing.*", "m.megolm_backup.*", "m.key_backup"]));

    let mut filter = FilterDefinition::default();
    filter.room = room;
    filter.account_data = account_data;
    filter.presence = GlobalFilter::ignore_all();
    SyncSettings::new().timeout(held).set_presence(PresenceState::Offline).filter(Filter::FilterDefinition(filter))
}

fn owned(types: &[&str]) -> Vec<String> {
    types.iter().map(ToString::to_string).collect()
}
