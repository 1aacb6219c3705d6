//! Messages and threads, and the routes that make, change, show and remove them.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::faults::ApiError;
use super::guild::{Channel, SEND_MESSAGES, VIEW_CHANNEL, merge};
use super::http::{Reply, UploadedFile};
use super::snowflake::{Snowflake, timestamp};
use super::world::State;

/// A message as it is now.
#[derive(Clone, Debug)]
pub struct StoredMessage {
    pub id: Snowflake,
    pub channel: Snowflake,
    pub author: Snowflake,
    pub content: String,
    pub components: Value,
    /// Those it had when it was posted.
    pub posted_buttons: Vec<Button>,
    /// What it said then.
    pub posted_content: String,
    pub flags: u64,
    pub allowed_mentions: Value,
    pub files: Vec<UploadedFile>,
    pub nonce: Option<String>,
    /// How often it was asked for: more than once with the same nonce is still one message.
    pub posts: usize,
    pub edits: usize,
    pub deleted: bool,
    posted: String,
    edited: Option<String>,
}

/// One that a person can press, or could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub custom_id: String,
    pub label: String,
    pub style: u64,
    pub disabled: bool,
}

type Handled = Result<Reply, ApiError>;

impl StoredMessage {
    pub fn buttons(&self) -> Vec<Button> {
        let rows = self.components.as_array().into_iter().flatten();
        let parts = rows.flat_map(|row| row["components"].as_array().into_iter().flatten());
        let button = |part: &Value| {
            Some(Button {
                custom_id: part["custom_id"].as_str()?.to_owned(),
                label: part["label"].as_str().unwrap_or_default().to_owned(),
                style: part["style"].as_u64()?,
                disabled: part["disabled"].as_bool().unwrap_or_default(),
            })
        };
        parts.filter_map(button).collect()
    }

    /// Takes over what a request says, and keeps what it does not mention.
    pub(crate) fn apply(&mut self, body: &Value, files: &[UploadedFile]) {
        if let Some(content) = body.get("content") {
            content.as_str().unwrap_or_default().clone_into(&mut self.content);
        }
        if let Some(components) = body.get("components") {
            self.components = numbered(components);
        }
        if let Some(flags) = body["flags"].as_u64() {
            self.flags = flags;
        }
        if body.get("attachments").is_some() || !files.is_empty() {
            self.files = files.to_vec();
        }
        self.allowed_mentions = body["allowed_mentions"].clone();
    }
}

impl State {
    pub(crate) fn post(&mut self, channel: Snowflake, body: &Value, files: &[UploadedFile]) -> Handled {
        self.writable(channel)?;
        let nonce = body["nonce"].as_str().map(str::to_owned);
        if body["enforce_nonce"] == true
            && let Some(first) = nonce.as_ref().and_then(|nonce| self.first_with(nonce))
        {
            return Ok(self.posted_again(channel, first));
        }
        let is_empty = |key: &str| body[key].as_str().is_none_or(str::is_empty) && body[key].as_array().is_none_or(Vec::is_empty);
        if ["content", "components", "embeds"].into_iter().all(is_empty) && files.is_empty() {
            return Err(ApiError::EMPTY_MESSAGE);
        }
        let id = self.store(channel, self.guild.bot, body, files);
        if let Some(nonce) = nonce {
            self.nonces.insert(nonce, (id, Instant::now()));
        }
        // A thread that is not locked is opened by whoever writes in it.
        if let Some(thread) = self.guild.channels.get_mut(&channel) {
            thread.archived = false;
        }
        let message = self.message_json(id);
        self.dispatch("MESSAGE_CREATE", &message);
        Ok(Reply::json(200, &message))
    }

    /// Without telling anybody.
    pub(crate) fn store(&mut self, channel: Snowflake, author: Snowflake, body: &Value, files: &[UploadedFile]) -> Snowflake {
        let id = Snowflake::fresh();
        let mut message = StoredMessage {
            id,
            channel,
            author,
            content: String::new(),
            components: json!([]),
            posted_buttons: Vec::new(),
            posted_content: String::new(),
            flags: 0,
            allowed_mentions: Value::Null,
            files: Vec::new(),
            nonce: body["nonce"].as_str().map(str::to_owned),
            posts: 1,
            edits: 0,
            deleted: false,
            posted: timestamp(),
            edited: None,
        };
        message.apply(body, files);
        (message.posted_buttons, message.posted_content) = (message.buttons(), message.content.clone());
        self.messages.insert(id, message);
        id
    }

    pub(crate) fn edit(&mut self, channel: Snowflake, id: Snowflake, body: &Value, files: &[UploadedFile]) -> Handled {
        let (bot, archived) = (self.guild.bot, self.visible(channel)?.archived);
        let message = self.message(channel, id)?;
        if message.author != bot {
            return Err(ApiError::OTHERS_MESSAGE);
        }
        if archived {
            return Err(ApiError::ARCHIVED_THREAD);
        }
        Ok(Reply::json(200, &self.change(id, body, files)))
    }

    pub(crate) fn change(&mut self, id: Snowflake, body: &Value, files: &[UploadedFile]) -> Value {
        if let Some(message) = self.messages.get_mut(&id) {
            message.apply(body, files);
            message.edits += 1;
            message.edited = Some(timestamp());
        }
        let message = self.message_json(id);
        self.dispatch("MESSAGE_UPDATE", &message);
        message
    }

    pub(crate) fn show(&mut self, channel: Snowflake, id: Snowflake) -> Handled {
        self.visible(channel)?;
        self.message(channel, id)?;
        Ok(Reply::json(200, &self.message_json(id)))
    }

    /// The newest first, as many as asked for.
    pub(crate) fn history(&self, channel: Snowflake, query: &str) -> Handled {
        self.visible(channel)?;
        let number = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
        let limit = number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(50);
        let (after, before) = (number("after").unwrap_or(0), number("before").unwrap_or(u64::MAX));
        let wanted = |message: &&StoredMessage| {
            message.channel == channel && !message.deleted && after < message.id.0 && message.id.0 < before
        };
        let found = self.messages.values().rev().filter(wanted).take(limit);
        let found: Vec<Value> = found.map(|message| self.message_json(message.id)).collect();
        Ok(Reply::json(200, &Value::Array(found)))
    }

    pub(crate) fn delete(&mut self, channel: Snowflake, id: Snowflake) -> Handled {
        self.visible(channel)?;
        self.message(channel, id)?;
        self.delete_message(id);
        Ok(Reply::empty())
    }

    pub(crate) fn make_thread(&mut self, parent: Snowflake, body: &Value) -> Handled {
        self.writable(parent)?;
        let thread = Channel {
            parent: Some(parent),
            auto_archive_minutes: body["auto_archive_duration"].as_u64().unwrap_or(1440),
            ..Channel::text(Snowflake::fresh(), body["name"].as_str().unwrap_or_default())
        };
        let mut description = thread.json(self.guild.id);
        self.guild.channels.insert(thread.id, thread);
        merge(&mut description, json!({"newly_created": true}));
        self.dispatch("THREAD_CREATE", &description);
        Ok(Reply::json(201, &description))
    }

    /// As far as a bot that made it needs: archived or not.
    pub(crate) fn change_thread(&mut self, id: Snowflake, body: &Value) -> Handled {
        self.visible(id)?;
        let guild = self.guild.id;
        let thread = self.guild.channels.get_mut(&id).filter(|channel| channel.parent.is_some());
        let thread = thread.ok_or(ApiError::MISSING_PERMISSIONS)?;
        if thread.locked {
            return Err(ApiError::MISSING_PERMISSIONS);
        }
        thread.archived = body["archived"].as_bool().unwrap_or(thread.archived);
        let description = thread.json(guild);
        self.dispatch("THREAD_UPDATE", &description);
        Ok(Reply::json(200, &description))
    }

    pub(crate) fn message_json(&self, id: Snowflake) -> Value {
        let message = &self.messages[&id];
        let author = self.guild.members.get(&message.author).map(super::guild::GuildMember::user);
        let attachment = |(number, file): (usize, &UploadedFile)| {
            let id = Snowflake(message.id.0 + number as u64 + 1);
            let url = format!("https://cdn.discordapp.com/attachments/{}/{id}/{}", message.channel, file.name);
            json!({"id": id.json(), "filename": file.name, "size": file.content.len(), "url": url, "proxy_url": url})
        };
        let mut description = json!({
            "id": id.json(),
            "type": 0,
            "channel_id": message.channel.json(),
            "author": author.unwrap_or_else(|| self.guild.bot_user()),
            "content": message.content,
            "timestamp": message.posted,
            "edited_timestamp": message.edited,
            "tts": false,
            "mention_everyone": false,
            "mentions": [],
            "mention_roles": [],
            "attachments": message.files.iter().enumerate().map(attachment).collect::<Vec<_>>(),
            "embeds": [],
            "pinned": false,
            "flags": message.flags,
            "components": message.components,
        });
        if let Some(nonce) = &message.nonce {
            description["nonce"] = Value::from(nonce.clone());
        }
        description
    }

    pub(crate) fn visible(&self, channel: Snowflake) -> Result<&Channel, ApiError> {
        let found = self.guild.channels.get(&channel).ok_or(ApiError::UNKNOWN_CHANNEL)?;
        if self.guild.bot_can(VIEW_CHANNEL) { Ok(found) } else { Err(ApiError::MISSING_ACCESS) }
    }

    fn writable(&self, channel: Snowflake) -> Result<(), ApiError> {
        let found = self.visible(channel)?;
        if !self.guild.bot_can(SEND_MESSAGES) {
            return Err(ApiError::MISSING_PERMISSIONS);
        }
        if found.archived && found.locked { Err(ApiError::ARCHIVED_THREAD) } else { Ok(()) }
    }

    fn message(&self, channel: Snowflake, id: Snowflake) -> Result<&StoredMessage, ApiError> {
        let found = self.messages.get(&id).filter(|message| message.channel == channel && !message.deleted);
        found.ok_or(ApiError::UNKNOWN_MESSAGE)
    }

    fn first_with(&self, nonce: &str) -> Option<Snowflake> {
        let (id, posted) = self.nonces.get(nonce)?;
        (posted.elapsed() <= self.limits.nonce).then_some(*id)
    }

    fn posted_again(&mut self, channel: Snowflake, first: Snowflake) -> Reply {
        if let Some(message) = self.messages.get_mut(&first) {
            message.posts += 1;
            if message.channel != channel {
                self.problems.push(format!("message {first} was asked for again in another channel, {channel}"));
            }
        }
        Reply::json(200, &self.message_json(first))
    }
}

/// Discord numbers the components of a message.
fn numbered(components: &Value) -> Value {
    fn number(component: &mut Value, next: &mut u64) {
        component["id"] = Value::from(*next);
        *next += 1;
        for part in component["components"].as_array_mut().into_iter().flatten() {
            number(part, next);
        }
    }
    let mut components = if components.is_array() { components.clone() } else { json!([]) };
    let mut next = 1;
    for component in components.as_array_mut().into_iter().flatten() {
        number(component, &mut next);
    }
    components
}
