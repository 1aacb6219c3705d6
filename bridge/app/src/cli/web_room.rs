//! The command line of `countersign web-room`.

use std::convert::Infallible;
use std::time::Duration;

use bridge_model::{PersonId, RoomName};
use clap::{Args, Subcommand};

use super::ConfigArgs;

/// How long a link can be used that nobody said more about.
pub(crate) const LINK_FOR: Duration = Duration::from_hours(24);

/// Says who may open the page that the bridge serves, and lets people in.
///
/// It works while the bridge runs.
#[derive(Debug, Args)]
pub(crate) struct WebRoomArgs {
    #[command(subcommand)]
    pub(crate) command: WebRoomCommand,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WebRoomCommand {
    Invite(InviteArgs),
    /// Lists who has a key.
    List,
    Revoke(RevokeArgs),
}

/// Makes a key for a person and prints the link that lets them in, once.
///
/// Whoever opens the link is that person from then on, in that browser, until the key is revoked.
#[derive(Debug, Args)]
pub(crate) struct InviteArgs {
    /// The person's name, as it stands under `approvers`.
    #[arg(value_parser = person)]
    pub(crate) name: PersonId,
    /// A room that they may see; all rooms of the page otherwise. Can be given several times.
    #[arg(long = "room", value_name = "ROOM", value_parser = |name: &str| Ok::<_, Infallible>(RoomName::new(name)))]
    pub(crate) rooms: Vec<RoomName>,
    /// How long the link can be used, and at most ten minutes once it was. Browsers that it let in stay in.
    #[arg(long, value_name = "SPAN", default_value_t = LINK_FOR.into(), value_parser = link_for)]
    pub(crate) link_for: humantime::Duration,
}

/// Takes all keys of a person, and closes their open pages.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The person's name.
    #[arg(value_parser = person)]
    pub(crate) name: PersonId,
}

fn person(text: &str) -> Result<PersonId, String> {
    let advice = "use up to 32 of a-z, 0-9, `.`, _ and -, beginning with a letter or a digit";
    bridge_config::person_name(text).ok_or_else(|| advice.to_owned())
}

fn link_for(text: &str) -> Result<humantime::Duration, String> {
    let span: humantime::Duration = text.parse().map_err(|error: humantime::DurationError| error.to_string())?;
    if span.is_zero() { Err("nobody can open it in no time".to_owned()) } else { Ok(span) }
}
