//! Discord channels: a card is one message with buttons, in plain text, so that a phone's notification shows what it is
//! about.
//!
//! One [`DiscordRoom`] is one bot that serves several channels. What it promises:
//!
//! - A click is a press on a button of a message that this bot posted, told by Discord over the gateway and acknowledged
//!   before it is reported. A click that could not be acknowledged is not reported: its person was shown a failure.
//! - What people write is never asked for: no privileged intent, and `MESSAGE_CREATE` is dropped unread.
//! - Who may take part is read from the click itself: Discord computes the person's roles and permissions in that channel
//!   at that instant.
//! - A request never has two cards: each post carries a nonce that is derived from its request, also the one that is made
//!   because Discord did not take the file of the first.
//! - A card of an earlier run is taken up only where its message is still there, is the bot's, and has the same buttons.
//! - Nothing an agent writes pings, links or formats. Every message says whom it may mention, which is nobody but those
//!   that are configured.
//! - Whoever has to confirm a choice is asked on a message that nobody else sees, whose button is told like any other. It
//!   goes when its time is over.
//! - Every wait, table and queue has a limit, stated where it is made.

mod account;
mod board;
mod clicks;
mod confirm;
mod draw;
mod fault;
mod gateway;
mod id;
mod inspect;
mod limits;
mod live;
mod look;
mod markup;
mod order;
mod people;
mod preview;
mod questions;
mod recent;
mod redraw;
mod render;
mod replies;
mod rest;
mod resume;
mod said;
mod send;
mod session;
mod speak;
mod threads;
mod wait;
mod worker;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use bridge_core::{Room, RoomError};
use bridge_model::{PersonId, RoleId, RoomName, Secret};
use tokio::sync::{mpsc, watch};

pub use crate::board::{DiscordBoard, LIMITS};
pub use crate::clicks::DiscordClicks;
use crate::gateway::Gateway;
pub use crate::inspect::{Inspection, RoomInspection, inspect};
pub use crate::preview::{Preview, preview};
use crate::worker::Worker;

/// Events that wait for the bridge. Beyond them acknowledged clicks wait.
const EVENTS_MAX: usize = 256;
/// What happened in the guilds and waits for the worker. Beyond it everything is looked at anew.
const WORK_MAX: usize = 256;

/// One bot and the channels it serves.
#[derive(Clone, Debug)]
pub struct Options {
    pub token: Secret,
    /// Where `discord.com` is reached, if not where the name leads: a proxy of one's own that speaks TLS for it.
    pub connect_to: Option<SocketAddr>,
    /// Certificates, in PEM, that are trusted for `discord.com` in place of the public ones.
    pub ca_pem: Option<String>,
    pub rooms: Vec<RoomOptions>,
}

#[derive(Clone, Debug)]
pub struct RoomOptions {
    pub name: RoomName,
    /// The channel's or thread's id, a snowflake.
    pub channel: String,
    pub threads: Threads,
    /// Who is mentioned on a card, so that people who want no other notification get one.
    pub mention: Mention,
    /// Roles whose members may answer. The room is lost with any of them.
    pub roles: BTreeSet<RoleId>,
}

#[derive(Clone, Debug, Default)]
pub struct Mention {
    pub people: BTreeSet<PersonId>,
    pub roles: BTreeSet<RoleId>,
}

/// Where in the channel cards go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Into the channel itself.
    None,
    /// Each agent session's cards into a thread of their own.
    PerSession,
}

/// A Discord bot, not yet connected.
#[derive(Debug)]
pub struct DiscordRoom {
    options: Options,
}

impl DiscordRoom {
    pub fn new(options: Options) -> Self {
        Self { options }
    }
}

impl Room for DiscordRoom {
    type Board = DiscordBoard;
    type Clicks = DiscordClicks;

    async fn connect(self) -> Result<(DiscordBoard, DiscordClicks), RoomError> {
        let (events_in, events) = mpsc::channel(EVENTS_MAX);
        let account = Arc::new(session::open(&self.options, events_in.downgrade()).await?);
        let (work_in, work) = mpsc::channel(WORK_MAX);
        let (until_dropped, stop) = watch::channel(());
        let gateway = Gateway::connect(&account, events_in.clone(), work_in).await?;
        let worker = Worker::new(Arc::clone(&account));
        tokio::spawn(worker.run(work));
        tokio::spawn(gateway.run(Arc::clone(&account), events_in, stop));
        Ok((DiscordBoard::new(account), DiscordClicks { events, _until_dropped: until_dropped }))
    }
}
