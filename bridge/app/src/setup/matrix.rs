//! What the Matrix adapter needs to know.

use std::path::Path;

use bridge_config::{Config, Login, Matrix, RoomConfig, Service};
use bridge_model::RoomName;

/// `None` if no room is a Matrix room.
pub(crate) fn options(config: &Config) -> Option<matrix_room::Options> {
    let rooms: Vec<_> = config.rooms.iter().filter_map(|(name, room)| room_options(name, room)).collect();
    let matrix = config.matrix.as_ref().filter(|_| !rooms.is_empty())?;
    Some(account(matrix, rooms, &config.state_dir))
}

fn room_options(name: &RoomName, room: &RoomConfig) -> Option<matrix_room::RoomOptions> {
    let Service::Matrix { room_id, reactions } = &room.service else { return None };
    Some(matrix_room::RoomOptions {
        name: name.clone(),
        id: room_id.clone(),
        reactions: *reactions,
        ask_power: room.answers.rules.approvers.power_min.is_some(),
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
