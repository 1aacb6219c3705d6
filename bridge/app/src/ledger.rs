//! The durable record of held requests, their cards and how they ended.
//!
//! SQLite, one writer. A line is durable once [`Ledger::write`] returns. What a tool would do is in it only while
//! its request waits, and only of one that can go on after a restart.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bridge_config::Unusable;
use bridge_core::Entry;
use bridge_model::{
    CardRef, ClosedCard, Delivery, Ending, MessageId, NotDelivered, Outcome, ReplyTo, RequestId, RoomName, Shown, Timestamp,
    Withdrawn,
};
use nix::unistd::Pid;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::audit::{self, Audit, Tip};

/// The layout this version reads and writes.
const VERSION: i64 = 5;

/// Closed requests that are kept; beyond it the oldest go at the next start.
const KEPT_MAX: i64 = 10_000;

const LAYOUT: &str = "
    CREATE TABLE request (
        run      TEXT NOT NULL,
        number   INTEGER NOT NULL,
        room     TEXT,
        headline TEXT,
        deadline INTEGER,
        control  TEXT,
        parts    TEXT,
        ending   TEXT,
        closed   INTEGER NOT NULL DEFAULT 0,
        shown    TEXT,
        ended    INTEGER,
        first    TEXT,
        source   TEXT,
        snapshot TEXT,
        outcome  TEXT,
        PRIMARY KEY (run, number)
    ) STRICT;
";

/// What is kept of requests that come back: whom to tell, as JSON; what they are, until they have ended; and what is to be
/// told, `null` where nothing was chosen.
const OF_THOSE_THAT_COME_BACK: &str = "ALTER TABLE request ADD COLUMN source TEXT; ALTER TABLE request ADD COLUMN snapshot TEXT;
     ALTER TABLE request ADD COLUMN outcome TEXT;";

/// What makes a layout of the version before into the next.
const STEPS: [&str; 4] = [
    "ALTER TABLE request ADD COLUMN shown TEXT; ALTER TABLE request ADD COLUMN ended INTEGER;",
    "ALTER TABLE request ADD COLUMN first TEXT;",
    audit::LAYOUT,
    OF_THOSE_THAT_COME_BACK,
];

/// Why the ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LedgerError {
    #[error("{0} is in use by another countersign; one bridge serves one set of rooms at a time")]
    InUse(PathBuf),
    #[error("{}; {}", .0.what, .0.advice)]
    NotPrivate(Unusable),
    #[error("{0} cannot be used: {1}; make it a folder that this user can write to")]
    Folder(PathBuf, io::Error),
    #[error("the ledger {0} cannot be opened: {1}; move it away to begin a new one")]
    Database(PathBuf, rusqlite::Error),
    #[error("the ledger {path} has layout {found}, and this version knows up to {VERSION}; use a newer countersign")]
    Newer { path: PathBuf, found: i64 },
}

/// The ledger of one bridge, locked against a second one for as long as it lives.
#[derive(Debug)]
pub(crate) struct Ledger {
    database: Connection,
    audit: Audit,
    _lock: File,
}

impl Ledger {
    /// Opens or begins the ledger in `state_dir`, which is made if it is missing, readable by its owner alone.
    ///
    /// `keep`: how long lines of the audit are kept; `None`: for ever.
    pub(crate) fn open(state_dir: &Path, keep: Option<Duration>) -> Result<Self, LedgerError> {
        let folder = |error| LedgerError::Folder(state_dir.to_owned(), error);
        bridge_config::private_folder(state_dir).map_err(LedgerError::NotPrivate)?;
        let lock =
            File::options().create(true).truncate(false).write(true).mode(0o600).open(state_dir.join("lock")).map_err(folder)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => LedgerError::InUse(state_dir.to_owned()),
            TryLockError::Error(error) => folder(error),
        })?;
        // For whoever wants to tell the bridge that holds the lock something.
        lock.set_len(0).and_then(|()| (&lock).write_all(std::process::id().to_string().as_bytes())).map_err(folder)?;
        let path = path(state_dir);
        // Made by us before SQLite would make it, so that nobody else can read it.
        File::options().create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(folder)?;
        let unusable = |error| LedgerError::Database(path.clone(), error);
        let database = open(&path).map_err(unusable)?;
        let found = layout(&database).map_err(unusable)?;
        if VERSION < found {
            return Err(LedgerError::Newer { path, found });
        }
        let audit = Audit::of(&database, keep).map_err(unusable)?;
        Ok(Self { database, audit, _lock: lock })
    }

    /// The last line of the audit.
    pub(crate) fn tip(&self) -> &Tip {
        self.audit.tip()
    }

    /// Makes one entry durable, in the audit as well.
    pub(crate) fn write(&mut self, entry: &Entry, now: Timestamp) -> rusqlite::Result<()> {
        let within = self.database.transaction()?;
        write(&within, entry)?;
        let tip = self.audit.add(&within, entry, now)?;
        within.commit()?;
        self.audit.is_at(tip, now);
        Ok(())
    }

    /// The card says how its request ended.
    pub(crate) fn card_closed(&mut self, request: RequestId) -> rusqlite::Result<()> {
        let sql = "UPDATE request SET closed = 1 WHERE run = ?1 AND number = ?2 AND ending IS NOT NULL";
        self.database.execute(sql, params![run(request), number(request)]).map(|_| ())
    }

    /// What held requests are that come back, each with its card if that was seen to be posted. In the order in which they came.
    pub(crate) fn that_go_on(&self) -> rusqlite::Result<Vec<GoesOn>> {
        let sql = "SELECT source, snapshot, room, control, parts, run, number FROM request
                       WHERE snapshot IS NOT NULL AND ending IS NULL ORDER BY rowid";
        let mut select = self.database.prepare(sql)?;
        let rows = select.query_map([], |row| {
            let source: String = row.get(0)?;
            let (snapshot, room) = (row.get(1)?, RoomName::new(row.get::<_, String>(2)?));
            let card = card(&room, row.get(3)?, row.get(4)?);
            let source = serde_json::from_str::<(ReplyTo, String)>(&source).ok();
            let request = request_id(&row.get::<_, String>(5)?, row.get(6)?);
            Ok(source.map(|(from, comes_back)| GoesOn { request, from, comes_back, snapshot, card }))
        })?;
        rows.filter_map(Result::transpose).collect()
    }

    /// What is to be told of the latest requests that come back and have ended.
    #[cfg(feature = "http")]
    pub(crate) fn outcomes(&self) -> rusqlite::Result<Vec<KeptOutcome>> {
        let sql = "SELECT source, outcome, ending, ended FROM request WHERE source IS NOT NULL AND ending IS NOT NULL
                       ORDER BY rowid DESC LIMIT ?1";
        let mut select = self.database.prepare(sql)?;
        let rows = select.query_map([KEPT_MAX], |row| {
            let source: String = row.get(0)?;
            let source = serde_json::from_str::<(ReplyTo, String)>(&source).ok();
            let ending = serde_json::from_str(&row.get::<_, String>(2)?).ok();
            let (outcome, at) = (row.get(1)?, timestamp(row.get(3)?));
            Ok(source.zip(ending).map(|((from, comes_back), ending)| KeptOutcome { from, comes_back, outcome, ending, at }))
        })?;
        rows.filter_map(Result::transpose).collect()
    }

    /// Cards of runs that are over and that do not say so yet, with what they have to say.
    pub(crate) fn left_open(&self) -> rusqlite::Result<Vec<(Option<CardRef>, ClosedCard)>> {
        let mut select = self.database.prepare(
            "SELECT run, number, room, headline, control, parts, ending, ended FROM request
                 WHERE closed = 0 AND (snapshot IS NULL OR control IS NULL)",
        )?;
        let rows = select.query_map([], |row| {
            let room = RoomName::new(row.get::<_, String>(2)?);
            let card = card(&room, row.get(4)?, row.get(5)?);
            let ending: Option<String> = row.get(6)?;
            let request = request_id(&row.get::<_, String>(0)?, row.get(1)?);
            let headline = Shown::line(&row.get::<_, String>(3)?);
            let at = timestamp(row.get(7)?);
            Ok((card, ClosedCard { request, room, headline, ending: after_restart(ending.as_deref()), at }))
        })?;
        rows.collect()
    }
}

/// A held request that comes back.
pub(crate) struct GoesOn {
    pub(crate) request: RequestId,
    pub(crate) from: ReplyTo,
    /// As its source told it.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "no source here comes back"))]
    pub(crate) comes_back: String,
    /// For [`bridge_core::Bridge::restore`].
    pub(crate) snapshot: String,
    /// Where it was seen to be posted.
    pub(crate) card: Option<CardRef>,
}

/// How a request ended that comes back.
#[cfg(feature = "http")]
pub(crate) struct KeptOutcome {
    pub(crate) from: ReplyTo,
    /// As its source told it.
    pub(crate) comes_back: String,
    /// The chosen option's id as JSON, or `null`; `None`: there is nothing to tell.
    pub(crate) outcome: Option<String>,
    pub(crate) ending: Ending,
    pub(crate) at: Option<Timestamp>,
}

fn card(room: &RoomName, control: Option<String>, parts: Option<String>) -> Option<CardRef> {
    let parts: Vec<MessageId> = parts.and_then(|parts| serde_json::from_str(&parts).ok()).unwrap_or_default();
    control.map(|control| CardRef { room: room.clone(), control: MessageId::new(control), parts })
}

fn write(within: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<()> {
    match entry {
        // Again for the same request where its card had to be drawn anew.
        Entry::Held { request, room, headline, deadline, shown, kept } => {
            let (source, snapshot) = kept.as_ref().map(|kept| (json(&(&kept.from, &kept.comes_back)), &kept.snapshot)).unzip();
            within.execute(
                "INSERT INTO request (run, number, room, headline, deadline, shown, source, snapshot)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                     ON CONFLICT (run, number) DO UPDATE SET headline = excluded.headline, shown = excluded.shown,
                         deadline = excluded.deadline, snapshot = excluded.snapshot",
                params![
                    run(*request),
                    number(*request),
                    room.as_str(),
                    headline.as_str(),
                    millis(*deadline),
                    shown.to_string(),
                    source,
                    snapshot
                ],
            )
        }
        Entry::Posted { request, card } => within.execute(
            "UPDATE request SET control = ?3, parts = ?4 WHERE run = ?1 AND number = ?2",
            params![run(*request), number(*request), card.control.as_str(), json(&card.parts)],
        ),
        Entry::ChosenFirst { request, person, option, at } => within.execute(
            "UPDATE request SET first = ?3 WHERE run = ?1 AND number = ?2",
            params![run(*request), number(*request), json(&(person, option, millis(*at)))],
        ),
        // A request that was never held has no card to be closed after a restart.
        Entry::Settled { request, ending, at, outcome } => within.execute(
            "INSERT INTO request (run, number, ending, ended, outcome, closed) VALUES (?1, ?2, ?3, ?4, ?5, 1)
                 ON CONFLICT (run, number) DO UPDATE SET ending = excluded.ending, ended = excluded.ended, snapshot = NULL,
                     outcome = coalesce(excluded.outcome, outcome)",
            params![run(*request), number(*request), json(ending), at.map(millis), outcome.as_ref().map(told)],
        ),
    }
    .map(|_| ())
}

/// The option's id as JSON, or `null`.
fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Selected(offered) => offered.option().id.raw().get().to_owned(),
        Outcome::Cancelled => "null".to_owned(),
    }
}

/// What is true of a request once the bridge that held it is gone.
fn after_restart(ending: Option<&str>) -> Ending {
    match ending.and_then(|ending| serde_json::from_str(ending).ok()) {
        None => Ending::Withdrawn(Withdrawn::BridgeRestarted),
        Some(Ending::Answered { person, name, option, does, first, delivery: Delivery::Pending }) => Ending::Answered {
            person,
            name,
            option,
            does,
            first,
            delivery: Delivery::NotDelivered(NotDelivered::BridgeRestarted),
        },
        Some(ending) => ending,
    }
}

/// The process that holds the lock of a state folder, if one does.
pub(crate) fn running(state_dir: &Path) -> Option<Pid> {
    let path = state_dir.join("lock");
    let lock = File::options().read(true).write(true).open(&path).ok()?;
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => std::fs::read_to_string(path).ok()?.trim().parse().ok().map(Pid::from_raw),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// Where it is.
pub(crate) fn path(state_dir: &Path) -> PathBuf {
    state_dir.join("ledger.sqlite")
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    // What is taken out is not to be read from what it leaves behind.
    database.pragma_update(None, "secure_delete", "ON")?;
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(database)
}

/// Makes the tables of a new ledger; returns the layout that is there.
fn layout(database: &Connection) -> rusqlite::Result<i64> {
    let found: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == 0 {
        database.execute_batch(&format!("BEGIN; {LAYOUT} {} PRAGMA user_version = {VERSION}; COMMIT;", audit::LAYOUT))?;
        return Ok(VERSION);
    }
    let mut layout = found;
    while let Some(step) = usize::try_from(layout - 1).ok().and_then(|at| STEPS.get(at)) {
        layout += 1;
        database.execute_batch(&format!("BEGIN; {step} PRAGMA user_version = {layout}; COMMIT;"))?;
    }
    if layout == VERSION {
        let oldest = "SELECT rowid FROM request WHERE closed = 1 ORDER BY rowid DESC LIMIT 1 OFFSET ?1";
        let oldest: Option<i64> = database.query_row(oldest, [KEPT_MAX], |row| row.get(0)).optional()?;
        if let Some(oldest) = oldest {
            database.execute("DELETE FROM request WHERE closed = 1 AND rowid <= ?1", [oldest])?;
        }
    }
    Ok(layout)
}

/// As the database has it.
pub(crate) fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.unix_millis()).unwrap_or(i64::MAX)
}

fn timestamp(millis: Option<i64>) -> Option<Timestamp> {
    millis.and_then(|millis| u64::try_from(millis).ok()).map(Timestamp::from_unix_millis)
}

fn request_id(run: &str, number: i64) -> RequestId {
    let run = u64::from_str_radix(run, 16).unwrap_or_default();
    RequestId { run, number: u64::try_from(number).unwrap_or_default() }
}

fn run(request: RequestId) -> String {
    format!("{:016x}", request.run)
}

fn number(request: RequestId) -> i64 {
    i64::try_from(request.number).unwrap_or(i64::MAX)
}

fn json(value: &impl serde::Serialize) -> String {
    // These types hold nothing that JSON cannot.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;

#[cfg(all(test, feature = "http"))]
mod crash_tests;
