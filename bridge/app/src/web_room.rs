//! `countersign web-room`: who has a key for the page.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use bridge_config::{Config, Unusable};
use bridge_model::{PersonId, RoomName, Shown};
use policy::Who;
use web_room::{KeyHolder, Keys, KeysError, Options, holders, join_link};

use crate::check::{say, tell};
use crate::cli::{EXIT_CONFIG, InviteArgs, RevokeArgs, WebRoomArgs, WebRoomCommand};
use crate::setup;

/// Why the keys were not looked at, or were left as they are.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebRoomError {
    #[error("no room is on the page; add one: [rooms.NAME] with web = true")]
    NoRoom,
    #[error("{0} is not a room on the page; there is {1}")]
    NotHere(Shown, String),
    #[error("{}; {}", .0.what, .0.advice)]
    NotPrivate(Unusable),
    #[error("{0} has no key")]
    NoKey(PersonId),
    #[error(transparent)]
    Keys(#[from] KeysError),
}

pub(crate) fn run(args: &WebRoomArgs) -> ExitCode {
    let config = match crate::check::load(&args.config) {
        Ok(config) => config,
        Err(status) => return status,
    };
    let Some(options) = setup::web::options(&config) else {
        tell(&WebRoomError::NoRoom.to_string());
        return EXIT_CONFIG.into();
    };
    let done = match &args.command {
        WebRoomCommand::Invite(invite) => invite_one(&config, &options, invite),
        WebRoomCommand::List => list(&options),
        WebRoomCommand::Revoke(revoke) => revoke_one(&options, revoke),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            tell(&problem.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Makes a key; the link that joins with it. No `rooms`: all rooms on the page.
pub(crate) fn invite(
    options: &Options,
    person: &PersonId,
    rooms: &[RoomName],
    link_for: Duration,
) -> Result<String, WebRoomError> {
    if let Some(other) = rooms.iter().find(|room| !options.rooms.contains(*room)) {
        let names: Vec<_> = options.rooms.iter().map(RoomName::as_str).collect();
        return Err(WebRoomError::NotHere(Shown::line(other.as_str()), names.join(", ")));
    }
    bridge_config::private_folder(&options.folder).map_err(WebRoomError::NotPrivate)?;
    let all: Vec<_> = options.rooms.iter().cloned().collect();
    let rooms = if rooms.is_empty() { &all } else { rooms };
    let key = Keys::open(&options.folder, options.outside.clone())?.make(person, rooms, link_for)?;
    Ok(join_link(options, &key))
}

fn invite_one(config: &Config, options: &Options, args: &InviteArgs) -> Result<(), WebRoomError> {
    let has_key = holders(options)?.iter().any(|holder| holder.person == args.name);
    let link = invite(options, &args.name, &args.rooms, *args.link_for)?;
    say(&link);
    if has_key {
        tell(&format!("{} has another key already, which goes on; `web-room revoke {}` takes all of them", args.name, args.name));
    }
    tell(&format!(
        "This link lets in whoever opens it within {}, as {}, and for ten minutes once it was used. Give it to nobody else.",
        args.link_for, args.name
    ));
    let rooms: BTreeSet<&RoomName> =
        if args.rooms.is_empty() { options.rooms.iter().collect() } else { args.rooms.iter().collect() };
    for room in rooms {
        if !may_answer(config, room, &args.name) {
            tell(&format!(
                "{} will see what is asked in {room} and cannot answer it: add \"{}\" to rooms.{room}.approvers",
                args.name, args.name
            ));
        }
    }
    Ok(())
}

/// As far as the configuration says.
fn may_answer(config: &Config, room: &RoomName, person: &PersonId) -> bool {
    config.rooms.get(room).is_some_and(|room| {
        let is_listed = match &room.answers.rules.approvers.who {
            Who::Anyone => true,
            Who::Listed(listed) => listed.people.contains(person),
        };
        is_listed && !room.answers.rules.approvers.bots.contains(person)
    })
}

fn list(options: &Options) -> Result<(), WebRoomError> {
    let holders = holders(options)?;
    if holders.is_empty() {
        tell("Nobody has a key. `countersign web-room invite NAME` makes one.");
    }
    let now = (options.outside.now)();
    for KeyHolder { person, rooms, link_until, sessions, .. } in holders {
        let link = if link_until.has_passed(now) {
            "its link lets nobody in any more".to_owned()
        } else {
            let left = Duration::from_secs(link_until.since(now).as_secs());
            format!("its link lets in for another {}", humantime::format_duration(left))
        };
        let rooms: Vec<_> = rooms.iter().map(RoomName::as_str).collect();
        say(&format!("{:<20} in {}; joined in {sessions} browser(s); {link}", person.as_str(), rooms.join(", ")));
    }
    Ok(())
}

fn revoke_one(options: &Options, args: &RevokeArgs) -> Result<(), WebRoomError> {
    let keys = Keys::open_if_there(&options.folder, options.outside.clone())?;
    match keys.map_or(Ok(0), |keys| keys.revoke(&args.name))? {
        0 => return Err(WebRoomError::NoKey(args.name.clone())),
        count => {
            tell(&format!("{count} key(s) of {} are revoked; pages that {} had open close within seconds", args.name, args.name));
        }
    }
    Ok(())
}
