//! A page that the bridge serves itself: the same cards, with real buttons, for people who have no chat at hand.
//!
//! One [`WebRoom`] is one page that shows several rooms. What it promises:
//!
//! - Nobody reads or presses anything without a key that the operator made for them. A key that is revoked presses nothing
//!   more, and pages that are open are closed within seconds.
//! - A click is a press on this page, from its own origin, by a session whose key is looked up at that instant. Somebody is
//!   present while a page of theirs holds its event stream open.
//! - A request with another `Host` is refused, so that no name that leads here by trickery is this page.
//! - The page runs its own script and nobody else's. What an agent wrote is set as text, never as markup.
//! - In a room is who has a page of it open. Whom a message calls is notified by their own open pages alone; nobody is
//!   called to what has ended here.
//! - What has to be confirmed is told in the reply to its press, and to no other page.
//! - What does not fit on a few screens is cut, and says so; all of it is had from the page, by those who see the card.
//! - Without encryption it is served on loopback alone.
//! - The port is taken before any agent runs, so that no agent can be there first.
//! - Every wait, table and queue has a limit, stated where it is made. One connection too many closes the oldest that
//!   carries no event stream.

mod board;
mod clicks;
mod confirm;
mod gate;
mod id;
mod inspect;
mod keys;
mod listen;
mod live;
mod notes;
mod people;
mod render;
mod routes;
mod serve;
mod served;
mod sheet;
mod streams;
mod watch;

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use bridge_core::{CardFile, Room, RoomError};
use bridge_model::{Card, RoomName, Secret, Timestamp};
use tokio::sync::{mpsc, watch as watching};

pub use crate::board::{LIMITS, WebBoard};
pub use crate::clicks::WebClicks;
pub use crate::inspect::{Inspection, holders, inspect};
pub use crate::keys::{KeyHolder, Keys, KeysError};
use crate::listen::Listening;
pub use crate::listen::join_link;
use crate::served::Served;

/// Events that wait for the bridge. Beyond them clicks wait, and are told so.
const EVENTS_MAX: usize = 256;

/// The page, and the rooms on it.
#[derive(Clone, Debug)]
pub struct Options {
    pub listen: SocketAddr,
    /// What people open: `https://approvals.example.org`, without a path. `None`: the loopback address that is listened on.
    pub url: Option<String>,
    pub tls: Option<Tls>,
    /// Reverse proxies that take the encryption off. Where there are any, nobody else is served.
    pub proxies: BTreeSet<IpAddr>,
    /// Where the keys are kept.
    pub folder: PathBuf,
    pub rooms: BTreeSet<RoomName>,
    pub outside: Outside,
}

/// The page's certificate and those that it depends on, in PEM, and its key.
#[derive(Clone, Debug)]
pub struct Tls {
    pub certificates: String,
    pub key: Secret,
}

/// Time and randomness, which this crate does not take from the operating system by itself.
#[derive(Clone)]
pub struct Outside {
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub random: fn() -> [u8; 32],
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outside")
    }
}

/// A page whose port is taken, and that is not served yet. Connections wait.
#[derive(Clone)]
pub struct WebRoom {
    options: Options,
    keys: Keys,
    listening: Listening,
}

impl WebRoom {
    /// Takes the port, and begins the file of the keys if there is none.
    pub async fn bind(options: Options) -> Result<Self, RoomError> {
        let listening = listen::open(&options).await?;
        let keys = Keys::open(&options.folder, options.outside.clone()).map_err(refused)?;
        Ok(Self { options, keys, listening })
    }

    pub fn rooms(&self) -> impl Iterator<Item = &RoomName> {
        self.options.rooms.iter()
    }
}

impl Room for WebRoom {
    type Board = WebBoard;
    type Clicks = WebClicks;

    async fn connect(self) -> Result<(WebBoard, WebClicks), RoomError> {
        let (events_in, events) = mpsc::channel(EVENTS_MAX);
        let (until_dropped, stop) = watching::channel(());
        let served = Arc::new(Served::new(&self.options, self.keys, &self.listening, events_in.downgrade()));
        tokio::spawn(watch::run(Arc::clone(&served), events_in, stop.clone()));
        tokio::spawn(serve::run(self.listening, Arc::clone(&served), stop));
        Ok((WebBoard::new(served), WebClicks { events, _until_dropped: until_dropped }))
    }
}

/// What would be sent, for looking at a card without a room.
#[derive(Clone, Debug)]
pub struct Preview {
    /// What open pages would be told, as JSON, in the order in which it is sent.
    pub bodies: Vec<serde_json::Value>,
    /// What would be had from the page besides, if anything.
    pub file: Option<CardFile>,
}

/// What would be sent of a card that was asked when Unix time began, for looking at it without a room.
pub fn preview(card: &Card) -> Result<Preview, RoomError> {
    let now = Timestamp::from_unix_millis(0);
    let drawn = render::card(card, now)?;
    let told = serde_json::from_str(&drawn.json(now)).map_err(refused)?;
    Ok(Preview { bodies: vec![told], file: drawn.file().map(|file| CardFile::clone(file)) })
}

fn refused(error: impl fmt::Display) -> RoomError {
    RoomError::Refused(error.to_string())
}
