//! A real browser: Debian's Chromium, without a window, with people who know nothing of each other.

mod conditions;
mod input;
mod network;
mod page;

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use chromiumoxide::cdp::browser_protocol::target::CreateBrowserContextParams;
use futures_util::StreamExt;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::wait::until;
use network::Network;

pub use conditions::{Scheme, Screen};
pub use page::Page;

/// One process, with a profile of its own. It ends with this value, at the latest with the thread that started it.
pub struct Browser {
    // Ends before its profile is deleted.
    process: Chromium,
    devtools: Arc<chromiumoxide::Browser>,
}

struct Chromium {
    process: Child,
    profile: TempDir,
}

const ARGUMENTS: [&str; 23] = [
    "--headless",
    // The tests may run as root and in containers, where Chromium cannot have its sandbox. It shows our own pages only.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-features=MediaRouter,OptimizationHints,Translate",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    // Nothing but loopback.
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    // All people look at their pages at the same time.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
];

impl Browser {
    pub async fn start() -> Self {
        let mut process = Chromium::start();
        let address = until("Chromium to listen", async || process.address()).await;
        let connected = chromiumoxide::Browser::connect(address).await;
        let (devtools, mut events) = connected.unwrap_or_else(|error| panic!("{error}; Chromium said:\n{}", process.said()));
        tokio::spawn(async move { while events.next().await.is_some() {} });
        Self { process, devtools: Arc::new(devtools) }
    }

    /// Somebody with cookies, storage and a network of their own, who looks at an empty page.
    pub async fn person(&self) -> Page {
        let network = Network::start().await;
        // Without the latter, loopback would not be asked of the proxy.
        let alone = CreateBrowserContextParams::builder().proxy_server(network.proxy()).proxy_bypass_list("<-loopback>");
        let context = self.devtools.create_browser_context(alone.build()).await;
        let context = context.unwrap_or_else(|error| panic!("{error}; Chromium said:\n{}", self.process.said()));
        Page::blank(Arc::clone(&self.devtools), context, Arc::new(network)).await
    }
}

impl Chromium {
    fn start() -> Self {
        let profile = tempfile::Builder::new().prefix("countersign-browser-").tempdir().expect("a temporary directory");
        let output = File::create(profile.path().join("said")).expect("a file in a temporary directory");
        let mut user_data = std::ffi::OsString::from("--user-data-dir=");
        user_data.push(profile.path());
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "chromium"]).args(ARGUMENTS).arg(user_data);
        // Some things it keeps in its user's home, whatever its profile is.
        command.env("HOME", profile.path()).env_remove("XDG_CONFIG_HOME").env_remove("XDG_CACHE_HOME");
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let process = command.spawn().expect("`setpriv` of util-linux can be run");
        Self { process, profile }
    }

    /// Where it can be driven, once it says so.
    fn address(&mut self) -> Option<String> {
        if let Some(status) = self.process.try_wait().expect("a child can be asked") {
            panic!("Chromium did not start ({status}); run `tests/run`, which installs it. It said:\n{}", self.said());
        }
        let written = fs::read_to_string(self.profile.path().join("DevToolsActivePort")).ok()?;
        let (port, path) = written.split_once('\n')?;
        (!path.is_empty()).then(|| format!("ws://127.0.0.1:{port}{path}"))
    }

    fn said(&self) -> String {
        fs::read_to_string(self.profile.path().join("said")).unwrap_or_default()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its helpers too, which write into the profile.
        let group = self.process.id().try_into().map(Pid::from_raw).expect("a process id");
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.process.wait();
    }
}
