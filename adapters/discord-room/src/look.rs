//! What a room is like now: where it is, what the bot may do there, and what is wrong with it.

use serenity::all::{Channel, ChannelId, ChannelType, GuildChannel, Member, PartialGuild, Permissions, RoleId, UserId};
use serenity::http::Route;
use tracing::warn;

use crate::account::{Account, Ready, RoomState, ServedRoom};
use crate::fault::Fault;
use crate::{Threads, id, people};

/// A room as Discord tells it.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) channel: GuildChannel,
    /// The channel that a thread belongs to, else the channel itself.
    pub(crate) parent: GuildChannel,
    pub(crate) guild: PartialGuild,
    pub(crate) permissions: Permissions,
    bot: Member,
}

/// A permission by the name that Discord's own settings give it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) permission: Permissions,
    pub(crate) name: &'static str,
    /// What does not work without it; `None`: nothing does.
    pub(crate) without: Option<&'static str>,
}

impl Look {
    /// Whether somebody who has this role and no other can see the room.
    pub(crate) fn is_seen_by(&self, role: RoleId) -> bool {
        let mut somebody = self.bot.clone();
        somebody.user.id = UserId::new(1);
        somebody.roles = vec![role];
        people::sees(self.guild.user_permissions_in(&self.parent, &somebody))
    }

    /// What makes it impossible to post cards here, each with what to do.
    pub(crate) fn problems(&self, served: &ServedRoom) -> Vec<String> {
        let mut problems = Vec::new();
        if !can_hold_cards(self.channel.kind) {
            problems.push("it is no text channel or thread; name one that messages can be posted to".to_owned());
        }
        if served.options.threads == Threads::PerSession && is_thread(self.channel.kind) {
            problems
                .push("it is a thread and cannot hold a thread for each session; name a channel, or remove threads".to_owned());
        }
        if is_closed(&self.channel) {
            problems.push("the thread is archived or locked; open it again".to_owned());
        }
        for role in &served.options.roles {
            let known = id::snowflake(role.as_str()).and_then(|role| self.guild.roles.get(&role.into()));
            if known.is_some_and(|role| role.id.get() == self.guild.id.get()) {
                // No member's list of roles has it, so no click would count by it.
                problems.push(format!("the role {role} is @everyone; write approvers = \"anyone\" if you mean that"));
            }
            if known.is_none() {
                problems.push(format!("the server has no role {role}, whose members may answer; change approver_roles"));
            }
        }
        for need in needs(served, self) {
            if need.without.is_none() && !self.permissions.contains(need.permission) {
                problems.push(format!("the bot lacks the permission \"{}\" there; give it to the bot's role", need.name));
            }
        }
        problems
    }
}

/// What the bot has to be allowed in a room, and nothing more.
pub(crate) fn needs(served: &ServedRoom, look: &Look) -> Vec<Need> {
    let need = |permission, name, without| Need { permission, name, without };
    let (in_thread, makes_threads) = (is_thread(look.channel.kind), served.options.threads == Threads::PerSession);
    let mut needs = vec![need(Permissions::VIEW_CHANNEL, "View Channel", None)];
    if !in_thread && !makes_threads {
        needs.push(need(Permissions::SEND_MESSAGES, "Send Messages", None));
    } else {
        needs.push(need(Permissions::SEND_MESSAGES_IN_THREADS, "Send Messages in Threads", None));
    }
    if makes_threads {
        needs.push(need(Permissions::SEND_MESSAGES, "Send Messages", None));
        needs.push(need(Permissions::CREATE_PUBLIC_THREADS, "Create Public Threads", None));
    }
    needs.push(need(
        Permissions::ATTACH_FILES,
        "Attach Files",
        Some("requests that do not fit into a message can only be refused"),
    ));
    needs.push(need(
        Permissions::READ_MESSAGE_HISTORY,
        "Read Message History",
        Some("a card that is deleted during an outage is noticed only at its deadline, and no card outlives a restart of the bridge"),
    ));
    let mentioned = served.options.mention.roles.iter().filter_map(|role| id::snowflake(role.as_str()));
    let is_closed = |role: u64| look.guild.roles.get(&role.into()).is_some_and(|role| !role.mentionable);
    if mentioned.into_iter().any(is_closed) {
        needs.push(need(
            Permissions::MENTION_EVERYONE,
            "Mention @everyone, @here, and All Roles",
            Some("the approvers' role is not notified; or let anyone mention the role"),
        ));
    }
    needs
}

/// Asks Discord what the room is like.
pub(crate) async fn look(account: &Account, served: &ServedRoom) -> Result<Look, Fault> {
    let channel = channel(account, served.channel).await?;
    let parent = match channel.parent_id.filter(|_| is_thread(channel.kind)) {
        Some(parent) => self::channel(account, parent).await?,
        None => channel.clone(),
    };
    let guild: PartialGuild = account.rest.get(Route::Guild { guild_id: channel.guild_id }).await?;
    let member: Member = account.rest.get(Route::GuildMember { guild_id: guild.id, user_id: account.bot }).await?;
    let mut permissions = guild.user_permissions_in(&parent, &member);
    if permissions.contains(Permissions::ADMINISTRATOR) {
        permissions = Permissions::all();
    }
    if !people::sees(permissions) {
        permissions = Permissions::empty();
    }
    Ok(Look { channel, parent, guild, permissions, bot: member })
}

/// Looks at a room and remembers what it is like; `false`: it could not be learned, and nothing has changed.
pub(crate) async fn refresh(account: &Account, served: &ServedRoom) -> bool {
    let _alone = served.looking.lock().await;
    let state = match look(account, served).await {
        Ok(look) => {
            let problems = look.problems(served);
            let ready = Ready {
                guild: look.guild.id,
                parent: look.parent.id,
                permissions: look.permissions,
                is_announcements: look.channel.kind == ChannelType::News,
            };
            served.is_in(ready);
            if problems.is_empty() { RoomState::Ready(ready) } else { RoomState::Unfit(problems.join("; ")) }
        }
        Err(fault) if fault.may_pass() => {
            let name = &served.options.name;
            warn!(room = %name, "room {name} could not be looked at: {}", fault.why());
            return false;
        }
        Err(fault) => RoomState::Unfit(unseen(fault)),
    };
    account.settle(served, state).await;
    true
}

/// Whether this is a thread of the room's channel, and neither archived nor locked.
pub(crate) async fn has_open_thread(account: &Account, served: &ServedRoom, thread: ChannelId) -> Result<bool, Fault> {
    match channel(account, thread).await {
        Ok(thread) => Ok(is_thread(thread.kind) && thread.parent_id == Some(served.channel) && !is_closed(&thread)),
        Err(Fault::NoChannel(_)) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// Whether a thread is there, and neither archived nor locked.
pub(crate) async fn is_open(account: &Account, thread: ChannelId) -> Result<bool, Fault> {
    match channel(account, thread).await {
        Ok(thread) => Ok(!is_closed(&thread)),
        Err(Fault::NoChannel(_)) => Ok(false),
        Err(fault) => Err(fault),
    }
}

fn is_closed(channel: &GuildChannel) -> bool {
    channel.thread_metadata.is_some_and(|thread| thread.archived || thread.locked)
}

/// Why a channel cannot be seen, and what to do.
pub(crate) fn unseen(fault: Fault) -> String {
    let is_stranger = matches!(fault, Fault::NoChannel(_) | Fault::NoAccess(_) | Fault::NoPermission(_));
    let advice =
        if is_stranger { "; invite the bot to the server, let it view the channel, and check the channel's id" } else { "" };
    format!("{}{advice}", fault.why())
}

async fn channel(account: &Account, channel: ChannelId) -> Result<GuildChannel, Fault> {
    let channel: Channel = account.rest.get(Route::Channel { channel_id: channel }).await?;
    channel.guild().ok_or_else(|| Fault::Final("it is no channel of a server".to_owned()))
}

fn can_hold_cards(kind: ChannelType) -> bool {
    is_thread(kind) || matches!(kind, ChannelType::Text | ChannelType::News)
}

fn is_thread(kind: ChannelType) -> bool {
    matches!(kind, ChannelType::PublicThread | ChannelType::PrivateThread | ChannelType::NewsThread)
}
