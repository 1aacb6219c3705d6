//! One guild, and how the API describes it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::snowflake::{Snowflake, timestamp};

pub const VIEW_CHANNEL: u64 = 1 << 10;
pub const SEND_MESSAGES: u64 = 1 << 11;
/// What everybody may do unless a test says otherwise: see, write, attach and read what was written; threads, too.
pub const ORDINARY: u64 = VIEW_CHANNEL | SEND_MESSAGES | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 31 | 1 << 35 | 1 << 36 | 1 << 38;

const TEXT_CHANNEL: u64 = 0;
const PUBLIC_THREAD: u64 = 11;

#[derive(Debug)]
pub(crate) struct Guild {
    pub(crate) id: Snowflake,
    pub(crate) application: Snowflake,
    pub(crate) bot: Snowflake,
    pub(crate) channels: BTreeMap<Snowflake, Channel>,
    pub(crate) roles: BTreeMap<Snowflake, Role>,
    pub(crate) members: BTreeMap<Snowflake, GuildMember>,
    /// In every channel.
    pub(crate) bot_permissions: u64,
    pub(crate) interactions_endpoint: Option<String>,
    pub(crate) made: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) id: Snowflake,
    pub(crate) name: String,
    /// Of a thread.
    pub(crate) parent: Option<Snowflake>,
    pub(crate) archived: bool,
    pub(crate) locked: bool,
    pub(crate) auto_archive_minutes: u64,
}

#[derive(Clone, Debug)]
pub struct Role {
    pub id: Snowflake,
    pub name: String,
    pub permissions: u64,
    pub mentionable: bool,
}

#[derive(Clone, Debug)]
pub struct GuildMember {
    pub id: Snowflake,
    pub name: String,
    pub bot: bool,
    pub roles: Vec<Snowflake>,
    pub pending: bool,
    /// Until when, as Discord writes instants.
    pub timed_out_until: Option<String>,
    /// In the channel where they click.
    pub permissions: u64,
}

impl Guild {
    pub(crate) fn new() -> Self {
        let (id, bot, channel) = (Snowflake::fresh(), Snowflake::fresh(), Snowflake::fresh());
        let everyone = Role { id, name: "@everyone".to_owned(), permissions: ORDINARY, mentionable: false };
        let role = Role { id: Snowflake::fresh(), name: "countersign".to_owned(), permissions: ORDINARY, mentionable: false };
        let member = GuildMember { bot: true, roles: vec![role.id], ..GuildMember::new(bot, "countersign") };
        let channel = Channel::text(channel, "builds");
        Self {
            id,
            application: Snowflake::fresh(),
            bot,
            channels: BTreeMap::from([(channel.id, channel)]),
            roles: BTreeMap::from([(id, everyone), (role.id, role)]),
            members: BTreeMap::from([(bot, member)]),
            bot_permissions: ORDINARY,
            interactions_endpoint: None,
            made: timestamp(),
        }
    }

    pub(crate) fn bot_can(&self, permission: u64) -> bool {
        self.bot_permissions & permission == permission
    }

    pub(crate) fn bot_user(&self) -> Value {
        let mut user =
            self.members.get(&self.bot).map_or_else(|| GuildMember::new(self.bot, "countersign").user(), GuildMember::user);
        let own = json!({"bot": true, "verified": true, "mfa_enabled": true, "email": null, "locale": "en-US"});
        merge(&mut user, own);
        user
    }

    pub(crate) fn application(&self) -> Value {
        json!({
            "id": self.application.json(),
            "name": "countersign",
            "icon": null,
            "description": "",
            "type": null,
            "bot_public": false,
            "bot_require_code_grant": false,
            "verify_key": "00",
            "flags": 0,
            "hook": true,
            "redirect_uris": [],
            "interactions_endpoint_url": self.interactions_endpoint,
            "integration_types_config": {"0": {}},
            "owner": GuildMember::new(Snowflake(7), "owner").user(),
            "team": null,
        })
    }

    /// As GET /guilds/{id} has it.
    pub(crate) fn json(&self) -> Value {
        json!({
            "id": self.id.json(),
            "name": "Double",
            "icon": null,
            "splash": null,
            "discovery_splash": null,
            "description": null,
            "banner": null,
            "owner_id": "7",
            "afk_channel_id": null,
            "afk_timeout": 300,
            "widget_enabled": false,
            "verification_level": 1,
            "default_message_notifications": 1,
            "explicit_content_filter": 0,
            "roles": self.roles.values().map(Role::json).collect::<Vec<_>>(),
            "emojis": [],
            "stickers": [],
            "features": [],
            "mfa_level": 0,
            "application_id": null,
            "system_channel_id": null,
            "system_channel_flags": 0,
            "rules_channel_id": null,
            "public_updates_channel_id": null,
            "safety_alerts_channel_id": null,
            "vanity_url_code": null,
            "premium_tier": 0,
            "premium_subscription_count": 0,
            "premium_progress_bar_enabled": false,
            "preferred_locale": "en-US",
            "max_members": 500_000,
            "nsfw": false,
            "nsfw_level": 0,
        })
    }

    /// As `GUILD_CREATE` has it, without the privileged intents: of the members only the bot.
    pub(crate) fn create_event(&self) -> Value {
        let (threads, channels): (Vec<_>, Vec<_>) = self.channels.values().partition(|channel| channel.parent.is_some());
        let described = |channels: Vec<&Channel>| channels.into_iter().map(|channel| channel.json(self.id)).collect::<Vec<_>>();
        let mut event = self.json();
        let more = json!({
            "joined_at": self.made,
            "large": false,
            "unavailable": false,
            "member_count": self.members.len(),
            "voice_states": [],
            "members": self.members.get(&self.bot).map(GuildMember::json).into_iter().collect::<Vec<_>>(),
            "channels": described(channels),
            "threads": described(threads),
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        });
        merge(&mut event, more);
        event
    }
}

impl Channel {
    pub(crate) fn text(id: Snowflake, name: &str) -> Self {
        Self { id, name: name.to_owned(), parent: None, archived: false, locked: false, auto_archive_minutes: 1440 }
    }

    pub(crate) fn json(&self, guild: Snowflake) -> Value {
        let mut channel = json!({
            "id": self.id.json(),
            "type": if self.parent.is_some() { PUBLIC_THREAD } else { TEXT_CHANNEL },
            "guild_id": guild.json(),
            "name": self.name,
            "parent_id": self.parent.map(Snowflake::json),
            "last_message_id": null,
            "rate_limit_per_user": 0,
            "flags": 0,
        });
        let more = match self.parent {
            None => json!({"position": 0, "permission_overwrites": [], "topic": null, "nsfw": false}),
            Some(_) => json!({
                "owner_id": "7",
                "message_count": 0,
                "member_count": 1,
                "total_message_sent": 0,
                "thread_metadata": {
                    "archived": self.archived,
                    "locked": self.locked,
                    "auto_archive_duration": self.auto_archive_minutes,
                    "archive_timestamp": timestamp(),
                    "create_timestamp": timestamp(),
                },
            }),
        };
        merge(&mut channel, more);
        channel
    }
}

impl Role {
    pub(crate) fn json(&self) -> Value {
        json!({
            "id": self.id.json(),
            "name": self.name,
            "description": null,
            "permissions": self.permissions.to_string(),
            "position": 1,
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null},
            "hoist": false,
            "managed": false,
            "mentionable": self.mentionable,
            "icon": null,
            "unicode_emoji": null,
            "flags": 0,
        })
    }
}

impl GuildMember {
    pub(crate) fn new(id: Snowflake, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            bot: false,
            roles: Vec::new(),
            pending: false,
            timed_out_until: None,
            permissions: ORDINARY,
        }
    }

    pub(crate) fn user(&self) -> Value {
        let mut user = json!({
            "id": self.id.json(),
            "username": self.name,
            "global_name": self.name,
            "discriminator": "0",
            "avatar": null,
            "avatar_decoration_data": null,
            "collectibles": null,
            "display_name_styles": null,
            "primary_guild": null,
            "clan": null,
            "public_flags": 0,
        });
        if self.bot {
            user["bot"] = Value::Bool(true);
        }
        user
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "user": self.user(),
            "nick": null,
            "avatar": null,
            "banner": null,
            "roles": self.roles.iter().map(|role| role.json()).collect::<Vec<_>>(),
            "joined_at": "2024-01-01T00:00:00.000000+00:00",
            "premium_since": null,
            "deaf": false,
            "mute": false,
            "flags": 0,
            "pending": self.pending,
            "communication_disabled_until": self.timed_out_until,
            "unusual_dm_activity_until": null,
        })
    }
}

pub(crate) fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
