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
            say("The bridge was told to read its configuration again; its log says what became of it.");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            say(&problem);
            EXIT_CONFIG.into()
        }
    }
}

/// Has the hub go by new rules whenever the signal comes. `rules` makes them of a configuration.
pub(crate) async fn on_signal(
    mut hangup: Listened,
    named: Option<PathBuf>,
    before: BTreeMap<String, String>,
    inbox: Inbox,
    rules: impl Fn(&Config) -> Rules,
) {
    while hangup.recv().await.is_some() {
        match read(named.as_deref(), &before) {
            Ok(config) => {
                for warning in &config.warnings {
                    warn!("{warning}");
                }
                info!("the configuration was read again: {}", config.file.display());
                if inbox.send(Input::Rules(Box::new(rules(&config)))).await.is_err() {
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
    let rooms = config.rooms.iter().map(|(name, room)| (format!("rooms.{name}"), format!("{:?}", room.service)));
    let room = config.acp.room.as_ref().map(|room| ("acp.room".to_owned(), room.to_string()));
    let state_dir = ("state_dir".to_owned(), config.state_dir.display().to_string());
    rooms.chain(room).chain([state_dir]).collect()
}

fn changed(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Option<String> {
    before.keys().chain(now.keys()).find(|key| before.get(*key) != now.get(*key)).cloned()
}
