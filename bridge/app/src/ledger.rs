//! The durable record of held requests, their cards and how they ended.
//!
//! SQLite, one writer. A line is durable once [`Ledger::write`] returns. It never holds what a tool would have done.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bridge_config::Unusable;
use bridge_core::Entry;
use bridge_model::{
    CardRef, ClosedCard, Delivery, Ending, MessageId, NotDelivered, RequestId, RoomName, Shown, Timestamp, Withdrawn,
};
use nix::unistd::Pid;
use rusqlite::{Connection, OptionalExtension, params};

/// The layout this version reads and writes.
const VERSION: i64 = 3;

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
        PRIMARY KEY (run, number)
    ) STRICT;
";

/// What makes a layout of the version before into the next.
const STEPS: [&str; 2] = [
    "ALTER TABLE request ADD COLUMN shown TEXT; ALTER TABLE request ADD COLUMN ended INTEGER;",
    "ALTER TABLE request ADD COLUMN first TEXT;",
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
    _lock: File,
}

impl Ledger {
    /// Opens or begins the ledger in `state_dir`, which is made if it is missing, readable by its owner alone.
    pub(crate) fn open(state_dir: &Path) -> Result<Self, LedgerError> {
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
        let path = state_dir.join("ledger.sqlite");
        // Made by us before SQLite would make it, so that nobody else can read it.
        File::options().create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(folder)?;
        let database = open(&path).map_err(|error| LedgerError::Database(path.clone(), error))?;
        match layout(&database).map_err(|error| LedgerError::Database(path.clone(), error))? {
            found if VERSION < found => Err(LedgerError::Newer { path, found }),
            _ => Ok(Self { database, _lock: lock }),
        }
    }

    /// Makes one line durable.
    pub(crate) fn write(&mut self, entry: &Entry) -> rusqlite::Result<()> {
        match entry {
            // Again for the same request where its card had to be drawn anew.
            Entry::Held { request, room, headline, deadline, shown } => self.database.execute(
                "INSERT INTO request (run, number, room, headline, deadline, shown) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (run, number) DO UPDATE SET headline = excluded.headline, shown = excluded.shown",
                params![run(*request), number(*request), room.as_str(), headline.as_str(), millis(*deadline), shown.to_string()],
            ),
            Entry::Posted { request, card } => self.database.execute(
                "UPDATE request SET control = ?3, parts = ?4 WHERE run = ?1 AND number = ?2",
                params![run(*request), number(*request), card.control.as_str(), json(&card.parts)],
            ),
            Entry::ChosenFirst { request, person, option, at } => self.database.execute(
                "UPDATE request SET first = ?3 WHERE run = ?1 AND number = ?2",
                params![run(*request), number(*request), json(&(person, option, millis(*at)))],
            ),
            // A request that was never held has no card to be closed after a restart.
            Entry::Settled { request, ending, at } => self.database.execute(
                "INSERT INTO request (run, number, ending, ended, closed) VALUES (?1, ?2, ?3, ?4, 1)
                 ON CONFLICT (run, number) DO UPDATE SET ending = excluded.ending, ended = excluded.ended",
                params![run(*request), number(*request), json(ending), at.map(millis)],
            ),
        }
        .map(|_| ())
    }

    /// The card says how its request ended.
    pub(crate) fn card_closed(&mut self, request: RequestId) -> rusqlite::Result<()> {
        let sql = "UPDATE request SET closed = 1 WHERE run = ?1 AND number = ?2 AND ending IS NOT NULL";
        self.database.execute(sql, params![run(request), number(request)]).map(|_| ())
    }

    /// Cards of runs that are over and that do not say so yet, with what they have to say.
    pub(crate) fn left_open(&self) -> rusqlite::Result<Vec<(Option<CardRef>, ClosedCard)>> {
        let mut select = self
            .database
            .prepare("SELECT run, number, room, headline, control, parts, ending, ended FROM request WHERE closed = 0")?;
        let rows = select.query_map([], |row| {
            let room = RoomName::new(row.get::<_, String>(2)?);
            let control: Option<String> = row.get(4)?;
            let parts: Option<String> = row.get(5)?;
            let ending: Option<String> = row.get(6)?;
            let parts: Vec<MessageId> = parts.and_then(|parts| serde_json::from_str(&parts).ok()).unwrap_or_default();
            let card = control.map(|control| CardRef { room: room.clone(), control: MessageId::new(control), parts });
            let run = u64::from_str_radix(&row.get::<_, String>(0)?, 16).unwrap_or_default();
            let request = RequestId { run, number: u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default() };
            let headline = Shown::line(&row.get::<_, String>(3)?);
            let at = row.get::<_, Option<i64>>(7)?.and_then(|at| u64::try_from(at).ok()).map(Timestamp::from_unix_millis);
            Ok((card, ClosedCard { request, room, headline, ending: after_restart(ending.as_deref()), at }))
        })?;
        rows.collect()
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

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    Ok(database)
}

/// Makes the tables of a new ledger; returns the layout that is there.
fn layout(database: &Connection) -> rusqlite::Result<i64> {
    let found: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found == 0 {
        database.execute_batch(&format!("BEGIN; {LAYOUT} PRAGMA user_version = {VERSION}; COMMIT;"))?;
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

fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.unix_millis()).unwrap_or(i64::MAX)
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
mod tests {
    use std::fs;

    use bridge_model::{Delivery, Digest, PersonId, Refused};

    use super::*;

    const REQUEST: RequestId = RequestId { run: u64::MAX, number: 3 };
    const AT: Timestamp = Timestamp::from_unix_millis(7);

    #[test]
    fn a_held_request_is_left_open_until_its_card_is_closed() {
        let (dir, mut ledger) = ledger();
        ledger.write(&held()).expect("written");
        let card = CardRef { room: RoomName::new("r"), control: MessageId::new("$c"), parts: vec![MessageId::new("$m")] };
        ledger.write(&Entry::Posted { request: REQUEST, card: card.clone() }).expect("written");
        drop(ledger);

        let mut ledger = Ledger::open(dir.path()).expect("opened");
        let restarted = Ending::Withdrawn(Withdrawn::BridgeRestarted);
        assert_eq!(ledger.left_open().expect("read"), [(Some(card), closed(restarted.clone()))]);
        ledger.write(&Entry::Settled { request: REQUEST, ending: restarted, at: None }).expect("written");
        ledger.card_closed(REQUEST).expect("written");
        assert_eq!(ledger.left_open().expect("read"), []);
    }

    #[test]
    fn an_answer_that_may_not_have_arrived_is_not_said_to_have() {
        let (_dir, mut ledger) = ledger();
        ledger.write(&held()).expect("written");
        let answered = |delivery| Ending::Answered {
            person: PersonId::new("@a:x"),
            name: Shown::line("A"),
            option: Shown::line("Yes"),
            does: bridge_model::ButtonStyle::AllowOnce,
            first: None,
            delivery,
        };
        ledger.write(&Entry::Settled { request: REQUEST, ending: answered(Delivery::Pending), at: Some(AT) }).expect("written");
        let unknown = answered(Delivery::NotDelivered(NotDelivered::BridgeRestarted));
        assert_eq!(ledger.left_open().expect("read"), [(None, ClosedCard { at: Some(AT), ..closed(unknown) })]);
    }

    #[test]
    fn what_was_never_held_is_not_left_open() {
        let (_dir, mut ledger) = ledger();
        ledger
            .write(&Entry::Settled {
                request: REQUEST,
                ending: Ending::Refused(Refused::ByPolicy("the policy says delete = auto_deny".into())),
                at: Some(AT),
            })
            .expect("written");
        assert_eq!(ledger.left_open().expect("read"), []);
    }

    #[test]
    fn what_a_card_showed_is_on_record_by_its_digest() {
        let (_dir, mut ledger) = ledger();
        ledger.write(&held()).expect("written");
        let shown: String = ledger.database.query_row("SELECT shown FROM request", [], |row| row.get(0)).expect("read");
        assert_eq!(shown, "01".repeat(32));
        let Entry::Held { request, room, headline, deadline, .. } = held() else { unreachable!("it is") };
        let again = Entry::Held { request, room, headline, deadline, shown: Digest::from_bytes([2; 32]) };
        ledger.write(&again).expect("written");
        let shown: String = ledger.database.query_row("SELECT shown FROM request", [], |row| row.get(0)).expect("read");
        assert_eq!(shown, "02".repeat(32));
    }

    #[test]
    fn a_ledger_of_the_first_layout_is_taken_over() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("ledger.sqlite");
        let added = ["shown    TEXT,", "ended    INTEGER,", "first    TEXT,"];
        let first = added.iter().fold(LAYOUT.to_owned(), |layout, column| layout.replace(column, ""));
        let database = open(&path).expect("opened");
        let row = "INSERT INTO request (run, number, room, headline, deadline) VALUES ('ffffffffffffffff', 3, 'r', 'h', 1);";
        database.execute_batch(&format!("{first} {row} PRAGMA user_version = 1;")).expect("made");
        drop(database);
        let mut ledger = Ledger::open(dir.path()).expect("opened");
        assert_eq!(ledger.left_open().expect("read"), [(None, closed(Ending::Withdrawn(Withdrawn::BridgeRestarted)))]);
        let ending = Ending::Withdrawn(Withdrawn::BridgeRestarted);
        ledger.write(&Entry::Settled { request: REQUEST, ending, at: Some(AT) }).expect("written");
    }

    #[test]
    fn a_second_bridge_is_kept_out() {
        let (dir, _ledger) = ledger();
        assert!(matches!(Ledger::open(dir.path()), Err(LedgerError::InUse(_))));
    }

    #[test]
    fn a_newer_or_broken_ledger_is_refused_and_kept() {
        let (dir, ledger) = ledger();
        ledger.database.pragma_update(None, "user_version", VERSION + 1).expect("set");
        drop(ledger);
        assert!(matches!(Ledger::open(dir.path()), Err(LedgerError::Newer { .. })));
        let path = dir.path().join("ledger.sqlite");
        for name in ["ledger.sqlite-wal", "ledger.sqlite-shm"] {
            let _ = fs::remove_file(dir.path().join(name));
        }
        fs::write(&path, "not a database at all, but text that is long enough to be taken for one".repeat(20)).expect("written");
        assert!(matches!(Ledger::open(dir.path()), Err(LedgerError::Database(..))));
        assert!(fs::read(&path).expect("kept").starts_with(b"not a database"));
    }

    #[test]
    fn a_folder_that_others_could_change_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        for mode in [0o777, 0o770, 0o702] {
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).expect("set");
            assert!(matches!(Ledger::open(dir.path()), Err(LedgerError::NotPrivate(_))), "{mode:o}");
        }
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("set");
        assert!(Ledger::open(dir.path()).is_ok());
    }

    #[test]
    fn others_cannot_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let (dir, _ledger) = ledger();
        let mode = fs::metadata(dir.path().join("ledger.sqlite")).expect("there").permissions().mode();
        assert_eq!(mode & 0o077, 0);
    }

    fn ledger() -> (tempfile::TempDir, Ledger) {
        let dir = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(dir.path()).expect("opened");
        (dir, ledger)
    }

    fn held() -> Entry {
        Entry::Held {
            request: REQUEST,
            room: RoomName::new("r"),
            headline: Shown::line("h"),
            deadline: Timestamp::from_unix_millis(1),
            shown: Digest::from_bytes([1; 32]),
        }
    }

    fn closed(ending: Ending) -> ClosedCard {
        ClosedCard { request: REQUEST, room: RoomName::new("r"), headline: Shown::line("h"), ending, at: None }
    }
}
