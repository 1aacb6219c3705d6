//! Matrix rooms: a card is an HTML message with every detail, followed by a poll whose answers are the buttons.
//!
//! One [`MatrixRoom`] is one account that serves several rooms. What it promises:
//!
//! - A click is a poll response (or, where it is configured, one of the reactions that the bot itself put there) to a
//!   card in that very room, of this run or of an earlier one and taken up by this. What people write is never read: the sync filter does not ask for
//!   `m.room.message`, and in encrypted rooms, where a filter cannot tell, it is dropped unread after decryption.
//! - In an encrypted room only a device that its owner has signed vouches for a click. Nothing is ever sent unencrypted
//!   there, nor anywhere while it is unknown whether the room is encrypted.
//! - Who is asked whether they meant it answers a poll in reply to the card that says whom it is for: what only one person
//!   sees is no part of a room. It is ended and removed once it is used or over.
//! - Whether a person is in the room, and their power level where that is asked for, is asked of the server at the click.
//! - The same card is never posted twice: every part has a transaction id that is derived from its request.
//! - A card of an earlier run is taken up only where all of it still stands, is the bot's, and its poll is open. What was
//!   pressed there while no bridge was running is then told.
//! - What does not fit into a message is in a file, which is in the room before there is a button, and encrypted where the
//!   room is. Whoever takes the file away takes the card away.
//! - Every wait, table and queue has a limit, stated where it is made.
//!
//! The SDK logs every expected 404 as an error under the target `matrix_sdk::http_client`; a program will want to
//! filter it.

mod account;
mod attach;
mod board;
mod clicks;
mod confirm;
mod draft;
mod fault;
mod id;
mod inspect;
mod live;
mod parts;
mod people;
mod preview;
mod reconcile;
mod render;
mod replies;
mod resume;
mod said;
mod saved;
mod send;
mod session;
mod sync;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Room, RoomError};
use bridge_model::{PersonId, RoomName, Secret};
use tokio::sync::{Mutex, Notify, mpsc, watch};
use tokio::time::timeout;
use tracing::warn;

use crate::account::{Account, REQUEST_TIMEOUT, ServedRoom};
pub use crate::board::{LIMITS, MatrixBoard};
pub use crate::clicks::MatrixClicks;
use crate::clicks::Worker;
use crate::fault::Fault;
pub use crate::inspect::{Inspection, RoomInspection, create_recovery_key, inspect};
pub use crate::preview::{Preview, preview};
use crate::replies::Replies;
use crate::sync::SyncLoop;

/// Events that wait for the bridge. Beyond them the rooms' workers wait, and with them the sync.
const EVENTS_MAX: usize = 256;
/// Work that waits for one room's worker. Beyond it the sync waits.
const WORK_MAX: usize = 256;

/// One account and the rooms it serves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address that clients use, such as `https://matrix.example.org`.
    pub homeserver: String,
    /// The whole user id, such as `@bot:example.org`.
    pub user: String,
    /// How to log in where no session is saved in `store_dir`.
    pub login: Login,
    /// What people see in the list of the bot's devices.
    pub device_name: String,
    /// Holds keys and the session; readable by nobody else, and shared with no other program.
    pub store_dir: PathBuf,
    pub store_passphrase: Option<Secret>,
    /// Opens the account's own secret storage where its signing keys are not in the store.
    pub recovery_key: Option<Secret>,
    pub rooms: Vec<RoomOptions>,
    /// People whose invites to a configured room are accepted.
    pub invites_from: Vec<PersonId>,
}

/// How to log in for the first time.
#[derive(Clone, Debug)]
pub enum Login {
    Password(Secret),
    /// A token made elsewhere, for a device that no other program uses.
    AccessToken {
        token: Secret,
        device_id: String,
    },
    /// Not at all: a session must be saved.
    Restore,
}

#[derive(Clone, Debug)]
pub struct RoomOptions {
    pub name: RoomName,
    /// The room's id, which begins with `!`.
    pub id: String,
    /// Whether unencrypted cards carry reactions that count as buttons, for clients that show no polls.
    pub reactions: bool,
    /// Whether a click carries its person's power level, which costs a request.
    pub ask_power: bool,
}

/// A Matrix account, not yet connected.
#[derive(Debug)]
pub struct MatrixRoom {
    options: Options,
}

impl MatrixRoom {
    pub fn new(options: Options) -> Self {
        Self { options }
    }
}

impl Room for MatrixRoom {
    type Board = MatrixBoard;
    type Clicks = MatrixClicks;

    async fn connect(self) -> Result<(MatrixBoard, MatrixClicks), RoomError> {
        let account = Arc::new(open(&self.options).await?);
        let replies = Arc::new(Replies::new(Arc::clone(&account)));
        let (events_in, events) = mpsc::channel(EVENTS_MAX);
        let (until_dropped, stop) = watch::channel(());
        let mut work = BTreeMap::new();
        for name in account.rooms.keys() {
            let (work_in, work_out) = mpsc::channel(WORK_MAX);
            let worker = Worker { account: Arc::clone(&account), replies: Arc::clone(&replies), room: name.clone() };
            tokio::spawn(worker.run(work_out, events_in.clone()));
            work.insert(name.clone(), work_in);
        }
        let mut sync = SyncLoop {
            account: Arc::clone(&account),
            replies: Arc::clone(&replies),
            work,
            stop,
            lost: BTreeSet::new(),
            invites_told: BTreeSet::new(),
        };
        for room in account.client.invited_rooms() {
            sync.consider_invite(&room).await;
        }
        tokio::spawn(sync.run());
        let board = MatrixBoard::new(account, replies);
        Ok((board, MatrixClicks { events, _until_dropped: until_dropped }))
    }
}

/// Logs in and learns the rooms by a first sync.
async fn open(options: &Options) -> Result<Account, RoomError> {
    let mut rooms = BTreeMap::new();
    for room in &options.rooms {
        let RoomOptions { name, id, reactions, ask_power } = room.clone();
        let (due_changed, posting) = (Notify::new(), Mutex::new(()));
        let served = ServedRoom { name: name.clone(), id: id::room_id(&id)?, reactions, ask_power, due_changed, posting };
        if rooms.values().any(|other: &ServedRoom| other.id == served.id) || rooms.insert(name.clone(), served).is_some() {
            return Err(RoomError::Refused(format!("room {name} is configured twice")));
        }
    }
    let invites_from = options.invites_from.iter().map(|person| id::user_id(person.as_str())).collect::<Result<_, _>>()?;
    let (client, user, device) = session::open(options).await?;
    let account = Account::new(client, user, device, rooms, invites_from);
    first_sync(&account).await?;
    if sync::accept_invites(&account).await {
        // Only a sync tells what the room that was joined is like.
        first_sync(&account).await?;
    }
    for served in account.rooms.values() {
        if let Err(error) = get_ready(&account, served).await {
            let name = &served.name;
            warn!(room = %name, %error, "room {name} cannot be used yet");
        }
    }
    Ok(account)
}

async fn first_sync(account: &Account) -> Result<(), RoomError> {
    match timeout(REQUEST_TIMEOUT * 6, account.client.sync_once(sync::settings(account, Duration::ZERO))).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(Fault::of(&error).into()),
        Err(_) => Err(RoomError::Unavailable("the first sync took too long".to_owned())),
    }
}

/// Learns whether a room is encrypted and who is in it, so that the first card need not.
async fn get_ready(account: &Account, served: &ServedRoom) -> Result<(), RoomError> {
    let room = account.joined(served)?;
    if account.encryption(&room).await? {
        match timeout(REQUEST_TIMEOUT, room.sync_members()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(Fault::of(&error).into()),
            Err(_) => return Err(RoomError::Unavailable("the list of members took too long".to_owned())),
        }
    }
    account.why_unfit(&room).await.map_or(Ok(()), |why| Err(RoomError::Refused(why)))
}
