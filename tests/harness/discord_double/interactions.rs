//! Interactions: made by a click, acknowledged once and in time, followed up for a while.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::faults::ApiError;
use super::http::Reply;
use super::snowflake::Snowflake;
use super::world::State;

const EPHEMERAL: u64 = 1 << 6;
const CHANNEL_MESSAGE: u64 = 4;
const DEFERRED_MESSAGE: u64 = 5;
const DEFERRED_UPDATE: u64 = 6;
const UPDATE: u64 = 7;

#[derive(Debug)]
pub(crate) struct Interaction {
    pub(crate) token: String,
    pub(crate) message: Snowflake,
    pub(crate) made: Instant,
    pub(crate) acknowledged: bool,
    /// As it was dispatched.
    pub(crate) payload: Value,
}

/// A callback, whether it counted or not.
#[derive(Clone, Debug)]
pub struct Ack {
    pub interaction: Snowflake,
    /// The interaction's dispatch is the beginning.
    pub after: Duration,
    /// 6: seen; 7: the message is changed; 4 and 5: a message of its own.
    pub kind: u64,
    /// What it deserved: 204 if it counted.
    pub status: u16,
    /// What the client was sent; `None`: nothing.
    pub answered: Option<u16>,
}

/// A message beside the one that was clicked, whether it counted or not.
#[derive(Clone, Debug)]
pub struct Followup {
    pub interaction: Option<Snowflake>,
    pub content: String,
    /// Only the one who clicked sees it.
    pub ephemeral: bool,
    pub status: u16,
    pub answered: Option<u16>,
}

/// Becomes an [`Ack`] when it is known what was sent.
#[derive(Debug)]
pub(crate) struct AckAttempt {
    request: usize,
    interaction: Snowflake,
    after: Duration,
    kind: u64,
    status: u16,
}

#[derive(Debug)]
pub(crate) struct FollowupAttempt {
    request: usize,
    interaction: Option<Snowflake>,
    content: String,
    ephemeral: bool,
    status: u16,
}

impl State {
    pub(crate) fn acknowledge(&mut self, request: usize, id: Snowflake, token: &str, body: &Value) -> Result<Reply, ApiError> {
        let kind = body["type"].as_u64().unwrap_or_default();
        let after = self.interactions.get(&id).map(|interaction| interaction.made.elapsed()).unwrap_or_default();
        let outcome = self.try_acknowledge(id, token, kind, &body["data"]);
        let status = outcome.map_or_else(|error| error.status, |()| 204);
        self.acks.push(AckAttempt { request, interaction: id, after, kind, status });
        outcome.map(|()| Reply::empty())
    }

    fn try_acknowledge(&mut self, id: Snowflake, token: &str, kind: u64, data: &Value) -> Result<(), ApiError> {
        let limit = self.limits.ack;
        let known = self.interactions.get_mut(&id).filter(|interaction| interaction.token == token);
        let interaction = known.ok_or(ApiError::UNKNOWN_INTERACTION)?;
        if interaction.acknowledged {
            return Err(ApiError::ALREADY_ACKNOWLEDGED);
        }
        if limit < interaction.made.elapsed() {
            return Err(ApiError::UNKNOWN_INTERACTION);
        }
        interaction.acknowledged = true;
        let message = interaction.message;
        match kind {
            UPDATE => {
                self.change(message, data, &[]);
            }
            CHANNEL_MESSAGE if !is_ephemeral(data) => {
                let (channel, bot) = (self.messages[&message].channel, self.guild.bot);
                self.store(channel, bot, data, &[]);
            }
            CHANNEL_MESSAGE | DEFERRED_MESSAGE | DEFERRED_UPDATE => {}
            other => self.problems.push(format!("a callback of type {other}")),
        }
        Ok(())
    }

    pub(crate) fn follow_up(
        &mut self,
        request: usize,
        application: Snowflake,
        token: &str,
        body: &Value,
    ) -> Result<Reply, ApiError> {
        let known = self.interactions.iter().find(|(_, interaction)| interaction.token == token).map(|(id, _)| *id);
        let allowed = self.may_follow_up(application, known);
        let status = allowed.map_or_else(|error| error.status, |_| 200);
        let (content, ephemeral) = (body["content"].as_str().unwrap_or_default().to_owned(), is_ephemeral(body));
        self.followups.push(FollowupAttempt { request, interaction: known, content, ephemeral, status });
        let (channel, bot) = (allowed?, self.guild.bot);
        let id = self.store(channel, bot, body, &[]);
        let message = self.message_json(id);
        if ephemeral {
            // Nobody can list it.
            self.messages.remove(&id);
        }
        Ok(Reply::json(200, &message))
    }

    fn may_follow_up(&self, application: Snowflake, interaction: Option<Snowflake>) -> Result<Snowflake, ApiError> {
        let interaction = interaction.and_then(|id| self.interactions.get(&id)).ok_or(ApiError::UNKNOWN_WEBHOOK)?;
        if application != self.guild.application || !interaction.acknowledged {
            return Err(ApiError::UNKNOWN_WEBHOOK);
        }
        if self.limits.followup < interaction.made.elapsed() {
            return Err(ApiError::EXPIRED_TOKEN);
        }
        Ok(self.messages[&interaction.message].channel)
    }

    pub(crate) fn ack_log(&self) -> Vec<Ack> {
        let log = self.acks.iter().map(|attempt| Ack {
            interaction: attempt.interaction,
            after: attempt.after,
            kind: attempt.kind,
            status: attempt.status,
            answered: self.requests[attempt.request].answered,
        });
        log.collect()
    }

    pub(crate) fn followup_log(&self) -> Vec<Followup> {
        let log = self.followups.iter().map(|attempt| Followup {
            interaction: attempt.interaction,
            content: attempt.content.clone(),
            ephemeral: attempt.ephemeral,
            status: attempt.status,
            answered: self.requests[attempt.request].answered,
        });
        log.collect()
    }

    /// Somebody presses a button, so long ago.
    pub(crate) fn interact(
        &mut self,
        user: Snowflake,
        message: Snowflake,
        custom_id: &str,
        age: Duration,
        alter: impl FnOnce(&mut Value),
    ) -> Snowflake {
        let id = Snowflake::aged(age);
        let token = format!("interaction-{id}-{}", Snowflake::fresh());
        let mut payload = self.interaction_payload(id, &token, user, message, custom_id);
        alter(&mut payload);
        let made = Instant::now();
        let made = made.checked_sub(age).unwrap_or(made);
        self.interactions.insert(id, Interaction { token, message, made, acknowledged: false, payload: payload.clone() });
        self.dispatch("INTERACTION_CREATE", &payload);
        id
    }

    fn interaction_payload(&self, id: Snowflake, token: &str, user: Snowflake, message: Snowflake, custom_id: &str) -> Value {
        let clicker = &self.guild.members[&user];
        let mut member = clicker.json();
        member["permissions"] = Value::from(clicker.permissions.to_string());
        let channel = self.messages[&message].channel;
        let mut channel_json = self.guild.channels.get(&channel).map_or(Value::Null, |found| found.json(self.guild.id));
        channel_json["permissions"] = Value::from(clicker.permissions.to_string());
        json!({
            "id": id.json(),
            "application_id": self.guild.application.json(),
            "type": 3,
            "token": token,
            "version": 1,
            "data": {"custom_id": custom_id, "component_type": 2, "id": 2},
            "guild_id": self.guild.id.json(),
            "guild": {"id": self.guild.id.json(), "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "channel_id": channel.json(),
            "channel": channel_json,
            "member": member,
            "message": self.message_json(message),
            "app_permissions": self.guild.bot_permissions.to_string(),
            "locale": "en-GB",
            "entitlements": [],
            "entitlement_sku_ids": [],
            "authorizing_integration_owners": {"0": self.guild.id.json()},
            "context": 0,
            "attachment_size_limit": 10_485_760,
        })
    }
}

fn is_ephemeral(body: &Value) -> bool {
    body["flags"].as_u64().is_some_and(|flags| flags & EPHEMERAL != 0)
}
