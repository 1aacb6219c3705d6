//! What the Discord adapter needs to know.

use bridge_config::{Config, RoomConfig, Service};
use bridge_model::RoomName;
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
