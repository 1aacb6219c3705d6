//! What `countersign check` asks: can this account serve its rooms, and if not, what is to be done.

use std::collections::BTreeSet;
use std::time::Duration;

use bridge_core::RoomError;
use bridge_model::{Person, PersonId, Presence, RoomName, Signature, Standing};
use matrix_sdk::ruma::events::MessageLikeEventType;
use matrix_sdk::{Room, RoomMemberships};
use tokio::time::timeout;

use crate::account::{Account, ServedRoom, is_encrypted};
use crate::render::{MESSAGE, POLL_RESPONSE, POLL_START, REACTION};
use crate::session::{DeviceTrust, has_recovery_key};
use crate::{Options, id, people};

/// Members that are listed of one room.
const MEMBERS_MAX: usize = 1_000;

/// An account, as it is now.
#[derive(Clone, Debug)]
pub struct Inspection {
    pub user: PersonId,
    pub device: String,
    /// Whether others can trust the bot's device, without which an encrypted room is not served.
    pub device_is_signed: bool,
    /// Whether the account's signing keys survive the loss of the store.
    pub has_recovery_key: bool,
    pub rooms: Vec<RoomInspection>,
    /// What is wrong with the account, each in a sentence that says what to do.
    pub problems: Vec<String>,
}

/// A configured room, as it is now.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and they are only printed")]
pub struct RoomInspection {
    pub name: RoomName,
    pub id: String,
    pub is_joined: bool,
    /// `None`: not known.
    pub is_encrypted: Option<bool>,
    pub may_send_messages: bool,
    pub may_send_polls: bool,
    pub may_remove_own: bool,
    /// Whether a member without any special power may answer a poll.
    pub members_may_answer: bool,
    /// Up to a thousand of those who are in the room.
    pub members: Vec<Person>,
    /// What is wrong with the room, each in a sentence that says what to do.
    pub problems: Vec<String>,
}

/// Logs in, syncs once and looks. Posts nothing.
pub async fn inspect(options: Options) -> Result<Inspection, RoomError> {
    let account = crate::open(&options).await?;
    let mut problems = Vec::new();
    if let DeviceTrust::NotSigned(why) = &account.device {
        problems.push(format!("the bot's device is not verified, so encrypted rooms are not served: {why}"));
    }
    let has_recovery_key = has_recovery_key(&account.client);
    if !has_recovery_key {
        problems.push("the account has no recovery key; run `countersign recovery-key` and keep what it prints".to_owned());
    }
    let mut rooms = Vec::new();
    for served in account.rooms.values() {
        rooms.push(look_at(&account, served).await);
    }
    Ok(Inspection {
        user: id::person_id(&account.user),
        device: account.client.device_id().map(ToString::to_string).unwrap_or_default(),
        device_is_signed: account.device == DeviceTrust::Signed,
        has_recovery_key,
        rooms,
        problems,
    })
}

/// Logs in and makes a recovery key for the account, which is returned this once and kept nowhere. Any earlier one is void.
pub async fn create_recovery_key(options: Options) -> Result<String, RoomError> {
    const SETUP_TIMEOUT: Duration = Duration::from_mins(1);
    let account = crate::open(&options).await?;
    let recovery = account.client.encryption().recovery();
    let made = async { if has_recovery_key(&account.client) { recovery.reset_key().await } else { recovery.enable().await } };
    match timeout(SETUP_TIMEOUT, made).await {
        Ok(Ok(key)) => Ok(key),
        Ok(Err(error)) => Err(RoomError::Refused(format!("no recovery key could be made ({error})"))),
        Err(_) => Err(RoomError::Unavailable("the homeserver took too long to make a recovery key".to_owned())),
    }
}

async fn look_at(account: &Account, served: &ServedRoom) -> RoomInspection {
    let mut seen = RoomInspection {
        name: served.name.clone(),
        id: served.id.to_string(),
        is_joined: false,
        is_encrypted: None,
        may_send_messages: false,
        may_send_polls: false,
        may_remove_own: false,
        members_may_answer: false,
        members: Vec::new(),
        problems: Vec::new(),
    };
    let room = match account.joined(served) {
        Ok(room) => room,
        Err(error) => {
            seen.problems.push(error.to_string());
            return seen;
        }
    };
    seen.is_joined = true;
    if let Err(error) = account.encryption(&room).await {
        seen.problems.push(error.to_string());
    }
    seen.is_encrypted = (!room.encryption_state().is_unknown()).then(|| is_encrypted(&room));
    if room.is_tombstoned() {
        seen.problems.push("the room was replaced by another one; configure the new room".to_owned());
    }
    if served.reactions && seen.is_encrypted != Some(false) {
        seen.problems.push("reactions do not count in an encrypted room; switch them off for it".to_owned());
    }
    look_at_levels(account, served, &room, &mut seen).await;
    match room.members(RoomMemberships::JOIN).await {
        Ok(members) => {
            let person = |member: &matrix_sdk::room::RoomMember| Person {
                id: id::person_id(member.user_id()),
                name: member.display_name().map(ToOwned::to_owned),
                humanity: people::humanity(account, &room, member.user_id()),
                presence: Presence::InRoom,
                standing: Standing::Full,
                signature: if seen.is_encrypted == Some(false) { Signature::Service } else { Signature::SignedDevice },
                power: Some(people::level(member.power_level())),
                roles: BTreeSet::new(),
            };
            seen.members = members.iter().take(MEMBERS_MAX).map(person).collect();
        }
        Err(error) => seen.problems.push(format!("the members of the room cannot be listed ({error}); try again")),
    }
    seen
}

async fn look_at_levels(account: &Account, served: &ServedRoom, room: &Room, seen: &mut RoomInspection) {
    let levels = match room.power_levels().await {
        Ok(levels) => levels,
        Err(error) => {
            seen.problems.push(format!("the room's power levels are not known ({error}); try again"));
            return;
        }
    };
    let may = |kind: &str| levels.user_can_send_message(&account.user, MessageLikeEventType::from(kind));
    let anyone_may = |kind: &str| levels.for_message(MessageLikeEventType::from(kind)) <= levels.users_default;
    seen.may_send_messages = may(MESSAGE);
    seen.may_send_polls = may(POLL_START);
    seen.may_remove_own = levels.user_can_redact_own_event(&account.user);
    // Encrypted, a poll response is of another type on the outside.
    let answer = if seen.is_encrypted == Some(true) { "m.room.encrypted" } else { POLL_RESPONSE };
    seen.members_may_answer = anyone_may(answer) || (served.reactions && anyone_may(REACTION));
    for (is_fine, problem) in [
        (seen.may_send_messages, "the bot may not send messages in the room; raise its power level"),
        (
            seen.may_send_polls,
            "the bot may not send polls in the room; raise its power level or allow org.matrix.msc3381.poll.start",
        ),
        (
            seen.may_remove_own,
            "the bot may not remove its own messages, so reactions stay on closed cards; allow m.room.redaction",
        ),
        (
            seen.members_may_answer,
            "members without special power cannot answer polls here; allow org.matrix.msc3381.poll.response",
        ),
    ] {
        if !is_fine {
            seen.problems.push(problem.to_owned());
        }
    }
}
