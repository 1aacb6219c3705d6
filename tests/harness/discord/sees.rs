//! What people see in a channel, and what one of them alone is told.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::discord::Simcord;
use crate::wait::until;

/// A message.
#[derive(Clone, Debug, Deserialize)]
pub struct Post {
    pub id: String,
    pub channel_id: String,
    pub content: String,
    pub edited_timestamp: Option<String>,
    pub author: Value,
    pub components: Vec<Value>,
    /// What is in the attached files, by their names.
    pub file_texts: BTreeMap<String, String>,
}

/// A message with buttons.
#[derive(Clone, Debug)]
pub struct DiscordCard {
    pub message: String,
    pub channel: String,
    /// What a person can read, files included; see [`Post::text`].
    pub text: String,
    /// `custom_id` and label of each button, in their order.
    pub buttons: Vec<(String, String)>,
}

impl Post {
    /// Without what only guards it against being taken for markup; what stands in code, as if it stood in quotes.
    pub fn text(&self) -> String {
        let parts = [&self.content].into_iter().chain(self.file_texts.values());
        parts.map(|part| part.replace('\u{200b}', "").replace('`', "\"")).collect::<Vec<_>>().join("\n")
    }

    pub fn buttons(&self) -> Vec<(String, String)> {
        let rows = self.components.iter().filter_map(|row| row["components"].as_array()).flatten();
        let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        rows.map(|button| (string(&button["custom_id"]), string(&button["label"]))).collect()
    }

    /// `None`: it has no buttons, or none any more.
    pub fn card(&self) -> Option<DiscordCard> {
        let buttons = self.buttons();
        let card = |buttons| {
            let (message, channel) = (self.id.clone(), self.channel_id.clone());
            DiscordCard { message, channel, text: self.text(), buttons }
        };
        (!buttons.is_empty()).then(|| card(buttons))
    }
}

impl Simcord {
    /// All that is public in a channel or a thread, oldest first.
    pub async fn posts(&self, channel: &str) -> Vec<Post> {
        posts(self.act("messages", json!({"channel": channel})).await)
    }

    /// All that is public in any channel or thread.
    pub async fn posts_everywhere(&self) -> Vec<Post> {
        posts(self.act("messages_everywhere", json!({})).await)
    }

    /// What this user alone was told, oldest first.
    pub async fn ephemerals(&self, user: &str) -> Vec<Post> {
        posts(self.act("ephemerals", json!({"user": user})).await)
    }

    /// Waits for a message in the channel that satisfies.
    pub async fn wait_for_post(&self, what: &str, satisfies: impl Fn(&Post) -> bool) -> Post {
        self.wait_for(what, async || self.posts(&self.world.channel).await, satisfies).await
    }

    /// Waits for a message in any channel or thread that satisfies.
    pub async fn wait_for_post_anywhere(&self, what: &str, satisfies: impl Fn(&Post) -> bool) -> Post {
        self.wait_for(what, async || self.posts_everywhere().await, satisfies).await
    }

    /// Waits until the user alone was told something that satisfies.
    pub async fn wait_for_ephemeral(&self, user: &str, satisfies: impl Fn(&Post) -> bool) -> Post {
        self.wait_for(&format!("a private reply to {user}"), async || self.ephemerals(user).await, satisfies).await
    }

    async fn wait_for(&self, what: &str, posts: impl AsyncFn() -> Vec<Post>, satisfies: impl Fn(&Post) -> bool) -> Post {
        until(what, async || posts().await.into_iter().find(&satisfies)).await
    }
}

fn posts(messages: Value) -> Vec<Post> {
    serde_json::from_value(messages).expect("messages")
}
