//! From the configuration to rules and rooms.

#[cfg(feature = "discord")]
pub(crate) mod discord;
#[cfg(feature = "matrix")]
pub(crate) mod matrix;
#[cfg(feature = "web")]
pub(crate) mod web;

use std::collections::BTreeMap;
use std::time::Duration;

use bridge_config::{Config, RoomConfig, Service};
use bridge_core::{Details, Escalation, Limits, Room, RoomError, RoomRules, Rules};
use bridge_model::{PersonId, RoomName, SourceName};
use policy::{Launch, Policy};

use crate::hub::Inbox;
use crate::rooms::{self, RoomHandle};

/// The policy of the configuration; without one, everything would be asked.
pub(crate) fn policy(config: Option<&Config>) -> Policy {
    config.map_or_else(|| Policy::asking(Duration::from_mins(5)), |config| config.policy.clone())
}

/// The rules of the configuration for one source, as narrow as its launch has them; without a configuration there is no
/// room, and everything is refused.
pub(crate) fn rules(
    config: Option<&Config>,
    launch: Launch,
    requester: Option<PersonId>,
    (source, room): (&SourceName, Option<&RoomName>),
) -> Rules {
    let rooms = config.map(|config| &config.rooms).into_iter().flatten();
    let rooms = rooms.map(|(name, room)| (name.clone(), room_rules(room)));
    let route = room.map(|room| (source.clone(), room.clone()));
    Rules {
        policy: Policy { launches: vec![launch], ..policy(config) },
        rooms: rooms.collect(),
        routes: route.into_iter().collect(),
        requesters: requester.map(|requester| (source.clone(), requester)).into_iter().collect(),
        limits: Limits { pace: config.map(|config| config.limits).unwrap_or_default(), ..Limits::default() },
    }
}

fn room_rules(room: &RoomConfig) -> RoomRules {
    let card = match room.service {
        #[cfg(feature = "matrix")]
        Service::Matrix { .. } => matrix_room::LIMITS,
        #[cfg(feature = "discord")]
        Service::Discord { .. } => discord_room::LIMITS,
        #[cfg(feature = "web")]
        Service::Web => web_room::LIMITS,
        // Nothing is served with such a room. If it were, no card would fit.
        #[cfg(not(all(feature = "matrix", feature = "discord", feature = "web")))]
        _ => bridge_model::CardLimits { buttons_max: 0, label_max: 0, label_seen: 0, text_bytes_max: 0, unattached_bytes_max: 0 },
    };
    let details = match room.details {
        bridge_config::Details::Full => Details::Full,
        bridge_config::Details::Described => Details::Described,
    };
    let bridge_config::Answers { rules, by_kind, when_nobody, remind_at, escalate } = room.answers.clone();
    let escalation =
        escalate.map(|escalate| Escalation { after: escalate.after, room: escalate.room, mention: escalate.mention });
    RoomRules { answers: rules, answers_by_kind: by_kind, when_nobody, remind_at, escalation, details, card }
}

/// What to say about a room that this program was built without.
pub(crate) fn not_built_in(config: &Config) -> Option<String> {
    config.rooms.iter().find_map(|(name, room)| {
        let (service, is_built_in) = match room.service {
            Service::Matrix { .. } => ("matrix", cfg!(feature = "matrix")),
            Service::Discord { .. } => ("discord", cfg!(feature = "discord")),
            Service::Web => ("web", cfg!(feature = "web")),
        };
        let problem = || {
            format!("rooms.{name} needs {service}, which this program was built without; build it with `--features {service}`")
        };
        (!is_built_in).then(problem)
    })
}

/// What has to be had before any agent runs.
#[derive(Default)]
pub(crate) struct Reserved {
    #[cfg(feature = "web")]
    page: Option<web_room::WebRoom>,
}

/// Takes the port of the page: an agent that was there first could pass for it.
#[cfg_attr(not(feature = "web"), expect(clippy::unused_async, reason = "it waits where there is a page"))]
pub(crate) async fn reserve(config: &Config) -> Result<Reserved, RoomError> {
    #[cfg(feature = "web")]
    if let Some(options) = web::options(config) {
        return Ok(Reserved { page: Some(web_room::WebRoom::bind(options).await?) });
    }
    let _ = config;
    Ok(Reserved::default())
}

/// Connects each account that serves a room, in the background.
#[allow(unused_variables, reason = "not every kind of room needs both")]
pub(crate) fn rooms(config: &Config, reserved: Reserved, inbox: &Inbox) -> BTreeMap<RoomName, RoomHandle> {
    let mut rooms = BTreeMap::new();
    #[cfg(feature = "matrix")]
    if let Some(options) = matrix::options(config) {
        let names = options.rooms.iter().map(|room| room.name.clone()).collect();
        rooms.extend(connect(move || matrix_room::MatrixRoom::new(options.clone()), names, inbox));
    }
    #[cfg(feature = "discord")]
    if let Some(options) = discord::options(config) {
        let names = options.rooms.iter().map(|room| room.name.clone()).collect();
        rooms.extend(connect(move || discord_room::DiscordRoom::new(options.clone()), names, inbox));
    }
    #[cfg(feature = "web")]
    if let Some(page) = reserved.page {
        let names = page.rooms().cloned().collect();
        rooms.extend(connect(move || page.clone(), names, inbox));
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
