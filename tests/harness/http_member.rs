//! A bare client: no encryption, no sync, any event of any type.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::http::{Http, Reply};

/// An account on a test homeserver.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub homeserver: String,
    /// The name to log in with.
    pub user: String,
    pub user_id: String,
    pub password: String,
}

pub struct HttpMember {
    pub user_id: String,
    http: Http,
    transactions: AtomicUsize,
}

impl HttpMember {
    pub async fn log_in(account: &Credentials) -> Self {
        let (token, _) = Self::new_token(account).await;
        Self::with_token(account.homeserver.clone(), account.user_id.clone(), &token)
    }

    /// The access token and the id of a new device.
    pub async fn new_token(account: &Credentials) -> (String, String) {
        let identifier = json!({"type": "m.id.user", "user": account.user});
        let login = json!({"type": "m.login.password", "identifier": identifier, "password": account.password});
        let answer = Http::new(account.homeserver.clone()).post("/_matrix/client/v3/login", &login).await.expect_ok();
        let text = |key: &str| answer[key].as_str().expect("a text").to_owned();
        (text("access_token"), text("device_id"))
    }

    /// On behalf of a device that is logged in already.
    pub(crate) fn with_token(server: String, user_id: String, token: &str) -> Self {
        Self { user_id, http: Http::new(server).with_token(token), transactions: AtomicUsize::new(0) }
    }

    /// Makes a room from a request body of `createRoom`.
    pub async fn create_room(&self, body: &Value) -> String {
        let answer = self.http.post("/_matrix/client/v3/createRoom", body).await.expect_ok();
        answer["room_id"].as_str().expect("a room id").to_owned()
    }

    /// Sends an event in clear; the id of the event.
    pub async fn send(&self, room: &str, kind: &str, content: &Value) -> String {
        self.try_send(room, kind, content).await.expect_event()
    }

    pub async fn try_send(&self, room: &str, kind: &str, content: &Value) -> Reply {
        let transaction = self.transaction();
        self.http.put(&path(room, &format!("send/{kind}/{transaction}")), content).await
    }

    pub async fn say(&self, room: &str, text: &str) -> String {
        self.send(room, "m.room.message", &json!({"msgtype": "m.text", "body": text})).await
    }

    pub async fn react(&self, room: &str, event: &str, key: &str) -> String {
        let relation = json!({"rel_type": "m.annotation", "event_id": event, "key": key});
        self.send(room, "m.reaction", &json!({"m.relates_to": relation})).await
    }

    pub async fn redact(&self, room: &str, event: &str) -> String {
        let transaction = self.transaction();
        self.http.put(&path(room, &format!("redact/{event}/{transaction}")), &json!({})).await.expect_event()
    }

    pub async fn join(&self, room: &str) {
        self.http.post(&path(room, "join"), &json!({})).await.expect_ok();
    }

    pub async fn leave(&self, room: &str) {
        self.http.post(&path(room, "leave"), &json!({})).await.expect_ok();
    }

    /// Revokes every token of the account, this one included.
    pub async fn log_out_everywhere(&self) {
        self.http.post("/_matrix/client/v3/logout/all", &json!({})).await.expect_ok();
    }

    pub async fn invite(&self, room: &str, user: &str) {
        self.moderate(room, "invite", user).await;
    }

    pub async fn kick(&self, room: &str, user: &str) {
        self.moderate(room, "kick", user).await;
    }

    pub async fn ban(&self, room: &str, user: &str) {
        self.moderate(room, "ban", user).await;
    }

    async fn moderate(&self, room: &str, action: &str, user: &str) {
        self.http.post(&path(room, action), &json!({"user_id": user})).await.expect_ok();
    }

    pub async fn state(&self, room: &str, kind: &str, key: &str) -> Reply {
        self.http.get(&path(room, &format!("state/{kind}/{key}"))).await
    }

    pub async fn set_state(&self, room: &str, kind: &str, key: &str, content: &Value) -> String {
        self.http.put(&path(room, &format!("state/{kind}/{key}")), content).await.expect_event()
    }

    /// `join`, `leave`, `ban`, `invite`, `knock`.
    pub async fn membership_of(&self, room: &str, user: &str) -> Option<String> {
        let member = self.state(room, "m.room.member", user).await;
        member.body["membership"].as_str().map(str::to_owned)
    }

    pub async fn set_power(&self, room: &str, user: &str, power: i64) {
        let mut levels = self.state(room, "m.room.power_levels", "").await.expect_ok();
        levels["users"][user] = power.into();
        self.set_state(room, "m.room.power_levels", "", &levels).await;
    }

    /// The power it takes to send events of this type.
    pub async fn set_power_needed(&self, room: &str, kind: &str, power: i64) {
        let mut levels = self.state(room, "m.room.power_levels", "").await.expect_ok();
        levels["events"][kind] = power.into();
        self.set_state(room, "m.room.power_levels", "", &levels).await;
    }

    /// Closes the room in favour of another.
    pub async fn tombstone(&self, room: &str, replacement: &str) -> String {
        let content = json!({"body": "This room has been replaced", "replacement_room": replacement});
        self.set_state(room, "m.room.tombstone", "", &content).await
    }

    /// What relates to an event, newest first, as the homeserver has it: encrypted events stay encrypted.
    pub async fn relations(&self, room: &str, event: &str) -> Vec<Value> {
        let path = format!("/_matrix/client/v1/rooms/{room}/relations/{event}?limit=100");
        let answer = self.http.get(&path).await.expect_ok();
        answer["chunk"].as_array().cloned().unwrap_or_default()
    }

    /// The room's newest events, newest first, as the homeserver has them.
    pub async fn newest(&self, room: &str, count: usize) -> Vec<Value> {
        let answer = self.http.get(&path(room, &format!("messages?dir=b&limit={count}"))).await.expect_ok();
        answer["chunk"].as_array().cloned().unwrap_or_default()
    }

    fn transaction(&self) -> usize {
        self.transactions.fetch_add(1, Ordering::Relaxed)
    }
}

fn path(room: &str, rest: &str) -> String {
    format!("/_matrix/client/v3/rooms/{room}/{rest}")
}
