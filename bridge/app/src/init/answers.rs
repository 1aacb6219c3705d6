//! What a first configuration is made from.

use std::path::Path;

use bridge_config::{Config, DISCORD_TOKEN, Environment, MATRIX_PASSWORD, Starter, StarterService};
use bridge_model::Secret;
use nix::unistd::{Uid, User};

use crate::cli::{InitArgs, Kind};

/// `None` where nobody has answered yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    pub(super) room: Option<String>,
    pub(super) approvers: Option<Vec<String>>,
    lifetime: Option<String>,
    listen: Option<String>,
    pub(super) homeserver: Option<String>,
    pub(super) user: Option<String>,
    pub(super) room_id: Option<String>,
    invites_from: Option<Vec<String>>,
    pub(super) channel: Option<String>,
    pub(super) approver_roles: Option<Vec<String>>,
    pub(super) secret: Option<Secret>,
}

impl Answers {
    /// What the flags say, but for the secret.
    pub(super) fn of_flags(args: &InitArgs) -> Self {
        let list = |values: &Vec<String>| (!values.is_empty()).then(|| values.clone());
        Self {
            room: args.room.clone(),
            approvers: list(&args.approvers),
            lifetime: args.lifetime.clone(),
            listen: args.listen.clone(),
            homeserver: args.homeserver.clone(),
            user: args.user.clone(),
            room_id: args.room_id.clone(),
            invites_from: list(&args.invites_from),
            channel: args.channel.clone(),
            approver_roles: list(&args.approver_roles),
            secret: None,
        }
    }

    /// The configuration, with an example in the place of what is not answered yet.
    pub(super) fn starter(&self, kind: Kind) -> Starter {
        let or = |answer: &Option<String>, example: &str| answer.clone().unwrap_or_else(|| example.into());
        let people = |example: &str| self.approvers.clone().unwrap_or_else(|| vec![example.into()]);
        let (approvers, service) = match kind {
            Kind::Web => (people("ada"), StarterService::Web { listen: or(&self.listen, "127.0.0.1:7391") }),
            Kind::Matrix => {
                let approvers = people("@ada:example.org");
                let service = StarterService::Matrix {
                    homeserver: or(&self.homeserver, "https://matrix.example.org"),
                    user: or(&self.user, "@countersign:example.org"),
                    room_id: or(&self.room_id, "!abc:example.org"),
                    invites_from: self.invites_from.clone().unwrap_or_else(|| approvers.clone()),
                };
                (approvers, service)
            }
            Kind::Discord => {
                // Either may be left out, not both.
                let (approvers, approver_roles) = match (&self.approvers, &self.approver_roles) {
                    (None, None) => (Vec::new(), vec!["345678901234567890".into()]),
                    (Some(people), None) if people.is_empty() => (Vec::new(), vec!["345678901234567890".into()]),
                    (people, roles) => (people.clone().unwrap_or_default(), roles.clone().unwrap_or_default()),
                };
                let channel = or(&self.channel, "123456789012345678");
                (approvers, StarterService::Discord { channel, approver_roles })
            }
        };
        Starter { room: or(&self.room, ROOM), approvers, lifetime: or(&self.lifetime, "5m"), service }
    }

    /// What the configuration says if it is written to `file`, or what is wrong with it.
    pub(super) fn try_out(&self, kind: Kind, file: &Path) -> Result<Config, Vec<String>> {
        let lines = |error: bridge_config::ConfigError| error.problems.iter().map(ToString::to_string).collect::<Vec<_>>();
        let environment = Environment::of_this_process().map_err(lines)?.without_overrides();
        let secret = self.secret.as_ref().map_or("example", Secret::expose);
        let config = bridge_config::parse(file, &self.starter(kind).text(), &environment, &|_, _| Ok(secret.to_owned()));
        let config = config.map_err(lines)?;
        if config.warnings.is_empty() { Ok(config) } else { Err(config.warnings) }
    }
}

/// What a room is called if nobody says otherwise.
pub(super) const ROOM: &str = "builds";

/// The file beside the configuration that holds what the service is logged in to with.
pub(super) fn secret_name(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Web => None,
        Kind::Matrix => Some(MATRIX_PASSWORD),
        Kind::Discord => Some(DISCORD_TOKEN),
    }
}

/// Flags that were given and belong to another kind of room.
pub(super) fn foreign_flags(args: &InitArgs, kind: Kind) -> Vec<String> {
    let flags = [
        ("--listen", Kind::Web, args.listen.is_some()),
        ("--homeserver", Kind::Matrix, args.homeserver.is_some()),
        ("--user", Kind::Matrix, args.user.is_some()),
        ("--password-file", Kind::Matrix, args.password_file.is_some()),
        ("--room-id", Kind::Matrix, args.room_id.is_some()),
        ("--invites-from", Kind::Matrix, !args.invites_from.is_empty()),
        ("--token-file", Kind::Discord, args.token_file.is_some()),
        ("--channel", Kind::Discord, args.channel.is_some()),
        ("--approver-role", Kind::Discord, !args.approver_roles.is_empty()),
    ];
    let foreign = flags.into_iter().filter(|(_, of, is_given)| *is_given && *of != kind);
    foreign.map(|(flag, of, _)| format!("{flag} is for {} rooms; remove it", word(of))).collect()
}

/// How a kind is written on the command line.
pub(super) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Web => "web",
        Kind::Matrix => "matrix",
        Kind::Discord => "discord",
    }
}

/// What whoever runs this could be called on the page.
pub(super) fn own_name() -> String {
    let user = User::from_uid(Uid::effective()).ok().flatten().filter(|user| !user.uid.is_root());
    let name = user.map(|user| user.name.to_lowercase());
    name.filter(|name| bridge_config::person_name(name).is_some()).unwrap_or_else(|| "me".into())
}
