//! Facts about a person, asked of the server at the instant of the click. What the client remembers is not asked:
//! it lags behind by a sync.

use std::collections::BTreeSet;
use std::time::Duration;

use bridge_core::{Backoff, RoomError};
use bridge_model::{Humanity, Person, Presence, Signature, Standing};
use matrix_sdk::ruma::api::client::membership::joined_members::{self, v3::RoomMember};
use matrix_sdk::ruma::api::client::state::get_state_event_for_key::v3::Request;
use matrix_sdk::ruma::events::StateEventType;
use matrix_sdk::ruma::events::room::power_levels::{
    RoomPowerLevels, RoomPowerLevelsEventContent, RoomPowerLevelsSource, UserPowerLevel,
};
use matrix_sdk::ruma::{OwnedUserId, UserId};
use matrix_sdk::{HttpError, Room};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};

use crate::account::{Account, REQUEST_TIMEOUT, ServedRoom, is_encrypted};
use crate::fault::Fault;
use crate::id;
use crate::send::retry;
use crate::wait::pause;

/// How long a person may wait for the server to say who they are. Then they are unknown, which counts as no.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Members of a room who are looked at. Among more there may be anybody.
const MEMBERS_MAX: usize = 10_000;

/// Everybody who is in the room now, by what the server says now. `None`: they are too many.
///
/// Of an encrypted room it cannot be told whose devices are signed before they click, so that all may be.
pub(crate) async fn present(account: &Account, served: &ServedRoom) -> Result<Option<Vec<Person>>, RoomError> {
    let room = account.joined(served)?;
    let until = Instant::now() + LOOKUP_TIMEOUT;
    let members = || async {
        let members = room.client().send(joined_members::v3::Request::new(room.room_id().to_owned())).await;
        members.map(|members| members.joined).map_err(|error| Fault::of_http(&error))
    };
    let (members, levels) = tokio::join!(retry(members, REQUEST_TIMEOUT, until), levels(&room, served));
    let members = members?;
    if served.ask_power && matches!(levels, Answer::Unknown) {
        return Err(RoomError::Unavailable("the homeserver did not say who has which power".to_owned()));
    }
    let signature = if is_encrypted(&room) { Signature::SignedDevice } else { Signature::Service };
    let person = |(user, member): (&OwnedUserId, &RoomMember)| Person {
        name: member.display_name.as_deref().map(short),
        humanity: humanity(account, &room, user),
        presence: Presence::InRoom,
        power: power(&room, &levels, user),
        ..unknown(user, signature)
    };
    Ok((members.len() <= MEMBERS_MAX).then(|| members.iter().map(person).collect()))
}

pub(crate) async fn look_up(account: &Account, served: &ServedRoom, user: &UserId, signature: Signature) -> Person {
    let mut person = unknown(user, signature);
    let Some(room) = account.client.get_room(&served.id) else { return person };
    person.humanity = humanity(account, &room, user);
    let (member, levels) = tokio::join!(ask(&room, StateEventType::RoomMember, user.as_str()), levels(&room, served));
    match member {
        Answer::Content(content) => {
            let member = serde_json::from_str::<Member>(content.get()).ok();
            person.presence = match member.as_ref().map(|member| member.membership.as_str()) {
                Some("join") => Presence::InRoom,
                Some(_) => Presence::Absent,
                None => Presence::Unknown,
            };
            person.name = member.and_then(|member| member.displayname).as_deref().map(short);
        }
        Answer::Nothing => person.presence = Presence::Absent,
        Answer::Unknown => {}
    }
    person.power = power(&room, &levels, user);
    person
}

/// Somebody of whom nothing is known yet.
fn unknown(user: &UserId, signature: Signature) -> Person {
    Person {
        id: id::person_id(user),
        name: None,
        humanity: Humanity::Unknown,
        presence: Presence::Unknown,
        standing: Standing::Full,
        signature,
        power: None,
        roles: BTreeSet::new(),
    }
}

fn short(name: &str) -> String {
    name.chars().take(256).collect()
}

/// The content of `m.room.member`, as far as it matters here.
#[derive(Deserialize)]
struct Member {
    membership: String,
    displayname: Option<String>,
}

#[derive(Debug)]
enum Answer {
    Content(Box<RawValue>),
    /// The room has no such state.
    Nothing,
    Unknown,
}

/// The room's power levels, where anybody wants to know.
async fn levels(room: &Room, served: &ServedRoom) -> Answer {
    if served.ask_power { ask(room, StateEventType::RoomPowerLevels, "").await } else { Answer::Unknown }
}

/// The room's current state from the server. A failure that may pass is tried again while there is time.
async fn ask(room: &Room, kind: StateEventType, key: &str) -> Answer {
    let tries = async {
        let mut backoff = Backoff::new();
        loop {
            let request = Request::new(room.room_id().to_owned(), kind.clone(), key.to_owned());
            match room.client().send(request).await {
                Ok(response) => return Answer::Content(response.event_or_content),
                Err(error) if Fault::is_not_found(&error) => return Answer::Nothing,
                Err(error) if may_pass(&error) => pause(backoff.next_span()).await,
                Err(_) => return Answer::Unknown,
            }
        }
    };
    timeout(LOOKUP_TIMEOUT, tries).await.unwrap_or(Answer::Unknown)
}

fn may_pass(error: &HttpError) -> bool {
    match Fault::of_http(error) {
        Fault::Later(..) => true,
        Fault::TooLarge | Fault::TokenGone | Fault::Final(_) => false,
    }
}

/// Matrix does not mark programs. Known ones are ourselves and those that the room lists as its service members.
pub(crate) fn humanity(account: &Account, room: &Room, user: &UserId) -> Humanity {
    let is_listed = room.service_members().is_some_and(|members| members.contains(user));
    if user == account.user || is_listed { Humanity::Bot } else { Humanity::Human }
}

fn power(room: &Room, levels: &Answer, user: &UserId) -> Option<i64> {
    match levels {
        Answer::Content(content) => {
            let levels = serde_json::from_str::<RoomPowerLevelsEventContent>(content.get()).ok()?;
            power_of(room, levels.into(), user)
        }
        Answer::Nothing => power_of(room, RoomPowerLevelsSource::None, user),
        Answer::Unknown => None,
    }
}

fn power_of(room: &Room, levels: RoomPowerLevelsSource, user: &UserId) -> Option<i64> {
    let rules = room.clone_info().room_version_rules_or_default();
    let creators = room.creators()?;
    Some(level(RoomPowerLevels::new(levels, &rules.authorization, creators).for_user(user)))
}

pub(crate) fn level(level: UserPowerLevel) -> i64 {
    if let UserPowerLevel::Int(level) = level { level.into() } else { i64::MAX }
}
