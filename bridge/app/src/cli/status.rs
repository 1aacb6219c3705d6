//! The command lines of `countersign status` and `countersign pending`.

use clap::Args;

use super::ConfigArgs;

/// Says whether a bridge runs on the configuration's state folder, and how many requests wait.
///
/// Exit status: 0 if one runs, 1 if not, 78 if the configuration is wrong.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Lists the requests that wait for a person.
#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    /// One line of JSON for each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}
