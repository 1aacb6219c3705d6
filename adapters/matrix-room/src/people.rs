//! Facts about a person, asked of the server at the instant of the click. What the client remembers is not asked:
//! it lags behind by a sync.

use std::collections::BTreeSet;
use std::time::Duration;

use bridge_core::Backoff;
use bridge_model::{Humanity, Person, Presence, Signature, Standing};
use matrix_sdk::ruma::UserId;
use matrix_sdk::ruma::api::client::state::get_state_event_for_key::v3::Request;
use matrix_sdk::ruma::events::StateEventType;
use matrix_sdk::ruma::events::room::power_levels::{
    RoomPowerLevels, RoomPowerLevelsEventContent, RoomPowerLevelsSource, UserPowerLevel,
};
use matrix_sdk::{HttpError, Room};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::account::{Account, ServedRoom};
use crate::fault::Fault;
use crate::id;
use crate::wait::pause;

/// How long a person may wait for the server to say who they are. Then they are unknown, which counts as no.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn look_up(account: &Account, served: &ServedRoom, user: &UserId, signature: Signature) -> Person {
    let mut person = Person {
        id: id::person_id(user),
        name: None,
        humanity: Humanity::Unknown,
        presence: Presence::Unknown,
        standing: Standing::Full,
        signature,
        power: None,
        roles: BTreeSet::new(),
    };
    let Some(room) = account.client.get_room(&served.id) else { return person };
    person.humanity = humanity(account, &room, user);
    let power = async { if served.ask_power { ask(&room, StateEventType::RoomPowerLevels, "").await } else { Answer::Unknown } };
    let (member, levels) = tokio::join!(ask(&room, StateEventType::RoomMember, user.as_str()), power);
    match member {
        Answer::Content(content) => {
            let member = serde_json::from_str::<Member>(content.get()).ok();
            person.presence = match member.as_ref().map(|member| member.membership.as_str()) {
                Some("join") => Presence::InRoom,
                Some(_) => Presence::Absent,
                None => Presence::Unknown,
            };
            person.name = member.and_then(|member| member.displayname).map(|name| name.chars().take(256).collect());
        }
        Answer::Nothing => person.presence = Presence::Absent,
        Answer::Unknown => {}
    }
    person.power = match levels {
        Answer::Content(content) => serde_json::from_str::<RoomPowerLevelsEventContent>(content.get())
            .ok()
            .and_then(|levels| power_of(&room, levels.into(), user)),
        Answer::Nothing => power_of(&room, RoomPowerLevelsSource::None, user),
        Answer::Unknown => None,
    };
    person
}

/// The content of `m.room.member`, as far as it matters here.
#[derive(Deserialize)]
struct Member {
    membership: String,
    displayname: Option<String>,
}

enum Answer {
    Content(Box<RawValue>),
    /// The room has no such state.
    Nothing,
    Unknown,
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

fn power_of(room: &Room, levels: RoomPowerLevelsSource, user: &UserId) -> Option<i64> {
    let rules = room.clone_info().room_version_rules_or_default();
    let creators = room.creators()?;
    Some(level(RoomPowerLevels::new(levels, &rules.authorization, creators).for_user(user)))
}

pub(crate) fn level(level: UserPowerLevel) -> i64 {
    if let UserPowerLevel::Int(level) = level { level.into() } else { i64::MAX }
}
