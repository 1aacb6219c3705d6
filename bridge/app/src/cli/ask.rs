//! The command line of `countersign ask`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Permissions, lifetime};

/// Asks people in a chat room, and waits for what they choose.
///
/// For scripts and CI: `countersign ask --title "terraform apply prod" --detail-file plan.txt && terraform apply`. It prints
/// the id of the option that was chosen.
///
/// Exit status: 0 an option that allows was chosen, 1 one that refuses, 2 the command line is wrong, 3 nobody answered in time,
/// 4 it could not be asked.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// What is asked, in one line.
    #[arg(long)]
    pub(crate) title: String,
    /// More about it, shown below the title.
    #[arg(long, value_name = "TEXT")]
    pub(crate) detail: Option<String>,
    /// A file with more about it, shown below the title; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "detail")]
    pub(crate) detail_file: Option<PathBuf>,
    /// The command that is to be allowed, shown as such.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// What can be chosen. KIND: `allow_once`, `allow_always`, `reject_once` or `reject_always`. Can be given several times; without
    /// any, one allows and one refuses.
    #[arg(long = "option", value_name = "ID=LABEL:KIND", value_parser = Offer::read)]
    pub(crate) options: Vec<Offer>,
    /// The kind of what is asked, as ACP has them.
    #[arg(long, default_value = "execute")]
    pub(crate) kind: String,
    /// Who asks, as the card says. Otherwise this machine's name.
    #[arg(long, value_name = "NAME", value_parser = bridge_config::agent_name)]
    pub(crate) name: Option<String>,
    /// How long it waits for a person; at most what the bridge's policy has.
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    pub(crate) lifetime: Option<Duration>,
    /// It may wait for as long as the policy has for requests that outlive a turn, and goes on while this program is not there:
    /// the same --key asks for the same again.
    #[arg(long, requires = "key")]
    pub(crate) detached: bool,
    /// Names the request, so that asking again is not a second one. Otherwise each is a new one.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Narrows the policy, as for `acp`.
    #[arg(long, value_name = "KEY=VERDICT", value_parser = Permissions::read)]
    pub(crate) permission: Vec<Permissions>,
    /// The room to ask. Otherwise the one that the bridge has for programs.
    #[arg(long, value_name = "ROOM")]
    pub(crate) room: Option<String>,
    /// The bridge, `countersign serve`: its URL, or the path of its socket. Several are tried in their order. Otherwise:
    /// COUNTERSIGN_BRIDGE.
    #[arg(long, value_name = "URL")]
    pub(crate) bridge: Vec<String>,
    /// A file with the token for the bridge. Otherwise: COUNTERSIGN_TOKEN.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

/// One option of a request.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) kind: String,
}

impl Offer {
    const KINDS: [&str; 4] = ["allow_once", "allow_always", "reject_once", "reject_always"];

    pub(crate) fn new(id: &str, label: &str, kind: &str) -> Self {
        Self { id: id.to_owned(), label: label.to_owned(), kind: kind.to_owned() }
    }

    fn read(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(id, rest)| Some((id, rest.rsplit_once(':')?)));
        let (id, (label, kind)) = parts.ok_or("write it as ID=LABEL:KIND, such as apply=Apply:allow_once")?;
        if id.is_empty() {
            return Err("the id is empty".to_owned());
        }
        if !Self::KINDS.contains(&kind) {
            return Err(format!("{kind:?} is not a kind; use {}", Self::KINDS.join(", ")));
        }
        Ok(Self::new(id, label, kind))
    }
}
