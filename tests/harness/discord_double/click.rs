//! Clicks, and what a client must make nothing of.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::snowflake::Snowflake;

/// Somebody presses a button: one that a message has, or one that it never had.
pub struct Click {
    pub(crate) user: Snowflake,
    pub(crate) message: Snowflake,
    pub(crate) custom_id: String,
    pub(crate) age: Duration,
    alterations: Vec<Alteration>,
}

type Alteration = Box<dyn FnOnce(&mut Value) + Send>;

impl Click {
    pub fn new(user: Snowflake, message: Snowflake, custom_id: &str) -> Self {
        Self { user, message, custom_id: custom_id.to_owned(), age: Duration::ZERO, alterations: Vec::new() }
    }

    /// It was made so long ago, and is delivered only now.
    #[must_use]
    pub fn aged(self, age: Duration) -> Self {
        Self { age, ..self }
    }

    /// The payload is altered before it is sent.
    #[must_use]
    pub fn with(mut self, alter: impl FnOnce(&mut Value) + Send + 'static) -> Self {
        self.alterations.push(Box::new(alter));
        self
    }

    #[must_use]
    pub fn odd(self, oddity: Oddity) -> Self {
        self.with(move |payload| oddity.apply(payload))
    }

    pub(crate) fn alter(self, payload: &mut Value) {
        for alter in self.alterations {
            alter(payload);
        }
    }
}

impl fmt::Debug for Click {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} presses {:?} of {}", self.user, self.custom_id, self.message)
    }
}

/// What can be strange about a click's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    // Harmless: the click still counts.
    /// Clicks in threads can come without it.
    NoChannel,
    /// Discord adds fields without notice.
    UnknownFields,

    // Whoever clicked is not somebody whose click counts.
    NoMember,
    Bot,
    SystemUser,
    Pending,
    TimedOut,
    /// May not see the channel.
    NoView,

    // It is not about the card that was posted.
    OtherGuild,
    NoGuild,
    OtherApplication,
    OtherMessage,
    OtherChannel,
    OtherButton,
    /// From a conversation with the bot.
    DirectMessage,
    /// Installed by somebody for themselves, not for the guild.
    UserInstall,
    /// A kind of interaction that is not about a message.
    OtherKind,
    /// Not like any interaction.
    NotParsable,
}

impl Oddity {
    pub const ALL: [Self; 18] = [
        Self::NoChannel,
        Self::UnknownFields,
        Self::NoMember,
        Self::Bot,
        Self::SystemUser,
        Self::Pending,
        Self::TimedOut,
        Self::NoView,
        Self::OtherGuild,
        Self::NoGuild,
        Self::OtherApplication,
        Self::OtherMessage,
        Self::OtherChannel,
        Self::OtherButton,
        Self::DirectMessage,
        Self::UserInstall,
        Self::OtherKind,
        Self::NotParsable,
    ];

    /// Whether a click that would count counts in spite of it.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::NoChannel | Self::UnknownFields)
    }

    fn apply(self, payload: &mut Value) {
        let other = || Snowflake::fresh().json();
        match self {
            Self::NoChannel => drop_key(payload, "channel"),
            Self::UnknownFields => {
                payload["of_next_year"] = json!({"a": [1, null]});
                payload["member"]["of_next_year"] = json!(true);
                payload["message"]["of_next_year"] = json!("x");
                payload["data"]["of_next_year"] = json!(1.5);
            }
            Self::NoMember => {
                payload["user"] = payload["member"]["user"].clone();
                drop_key(payload, "member");
            }
            Self::Bot => payload["member"]["user"]["bot"] = json!(true),
            Self::SystemUser => payload["member"]["user"]["system"] = json!(true),
            Self::Pending => payload["member"]["pending"] = json!(true),
            Self::TimedOut => payload["member"]["communication_disabled_until"] = json!("2999-01-01T00:00:00.000000+00:00"),
            Self::NoView => payload["member"]["permissions"] = json!("0"),
            Self::OtherGuild => payload["guild_id"] = other(),
            Self::NoGuild => drop_key(payload, "guild_id"),
            Self::OtherApplication => payload["application_id"] = other(),
            Self::OtherMessage => payload["message"]["id"] = other(),
            Self::OtherChannel => {
                let other = other();
                payload["channel_id"] = other.clone();
                payload["channel"]["id"] = other.clone();
                payload["message"]["channel_id"] = other;
            }
            Self::OtherButton => payload["data"]["custom_id"] = json!("00000000000000000000000000000000"),
            Self::DirectMessage => payload["context"] = json!(1),
            Self::UserInstall => payload["authorizing_integration_owners"] = json!({"1": payload["member"]["user"]["id"]}),
            Self::OtherKind => payload["type"] = json!(5),
            Self::NotParsable => payload["data"] = json!("none"),
        }
    }
}

fn drop_key(payload: &mut Value, key: &str) {
    if let Some(payload) = payload.as_object_mut() {
        payload.shift_remove(key);
    }
}
