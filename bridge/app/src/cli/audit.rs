//! The command line of `countersign audit`.

use std::time::Duration;

use bridge_model::Timestamp;
use clap::{Args, Subcommand};

use super::ConfigArgs;

/// Shows what happened to requests, from the audit in the ledger, and proves that it was not changed.
///
/// It works while the bridge runs, and without a network.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    Verify(AuditVerifyArgs),
    List(AuditListArgs),
}

/// Goes through all lines and sees whether each follows from the one before it.
///
/// Exit status 1 if one does not. Whoever can write the ledger can write all of it anew; a hash that was kept elsewhere
/// shows that, too.
#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    /// A hash that was the last one before, and that a line has to have.
    #[arg(long, value_name = "HASH")]
    pub(crate) holds: Option<String>,
}

/// Prints the lines, the oldest first.
#[derive(Debug, Args)]
pub(crate) struct AuditListArgs {
    /// From when on: `24h`, `2026-11-30` or `2026-11-30T22:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = crate::audit::since)]
    pub(crate) since: Option<Since>,
    /// As they stand in the ledger, one JSON object in each line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Since {
    Ago(Duration),
    At(Timestamp),
}
