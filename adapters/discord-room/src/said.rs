//! What a gateway event says, as far as it concerns us. Everything else, chat text first of all, is nothing.

use serenity::all::{ChannelId, ComponentInteraction, Event, GuildId, Interaction, MessageId, RoleId, UserId};

#[derive(Debug)]
pub(crate) enum Said {
    Pressed(Box<ComponentInteraction>),
    /// A click that serenity could not read, and with it probably every click.
    Unreadable,
    Happened(Happened),
}

/// What happened to rooms and cards.
#[derive(Debug)]
pub(crate) enum Happened {
    /// A session began: events may have been missed.
    Ready,
    MessagesDeleted(ChannelId, Vec<MessageId>),
    /// A channel or a thread.
    ChannelDeleted(ChannelId),
    ThreadClosed(ChannelId),
    RoleDeleted(GuildId, RoleId),
    /// Its name, its permissions, or a thread that was opened again.
    ChannelChanged(ChannelId),
    /// Something in the whole guild that permissions may depend on.
    GuildChanged(GuildId),
    /// The bot was removed from it, or it is no more.
    GuildLost(GuildId),
    /// Discord has an outage there.
    GuildAway(GuildId),
    GuildBack(GuildId),
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other events of Discord concern us as little as chat does")]
pub(crate) fn read(event: Event, bot: UserId) -> Option<Said> {
    Some(Said::Happened(match event {
        Event::InteractionCreate(created) => match created.interaction {
            Interaction::Component(pressed) => return Some(Said::Pressed(Box::new(pressed))),
            _ => return None,
        },
        Event::Unknown(unknown) if unknown.kind == "INTERACTION_CREATE" => return Some(Said::Unreadable),
        Event::Ready(_) => Happened::Ready,
        Event::MessageDelete(deleted) => Happened::MessagesDeleted(deleted.channel_id, vec![deleted.message_id]),
        Event::MessageDeleteBulk(deleted) => Happened::MessagesDeleted(deleted.channel_id, deleted.ids),
        Event::ChannelDelete(deleted) => Happened::ChannelDeleted(deleted.channel.id),
        Event::ThreadDelete(deleted) => Happened::ChannelDeleted(deleted.thread.id),
        Event::ThreadUpdate(updated) => {
            let metadata = updated.thread.thread_metadata;
            let is_closed = metadata.is_some_and(|metadata| metadata.archived || metadata.locked);
            if is_closed { Happened::ThreadClosed(updated.thread.id) } else { Happened::ChannelChanged(updated.thread.id) }
        }
        Event::ChannelUpdate(updated) => Happened::ChannelChanged(updated.channel.id),
        Event::GuildRoleUpdate(updated) => Happened::GuildChanged(updated.role.guild_id),
        Event::GuildRoleDelete(deleted) => Happened::RoleDeleted(deleted.guild_id, deleted.role_id),
        Event::GuildMemberUpdate(updated) if updated.user.id == bot => Happened::GuildChanged(updated.guild_id),
        Event::GuildCreate(created) => Happened::GuildBack(created.guild.id),
        Event::GuildDelete(deleted) if deleted.guild.unavailable => Happened::GuildAway(deleted.guild.id),
        Event::GuildDelete(deleted) => Happened::GuildLost(deleted.guild.id),
        _ => return None,
    }))
}
