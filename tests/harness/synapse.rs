//! A real homeserver, on loopback, with a directory of its own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hmac::{Hmac, Mac};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use sha1::Sha1;
use tempfile::TempDir;

use crate::binaries::python;
use crate::http::Http;
use crate::http_member::Credentials;
use crate::wait::PATIENCE;

/// Any 32 bytes will do: nobody federates with it.
const SIGNING_KEY: &str = "ed25519 a_test Y291bnRlcnNpZ24gbG9vcGJhY2sgdGVzdCBrZXkgMzI\n";

static SHARED: OnceLock<Synapse> = OnceLock::new();

/// People of all tests share the homeserver, so each gets a name of its own.
static PEOPLE: AtomicUsize = AtomicUsize::new(0);

pub struct Synapse {
    home: PathBuf,
    port: u16,
    running: Option<Supervised>,
    /// Deletes the directory of an instance that one test owns.
    _own_home: Option<TempDir>,
}

struct Supervised {
    /// It kills Synapse when its standard input closes, at the latest when this process ends; then it cleans up, too.
    supervisor: Child,
    synapse: Pid,
}

impl Synapse {
    /// The instance that most tests share. It outlives every runtime, so no runtime takes part.
    pub async fn shared() -> &'static Self {
        let start = || SHARED.get_or_init(|| Self::start_blocking("", false));
        tokio::task::spawn_blocking(start).await.expect("the shared Synapse starts")
    }

    /// An instance for a test that kills it or stops it.
    pub async fn start() -> Self {
        Self::start_with("").await
    }

    /// `settings`: more YAML for `homeserver.yaml`.
    pub async fn start_with(settings: &'static str) -> Self {
        tokio::task::spawn_blocking(|| Self::start_blocking(settings, true)).await.expect("a Synapse starts")
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Makes an account whose name begins with `name`.
    pub async fn register(&self, name: &str) -> Credentials {
        let user = format!("{name}-{}", PEOPLE.fetch_add(1, Ordering::Relaxed));
        let password = format!("{user}-password");
        let http = Http::new(self.url());
        let path = "/_synapse/admin/v1/register";
        let nonce = http.get(path).await.expect_ok()["nonce"].as_str().expect("a nonce").to_owned();
        let mut mac = Hmac::<Sha1>::new_from_slice(b"loopback-test-only").expect("a key of any length");
        mac.update([nonce.as_str(), &user, &password, "notadmin"].join("\0").as_bytes());
        let mac = mac.finalize().into_bytes().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let body = json!({"nonce": nonce, "username": user, "password": password, "admin": false, "mac": mac});
        let user_id = http.post(path, &body).await.expect_ok()["user_id"].as_str().expect("a user id").to_owned();
        Credentials { homeserver: self.url(), user, user_id, password }
    }

    /// Kills it, as a crash would.
    pub fn stop(&mut self) {
        let Some(Supervised { mut supervisor, synapse }) = self.running.take() else { return };
        let _ = kill(synapse, Signal::SIGKILL);
        if let Some(mut stdin) = supervisor.stdin.take() {
            let _ = stdin.write_all(b"keep");
        }
        let _ = supervisor.wait();
    }

    /// Starts it again on the same port and data; kills it first if it runs.
    pub async fn restart(&mut self) {
        self.stop();
        let home = self.home.clone();
        let running = tokio::task::spawn_blocking(move || Supervised::start(&interpreter(), &home)).await;
        self.running = Some(running.expect("Synapse starts again"));
    }

    /// Its connections stay open and nothing comes back, as with a network that swallows packets.
    pub fn pause(&mut self) {
        self.signal(Signal::SIGSTOP);
    }

    pub fn resume(&mut self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        let running = self.running.as_ref().expect("Synapse runs");
        kill(running.synapse, signal).expect("Synapse can be signalled");
    }

    fn start_blocking(settings: &str, own: bool) -> Self {
        let python = interpreter();
        let directory = tempfile::Builder::new().prefix("countersign-synapse-").tempdir().expect("a temporary directory");
        let port = free_port();
        let (home, own_home) = if own { (directory.path().to_owned(), Some(directory)) } else { (directory.keep(), None) };
        let name = home.to_str().expect("a temporary directory with a UTF-8 name");
        let filled = |template: &str| template.replace("HOME", name).replace("PORT", &port.to_string());
        let write = |file: &str, text: String| fs::write(home.join(file), text).expect("the directory can be written");
        write("homeserver.yaml", format!("{}{settings}\n", filled(include_str!("homeserver.yaml"))));
        write("log.yaml", filled(include_str!("log.yaml")));
        write("signing.key", SIGNING_KEY.to_owned());
        let running = Some(Supervised::start(&python, &home));
        Self { home, port, running, _own_home: own_home }
    }
}

impl Drop for Synapse {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Supervised {
    /// Returns once Synapse listens. It says so by itself, as it would to systemd.
    fn start(python: &Path, home: &Path) -> Self {
        let socket = home.join("ready.sock");
        let _ = fs::remove_file(&socket);
        let ready = UnixDatagram::bind(&socket).expect("a socket in the temporary directory");
        ready.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let mut command = Command::new(python);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/harness/supervise.py")).arg(home);
        // A Ctrl-C for the tests must not reach it: it has to outlive them by a moment.
        let mut supervisor = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("the Python that has Synapse can be run");
        let mut pid = String::new();
        BufReader::new(supervisor.stdout.take().expect("a pipe")).read_line(&mut pid).expect("Synapse's process id");
        let synapse = Pid::from_raw(pid.trim().parse().expect("a process id"));
        let started = Self { supervisor, synapse };
        let mut message = [0; 256];
        let length = ready.recv(&mut message).unwrap_or_default();
        assert!(message[..length].starts_with(b"READY=1"), "Synapse did not start: {}", said(home));
        started
    }
}

fn said(home: &Path) -> String {
    ["out", "log"].iter().map(|file| fs::read_to_string(home.join(file)).unwrap_or_default()).collect()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn interpreter() -> PathBuf {
    python("COUNTERSIGN_TEST_PYTHON", "synapse-venv")
}
