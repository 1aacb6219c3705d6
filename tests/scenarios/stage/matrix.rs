//! A Matrix room on a real Synapse, with people who have real clients.

use std::fs;

use countersign_tests::{Credentials, Device, Launch, Member, SeenCard, Synapse};
use serde_json::{Value, json};

use super::{Home, Place, Plan, Who};

pub(crate) struct Matrix {
    pub(crate) bot: Credentials,
    /// Made the room.
    pub(crate) ada: Member,
    pub(crate) bob: Member,
    pub(crate) mallory: Member,
    pub(crate) room: String,
    pub(crate) home: Home,
    encrypted: bool,
    /// Where it was gathered apart.
    server: Option<Synapse>,
}

const PASSPHRASE: &str = "correct horse battery staple";

impl Matrix {
    pub(crate) async fn on(server: &Synapse, plan: &Plan) -> Self {
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
        let matrix = Self { bot, ada, bob, mallory, room, home: Home::new(), encrypted: plan.encrypted, server: None };
        matrix.configure(plan);
        matrix
    }

    fn configure(&self, plan: &Plan) {
        self.home.secret("password", &self.bot.password);
        let (ada, bob) = (&self.ada.user_id, &self.bob.user_id);
        let service = format!(
            r#"[matrix]
homeserver = "{server}"
user = "{bot}"
password_file = "password"
invites_from = ["{ada}"]"#,
            server = self.bot.homeserver,
            bot = self.bot.user_id,
        );
        let room = format!("matrix = \"{}\"\napprovers = [\"{ada}\", \"{bob}\"]", self.room);
        self.home.configure(plan, &service, &room, bob);
    }

    fn person(&self, who: Who) -> &Member {
        match who {
            Who::Ada => &self.ada,
            Who::Bob => &self.bob,
            Who::Mallory => &self.mallory,
        }
    }
}

impl Place for Matrix {
    type Card = SeenCard;

    const REMOVALS: &'static [&'static str] = &["message", "poll"];
    const LOSSES: &'static [&'static str] = &["kick", "ban", "tombstone", "power"];

    async fn gather(plan: &Plan) -> Self {
        Self::on(Synapse::shared().await, plan).await
    }

    async fn gather_apart(plan: &Plan) -> Self {
        let server = Synapse::start().await;
        let matrix = Self::on(&server, plan).await;
        Self { server: Some(server), ..matrix }
    }

    fn home(&self) -> &Home {
        &self.home
    }

    fn secrets(&self) -> Vec<String> {
        let saved = fs::read_to_string(self.home.file("state/matrix/session.json")).expect("a session is saved");
        let saved: Value = serde_json::from_str(&saved).expect("JSON");
        let saved = |name: &str| saved[name].as_str().unwrap_or_else(|| panic!("{saved}")).to_owned();
        vec![saved("access_token"), saved("refresh_token"), self.bot.password.clone(), PASSPHRASE.to_owned()]
    }

    fn with_all_secrets(&self, launch: Launch) -> Launch {
        launch.env("COUNTERSIGN__MATRIX__STORE_PASSPHRASE_ENV", "PASSPHRASE").env("PASSPHRASE", PASSPHRASE)
    }

    async fn card(&self, containing: &str) -> SeenCard {
        let card = self.ada.wait_for_card_where(&self.room, |card| card.body.contains(containing)).await;
        assert_eq!(card.encrypted, self.encrypted, "{card:?}");
        card
    }

    async fn card_count(&self) -> usize {
        self.ada.cards(&self.room).len()
    }

    fn text(card: &SeenCard) -> &str {
        &card.body
    }

    fn buttons(card: &SeenCard) -> &[(String, String)] {
        &card.answers
    }

    async fn press(&self, who: Who, card: &SeenCard, label: &str) {
        self.person(who).press(card, label).await;
    }

    async fn press_and_leave(&self, who: Who, card: &SeenCard, label: &str) {
        self.press(who, card, label).await;
        self.person(who).http.leave(&self.room).await;
    }

    async fn say(&self, who: Who, text: &str) {
        self.person(who).say(&self.room, text).await;
    }

    async fn reply_to(&self, who: Who, card: &SeenCard, text: &str) {
        let relation = json!({"m.in_reply_to": {"event_id": card.poll_event}});
        let reply = json!({"msgtype": "m.text", "body": text, "m.relates_to": relation});
        self.person(who).send(&self.room, "m.room.message", &reply).await;
    }

    async fn private_reply(&self, who: Who, containing: &str) -> String {
        let (person, bot) = (self.person(who), &self.bot.user_id);
        person.wait_for_direct_message(bot, &[&self.room], |text| text.contains(containing)).await
    }

    async fn said(&self, containing: &[&str]) -> String {
        let body = |event: &Value| event["content"]["body"].as_str().unwrap_or_default().to_owned();
        let what = format!("a message with {containing:?}");
        let found = self.bob.wait_for_event(&what, &self.room, |seen| {
            let body = body(&seen.event);
            seen.sender() == self.bot.user_id && containing.iter().all(|part| body.contains(part))
        });
        body(&found.await.event)
    }

    async fn closing(&self, card: &SeenCard, says: &str) -> String {
        self.bob.wait_for_edit(&card.message_event, |shown| shown.edited && shown.body.contains(says)).await.body
    }

    async fn shows(&self, card: &SeenCard, says: &str) {
        self.bob.wait_for_edit(&card.message_event, |shown| shown.body.contains(says)).await;
        assert!(self.is_live(card).await, "its buttons are gone: {card:?}");
    }

    async fn confirm(&self, who: Who, label: &str) {
        let person = self.person(who);
        let asked = person.wait_for_confirmation(&self.room, label).await;
        person.press(&asked, label).await;
    }

    async fn is_live(&self, card: &SeenCard) -> bool {
        !self.ada.poll_ended(&card.poll_event)
    }

    async fn wait_until_dead(&self, card: &SeenCard) {
        self.ada.wait_for_poll_end(&card.poll_event).await;
    }

    async fn remove_card(&self, card: &SeenCard, way: &str) {
        let part = match way {
            "message" => &card.message_event,
            "poll" => &card.poll_event,
            other => panic!("{other} is no way to remove a card"),
        };
        self.ada.http.redact(&self.room, part).await;
    }

    async fn lose_bot(&self, way: &str) {
        let (ada, bot, room) = (&self.ada.http, &self.bot.user_id, self.room.as_str());
        match way {
            "kick" => ada.kick(room, bot).await,
            "ban" => ada.ban(room, bot).await,
            "tombstone" => drop(ada.tombstone(room, "!elsewhere:localhost").await),
            "power" => ada.set_power(room, bot, -1).await,
            other => panic!("{other} is no way to lose a room"),
        }
    }

    async fn stop_service(&mut self) {
        self.server.as_mut().expect("gathered apart").stop();
    }

    async fn restart_service(&mut self) {
        self.server.as_mut().expect("gathered apart").restart().await;
    }
}
