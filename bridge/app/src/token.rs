//! `countersign token`: which programs may raise requests.

use std::process::ExitCode;

use bridge_config::Config;
use bridge_model::{PersonId, RoomName, Timestamp};
use http_source::{Grant, Tokens};

use crate::check::{say, tell};
use crate::cli::{NewTokenArgs, Permissions, TokenArgs, TokenCommand};
use crate::clock::Clock;
use crate::tokens::random;

pub(crate) fn run(args: &TokenArgs) -> ExitCode {
    let config = match crate::check::load(&args.config) {
        Ok(config) => config,
        Err(status) => return status,
    };
    let done = match &args.command {
        TokenCommand::New(new) => make(&config, new),
        TokenCommand::List => list(&config),
        TokenCommand::Revoke { name } => revoke(&config, name),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            tell(&problem);
            ExitCode::FAILURE
        }
    }
}

fn make(config: &Config, args: &NewTokenArgs) -> Result<(), String> {
    if let Some(room) = args.rooms.iter().find(|room| !config.rooms.contains_key(*room)) {
        let names: Vec<_> = config.rooms.keys().map(RoomName::as_str).collect();
        return Err(format!("{:?} is not a configured room; there is {}", room.as_str(), names.join(", ")));
    }
    let launch = Permissions::launch(&args.permission, args.lifetime);
    // It may be for detached requests, which wait for longer.
    config.policy.check(&launch, true).map_err(|widens| format!("the token asks for more than the policy has: {widens}"))?;
    let requester = args.requester.as_deref().map(|text| requester(config, text)).transpose()?;
    bridge_config::private_folder(&config.state_dir).map_err(|unusable| format!("{}; {}", unusable.what, unusable.advice))?;
    let (mut grant, token) = Grant::new(&args.name, random(), Clock::default().now());
    (grant.rooms, grant.launch, grant.requester) = (args.rooms.clone(), launch, requester);
    grant.trust_paths = args.trust_paths;
    Tokens::of(&config.state_dir).add(grant).map_err(|problem| problem.to_string())?;
    say(&token);
    tell(&format!(
        "This is the token {}, shown once. Whoever has it can raise requests, and answer none. Give it to its program as \
         COUNTERSIGN_TOKEN, or in a file that nobody else can read.",
        args.name
    ));
    Ok(())
}

/// Somebody by their id in the service of one of the rooms.
fn requester(config: &Config, text: &str) -> Result<PersonId, String> {
    let found = config.rooms.values().find_map(|room| room.person(text));
    found.ok_or_else(|| format!("--requester {text:?} is nobody's id in the service of any room"))
}

fn list(config: &Config) -> Result<(), String> {
    let tokens = Tokens::of(&config.state_dir).all().map_err(|problem| problem.to_string())?;
    if tokens.is_empty() {
        tell("There is no token. `countersign token new NAME` makes one.");
    }
    for Grant { name, rooms, launch, requester, trust_paths, made, .. } in tokens {
        let rooms: Vec<_> = rooms.iter().map(RoomName::as_str).collect();
        let rooms = if rooms.is_empty() { "all rooms".to_owned() } else { rooms.join(", ") };
        let about = [format!("asks in {rooms}"), format!("made {}", day(made))];
        let narrowed = launch.verdicts.all().map(|(key, verdict)| format!("{key} = {}", verdict.name()));
        let lifetime = launch.lifetime.map(|span| format!("waits for {}", humantime::format_duration(span)));
        let requester = requester.map(|requester| format!("launched by {requester}"));
        let trusted = trust_paths.then(|| "its paths are believed".to_owned());
        let about: Vec<_> = about.into_iter().chain(narrowed).chain(lifetime).chain(requester).chain(trusted).collect();
        say(&format!("{name:<20} {}", about.join("; ")));
    }
    Ok(())
}

fn day(made: Timestamp) -> String {
    made.to_string().split(' ').next().unwrap_or_default().to_owned()
}

fn revoke(config: &Config, name: &str) -> Result<(), String> {
    if !Tokens::of(&config.state_dir).revoke(name).map_err(|problem| problem.to_string())? {
        return Err(format!("there is no token {name}"));
    }
    tell(&format!("The token {name} is revoked; nothing is accepted from it any more."));
    Ok(())
}
