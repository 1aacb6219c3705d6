//! The gateway's sessions: what each was told, so that what it missed can be told again.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::snowflake::Snowflake;

const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(41_250);
pub(crate) const GUILDS: u64 = 1 << 0;
pub(crate) const GUILD_MESSAGES: u64 = 1 << 9;

/// What a new connection meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// It is closed before it is one.
    Refused,
    /// It is open, and nothing comes.
    Silent,
    /// Closed with this code once the client says who it is.
    Closed(u16),
    /// Op 9 once the client says who it is.
    InvalidSession { resumable: bool },
}

/// What the double tells a connection to do.
#[derive(Debug)]
pub(crate) enum Order {
    Send(Value),
    Close(u16),
    /// Without a word.
    Cut,
}

#[derive(Debug)]
pub(crate) struct Sessions {
    all: Vec<Session>,
    pub(crate) greetings: VecDeque<Greeting>,
    pub(crate) refused_until: Option<Instant>,
    /// Nothing is sent, not even an acknowledgement of a heartbeat.
    pub(crate) is_stuck: bool,
    pub(crate) heartbeat_interval: Duration,
    /// Every connection's IDENTIFY or RESUME.
    pub(crate) hellos: Vec<Value>,
}

#[derive(Debug)]
struct Session {
    id: String,
    intents: u64,
    told: Vec<Value>,
    connection: Option<mpsc::UnboundedSender<Order>>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            greetings: VecDeque::new(),
            refused_until: None,
            is_stuck: false,
            heartbeat_interval: HEARTBEAT_INTERVAL,
            hellos: Vec::new(),
        }
    }
}

impl Sessions {
    pub(crate) fn begin(&mut self, intents: u64, connection: mpsc::UnboundedSender<Order>) -> String {
        let id = format!("session-{}", Snowflake::fresh());
        self.all.push(Session { id: id.clone(), intents, told: Vec::new(), connection: Some(connection) });
        id
    }

    /// Whether the session is known and so far along; then all it missed is on its way.
    pub(crate) fn resume(&mut self, id: &str, seen: usize, connection: mpsc::UnboundedSender<Order>) -> bool {
        let Some(session) = self.all.iter_mut().find(|session| session.id == id && seen <= session.told.len()) else {
            return false;
        };
        for missed in &session.told[seen..] {
            // It fails when the connection is gone again.
            let _ = connection.send(Order::Send(missed.clone()));
        }
        session.connection = Some(connection);
        session.tell("RESUMED", &json!({"_trace": []}), self.is_stuck);
        true
    }

    pub(crate) fn disconnected(&mut self, connection: &mpsc::UnboundedSender<Order>) {
        for session in &mut self.all {
            session.connection.take_if(|theirs| theirs.same_channel(connection));
        }
    }

    pub(crate) fn end(&mut self, connection: &mpsc::UnboundedSender<Order>) {
        self.all.retain(|session| session.connection.as_ref().is_none_or(|theirs| !theirs.same_channel(connection)));
    }

    pub(crate) fn forget(&mut self) {
        self.all.clear();
    }

    pub(crate) fn order(&mut self, order: impl Fn() -> Order) {
        for connection in self.all.iter().filter_map(|session| session.connection.as_ref()) {
            let _ = connection.send(order());
        }
    }

    pub(crate) fn dispatch(&mut self, name: &str, payload: &Value) {
        for session in self.all.iter_mut().filter(|session| session.intents & needed(name) == needed(name)) {
            session.tell(name, payload, self.is_stuck);
        }
    }

    pub(crate) fn tell_one(&mut self, id: &str, name: &str, payload: &Value) {
        for session in self.all.iter_mut().filter(|session| session.id == id) {
            session.tell(name, payload, self.is_stuck);
        }
    }

    pub(crate) fn connected(&self) -> usize {
        self.all.iter().filter(|session| session.connection.is_some()).count()
    }
}

impl Session {
    fn tell(&mut self, name: &str, payload: &Value, is_stuck: bool) {
        let frame = json!({"op": 0, "s": self.told.len() + 1, "t": name, "d": payload});
        self.told.push(frame.clone());
        if let Some(connection) = self.connection.as_ref().filter(|_| !is_stuck) {
            let _ = connection.send(Order::Send(frame));
        }
    }
}

/// The intents without which an event is not sent.
fn needed(event: &str) -> u64 {
    match event {
        // Those of the bot itself come to everybody.
        "READY" | "RESUMED" | "INTERACTION_CREATE" | "USER_UPDATE" | "GUILD_MEMBER_UPDATE" => 0,
        event if event.starts_with("MESSAGE_") => GUILD_MESSAGES,
        _ => GUILDS,
    }
}
