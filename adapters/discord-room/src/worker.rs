//! Follows what happens to rooms and cards.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Backoff, RoomEvent};
use bridge_model::RoomName;
use serde::de::IgnoredAny;
use serenity::all::{ChannelId, LightMethod, MessageId};
use serenity::http::{Request, Route};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::debug;

use crate::account::{Account, RoomState, ServedRoom};
use crate::fault::Fault;
use crate::look;
use crate::said::Happened;
use crate::wait::pause;

/// How long one card's turn may take, rate limits included.
const LOOK_WITHIN: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(crate) struct Worker {
    account: Arc<Account>,
}

impl Worker {
    pub(crate) fn new(account: Arc<Account>) -> Self {
        Self { account }
    }

    /// Works until the gateway is gone. What comes while rooms are looked at is looked at together.
    pub(crate) async fn run(self, mut work: mpsc::Receiver<Happened>) {
        let mut looking_at_cards = JoinSet::new();
        let (mut to_look_at, mut backoff) = (BTreeSet::new(), Backoff::new());
        loop {
            let mut cards_too = false;
            tokio::select! {
                first = work.recv() => {
                    let Some(first) = first else { return };
                    let more: Vec<_> = std::iter::from_fn(|| work.try_recv().ok()).take(crate::WORK_MAX).collect();
                    for happened in [first].into_iter().chain(more) {
                        cards_too |= self.take(happened, &mut to_look_at).await;
                    }
                }
                // What could not be learned is asked again.
                () = pause(backoff.next_span()), if !to_look_at.is_empty() => {}
            }
            for name in std::mem::take(&mut to_look_at) {
                if !self.look_at(&name).await {
                    to_look_at.insert(name);
                }
            }
            if to_look_at.is_empty() {
                backoff.reset();
            }
            if cards_too {
                // A look that is still under way knows no more than this one.
                looking_at_cards.abort_all();
                while looking_at_cards.try_join_next().is_some() {}
                looking_at_cards.spawn(look_at_cards(Arc::clone(&self.account)));
            }
        }
    }

    /// `true`: every card has to be looked at.
    async fn take(&self, happened: Happened, to_look_at: &mut BTreeSet<RoomName>) -> bool {
        match happened {
            Happened::Ready => {
                to_look_at.extend(self.account.rooms.keys().cloned());
                return true;
            }
            Happened::MessagesDeleted(channel, messages) => self.messages_deleted(channel, &messages).await,
            Happened::ChannelDeleted(channel) => self.channel_closed(channel, "the channel was deleted").await,
            Happened::ThreadClosed(thread) => self.channel_closed(thread, "the thread was archived or locked").await,
            Happened::RoleDeleted(guild, role) => {
                let role_id = crate::id::role_id(role);
                for served in self.of_guild(guild) {
                    if served.options.roles.contains(&role_id) {
                        self.lose(served, format!("the role {role}, whose members may answer, was deleted")).await;
                    } else {
                        to_look_at.insert(served.options.name.clone());
                    }
                }
            }
            Happened::ChannelChanged(channel) => {
                let concerned = self.account.rooms.values().filter(|served| served.is_at(channel));
                to_look_at.extend(concerned.map(|served| served.options.name.clone()));
            }
            Happened::GuildChanged(guild) => to_look_at.extend(self.of_guild(guild).map(|served| served.options.name.clone())),
            Happened::GuildLost(guild) => {
                for served in self.of_guild(guild) {
                    self.lose(served, "the bot was removed from the server".to_owned()).await;
                }
            }
            // An outage is not a loss: cards stay, and no new one is begun.
            Happened::GuildAway(guild) => {
                for served in self.of_guild(guild) {
                    let _alone = served.looking.lock().await;
                    if let RoomState::Ready(ready) = served.state() {
                        self.account.settle(served, RoomState::Away(ready)).await;
                    }
                }
            }
            // Also a server that the bot was invited to again: its rooms know no guild.
            Happened::GuildBack(guild) => {
                let may_be_there = |served: &&ServedRoom| served.guild().is_none_or(|of_room| of_room == guild);
                to_look_at.extend(self.account.rooms.values().filter(may_be_there).map(|served| served.options.name.clone()));
            }
        }
        false
    }

    fn of_guild(&self, guild: serenity::all::GuildId) -> impl Iterator<Item = &ServedRoom> {
        self.account.rooms.values().filter(move |served| served.last_guild() == Some(guild))
    }

    async fn messages_deleted(&self, channel: ChannelId, messages: &[MessageId]) {
        for message in messages {
            let card = self.account.live().deleted(channel, *message);
            if let Some(card) = card {
                self.account.report(RoomEvent::CardRemoved(card)).await;
            }
        }
    }

    /// A room with its channel, or a session's thread with its cards.
    async fn channel_closed(&self, channel: ChannelId, why: &str) {
        for served in self.account.rooms.values() {
            if served.is_at(channel) {
                self.lose(served, why.to_owned()).await;
            }
        }
        thread_closed(&self.account, channel).await;
    }

    async fn lose(&self, served: &ServedRoom, why: String) {
        let _alone = served.looking.lock().await;
        self.account.settle(served, RoomState::Unfit(why)).await;
    }

    /// `false`: it could not be learned what the room is like.
    async fn look_at(&self, name: &RoomName) -> bool {
        match self.account.named(name) {
            Ok(served) => look::refresh(&self.account, served).await,
            Err(_) => true,
        }
    }
}

/// All cards in a thread go with it.
async fn thread_closed(account: &Account, thread: ChannelId) {
    let cards = account.live().in_channel(thread);
    account.live().thread_gone(thread);
    for card in cards {
        account.report(RoomEvent::CardRemoved(card)).await;
    }
}

/// Cards may have been deleted, and threads closed, while nobody told us. It takes its time where there are many, so
/// nothing waits for it.
async fn look_at_cards(account: Arc<Account>) {
    let threads: BTreeSet<_> = account.live().all().into_iter().map(|(spot, _)| spot.channel).collect();
    // Channels of rooms are looked at with their rooms.
    for thread in threads.into_iter().filter(|channel| account.rooms.values().all(|room| room.channel != *channel)) {
        match timeout(LOOK_WITHIN, look::is_open(&account, thread)).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => thread_closed(&account, thread).await,
            Ok(Err(fault)) => debug!(?fault, "a thread could not be looked at"),
            Err(_) => debug!("a thread could not be looked at in time"),
        }
    }
    let cards = account.live().all();
    for (spot, card) in cards {
        let route = Route::ChannelMessage { channel_id: spot.channel, message_id: spot.message };
        let asked = account.rest.read::<IgnoredAny>(Request::new(route, LightMethod::Get));
        match timeout(LOOK_WITHIN, asked).await {
            Ok(Err(Fault::NoMessage)) => {
                account.live().deleted(spot.channel, spot.message);
                account.report(RoomEvent::CardRemoved(card)).await;
            }
            Ok(Ok(_)) => {}
            // A history that may not be read says nothing.
            Ok(Err(fault)) => debug!(?fault, "a card could not be looked at"),
            Err(_) => debug!("a card could not be looked at in time"),
        }
    }
}
