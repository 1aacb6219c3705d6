//! The command line.

#[cfg(feature = "http")]
mod ask;
mod audit;
mod init;
mod status;
#[cfg(feature = "http")]
mod token;
#[cfg(feature = "web")]
mod web_room;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use policy::{Key, Launch, Verdict};

#[cfg(feature = "http")]
pub(crate) use ask::{AskArgs, Offer};
pub(crate) use audit::{AuditArgs, AuditCommand, AuditListArgs, Since};
pub(crate) use init::{InitArgs, Kind};
pub(crate) use status::{PendingArgs, StatusArgs};
#[cfg(feature = "http")]
pub(crate) use token::{NewTokenArgs, TokenArgs, TokenCommand};
#[cfg(feature = "web")]
pub(crate) use web_room::{InviteArgs, LINK_FOR, RevokeArgs, WebRoomArgs, WebRoomCommand};

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
    #[cfg(feature = "demo")]
    Demo(DemoArgs),
    Init(Box<InitArgs>),
    #[cfg(feature = "acp")]
    Acp(AcpArgs),
    #[cfg(feature = "http")]
    Serve(ServeArgs),
    #[cfg(feature = "http")]
    Ask(Box<AskArgs>),
    #[cfg(feature = "http")]
    Token(TokenArgs),
    Check(CheckArgs),
    Status(StatusArgs),
    Pending(PendingArgs),
    Audit(AuditArgs),
    Explain(ExplainArgs),
    Reload(ReloadArgs),
    #[cfg(feature = "web")]
    WebRoom(WebRoomArgs),
    #[cfg(feature = "matrix")]
    RecoveryKey(RecoveryKeyArgs),
    /// The agent of `demo`, on standard input and output.
    #[cfg(feature = "demo")]
    #[command(hide = true)]
    DemoAgent,
}

/// Stands between an ACP client and its agent.
///
/// Put it where your client starts the agent: `countersign acp -- claude-agent-acp`. The client talks to it as to the
/// agent itself; only permission requests are held back, shown in the room, and answered by a click there. Nobody
/// answers in time, or anything breaks: the agent is refused.
///
/// It ends as the agent ends, with the same exit status.
#[cfg(feature = "acp")]
#[derive(Debug, Args)]
pub(crate) struct AcpArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// What cards call the agent. Otherwise: `name` under [acp], or what the agent calls itself.
    #[arg(long, value_name = "NAME", value_parser = bridge_config::agent_name)]
    pub(crate) name: Option<String>,
    /// Narrows the policy for this agent: `execute=ask,default=auto_deny`, `auto_deny` alone for all, or
    /// `title:TEXT=auto_deny`. What would be looser than the policy is refused. May be given several times.
    #[arg(long, value_name = "KEY=VERDICT", value_parser = Permissions::read)]
    pub(crate) permission: Vec<Permissions>,
    /// How long a request waits for a person; at most what the policy has.
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    pub(crate) lifetime: Option<Duration>,
    /// Who launches the agent, by their id in the room's service. Needed where they may not answer themselves.
    #[arg(long, value_name = "ID")]
    pub(crate) requester: Option<String>,
    /// Has a bridge that runs elsewhere, `countersign serve`, hold the requests: its URL, or the path of its socket. Its policy
    /// and its rooms count, and no configuration here. Several are tried in their order. Needs a token.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "requester"])]
    pub(crate) bridge: Vec<String>,
    /// A file with the token for the bridge. Otherwise: COUNTERSIGN_TOKEN.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "FILE", requires = "bridge")]
    pub(crate) token_file: Option<PathBuf>,
    /// The room that the bridge asks. Otherwise the one that it has for programs.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "ROOM", requires = "bridge")]
    pub(crate) room: Option<String>,
    /// The agent and its arguments.
    #[arg(required = true, last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<OsString>,
}

/// Serves many agents and programs with one bridge.
///
/// It holds the chat accounts, the policy and the ledger. Agents reach it with `countersign acp --bridge`, scripts with
/// `countersign ask`, other programs over HTTP; each with a token that `countersign token new` makes, and that can raise
/// requests and never answer one. Requests wait through a restart, on the same card.
#[cfg(feature = "http")]
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// The verdicts of one `--permission`.
#[derive(Clone, Debug)]
pub(crate) struct Permissions(Vec<(Key, Verdict)>);

impl Permissions {
    fn read(text: &str) -> Result<Self, String> {
        bridge_config::permissions(text).map(Self)
    }

    /// What all of them together ask for.
    pub(crate) fn launch(all: &[Self], lifetime: Option<Duration>) -> Launch {
        bridge_config::launch(all.iter().flat_map(|permissions| permissions.0.clone()), lifetime)
    }
}

/// A span of time that a request can wait.
fn lifetime(text: &str) -> Result<Duration, String> {
    const MIN: Duration = Duration::from_secs(1);
    let lifetime = humantime::parse_duration(text).map_err(|_| "write it as \"2m\" or \"1h 30m\"".to_owned())?;
    if lifetime < MIN { Err("use at least 1s".to_owned()) } else { Ok(lifetime) }
}

/// Checks the configuration, logs in, and says for each room what works and what is missing.
///
/// Exit status: 0 if requests can be shown and somebody could answer them, 1 if not, 78 if the configuration is wrong.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Says what would become of a request, and which rule decides.
///
/// `countersign explain --kind execute --title "make test" --path src/lib.rs --person @ada:example.org`
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The tool call's kind, as the agent would say it. One that ACP does not have is unknown.
    #[arg(long)]
    pub(crate) kind: String,
    /// Its title.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// A file that it names.
    #[arg(long)]
    pub(crate) path: Vec<String>,
    /// Where its session works. Otherwise here.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The kinds of the options that it offers.
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "allow_once,reject_once")]
    pub(crate) option: Vec<String>,
    /// The room that is asked. Otherwise the one under [acp].
    #[arg(long)]
    pub(crate) room: Option<String>,
    /// Somebody who might answer, by their id in the room's service.
    #[arg(long, value_name = "ID")]
    pub(crate) person: Option<String>,
    /// A role that they have.
    #[arg(long, value_name = "ID", requires = "person")]
    pub(crate) role: Vec<String>,
    /// As for `acp`.
    #[arg(long, value_name = "ID", requires = "person")]
    pub(crate) requester: Option<String>,
    /// As for `acp`.
    #[arg(long, value_name = "KEY=VERDICT", value_parser = Permissions::read)]
    pub(crate) permission: Vec<Permissions>,
    /// As for `acp`.
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    pub(crate) lifetime: Option<Duration>,
}

/// Has the running bridge read its configuration again, as SIGHUP does.
///
/// What it says about the policy, the limits and who may answer counts at once, for what waits already as far as it is
/// stricter. All else needs a restart. A configuration that is wrong changes nothing.
#[derive(Debug, Args)]
pub(crate) struct ReloadArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Shows what it is like: an agent that asks, and a page where you answer. No account, no token, no network.
///
/// It starts the bridge with a temporary configuration, and an agent that wants to do five harmless things in a temporary
/// folder. It prints the link of the page, and then what the agent asks, what comes back, and what it does or does not do.
///
/// `countersign demo -- claude-agent-acp` takes a real agent, which does what you then type.
#[cfg(feature = "demo")]
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// How long a request waits for you before it is refused.
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = lifetime)]
    pub(crate) lifetime: Duration,
    /// Where the page is served. Otherwise 127.0.0.1:7391, or any free port if that is taken.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// The folder that a real agent works in. Otherwise a temporary one.
    #[arg(long, value_name = "DIR", requires = "agent")]
    pub(crate) cwd: Option<PathBuf>,
    /// Show the bridge's log too.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// A real agent and its arguments.
    #[arg(last = true, value_name = "AGENT")]
    pub(crate) agent: Vec<OsString>,
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

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration file. Otherwise: COUNTERSIGN_CONFIG, ./countersign.toml, ~/.config/countersign/countersign.toml
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
}
