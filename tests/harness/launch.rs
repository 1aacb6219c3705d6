//! How the program under test is started.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use crate::binaries::countersign;
use crate::bridge_process::BridgeProcess;

/// What to start.
pub struct Launch {
    command: Command,
    home: TempDir,
}

impl Launch {
    /// `countersign acp [--config FILE] -- AGENT...`
    pub async fn acp(config: Option<&Path>, agent: &[OsString]) -> Self {
        Self::acp_with(config, &[], agent).await
    }

    /// `countersign acp [--config FILE] MORE... -- AGENT...`
    pub async fn acp_with(config: Option<&Path>, more: &[&str], agent: &[OsString]) -> Self {
        let mut arguments = vec![OsString::from("acp")];
        if let Some(config) = config {
            arguments.extend(["--config".into(), config.into()]);
        }
        arguments.extend(more.iter().map(Into::into));
        arguments.push("--".into());
        arguments.extend_from_slice(agent);
        Self::program(countersign().await.as_os_str(), &arguments)
    }

    /// `countersign` with any arguments.
    pub async fn countersign(arguments: &[&str]) -> Self {
        Self::program(countersign().await.as_os_str(), arguments)
    }

    /// Any program, in a home of its own, so that it finds nobody's configuration.
    pub fn program(program: impl Into<OsString>, arguments: &[impl AsRef<OsStr>]) -> Self {
        let home = tempfile::Builder::new().prefix("countersign-home-").tempdir().expect("a temporary directory");
        let mut command = Command::new(program.into());
        command.args(arguments).current_dir(home.path()).env("HOME", home.path());
        command.env_remove("COUNTERSIGN_CONFIG");
        for directory in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
            command.env_remove(directory);
        }
        Self { command, home }
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Its home and working directory.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn start(mut self) -> BridgeProcess {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        BridgeProcess::of(child, self.home)
    }
}
