//! The page with an agent behind it, and visitors who have no browser.

use std::net::SocketAddr;

use countersign_tests::{BridgeProcess, Events, Launch, Visitor, port_to_listen_on, scripted_agent};
use serde_json::{Value, json};

use crate::stage::{Home, OPTIONS, PLAIN, Plan};

pub(super) struct Desk {
    pub(super) home: Home,
    pub(super) port: u16,
    pub(super) bridge: BridgeProcess,
    session: String,
}

impl Desk {
    pub(super) async fn open() -> Self {
        Self::with(&PLAIN, "").await
    }

    /// `web`: more lines for its section.
    pub(super) async fn with(plan: &Plan, web: &str) -> Self {
        let (home, port) = (Home::new(), port_to_listen_on());
        Self::serve(home, port, plan, web).await
    }

    /// In a home that has files already.
    pub(super) async fn serve(home: Home, port: u16, plan: &Plan, web: &str) -> Self {
        let service = format!("[web]\nlisten = \"127.0.0.1:{port}\"\n{web}");
        home.configure(plan, &service, "web = true\napprovers = [\"ada\", \"bob\"]", "bob");
        let mut bridge = Launch::acp(Some(&home.config()), &scripted_agent()).await.start();
        let session = bridge.open_session().await;
        bridge.stderr_contains("connected").await;
        Self { home, port, bridge, session }
    }

    pub(super) fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    pub(super) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// `countersign web-room ...`; what it prints. It has to succeed.
    pub(super) async fn web_room(&self, arguments: &[&str]) -> String {
        self.home.countersign(&[&["web-room"], arguments].concat()).await
    }

    pub(super) async fn link(&self, person: &str) -> String {
        self.web_room(&["invite", person]).await
    }

    /// The agent asks in a room that bob has a key for, and ada has one for another.
    pub(super) async fn of_two_rooms() -> (Self, Visitor, Visitor) {
        let more = "[rooms.ops]\nweb = true\napprovers = \"anyone\"\n[acp]\nroom = \"ops\"";
        let desk = Self::with(&Plan { more, ..PLAIN }, "").await;
        let mut ada = desk.stranger();
        ada.join(&desk.web_room(&["invite", "ada", "--room", "builds"]).await).await;
        let mut bob = desk.stranger();
        bob.join(&desk.web_room(&["invite", "bob", "--room", "ops"]).await).await;
        (desk, ada, bob)
    }

    pub(super) fn stranger(&self) -> Visitor {
        Visitor::new(&self.origin())
    }

    /// Somebody who has joined.
    pub(super) async fn visitor(&self, person: &str) -> Visitor {
        let mut visitor = self.stranger();
        let joined = visitor.join(&self.link(person).await).await;
        assert_eq!(joined.status, 200, "{joined:?}");
        visitor
    }

    /// Somebody whose page is open.
    pub(super) async fn present(&self, person: &str) -> (Visitor, Events) {
        let mut visitor = self.visitor(person).await;
        let (events, _) = visitor.open().await.expect("an open stream");
        (visitor, events)
    }

    /// The agent asks to create the file `name` in the home.
    pub(super) async fn ask(&mut self, name: &str) -> String {
        self.ask_to_run(name, &format!("touch {name}")).await
    }

    /// The agent asks to run this, and creates the file `name` if it may.
    pub(super) async fn ask_to_run(&mut self, name: &str, command: &str) -> String {
        let ask = json!({"title": name, "kind": "execute", "command": command, "marker": self.home.file(name),
            "options": OPTIONS});
        self.bridge.prompt(&self.session, &json!({"ask": [ask]}).to_string()).await
    }

    /// The agent's own words on what it was told and did.
    pub(super) async fn report(&mut self, prompt: &str) -> Value {
        let said = self.bridge.wait_for(|frame| frame["params"]["update"]["sessionUpdate"] == "agent_message_chunk").await;
        self.bridge.answer(prompt).await;
        serde_json::from_str(said["params"]["update"]["content"]["text"].as_str().expect("text")).expect("a report")
    }

    /// It is told what a person chose, and only then.
    pub(super) async fn assert_answered(&mut self, prompt: &str, name: &str, option: &str, ran: bool) {
        let report = self.report(prompt).await;
        assert_eq!((report["outcome"]["optionId"].as_str(), report["ran"].as_bool()), (Some(option), Some(ran)), "{report}");
        assert_eq!(self.home.file(name).exists(), ran);
    }
}
