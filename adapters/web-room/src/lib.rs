//! A page that the bridge serves itself: the same cards, with real buttons, for people who have no chat at hand.
//!
//! One [`WebRoom`] is one page that shows several rooms. What it promises:
//!
//! - Nobody reads or presses anything without a key that the operator made for them. A key is revoked at once, also for
//!   pages that are open.
//! - A click is a press on this page, from its own origin, by a session whose key is looked up at that instant. Somebody is
//!   present while a page of theirs holds its event stream open.
//! - A request with another `Host` is refused, so that no name that leads here by trickery is this page.
//! - The page runs its own script and nobody else's. What an agent wrote is set as text, never as markup.
//! - Without encryption it is served on loopback alone.
//! - Every wait, table and queue has a limit, stated where it is made. One more connection closes the oldest idle one.

mod board;
mod clicks;
mod gate;
mod id;
mod inspect;
mod keys;
mod listen;
mod live;
mod people;
mod render;
mod routes;
mod serve;
mod served;
mod streams;
mod watch;

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use bridge_core::{Room, RoomError};
use bridge_model::{RoomName, Secret, Timestamp};
use tokio::sync::{mpsc, watch as watching};

pub use crate::board::{LIMITS, WebBoard};
pub use crate::clicks::WebClicks;
pub use crate::inspect::{Inspection, inspect};
pub use crate::keys::{KeyHolder, Keys, KeysError};
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

/// A page, not yet served.
#[derive(Debug)]
pub struct WebRoom {
    options: Options,
}

impl WebRoom {
    pub fn new(options: Options) -> Self {
        Self { options }
    }
}

impl Room for WebRoom {
    type Board = WebBoard;
    type Clicks = WebClicks;

    async fn connect(self) -> Result<(WebBoard, WebClicks), RoomError> {
        let listener = listen::open(&self.options).await?;
        let keys = Keys::open(&self.options.folder, self.options.outside.clone()).map_err(refused)?;
        let (events_in, events) = mpsc::channel(EVENTS_MAX);
        let (until_dropped, stop) = watching::channel(());
        let served = Arc::new(Served::new(&self.options, keys, &listener, events_in.downgrade()));
        tokio::spawn(watch::run(Arc::clone(&served), events_in, stop.clone()));
        tokio::spawn(serve::run(listener, Arc::clone(&served), stop));
        Ok((WebBoard::new(served), WebClicks { events, _until_dropped: until_dropped }))
    }
}

fn refused(error: impl fmt::Display) -> RoomError {
    RoomError::Refused(error.to_string())
}
