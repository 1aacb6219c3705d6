//! From the configuration to rules and rooms.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use bridge_config::{Config, Login, Matrix, RoomConfig, Service};
use bridge_core::{Limits, Room, RoomRules, Rules};
use bridge_model::{RoomName, SourceName};
use discord_room::{DiscordRoom, Mention, Threads};
use matrix_room::MatrixRoom;
use policy::{Listed, Policy, RefusalStyle, Verdict, Who};

use crate::hub::Inbox;
use crate::rooms::{self, RoomHandle};

/// The rules of the configuration for one source; without a configuration, rules under which everything is refused.
pub(crate) fn rules(config: Option<&Config>, source: &SourceName) -> Rules {
    let nobody = Policy {
        by_kind: BTreeMap::new(),
        default: Verdict::Ask,
        lifetime: Duration::from_mins(5),
        refusal: RefusalStyle::RejectOnce,
    };
    let rooms = config.map(|config| &config.rooms).into_iter().flatten().map(|(name, room)| (name.clone(), room_rules(room)));
    let route = config.and_then(|config| config.acp.room.clone()).map(|room| (source.clone(), room));
    Rules {
        policy: config.map_or(nobody, |config| config.policy.clone()),
        rooms: rooms.collect(),
        routes: route.into_iter().collect(),
        limits: Limits::default(),
    }
}

fn room_rules(room: &RoomConfig) -> RoomRules {
    let card = match room.service {
        Service::Matrix { .. } => matrix_room::LIMITS,
        Service::Discord { .. } => discord_room::LIMITS,
    };
    RoomRules { approvers: room.approvers.clone(), card }
}

/// Connects each account that serves a room, in the background.
pub(crate) fn rooms(config: &Config, inbox: &Inbox) -> BTreeMap<RoomName, RoomHandle> {
    let mut rooms = BTreeMap::new();
    if let Some(options) = matrix_options(config) {
        let names = options.rooms.iter().map(|room| room.name.clone()).collect();
        rooms.extend(connect(move || MatrixRoom::new(options.clone()), names, inbox));
    }
    if let Some(options) = discord_options(config) {
        let names = options.rooms.iter().map(|room| room.name.clone()).collect();
        rooms.extend(connect(move || DiscordRoom::new(options.clone()), names, inbox));
    }
    rooms
}

/// One account, with the way to each of its rooms.
fn connect<R: Room + 'static>(
    make: impl Fn() -> R + Send + 'static,
    names: Vec<RoomName>,
    inbox: &Inbox,
) -> BTreeMap<RoomName, RoomHandle> {
    let handle = rooms::serve(make, names.clone(), inbox.clone());
    names.into_iter().map(|name| (name, handle.clone())).collect()
}

/// What the Matrix adapter needs to know; `None` if no room is a Matrix room.
pub(crate) fn matrix_options(config: &Config) -> Option<matrix_room::Options> {
    let rooms: Vec<_> = config.rooms.iter().filter_map(|(name, room)| matrix_room_options(name, room)).collect();
    let matrix = config.matrix.as_ref().filter(|_| !rooms.is_empty())?;
    Some(account(matrix, rooms, &config.state_dir))
}

fn matrix_room_options(name: &RoomName, room: &RoomConfig) -> Option<matrix_room::RoomOptions> {
    let Service::Matrix { room_id, reactions } = &room.service else { return None };
    Some(matrix_room::RoomOptions {
        name: name.clone(),
        id: room_id.clone(),
        reactions: *reactions,
        ask_power: room.approvers.power_min.is_some(),
    })
}

fn account(matrix: &Matrix, rooms: Vec<matrix_room::RoomOptions>, state_dir: &Path) -> matrix_room::Options {
    matrix_room::Options {
        homeserver: matrix.homeserver.to_string(),
        user: matrix.user.to_string(),
        login: match &matrix.login {
            None => matrix_room::Login::Restore,
            Some(Login::Password(password)) => matrix_room::Login::Password(password.clone()),
            Some(Login::AccessToken { token, device_id }) => {
                matrix_room::Login::AccessToken { token: token.clone(), device_id: device_id.clone() }
            }
        },
        device_name: matrix.device_name.clone(),
        store_dir: state_dir.join("matrix"),
        store_passphrase: matrix.store_passphrase.clone(),
        recovery_key: matrix.recovery_key.clone(),
        rooms,
        invites_from: matrix.invites_from.iter().cloned().collect(),
    }
}

/// What the Discord adapter needs to know; `None` if no room is a Discord room.
pub(crate) fn discord_options(config: &Config) -> Option<discord_room::Options> {
    let rooms: Vec<_> = config.rooms.iter().filter_map(|(name, room)| discord_room_options(name, room)).collect();
    let discord = config.discord.as_ref().filter(|_| !rooms.is_empty())?;
    Some(discord_room::Options {
        token: discord.token.clone(),
        connect_to: discord.connect_to,
        ca_pem: discord.ca.clone(),
        rooms,
    })
}

fn discord_room_options(name: &RoomName, room: &RoomConfig) -> Option<discord_room::RoomOptions> {
    let Service::Discord { channel, thread_per_session, mention } = &room.service else { return None };
    let listed = match &room.approvers.who {
        Who::Anyone => Listed::default(),
        Who::Listed(listed) => listed.clone(),
    };
    let mention = if *mention { Mention { people: listed.people, roles: listed.roles.clone() } } else { Mention::default() };
    Some(discord_room::RoomOptions {
        name: name.clone(),
        channel: channel.clone(),
        threads: if *thread_per_session { Threads::PerSession } else { Threads::None },
        mention,
        roles: listed.roles,
    })
}
