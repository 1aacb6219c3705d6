//! What the Discord adapter needs to know.

use std::collections::BTreeSet;

use bridge_config::{Config, RoomConfig, Service};
use bridge_model::{RoleId, RoomName};
use discord_room::{Mention, Threads};
use policy::{Listed, Who};

/// `None` if no room is a Discord room.
pub(crate) fn options(config: &Config) -> Option<discord_room::Options> {
    let rooms: Vec<_> = config.rooms.iter().filter_map(|(name, room)| room_options(name, room)).collect();
    let discord = config.discord.as_ref().filter(|_| !rooms.is_empty())?;
    Some(discord_room::Options {
        token: discord.token.clone(),
        connect_to: discord.connect_to,
        ca_pem: discord.ca.clone(),
        rooms,
    })
}

fn room_options(name: &RoomName, room: &RoomConfig) -> Option<discord_room::RoomOptions> {
    let Service::Discord { channel, thread_per_session, mention } = &room.service else { return None };
    let mention = match &room.answers.rules.approvers.who {
        Who::Listed(Listed { people, roles }) if *mention => Mention { people: people.clone(), roles: roles.clone() },
        Who::Listed(_) | Who::Anyone => Mention::default(),
    };
    Some(discord_room::RoomOptions {
        name: name.clone(),
        channel: channel.clone(),
        threads: if *thread_per_session { Threads::PerSession } else { Threads::None },
        mention,
        roles: roles(room),
    })
}

/// All roles that are listed for whatever kind of tool call.
fn roles(room: &RoomConfig) -> BTreeSet<RoleId> {
    let listed = room
        .answers
        .all_rules()
        .filter_map(|(_, rules)| if let Who::Listed(listed) = &rules.approvers.who { Some(listed) } else { None });
    listed.flat_map(|listed| listed.roles.clone()).collect()
}
