//! The temporary folder: a configuration like anybody's, the state of a bridge, and something for the agent to work on.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bridge_config::{Config, Environment, Unusable, Web};
use tempfile::TempDir;

use super::problem::Problem;
use super::workspace;

/// Who may answer.
pub(super) const PERSON: &str = "you";

/// Removed when dropped.
pub(super) struct Folder {
    root: TempDir,
    pub(super) config: Config,
}

impl Folder {
    pub(super) fn make(listen: Option<SocketAddr>, lifetime: Duration) -> Result<Self, Problem> {
        if let Some(address) = listen.filter(|address| !address.ip().is_loopback()) {
            return Err(Problem::Setting(format!("--listen {address} could be reached from elsewhere; use 127.0.0.1 or [::1]")));
        }
        let root = tempfile::Builder::new().prefix("countersign-demo-").permissions(Permissions::from_mode(0o700)).tempdir()?;
        let text = config_text(root.path(), free(listen)?, lifetime)?;
        let file = root.path().join("countersign.toml");
        let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
        written.write_all(text.as_bytes())?;
        // As the bridge will read it: without this process's overrides, and it names no other file.
        let nothing = |_: &Path, _| Err(Unusable { what: "is not there".into(), advice: String::new() });
        let config = bridge_config::parse(&file, &text, &Environment::default(), &nothing)?;
        Ok(Self { root, config })
    }

    /// Filled with what the scripted agent works on.
    pub(super) fn workspace(&self) -> io::Result<PathBuf> {
        let workspace = self.root.path().join("workspace");
        workspace::fill(&workspace)?;
        Ok(workspace)
    }

    /// Empty, for an agent that does what it is told.
    pub(super) fn empty_workspace(&self) -> io::Result<PathBuf> {
        let workspace = self.root.path().join("workspace");
        std::fs::create_dir(&workspace)?;
        Ok(workspace)
    }
}

fn config_text(root: &Path, listen: SocketAddr, lifetime: Duration) -> Result<String, Problem> {
    let state = root.join("state");
    let state = state.to_str().ok_or_else(|| Problem::Setting(format!("{} is not valid UTF-8; set TMPDIR", state.display())))?;
    let state = serde_json::Value::from(state);
    let lifetime = humantime::format_duration(lifetime);
    Ok(format!(
        "state_dir = {state}\n\n[log]\nformat = \"json\"\n\n[web]\nlisten = \"{listen}\"\n\n\
         [rooms.demo]\nweb = true\napprovers = [\"{PERSON}\"]\nwhen_nobody = \"wait\"\n\n[policy]\nlifetime = \"{lifetime}\"\n"
    ))
}

/// The wanted address; else the usual one, or one with any free port.
fn free(wanted: Option<SocketAddr>) -> Result<SocketAddr, Problem> {
    let bound = |address| TcpListener::bind(address)?.local_addr();
    match wanted {
        Some(address) => bound(address).map_err(|error| Problem::Setting(format!("nothing can listen on {address}: {error}"))),
        None => Ok(bound(Web::default().listen).or_else(|_| bound((Ipv4Addr::LOCALHOST, 0).into()))?),
    }
}
