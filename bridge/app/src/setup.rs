//! From the configuration to rules and rooms.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use bridge_config::{Config, Login, Matrix, RoomConfig, Secret, Service};
use bridge_core::{Limits, RoomRules, Rules};
use bridge_model::{RoomName, SourceName};
use matrix_room::{MatrixRoom, RoomOptions};
use policy::{Policy, RefusalStyle, Verdict};

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
    };
    RoomRules { approvers: room.approvers.clone(), card }
}

/// Connects each account that serves a room, in the background.
pub(crate) fn rooms(config: &Config, inbox: &Inbox) -> BTreeMap<RoomName, RoomHandle> {
    let Some(options) = matrix_options(config) else { return BTreeMap::new() };
    let names: Vec<_> = options.rooms.iter().map(|room| room.name.clone()).collect();
    let handle = rooms::serve(move || MatrixRoom::new(options.clone()), names.clone(), inbox.clone());
    names.into_iter().map(|name| (name, handle.clone())).collect()
}

/// What the Matrix adapter needs to know; `None` if no room is a Matrix room.
pub(crate) fn matrix_options(config: &Config) -> Option<matrix_room::Options> {
    let rooms: Vec<_> = config.rooms.iter().map(|(name, room)| matrix_room_options(name, room)).collect();
    let matrix = config.matrix.as_ref().filter(|_| !rooms.is_empty())?;
    Some(account(matrix, rooms, &config.state_dir))
}

fn matrix_room_options(name: &RoomName, room: &RoomConfig) -> RoomOptions {
    match &room.service {
        Service::Matrix { room_id, reactions } => RoomOptions {
            name: name.clone(),
            id: room_id.clone(),
            reactions: *reactions,
            ask_power: room.approvers.power_min.is_some(),
        },
    }
}

fn account(matrix: &Matrix, rooms: Vec<RoomOptions>, state_dir: &Path) -> matrix_room::Options {
    let secret = |secret: &Secret| matrix_room::Secret::new(secret.expose());
    matrix_room::Options {
        homeserver: matrix.homeserver.to_string(),
        user: matrix.user.to_string(),
        login: match &matrix.login {
            None => matrix_room::Login::Restore,
            Some(Login::Password(password)) => matrix_room::Login::Password(secret(password)),
            Some(Login::AccessToken { token, device_id }) => {
                matrix_room::Login::AccessToken { token: secret(token), device_id: device_id.clone() }
            }
        },
        device_name: matrix.device_name.clone(),
        store_dir: state_dir.join("matrix"),
        store_passphrase: matrix.store_passphrase.as_ref().map(secret),
        recovery_key: matrix.recovery_key.as_ref().map(secret),
        rooms,
        invites_from: matrix.invites_from.iter().cloned().collect(),
    }
}
