//! All that the double knows, behind one lock: what a request sees is never half of another.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::faults::Faults;
use super::guild::Guild;
use super::interactions::{AckAttempt, FollowupAttempt, Interaction};
use super::messages::StoredMessage;
use super::rest::RestRequest;
use super::sessions::Sessions;
use super::snowflake::Snowflake;

/// How long Discord remembers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From an interaction's dispatch to its acknowledgement.
    pub ack: Duration,
    /// From an interaction's dispatch to the last follow-up.
    pub followup: Duration,
    /// From a message to another with its nonce, for the two to be one: "a few minutes".
    pub nonce: Duration,
}

const DISCORD_LIMITS: Limits =
    Limits { ack: Duration::from_secs(3), followup: Duration::from_mins(15), nonce: Duration::from_mins(2) };

pub(crate) struct World {
    pub(crate) token: String,
    state: Mutex<State>,
}

pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) guild: Guild,
    pub(crate) messages: BTreeMap<Snowflake, StoredMessage>,
    pub(crate) nonces: HashMap<String, (Snowflake, Instant)>,
    pub(crate) interactions: BTreeMap<Snowflake, Interaction>,
    pub(crate) acks: Vec<AckAttempt>,
    pub(crate) followups: Vec<FollowupAttempt>,
    pub(crate) requests: Vec<RestRequest>,
    pub(crate) faults: Faults,
    pub(crate) sessions: Sessions,
    /// Whom a message may mention.
    pub(crate) mentionable: BTreeSet<Snowflake>,
    /// What a well-behaved client does not do.
    pub(crate) problems: Vec<String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let guild = Guild::new();
        let state = State {
            limits: DISCORD_LIMITS,
            guild,
            messages: BTreeMap::new(),
            nonces: HashMap::new(),
            interactions: BTreeMap::new(),
            acks: Vec::new(),
            followups: Vec::new(),
            requests: Vec::new(),
            faults: Faults::default(),
            sessions: Sessions::default(),
            mentionable: BTreeSet::new(),
            problems: Vec::new(),
        };
        // Shaped like a real one, which begins with the bot's id in base64.
        Self { token: format!("MTIzNDU2Nzg5MDEyMzQ1Njc4.double.{}", Snowflake::fresh()), state: Mutex::new(state) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no handler of the double has panicked")
    }
}

impl State {
    pub(crate) fn dispatch(&mut self, name: &str, payload: &Value) {
        self.sessions.dispatch(name, payload);
    }

    /// As if a moderator had done it.
    pub(crate) fn delete_message(&mut self, id: Snowflake) {
        let Some(message) = self.messages.get_mut(&id) else { return };
        message.deleted = true;
        let event = json!({"id": id.json(), "channel_id": message.channel.json(), "guild_id": self.guild.id.json()});
        self.dispatch("MESSAGE_DELETE", &event);
    }
}
