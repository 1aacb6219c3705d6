//! Reading the configuration again while the bridge runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bridge_config::Config;
use bridge_core::{Input, Rules};
use nix::sys::signal::{Signal, kill};
use tokio::signal::unix::Signal as Listened;
use tracing::{error, info, warn};

use crate::check::{load, say};
use crate::cli::{EXIT_CONFIG, ReloadArgs};
use crate::hub::Inbox;
use crate::ledger;

/// Tells the bridge that runs on the same state folder.
pub(crate) fn run(args: &ReloadArgs) -> ExitCode {
    let config = match load(&args.config) {
        Ok(config) => config,
        Err(status) => return status,
    };
    let told = match ledger::running(&config.state_dir) {
        Some(pid) => kill(pid, Signal::SIGHUP).map_err(|problem| format!("the bridge {pid} cannot be told: {problem}")),
        None => Err(format!("no bridge runs on {}", config.state_dir.display())),
    };
    match told {
        Ok(()) => {
            say("The bridge was told to read its configuration again; its log, on standard error, says what became of it.");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            say(&problem);
            EXIT_CONFIG.into()
        }
    }
}

/// Has the hub go by new rules whenever the signal comes. `rules` makes them of a configuration that can be used now.
pub(crate) async fn on_signal(
    mut hangup: Listened,
    named: Option<PathBuf>,
    before: BTreeMap<String, String>,
    inbox: Inbox,
    rules: impl Fn(&Config) -> Result<Rules, String>,
) {
    while hangup.recv().await.is_some() {
        let read = read(named.as_deref(), &before).and_then(|config| Ok((rules(&config)?, config)));
        match read {
            Ok((rules, config)) => {
                for warning in &config.warnings {
                    warn!("{warning}");
                }
                info!("the configuration was read again: {}", config.file.display());
                if inbox.send(Input::Rules(Box::new(rules))).await.is_err() {
                    return;
                }
            }
            Err(problem) => error!("the configuration is not as it could be used now, so nothing has changed: {problem}"),
        }
    }
}

fn read(named: Option<&Path>, before: &BTreeMap<String, String>) -> Result<Config, String> {
    let config = bridge_config::load(named).map_err(|problems| problems.to_string())?;
    let config = config.ok_or_else(|| "there is none any more".to_owned())?;
    match changed(before, &fixed(&config)) {
        Some(what) => Err(format!("{what} was changed, which needs a restart")),
        None => Ok(config),
    }
}

/// What cannot change while the bridge runs, by its key.
pub(crate) fn fixed(config: &Config) -> BTreeMap<String, String> {
    let Config { state_dir, audit_keep, log, acp, http, metrics, matrix, discord, web, .. } = config;
    let rooms = config.rooms.iter().flat_map(|(name, room)| {
        let has_power_min = room.answers.rules.approvers.power_min.is_some();
        [(format!("rooms.{name}"), format!("{:?}", room.service)), (format!("rooms.{name}.power_min"), has_power_min.to_string())]
    });
    let others = [
        ("state_dir", state_dir.display().to_string()),
        ("audit", format!("{audit_keep:?}")),
        ("log", format!("{log:?}")),
        ("acp", format!("{acp:?}")),
        ("http", format!("{http:?}")),
        ("metrics", format!("{metrics:?}")),
        ("matrix", format!("{matrix:?}")),
        ("discord", format!("{discord:?}")),
        ("web", format!("{web:?}")),
    ];
    rooms.chain(others.map(|(key, value)| (key.to_owned(), value))).collect()
}

fn changed(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Option<String> {
    before.keys().chain(now.keys()).find(|key| before.get(*key) != now.get(*key)).cloned()
}
