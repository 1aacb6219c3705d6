//! A bridge's configuration and what it keeps, in a folder of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use countersign_tests::{BridgeProcess, Launch, scripted_agent};
use tempfile::TempDir;

use super::Plan;

pub(crate) struct Home {
    folder: TempDir,
    /// For whom the agent is launched.
    requester: OnceLock<String>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::Builder::new().prefix("countersign-stage-").tempdir().expect("a temporary directory"),
            requester: OnceLock::new(),
        }
    }

    /// `service`: the section of the chat service. `room`: the lines of the room's section. `bob`: his id.
    pub(crate) fn configure(&self, plan: &Plan, service: &str, room: &str, bob: &str) {
        let config = format!(
            r#"
state_dir = "{state}"
[policy]
lifetime = "{lifetime}"
{service}
[rooms.builds]
{room}
{more_room}
{more}
"#,
            state = self.file("state").display(),
            lifetime = plan.lifetime,
            more_room = plan.room.replace("BOB", bob),
            more = plan.more,
        );
        fs::write(self.config(), config).expect("written");
        if plan.for_bob {
            self.requester.set(bob.to_owned()).expect("configured once");
        }
    }

    /// The bridge with a scripted agent.
    pub(crate) async fn start(&self) -> BridgeProcess {
        let requester: Vec<&str> = self.requester.get().into_iter().flat_map(|bob| ["--requester", bob]).collect();
        Launch::acp_with(Some(&self.config()), &requester, &scripted_agent()).await.start()
    }

    /// The bridge by itself, for programs; and a token for them.
    pub(crate) async fn serve(&self) -> BridgeProcess {
        if !self.file("bridge-token").exists() {
            let token = self.countersign(&["token", "new", "scripts"]).await;
            self.secret("bridge-token", &token);
        }
        let config = self.config();
        let bridge = Launch::countersign(&["serve", "--config", config.to_str().expect("UTF-8")]).await.start();
        bridge.stderr_contains("connected").await;
        bridge
    }

    /// A program that asks the bridge that serves here.
    pub(crate) async fn ask(&self, more: &[&str]) -> BridgeProcess {
        let (socket, token) = (self.file("state/countersign.sock"), self.file("bridge-token"));
        let reach = ["--bridge", socket.to_str().expect("UTF-8"), "--token-file", token.to_str().expect("UTF-8")];
        Launch::countersign(&[&["ask"], &reach[..], more].concat()).await.start()
    }

    /// A scripted agent whose requests the bridge holds that serves here.
    pub(crate) async fn start_behind(&self, more: &[&str]) -> BridgeProcess {
        let (socket, token) = (self.file("state/countersign.sock"), self.file("bridge-token"));
        let reach = ["--bridge", socket.to_str().expect("UTF-8"), "--token-file", token.to_str().expect("UTF-8")];
        Launch::acp_with(None, &[&reach[..], more].concat(), &scripted_agent()).await.start()
    }

    pub(crate) fn reconfigure(&self, from: &str, to: &str) {
        let config = fs::read_to_string(self.config()).expect("readable");
        assert!(config.contains(from), "{from:?} is not in:\n{config}");
        fs::write(self.config(), config.replace(from, to)).expect("written");
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.file("countersign.toml")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What `countersign` prints, given these arguments and this configuration. It has to succeed.
    pub(crate) async fn countersign(&self, arguments: &[&str]) -> String {
        let config = self.config();
        let arguments = [arguments, &["--config", config.to_str().expect("UTF-8")]].concat();
        let mut command = Launch::countersign(&arguments).await.start();
        let printed = command.rest_of_output().await;
        let status = command.wait_exit().await;
        assert!(status.success(), "{arguments:?}: {}", command.stderr());
        String::from_utf8(printed).expect("UTF-8").trim().to_owned()
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn secret(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
    }
}
