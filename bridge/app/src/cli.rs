//! The command line.

#[cfg(feature = "web")]
use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
#[cfg(feature = "web")]
use std::time::Duration;

#[cfg(feature = "web")]
use bridge_model::{PersonId, RoomName};
use clap::{Args, Parser, Subcommand};

/// Exit status when the command line or the configuration is wrong (sysexits: EX_CONFIG).
pub(crate) const EXIT_CONFIG: u8 = 78;

/// Exit status when the agent cannot be started, as a shell has it.
pub(crate) const EXIT_NOT_STARTED: u8 = 127;

/// Holds an agent's permission requests until a person in a chat room answers.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Acp(AcpArgs),
    Check(CheckArgs),
    #[cfg(feature = "web")]
    WebRoom(WebRoomArgs),
    #[cfg(feature = "matrix")]
    RecoveryKey(RecoveryKeyArgs),
}

/// Stands between an ACP client and its agent.
///
/// Put it where your client starts the agent: `countersign acp -- claude-agent-acp`. The client talks to it as to the
/// agent itself; only permission requests are held back, shown in the room, and answered by a click there. Nobody
/// answers in time, or anything breaks: the agent is refused.
///
/// It ends as the agent ends, with the same exit status.
#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Also show permission requests to the client; the first answer counts.
    #[arg(long)]
    pub(crate) also_ask_client: bool,
    /// The agent and its arguments.
    #[arg(required = true, last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<OsString>,
}

/// Checks the configuration, logs in, and says for each room what works and what is missing.
///
/// Exit status: 0 if requests can be shown and somebody could answer them, 1 if not, 78 if the configuration is wrong.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Makes a recovery key for the Matrix account and prints it, once.
///
/// Keep it where you keep passwords, and name its file as `recovery_key_file` under [matrix]: with it, a bot that lost
/// its store can be trusted in encrypted rooms again. An earlier key ends. No bridge may run on the same account meanwhile.
#[cfg(feature = "matrix")]
#[derive(Debug, Args)]
pub(crate) struct RecoveryKeyArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Says who may open the page that the bridge serves, and lets people in.
///
/// It works while the bridge runs.
#[cfg(feature = "web")]
#[derive(Debug, Args)]
pub(crate) struct WebRoomArgs {
    #[command(subcommand)]
    pub(crate) command: WebRoomCommand,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[cfg(feature = "web")]
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
#[cfg(feature = "web")]
#[derive(Debug, Args)]
pub(crate) struct InviteArgs {
    /// The person's name, as it stands under `approvers`.
    #[arg(value_parser = person)]
    pub(crate) name: PersonId,
    /// A room that they may see; all rooms of the page otherwise. Can be given several times.
    #[arg(long = "room", value_name = "ROOM", value_parser = |name: &str| Ok::<_, Infallible>(RoomName::new(name)))]
    pub(crate) rooms: Vec<RoomName>,
    /// How long the link can be used. Browsers that it let in stay in.
    #[arg(long, value_name = "SPAN", default_value = "1day", value_parser = humantime::parse_duration)]
    pub(crate) link_for: Duration,
}

/// Takes all keys of a person, and closes their open pages.
#[cfg(feature = "web")]
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The person's name.
    #[arg(value_parser = person)]
    pub(crate) name: PersonId,
}

#[cfg(feature = "web")]
fn person(text: &str) -> Result<PersonId, String> {
    let advice = "use up to 32 of a-z, 0-9, `.`, _ and -, beginning with a letter or a digit";
    bridge_config::person_name(text).ok_or_else(|| advice.to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration file. Otherwise: COUNTERSIGN_CONFIG, ./countersign.toml, ~/.config/countersign/countersign.toml
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}
