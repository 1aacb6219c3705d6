//! The command line of `countersign init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Writes a first configuration and checks it.
///
/// On a terminal it asks for what the flags leave out. Elsewhere it asks nothing, and says what is missing. A secret is
/// copied into a file beside the configuration that only its owner can read. No file is ever overwritten.
///
/// Exit status: that of `check`, or 78 if something was missing or wrong and nothing was written.
#[derive(Debug, Default, Args)]
pub(crate) struct InitArgs {
    /// What kind of room people are asked in.
    pub(crate) kind: Option<Kind>,
    /// The file to write. Otherwise: COUNTERSIGN_CONFIG, ~/.config/countersign/countersign.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What the room is called in logs and in the configuration [default: builds].
    #[arg(long, value_name = "NAME")]
    pub(crate) room: Option<String>,
    /// Who may answer; repeat it for each person. A name for the web room, a user id elsewhere.
    #[arg(long = "approver", value_name = "WHO")]
    pub(crate) approvers: Vec<String>,
    /// How long a request waits for a person before it is refused [default: 5m].
    #[arg(long, value_name = "TIME")]
    pub(crate) lifetime: Option<String>,
    /// Write, and do not log in.
    #[arg(long)]
    pub(crate) no_check: bool,

    /// Where the page is served [default: 127.0.0.1:7391].
    #[arg(long, value_name = "ADDRESS", help_heading = "For the web room")]
    pub(crate) listen: Option<String>,

    /// The server's address, such as `https://matrix.example.org`.
    #[arg(long, value_name = "URL", help_heading = "For Matrix")]
    pub(crate) homeserver: Option<String>,
    /// The bot's own id, such as @countersign:example.org.
    #[arg(long, value_name = "ID", help_heading = "For Matrix")]
    pub(crate) user: Option<String>,
    /// A file to read the bot's password from; - is standard input.
    #[arg(long, value_name = "FILE", help_heading = "For Matrix")]
    pub(crate) password_file: Option<PathBuf>,
    /// The room's id, such as !abc:example.org.
    #[arg(long, value_name = "ID", help_heading = "For Matrix")]
    pub(crate) room_id: Option<String>,
    /// Whose invitations the bot accepts; repeat it for each person [default: the approvers].
    #[arg(long, value_name = "ID", help_heading = "For Matrix")]
    pub(crate) invites_from: Vec<String>,

    /// A file to read the bot's token from; - is standard input.
    #[arg(long, value_name = "FILE", help_heading = "For Discord")]
    pub(crate) token_file: Option<PathBuf>,
    /// The id of the channel or thread.
    #[arg(long, value_name = "ID", help_heading = "For Discord")]
    pub(crate) channel: Option<String>,
    /// A role whose members may answer; repeat it for each role.
    #[arg(long = "approver-role", value_name = "ID", help_heading = "For Discord")]
    pub(crate) approver_roles: Vec<String>,
}

/// The kinds of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A page that Countersign serves itself.
    Web,
    /// A Matrix room.
    Matrix,
    /// A Discord channel.
    Discord,
}
