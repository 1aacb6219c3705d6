//! A room with people, a bridge that serves it, and a scripted agent that asks.

mod discord;
mod home;
mod matrix;
mod place;
mod web;

use std::path::PathBuf;

use countersign_tests::{BridgeProcess, Device};
use serde_json::{Value, json};

pub(crate) use discord::Discord;
pub(crate) use home::Home;
pub(crate) use matrix::Matrix;
pub(crate) use place::{Place, Who};
pub(crate) use web::{Web, WebCard, press_option};

/// What a scenario starts from.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Where the kind of room knows encryption.
    pub(crate) encrypted: bool,
    /// Bob's, where people have devices; all others are signed.
    pub(crate) device: Device,
    pub(crate) lifetime: &'static str,
    /// Whether the agent is said to be launched for Bob.
    pub(crate) for_bob: bool,
    /// More lines for the room's section.
    pub(crate) room: &'static str,
    /// More sections.
    pub(crate) more: &'static str,
}

/// Unencrypted, with a lifetime that no scenario waits for.
pub(crate) const PLAIN: Plan =
    Plan { encrypted: false, device: Device::CrossSigned, lifetime: "10m", for_bob: false, room: "", more: "" };

pub(crate) struct Stage<P: Place> {
    pub(crate) bridge: BridgeProcess,
    pub(crate) session: String,
    /// The room, whatever becomes of the bridge.
    pub(crate) place: P,
}

pub(crate) const OPTIONS: [[&str; 3]; 3] =
    [["once:1", "Yes", "allow_once"], ["always/2", "Always", "allow_always"], ["no 3", "No", "reject_once"]];

impl<P: Place> Stage<P> {
    pub(crate) async fn set(plan: Plan) -> Self {
        P::gather(&plan).await.play().await
    }

    /// The agent asks to run `touch NAME`; the prompt's id.
    pub(crate) async fn ask(&mut self, name: &str) -> String {
        self.ask_with(name, &json!(OPTIONS)).await
    }

    pub(crate) async fn ask_with(&mut self, name: &str, options: &Value) -> String {
        self.ask_all(&[name], options).await
    }

    /// The agent asks to run a command of any length; the prompt's id.
    pub(crate) async fn ask_to_run(&mut self, name: &str, command: &str) -> String {
        let ask = json!({"title": name, "kind": "execute", "command": command, "marker": self.marker(name), "options": OPTIONS});
        self.bridge.prompt(&self.session, &json!({"ask": [ask]}).to_string()).await
    }

    /// It asks for all of them at once.
    pub(crate) async fn ask_all(&mut self, names: &[&str], options: &Value) -> String {
        let ask = |name: &&str| {
            let (command, marker) = (format!("touch {name}"), self.marker(name));
            json!({"title": name, "kind": "execute", "command": command, "marker": marker, "options": options})
        };
        let asks: Vec<Value> = names.iter().map(ask).collect();
        self.bridge.prompt(&self.session, &json!({"ask": asks, "parallel": true}).to_string()).await
    }

    pub(crate) async fn card(&self, name: &str) -> P::Card {
        self.place.card(&format!("touch {name}")).await
    }

    pub(crate) async fn ask_and_see(&mut self, name: &str) -> (String, P::Card) {
        let prompt = self.ask(name).await;
        (prompt, self.card(name).await)
    }

    /// What the agent was told, and whether it ran the tool; once its turn has ended.
    pub(crate) async fn outcome(&mut self, prompt: &str, name: &str) -> (Value, bool) {
        let is_report = |frame: &Value| report(frame).is_some_and(|report| report["title"] == name);
        let told = report(&self.bridge.wait_for(is_report).await).expect("a report");
        self.bridge.answer(prompt).await;
        let ran = self.has_run(name);
        assert_eq!(told["ran"], ran);
        (told["outcome"].clone(), ran)
    }

    /// Nothing has been told, and nothing has run.
    pub(crate) fn assert_open(&self, name: &str) {
        let reported = |line: &[u8]| {
            serde_json::from_slice(line).ok().and_then(|frame| report(&frame)).is_some_and(|report| report["title"] == name)
        };
        assert!(!self.bridge.skipped().any(reported), "{name} was answered");
        assert!(!self.has_run(name), "{name} was run");
    }

    pub(crate) fn has_run(&self, name: &str) -> bool {
        self.marker(name).exists()
    }

    fn marker(&self, name: &str) -> PathBuf {
        self.place.home().file(&format!("ran {name}"))
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
