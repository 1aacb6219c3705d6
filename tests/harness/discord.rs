//! simcord, a model of Discord, behind Discord's own API and gateway on loopback.

mod sees;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use reqwest::{Certificate, Client};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binaries::python;
use crate::http::{Http, Reply};
use crate::tls::TLS;

pub use sees::{DiscordCard, Post};

/// A service with one bot in one guild, with Ada, Bob and Mallory in it. It ends with this value, at the latest with the
/// process that holds it.
pub struct Simcord {
    server: Child,
    tls: TempDir,
    ports: Ports,
    control: Http,
    pub world: DiscordWorld,
}

/// Ids, and the bot's token.
#[derive(Clone, Debug, Deserialize)]
pub struct DiscordWorld {
    pub token: String,
    pub application: String,
    pub bot: String,
    pub guild: String,
    pub channel: String,
    pub people: DiscordPeople,
}

#[derive(Clone, Debug, Deserialize)]
pub struct DiscordPeople {
    pub ada: String,
    pub bob: String,
    pub mallory: String,
}

#[derive(Deserialize)]
struct Ports {
    http: u16,
    https: u16,
}

impl Simcord {
    pub async fn start() -> Self {
        let started = tokio::task::spawn_blocking(start).await;
        let (server, tls, ports) = started.expect("simcord starts");
        let control = Http::new(format!("http://127.0.0.1:{}", ports.http));
        let world = control.post("/_test/world", &json!({})).await.expect_ok();
        let world = serde_json::from_value(world).expect("a world");
        Self { server, tls, ports, control, world }
    }

    /// Where `discord.com` is, over TLS.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.ports.https)
    }

    /// Who vouches for that, as PEM.
    pub fn authority(&self) -> PathBuf {
        self.tls.path().join("ca.pem")
    }

    /// Anything that `harness/discord/control.py` can do.
    pub async fn act(&self, act: &str, with: Value) -> Value {
        self.try_act(act, with).await.expect_ok()
    }

    /// Like [`Simcord::act`], for what Discord may forbid.
    pub async fn try_act(&self, act: &str, with: Value) -> Reply {
        self.control.post(&format!("/_test/{act}"), &with).await
    }

    /// A client of Discord's API with the bot's token.
    pub fn api(&self) -> DiscordApi {
        let authority = fs::read(self.authority()).expect("it was written");
        let authority = Certificate::from_pem(&authority).expect("a certificate");
        let address = ([127, 0, 0, 1], self.ports.https).into();
        let client = Client::builder().tls_certs_only([authority]).resolve("discord.com", address).build();
        let http = Http::through(client.expect("a client"), "https://discord.com".to_owned());
        DiscordApi { http: http.with_authorization(format!("Bot {}", self.world.token)) }
    }

    /// Presses a button; the interaction's id.
    pub async fn click(&self, user: &str, message: &str, custom_id: &str) -> String {
        text(&self.act("click", json!({"user": user, "message": message, "custom_id": custom_id})).await)
    }

    /// Sends a click that no client could make: `patch` changes the event, null removes.
    pub async fn forge_click(&self, user: &str, message: &str, custom_id: &str, patch: Value) -> String {
        let click = json!({"user": user, "message": message, "custom_id": custom_id, "patch": patch});
        text(&self.act("click", click).await)
    }

    /// What the bot has asked of the API, oldest first: method, path, body, files.
    pub async fn requests(&self) -> Vec<Value> {
        self.act("requests", json!({})).await.as_array().cloned().unwrap_or_default()
    }
}

impl Drop for Simcord {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Discord's API as it is, over TLS.
pub struct DiscordApi {
    http: Http,
}

impl DiscordApi {
    pub async fn get(&self, path: &str) -> Reply {
        self.http.get(&versioned(path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.http.post(&versioned(path), body).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.http.patch(&versioned(path), body).await
    }
}

fn versioned(path: &str) -> String {
    format!("/api/v10{path}")
}

/// Returns once it listens.
fn start() -> (Child, TempDir, Ports) {
    let tls = tempfile::Builder::new().prefix("countersign-discord-").tempdir().expect("a temporary directory");
    TLS.write(tls.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/discord/simcord_server.py");
    let mut command = Command::new(python("COUNTERSIGN_TEST_DISCORD_PYTHON", "discord-venv"));
    // A Ctrl-C for the tests must not reach it; it ends when its standard input does.
    command.arg("-B").arg(script).arg(tls.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    let mut server = command.spawn().expect("the Python that has simcord can be run");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("its ports");
    let ports = serde_json::from_str(&line).unwrap_or_else(|_| panic!("simcord did not start: {line:?}"));
    (server, tls, ports)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| panic!("no text: {value}"), str::to_owned)
}
