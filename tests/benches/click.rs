//! How long a click takes from a person to the agent: `cargo bench -p countersign-tests --bench click`.
//!
//! On a real Synapse, in a plain room, through `countersign acp` as it is released. What no bridge on Matrix can be faster
//! than is measured beside it, in turns: a bare client of the same SDK, with a store and a filter like the bridge's, in a
//! room of its own with the same person. Both times start just before the person's request is sent. The bridge's ends when
//! the agent, having read the answer, has sent it back and it has come to the client; the bare client's when its event
//! handler is called.
//!
//! Ends with 1 when the bridge's median is beyond both bounds.

#![expect(clippy::print_stdout, reason = "this program prints a table")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use countersign_tests::{BridgeProcess, Credentials, HttpMember, Launch, Synapse, echo_agent, until, within};
use matrix_sdk::Client;
use matrix_sdk::config::SyncSettings;
use matrix_sdk::ruma::api::client::filter::{Filter, FilterDefinition, RoomEventFilter, RoomFilter};
use matrix_sdk::ruma::api::client::sync::sync_events::v3::Filter as SyncFilter;
use matrix_sdk::ruma::events::AnySyncTimelineEvent;
use matrix_sdk::ruma::presence::PresenceState;
use matrix_sdk::ruma::serde::Raw;
use matrix_sdk::ruma::{OwnedUserId, RoomId, UInt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;

const WARM_UP: usize = 5;
const CLICKS: usize = 40;
const RATIO_MAX: f64 = 1.2;
const EXTRA_MS_MAX: f64 = 15.0;
const HELD: Duration = Duration::from_secs(20);

const MESSAGE: &str = "m.room.message";
const POLL_START: &str = "org.matrix.msc3381.poll.start";
const POLL_RESPONSE: &str = "org.matrix.msc3381.poll.response";
const POLL_END: &str = "org.matrix.msc3381.poll.end";
const TEXT: &str = "org.matrix.msc1767.text";

#[tokio::main]
async fn main() -> ExitCode {
    let server = Synapse::shared().await;
    let (bot, watcher) = (server.register("bot").await, server.register("watcher").await);
    let person = HttpMember::log_in(&server.register("ada").await).await;
    let mut bridge = Bridge::start(&person, &bot).await;
    let mut bare = Bare::start(&person, &watcher).await;
    let (mut of_bridge, mut of_bare) = (Vec::new(), Vec::new());
    for turn in 0..WARM_UP + CLICKS {
        let (through_bridge, past_it);
        // Another one first each time, so that neither always follows the other.
        if turn % 2 == 0 {
            through_bridge = bridge.click(&person, turn).await;
            past_it = bare.click(&person).await;
        } else {
            past_it = bare.click(&person).await;
            through_bridge = bridge.click(&person, turn).await;
        }
        if WARM_UP <= turn {
            of_bridge.push(through_bridge);
            of_bare.push(past_it);
        }
    }
    bare.syncing.abort();
    if print_table(of_bridge, of_bare) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Countersign with its room.
struct Bridge {
    process: BridgeProcess,
    room: String,
    _folder: TempDir,
}

impl Bridge {
    async fn start(person: &HttpMember, bot: &Credentials) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let room = person.create_room(&json!({"preset": "private_chat", "invite": [bot.user_id]})).await;
        let config = configure(folder.path(), person, bot, &room);
        let mut arguments = vec!["acp".into(), "--config".into(), config.into_os_string(), "--".into()];
        arguments.extend(echo_agent());
        let process = Launch::program(built_countersign(), &arguments).start();
        process.stderr_contains("connected").await;
        Self { process, room, _folder: folder }
    }

    /// The agent asks, and the person clicks once the card stands and the bridge knows.
    async fn click(&mut self, person: &HttpMember, turn: usize) -> Duration {
        let Self { process, room, .. } = self;
        let id = format!("ask-{turn}");
        process.send(&request(&id)).await;
        let shown = async || (process.stderr().matches("is in its room").count() == turn + 1).then_some(());
        until("the bridge to know its card", shown).await;
        let poll = newest_poll(person, room).await;
        let token = poll["content"][POLL_START]["answers"][0]["id"].as_str().expect("a button");
        let poll = poll["event_id"].as_str().expect("an id");
        let response = response(poll, token);
        let started = now();
        let clicking = person.send(room, POLL_RESPONSE, &response);
        let answered = async {
            let answer = process.wait_for(|frame| frame["id"] == id.as_str() && frame.get("method").is_none()).await;
            (started.elapsed(), answer)
        };
        let (_, (time, answer)) = tokio::join!(clicking, answered);
        assert_eq!(answer["result"]["outcome"]["optionId"], "yes", "{answer}");
        // What the bridge does afterwards must not be in the way of the next click.
        let ended = async || person.relations(room, poll).await.into_iter().find(|event| event["type"] == POLL_END);
        until("the end of the poll", ended).await;
        time
    }
}

/// The bare client with its room.
struct Bare {
    http: HttpMember,
    room: String,
    seen: mpsc::UnboundedReceiver<(Instant, Value)>,
    syncing: tokio::task::JoinHandle<()>,
    _store: TempDir,
}

impl Bare {
    async fn start(person: &HttpMember, account: &Credentials) -> Self {
        let store = tempfile::tempdir().expect("a temporary directory");
        let http = HttpMember::log_in(account).await;
        let room = person.create_room(&json!({"preset": "private_chat", "invite": [account.user_id]})).await;
        http.join(&room).await;
        let builder = Client::builder().homeserver_url(&account.homeserver).sqlite_store(store.path(), None);
        let client = builder.build().await.expect("a client");
        client.matrix_auth().login_username(&account.user, &account.password).send().await.expect("a login");
        client.encryption().wait_for_e2ee_initialization_tasks().await;
        client.sync_once(settings(&room, account, Duration::ZERO)).await.expect("a first sync");
        let (to_seen, seen) = mpsc::unbounded_channel();
        client.add_event_handler(move |event: Raw<AnySyncTimelineEvent>| {
            let seen_at = now();
            let event = event.deserialize_as_unchecked().expect("an event is JSON");
            drop(to_seen.send((seen_at, event)));
            std::future::ready(())
        });
        let settings = settings(&room, account, HELD);
        let syncing = tokio::spawn(async move {
            loop {
                client.sync_once(settings.clone()).await.expect("a sync");
            }
        });
        Self { http, room, seen, syncing, _store: store }
    }

    /// After a message and a poll of its own, like the bridge's, so that the homeserver has had as much to do.
    async fn click(&mut self, person: &HttpMember) -> Duration {
        self.http.send(&self.room, MESSAGE, &json!({"msgtype": "m.text", "body": "touch x"})).await;
        let answers = json!([{"id": "yes", TEXT: "Yes"}, {"id": "no", TEXT: "No"}]);
        let question = json!({TEXT: "touch x?"});
        let start =
            json!({"question": question, "kind": "org.matrix.msc3381.poll.disclosed", "max_selections": 1, "answers": answers});
        let poll = self.http.send(&self.room, POLL_START, &json!({POLL_START: start})).await;
        until("the poll to be read", async || newest_poll(person, &self.room).await["event_id"].eq(&*poll).then_some(())).await;
        let response = response(&poll, "yes");
        let started = now();
        let clicking = person.send(&self.room, POLL_RESPONSE, &response);
        let seeing = async {
            loop {
                let (seen_at, event) = self.seen.recv().await.expect("the client runs");
                if event["content"]["m.relates_to"]["event_id"] == *poll {
                    return seen_at - started;
                }
            }
        };
        let (_, time) = within("the click to be seen", async { tokio::join!(clicking, seeing) }).await;
        time
    }
}

/// As the bridge asks: nothing but what clicks are made of, and none of its own.
fn settings(room: &str, account: &Credentials, held: Duration) -> SyncSettings {
    let owned = |types: &[&str]| Some(types.iter().map(ToString::to_string).collect());
    let mut timeline = RoomEventFilter::default();
    timeline.types = owned(&[
        POLL_RESPONSE,
        "m.room.redaction",
        "m.room.encrypted",
        "m.room.member",
        "m.room.power_levels",
        "m.room.tombstone",
        "m.room.encryption",
    ]);
    timeline.rooms = Some(vec![RoomId::parse(room).expect("a room id")]);
    timeline.not_senders = vec![account.user_id.as_str().try_into().map(|id: OwnedUserId| id).expect("a user id")];
    timeline.limit = Some(UInt::from(50_u32));
    let mut rooms = RoomFilter::default();
    rooms.timeline = timeline;
    rooms.state = RoomEventFilter::with_lazy_loading();
    rooms.ephemeral = RoomEventFilter::ignore_all();
    rooms.account_data = RoomEventFilter::ignore_all();
    let mut filter = FilterDefinition::default();
    filter.room = rooms;
    filter.account_data = Filter::ignore_all();
    filter.presence = Filter::ignore_all();
    SyncSettings::new().timeout(held).set_presence(PresenceState::Offline).filter(SyncFilter::FilterDefinition(filter))
}

fn configure(folder: &Path, person: &HttpMember, bot: &Credentials, room: &str) -> PathBuf {
    let (config, password) = (folder.join("countersign.toml"), folder.join("password"));
    fs::write(&password, &bot.password).expect("written");
    fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).expect("set");
    let text = format!(
        r#"
state_dir = "{}"
[matrix]
homeserver = "{}"
user = "{}"
password_file = "password"
invites_from = ["{person}"]
[rooms.builds]
matrix = "{room}"
approvers = ["{person}"]
"#,
        folder.join("state").display(),
        bot.homeserver,
        bot.user_id,
        person = person.user_id,
    );
    fs::write(&config, text).expect("written");
    config
}

/// Beside this program, which is `TARGET/PROFILE/deps/click-HASH`.
fn built_countersign() -> PathBuf {
    let this = std::env::current_exe().expect("this program's path");
    let target = this.ancestors().nth(3).expect("a target folder");
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--release", "-p", "countersign", "--target-dir"]);
    assert!(build.arg(target).status().expect("cargo can be run").success(), "`countersign` does not build");
    target.join("release/countersign")
}

/// The agent sends it back, and with that asks.
fn request(id: &str) -> Value {
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let call = json!({"toolCallId": id, "title": "touch x", "kind": "execute", "rawInput": {"command": "touch x"}});
    let params = json!({"sessionId": "bench", "toolCall": call, "options": options});
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params})
}

async fn newest_poll(person: &HttpMember, room: &str) -> Value {
    let newest = async || person.newest(room, 10).await.into_iter().find(|event| event["type"] == POLL_START);
    until("a poll", newest).await
}

fn response(poll: &str, token: &str) -> Value {
    json!({"m.relates_to": {"rel_type": "m.reference", "event_id": poll}, POLL_RESPONSE: {"answers": [token]}})
}

/// Whether the bridge is within its bounds.
fn print_table(of_bridge: Vec<Duration>, of_bare: Vec<Duration>) -> bool {
    let (bridge, bare) = (Figures::of(of_bridge), Figures::of(of_bare));
    println!("\n{CLICKS} clicks each{:>16} {:>12}", "median (ms)", "p95 (ms)");
    for (name, figures) in [("countersign", &bridge), ("bare client", &bare)] {
        println!("{name:<16} {:>11.1} {:>12.1}", figures.median_ms, figures.p95_ms);
    }
    let (ratio, extra_ms) = (bridge.median_ms / bare.median_ms, bridge.median_ms - bare.median_ms);
    let is_met = ratio <= RATIO_MAX || extra_ms <= EXTRA_MS_MAX;
    println!("{:<16} {ratio:>10.2}x {:>11.2}x", "ratio", bridge.p95_ms / bare.p95_ms);
    println!("{:<16} {extra_ms:>+11.1} {:>+12.1}", "difference", bridge.p95_ms - bare.p95_ms);
    println!("at most {RATIO_MAX}x or {EXTRA_MS_MAX:+} ms: {}", if is_met { "met" } else { "MISSED" });
    is_met
}

struct Figures {
    median_ms: f64,
    p95_ms: f64,
}

impl Figures {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let ms = |at: usize| times[at].as_secs_f64() * 1e3;
        Self { median_ms: ms(times.len() / 2), p95_ms: ms(times.len() * 95 / 100) }
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn now() -> Instant {
    Instant::now()
}
