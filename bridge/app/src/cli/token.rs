//! The command line of `countersign token`.

use std::convert::Infallible;
use std::time::Duration;

use bridge_model::RoomName;
use clap::{Args, Subcommand};

use super::{ConfigArgs, Permissions, lifetime};

/// Says which programs may raise requests.
///
/// A token can raise and withdraw requests, and never answer one. It works while the bridge runs.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    New(Box<NewTokenArgs>),
    /// Lists the tokens, by their names.
    List,
    /// Takes a token back. What it has raised and is not detached is withdrawn soon.
    Revoke {
        /// The token's name.
        name: String,
    },
}

/// Makes a token and prints it, once. Only its hash is kept.
#[derive(Debug, Args)]
pub(crate) struct NewTokenArgs {
    /// What to call it, such as the machine or the program that it is for.
    #[arg(value_parser = name)]
    pub(crate) name: String,
    /// A room that it may ask; all rooms otherwise. Can be given several times.
    #[arg(long = "room", value_name = "ROOM", value_parser = |name: &str| Ok::<_, Infallible>(RoomName::new(name)))]
    pub(crate) rooms: Vec<RoomName>,
    /// Narrows the policy for all that it raises, as for `acp`.
    #[arg(long, value_name = "KEY=VERDICT", value_parser = Permissions::read)]
    pub(crate) permission: Vec<Permissions>,
    /// How long its requests wait for a person; at most what the policy has.
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    pub(crate) lifetime: Option<Duration>,
    /// Who launches its agents, by their id in the room's service. Needed where they may not answer themselves.
    #[arg(long, value_name = "ID")]
    pub(crate) requester: Option<String>,
    /// Believe what its callers say of where paths lead, as `acp --bridge` looks it up on its own machine. Without it, rules
    /// allow nothing that names a file, since all of it counts as outside of the workspace.
    #[arg(long)]
    pub(crate) trust_paths: bool,
}

fn name(text: &str) -> Result<String, String> {
    let advice = "use up to 32 of a-z, 0-9, `.`, _ and -, beginning with a letter or a digit";
    bridge_config::person_name(text).map(|name| name.as_str().to_owned()).ok_or_else(|| advice.to_owned())
}
