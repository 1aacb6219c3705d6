//! A room with people, a bridge that serves it, and a scripted agent that asks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use countersign_tests::{BridgeProcess, Credentials, Device, Launch, Member, SeenCard, Synapse, scripted_agent};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a scenario starts from.
pub(crate) struct Plan {
    pub(crate) encrypted: bool,
    /// Bob's; all others are signed.
    pub(crate) device: Device,
    pub(crate) lifetime: &'static str,
    /// More lines for the room's section.
    pub(crate) room: &'static str,
    /// More sections.
    pub(crate) more: &'static str,
}

/// Unencrypted, with a lifetime that no scenario waits for.
pub(crate) const PLAIN: Plan = Plan { encrypted: false, device: Device::CrossSigned, lifetime: "10m", room: "", more: "" };

pub(crate) struct Stage {
    pub(crate) bridge: BridgeProcess,
    pub(crate) session: String,
    pub(crate) people: People,
}

/// A room and who is in it, whatever becomes of the bridge.
pub(crate) struct People {
    pub(crate) bot: Credentials,
    /// Made the room, and is an approver.
    pub(crate) ada: Member,
    /// An approver, too.
    pub(crate) bob: Member,
    /// In the room, and no approver.
    pub(crate) mallory: Member,
    pub(crate) room: String,
    home: TempDir,
}

pub(crate) const OPTIONS: [[&str; 3]; 3] =
    [["once:1", "Yes", "allow_once"], ["always/2", "Always", "allow_always"], ["no 3", "No", "reject_once"]];

impl People {
    pub(crate) async fn gather(server: &Synapse, plan: &Plan) -> Self {
        let names = ["bot", "ada", "bob", "mallory"];
        let [bot, ada, bob, mallory] = [
            server.register(names[0]).await,
            server.register(names[1]).await,
            server.register(names[2]).await,
            server.register(names[3]).await,
        ];
        let (ada, mallory) =
            (Member::log_in(&ada, Device::CrossSigned).await, Member::log_in(&mallory, Device::CrossSigned).await);
        let bob = Member::log_in(&bob, plan.device).await;
        let room = ada.create_room(plan.encrypted, &[&bot.user_id, &bob.user_id, &mallory.user_id]).await;
        bob.join(&room).await;
        mallory.join(&room).await;
        let home = tempfile::Builder::new().prefix("countersign-stage-").tempdir().expect("a temporary directory");
        let people = Self { bot, ada, bob, mallory, room, home };
        people.configure(plan);
        people
    }

    fn configure(&self, plan: &Plan) {
        secret(&self.file("password"), &self.bot.password);
        let config = format!(
            r#"
state_dir = "{state}"
[policy]
lifetime = "{lifetime}"
[matrix]
homeserver = "{server}"
user = "{bot}"
password_file = "password"
invites_from = ["{ada}"]
[rooms.builds]
matrix = "{room}"
approvers = ["{ada}", "{bob}"]
{more_room}
{more}
"#,
            state = self.file("state").display(),
            lifetime = plan.lifetime,
            server = self.bot.homeserver,
            bot = self.bot.user_id,
            ada = self.ada.user_id,
            bob = self.bob.user_id,
            room = self.room,
            more_room = plan.room.replace("BOB", &self.bob.user_id),
            more = plan.more,
        );
        fs::write(self.config(), config).expect("written");
    }

    pub(crate) fn reconfigure(&self, from: &str, to: &str) {
        let config = fs::read_to_string(self.config()).expect("readable");
        assert!(config.contains(from), "{config}");
        fs::write(self.config(), config.replace(from, to)).expect("written");
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.file("countersign.toml")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) async fn start(&self) -> BridgeProcess {
        Launch::acp(Some(&self.config()), &scripted_agent()).await.start()
    }

    pub(crate) async fn play(self) -> Stage {
        let mut bridge = self.start().await;
        let session = bridge.open_session().await;
        bridge.stderr_contains("connected").await;
        Stage { bridge, session, people: self }
    }
}

impl Stage {
    pub(crate) async fn set(plan: Plan) -> Self {
        People::gather(Synapse::shared().await, &plan).await.play().await
    }

    /// The agent asks to run `touch NAME`; the prompt's id.
    pub(crate) async fn ask(&mut self, name: &str) -> String {
        self.ask_with(name, &json!(OPTIONS)).await
    }

    pub(crate) async fn ask_with(&mut self, name: &str, options: &Value) -> String {
        let marker = self.marker(name);
        let ask =
            json!({"title": name, "kind": "execute", "command": format!("touch {name}"), "marker": marker, "options": options});
        self.bridge.prompt(&self.session, &json!({"ask": [ask]}).to_string()).await
    }

    pub(crate) async fn card(&self, name: &str) -> SeenCard {
        let command = format!("touch {name}");
        self.people.ada.wait_for_card_where(&self.people.room, |card| card.body.contains(&command)).await
    }

    pub(crate) async fn ask_and_see(&mut self, name: &str) -> (String, SeenCard) {
        let prompt = self.ask(name).await;
        (prompt, self.card(name).await)
    }

    /// What the agent was told, and whether it ran the tool; once its turn has ended.
    pub(crate) async fn outcome(&mut self, prompt: &str, name: &str) -> (Value, bool) {
        let is_report = |frame: &Value| report(frame).is_some_and(|report| report["title"] == name);
        let told = report(&self.bridge.wait_for(is_report).await).expect("a report");
        self.bridge.answer(prompt).await;
        let ran = self.marker(name).exists();
        assert_eq!(told["ran"], ran);
        (told["outcome"].clone(), ran)
    }

    /// Nothing has been told, and nothing has run.
    pub(crate) fn assert_open(&self, name: &str) {
        let reported = |line: &[u8]| {
            serde_json::from_slice(line).ok().and_then(|frame| report(&frame)).is_some_and(|report| report["title"] == name)
        };
        assert!(!self.bridge.skipped().any(reported), "{name} was answered");
        assert!(!self.marker(name).exists(), "{name} was run");
    }

    /// What the card says in the end.
    pub(crate) async fn closing(&self, card: &SeenCard, says: &str) -> String {
        self.people.bob.wait_for_edit(&card.message_event, |shown| shown.edited && shown.body.contains(says)).await.body
    }

    fn marker(&self, name: &str) -> PathBuf {
        self.people.file(&format!("ran {name}"))
    }
}

pub(crate) fn selected(id: &str) -> Value {
    json!({"outcome": "selected", "optionId": id})
}

pub(crate) fn cancelled() -> Value {
    json!({"outcome": "cancelled"})
}

fn report(frame: &Value) -> Option<Value> {
    let update = &frame["params"]["update"];
    let text = update["content"]["text"].as_str().filter(|_| update["sessionUpdate"] == "agent_message_chunk")?;
    serde_json::from_str(text).ok()
}

/// Writes a file that only its owner can read.
pub(crate) fn secret(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("set");
}
