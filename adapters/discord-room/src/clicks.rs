//! From an interaction to a click: the acceptance check, the acknowledgement, and the facts about the person.
//!
//! Each interaction has a task of its own, so that no click waits for another's acknowledgement; they are reported in
//! Discord's order. How old a click is no
//! clock of ours decides: Discord takes an acknowledgement for three seconds, so that an old click, or one that is
//! replayed after a reconnect, cannot be acknowledged and is not reported.

use std::sync::Arc;

use bridge_core::{Clicks, RoomEvent};
use bridge_model::{ButtonToken, Click, ClickRef, MessageId, RoomName};
use serenity::all::{ComponentInteraction, ComponentInteractionDataKind, InteractionContext, Member, MessageFlags};
use serenity::model::application::AuthorizingIntegrationOwner;
use tokio::sync::{Semaphore, mpsc, watch};
use tracing::{debug, warn};

use crate::account::Account;
use crate::id::{self, Spot};
use crate::live::Pressed;
use crate::order::Order;
use crate::{people, render, send};

/// Interactions that are looked at and acknowledged at once. One more is dropped, and its person is shown a failure.
pub(crate) const AT_ONCE_MAX: usize = 128;

/// Reports clicks, removed cards and lost rooms.
///
/// Dropping it ends the connection to the gateway.
#[derive(Debug)]
pub struct DiscordClicks {
    pub(crate) events: mpsc::Receiver<RoomEvent>,
    pub(crate) _until_dropped: watch::Sender<()>,
}

impl Clicks for DiscordClicks {
    async fn next(&mut self) -> Option<RoomEvent> {
        self.events.recv().await
    }
}

/// What becomes of an interaction.
#[derive(Debug)]
enum Verdict {
    /// It is a press on a button of ours, by a member of the guild.
    Report(Box<Click>),
    /// It is none, and its person is told so.
    Tell(&'static str),
    /// It was none of this bot's, or was seen before.
    Drop(&'static str),
}

const NOTHING_WAITS: &str = "Your click did not count: nothing waits for an answer there.";
const CANNOT_SEE: &str = "Your click did not count: this bot can no longer see the channel.";

/// Looks at an interaction and gives it its place in the order. What is returned acknowledges it, and reports it where it
/// is a click.
pub(crate) fn pressed(
    account: &Arc<Account>,
    at_once: &Arc<Semaphore>,
    order: &Arc<Order>,
    pressed: ComponentInteraction,
) -> Option<impl Future<Output = ()> + Send + 'static> {
    let Ok(permit) = Arc::clone(at_once).try_acquire_owned() else {
        warn!("more than {AT_ONCE_MAX} clicks at once; one is dropped");
        return None;
    };
    let (body, click) = match verdict(account, &pressed) {
        Verdict::Report(click) => (render::acknowledgement(), Some((click, order.begin(pressed.id)))),
        Verdict::Tell(words) => (render::private_answer(words), None),
        Verdict::Drop(why) => {
            debug!("an interaction is dropped: {why}");
            return None;
        }
    };
    let account = Arc::clone(account);
    Some(async move {
        let is_acknowledged = match body {
            Ok(body) => send::acknowledge(&account, pressed.id, &pressed.token, &body).await,
            Err(_) => false,
        };
        if !is_acknowledged {
            warn!("Discord took no acknowledgement of a click in time, so it does not count; its person sees that it failed");
        }
        if let Some((click, turn)) = click {
            if is_acknowledged {
                let is_private = is_private(&pressed);
                account.live().pressed.insert(click.at.click.clone(), Pressed { token: pressed.token, is_private });
            }
            turn.end(is_acknowledged.then_some(click)).await;
        }
        drop(permit);
    })
}

/// The acceptance check: whose message, where, and which button. Who may answer, and until when, is decided elsewhere.
fn verdict(account: &Account, pressed: &ComponentInteraction) -> Verdict {
    if pressed.application_id != account.application {
        return Verdict::Drop("it is for another application");
    }
    if !account.live().is_new(pressed.id) {
        return Verdict::Drop("it was seen before");
    }
    let Some((room, spot, member)) = place(account, pressed) else { return Verdict::Tell(NOTHING_WAITS) };
    let Some(token) = token(pressed) else { return Verdict::Tell(NOTHING_WAITS) };
    if !account.live().count(member.user.id, pressed.message.id) {
        return Verdict::Drop("its person has pressed too often");
    }
    if !pressed.app_permissions.is_some_and(people::sees) {
        return Verdict::Tell(CANNOT_SEE);
    }
    let by = people::person(member, member.permissions, account.bot, id::made_at(pressed.id.get()));
    let at = ClickRef { room, control: spot.message_id(), person: by.id.clone(), click: MessageId::new(pressed.id.to_string()) };
    Verdict::Report(Box::new(Click { token, by, at }))
}

/// The room that a message of ours is in, if every part of the interaction agrees on it.
fn place<'a>(account: &Account, pressed: &'a ComponentInteraction) -> Option<(RoomName, Spot, &'a Member)> {
    let guild = pressed.guild_id?;
    let member = pressed.member.as_ref()?;
    // Discord may leave the channel object out, and never its id.
    let (message, channel) = (&pressed.message, pressed.channel_id);
    let in_guild = pressed.context == Some(InteractionContext::Guild);
    let is_ours = message.author.id == account.bot && message.channel_id == channel;
    let is_installed = pressed
        .authorizing_integration_owners
        .0
        .iter()
        .any(|owner| matches!(owner, AuthorizingIntegrationOwner::GuildInstall(Some(owner)) if *owner == guild));
    if !(in_guild && is_ours && is_installed && pressed.user.id == member.user.id) {
        return None;
    }
    let spot = Spot { guild, channel, message: message.id };
    let of_card = account.live().room_of_card(spot);
    let room = of_card.or_else(|| account.room_at(channel))?;
    let in_guild_of_room = account.named(&room).ok()?.guild() == Some(guild);
    in_guild_of_room.then_some((room, spot, member))
}

/// Whether only its person sees the message.
fn is_private(pressed: &ComponentInteraction) -> bool {
    pressed.message.flags.is_some_and(|flags| flags.contains(MessageFlags::EPHEMERAL))
}

fn token(pressed: &ComponentInteraction) -> Option<ButtonToken> {
    let ComponentInteractionDataKind::Button = pressed.data.kind else { return None };
    ButtonToken::parse(pressed.data.custom_id.strip_prefix(render::CUSTOM_ID)?)
}
