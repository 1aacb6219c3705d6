//! What sending and receiving share: the client, the rooms and the table of cards.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bridge_core::RoomError;
use bridge_model::RoomName;
use matrix_sdk::ruma::events::MessageLikeEventType;
use matrix_sdk::ruma::{OwnedRoomId, OwnedUserId, RoomId};
use matrix_sdk::{Client, EncryptionState, Room, RoomState};
use tokio::sync::{self, Notify};
use tokio::time::timeout;

use crate::fault::Fault;
use crate::live::LiveTable;
use crate::render::{MESSAGE, POLL_START};
use crate::session::DeviceTrust;

/// One HTTP exchange. Longer than a healthy server takes, shorter than people wait.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) client: Client,
    pub(crate) user: OwnedUserId,
    pub(crate) device: DeviceTrust,
    pub(crate) rooms: BTreeMap<RoomName, ServedRoom>,
    pub(crate) invites_from: Vec<OwnedUserId>,
    live: Mutex<LiveTable>,
}

/// A room of the configuration.
#[derive(Debug)]
pub(crate) struct ServedRoom {
    pub(crate) name: RoomName,
    pub(crate) id: OwnedRoomId,
    pub(crate) reactions: bool,
    pub(crate) ask_power: bool,
    /// Rung when a card of this room is due for a look at the server at another time than before.
    pub(crate) due_changed: Notify,
    /// Held from a card's message to its poll, so that no other card comes between what belongs together.
    pub(crate) posting: sync::Mutex<()>,
}

impl ServedRoom {
    /// Not knowing counts as encrypted.
    pub(crate) fn is_encrypted(&self, client: &Client) -> bool {
        client.get_room(&self.id).is_none_or(|room| is_encrypted(&room))
    }
}

/// Not knowing counts as encrypted.
pub(crate) fn is_encrypted(room: &Room) -> bool {
    let state = room.encryption_state();
    state.is_encrypted() || state.is_unknown()
}

impl Account {
    pub(crate) fn new(
        client: Client,
        user: OwnedUserId,
        device: DeviceTrust,
        rooms: BTreeMap<RoomName, ServedRoom>,
        invites_from: Vec<OwnedUserId>,
    ) -> Self {
        Self { client, user, device, rooms, invites_from, live: Mutex::default() }
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, LiveTable> {
        // No code that holds the lock can leave the table half changed.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn served(&self, id: &RoomId) -> Option<&ServedRoom> {
        self.rooms.values().find(|room| room.id == id)
    }

    pub(crate) fn named(&self, name: &RoomName) -> Result<&ServedRoom, RoomError> {
        self.rooms.get(name).ok_or_else(|| RoomError::Refused(format!("no room named {name} is configured")))
    }

    /// The room as the client knows it, if the bot is in it.
    pub(crate) fn joined(&self, served: &ServedRoom) -> Result<Room, RoomError> {
        self.client.get_room(&served.id).filter(|room| room.state() == RoomState::Joined).ok_or_else(|| {
            let (user, room) = (&self.user, &served.id);
            RoomError::Refused(format!("the bot is not in the room; invite {user} to {room}"))
        })
    }

    /// Whether the room is encrypted. Where that cannot be found out, or it is and this device could not be trusted
    /// there, nothing may be sent.
    pub(crate) async fn encryption(&self, room: &Room) -> Result<bool, RoomError> {
        let state = match timeout(REQUEST_TIMEOUT, room.latest_encryption_state()).await {
            Ok(Ok(state)) => state,
            Ok(Err(error)) => return Err(Fault::of(&error).into()),
            Err(_) => return Err(RoomError::Unavailable("whether the room is encrypted is not known yet".to_owned())),
        };
        match state {
            EncryptionState::NotEncrypted => Ok(false),
            EncryptionState::Unknown => Err(RoomError::Refused("whether the room is encrypted is not known".to_owned())),
            EncryptionState::Encrypted => match &self.device {
                DeviceTrust::Signed => Ok(true),
                DeviceTrust::NotSigned(why) => {
                    Err(RoomError::Refused(format!("the room is encrypted and the bot's device is not verified: {why}")))
                }
            },
        }
    }

    /// Why the bot cannot post cards in a room that it is in.
    pub(crate) async fn why_unfit(&self, room: &Room) -> Option<String> {
        if room.is_tombstoned() {
            return Some("the room was replaced by another one; configure the new room".to_owned());
        }
        // Levels that cannot be read are left to the server, which refuses the message then.
        let levels = room.power_levels().await.ok()?;
        let missing = [MESSAGE, POLL_START]
            .into_iter()
            .find(|kind| !levels.user_can_send_message(&self.user, MessageLikeEventType::from(*kind)))?;
        Some(format!("the bot may no longer send {missing} in the room; raise its power level"))
    }
}
