//! Who may come in: keys that the operator made, and the sessions that they opened.
//!
//! One SQLite file, opened anew for each question: the command line changes it while the bridge runs, and a file that
//! was removed or replaced must not be remembered. It holds hashes only, so that reading it lets nobody in.

mod layout;
mod proof;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bridge_model::{PersonId, RoomName, Timestamp};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::Outside;
use crate::id::{Token, TokenHash};

/// Keys at once, over all people.
const KEYS_MAX: i64 = 1_000;
/// Sessions of one key, which are browsers; beyond them the one that was not used for longest ends.
const SESSIONS_MAX: i64 = 16;
/// How long a link goes on once it was used, for another browser of the same person. Browsers keep it in their history.
const LINK_FOR_ONCE_USED: Duration = Duration::from_mins(10);
/// A session that was not used for so long is over.
pub(crate) const SESSION_IDLE_MAX: Duration = Duration::from_hours(30 * 24);

const FILE: &str = "web-room.sqlite3";

/// Why the keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("{0} is not there any more, and nobody can come in; `countersign web-room invite NAME` begins a new one")]
    Gone(PathBuf),
    #[error("{0} can be read or written by other users; run: chmod go= {0}")]
    Open(PathBuf),
    #[error("the keys in {path} cannot be used: {source}")]
    Unusable { path: PathBuf, source: rusqlite::Error },
    #[error("{path} cannot be made: {source}; make its folder one that this user can write to")]
    NotMade { path: PathBuf, source: std::io::Error },
    #[error("{path} has layout {found}, and this version knows up to {}; use a newer countersign", layout::VERSION)]
    Newer { path: PathBuf, found: i64 },
    #[error("there are {KEYS_MAX} keys already; revoke those that nobody needs")]
    TooMany,
}

/// The file with the keys.
#[derive(Clone, Debug)]
pub struct Keys {
    path: PathBuf,
    outside: Outside,
}

/// Somebody who has a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    pub person: PersonId,
    pub rooms: Vec<RoomName>,
    pub made: Timestamp,
    /// Until when the link can be used to join. Sessions that it opened go on.
    pub link_until: Timestamp,
    /// Browsers that have joined with it.
    pub sessions: usize,
}

/// A browser that has joined, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) person: PersonId,
    pub(crate) rooms: Vec<RoomName>,
    pub(crate) session: TokenHash,
    pub(crate) cookie: Token,
}

/// What a browser keeps to be known again: a cookie that scripts cannot read, and a word that only this page's scripts
/// have. Cookies are shared by all ports of a host; the word is not.
pub(crate) struct Session {
    pub(crate) cookie: Token,
    pub(crate) page: Token,
    pub(crate) person: PersonId,
}

impl Keys {
    /// Opens or begins the file in `folder`, which is made if it is missing, readable by its owner alone.
    pub fn open(folder: &Path, outside: Outside) -> Result<Self, KeysError> {
        let keys = Self { path: folder.join(FILE), outside };
        layout::make(&keys.path)?;
        Ok(keys)
    }

    /// Opens the file in `folder`; `None` if there is none, so that nobody has a key.
    pub fn open_if_there(folder: &Path, outside: Outside) -> Result<Option<Self>, KeysError> {
        if folder.join(FILE).exists() { Self::open(folder, outside).map(Some) } else { Ok(None) }
    }

    /// A new key for a person; the text that joins with it, which is stored nowhere.
    pub fn make(&self, person: &PersonId, rooms: &[RoomName], link_for: Duration) -> Result<String, KeysError> {
        let now = (self.outside.now)();
        let key = self.token();
        let made = self.write(|keys| {
            if KEYS_MAX <= keys.query_row("SELECT count(*) FROM key", [], |row| row.get(0))? {
                return Ok(false);
            }
            keys.execute(
                "INSERT INTO key (person, hash, made, link_until) VALUES (?1, ?2, ?3, ?4)",
                params![person.as_str(), key.hash(), millis(now), millis(now.after(link_for))],
            )?;
            let id = keys.last_insert_rowid();
            for room in rooms {
                keys.execute("INSERT OR IGNORE INTO key_room (key, room) VALUES (?1, ?2)", params![id, room.as_str()])?;
            }
            Ok(true)
        })?;
        if made { Ok(key.text()) } else { Err(KeysError::TooMany) }
    }

    /// Takes all keys of a person; how many there were.
    pub fn revoke(&self, person: &PersonId) -> Result<usize, KeysError> {
        self.write(|keys| keys.execute("DELETE FROM key WHERE person = ?1", [person.as_str()]))
    }

    /// Everybody who has a key, in the order of their names.
    pub fn holders(&self) -> Result<Vec<KeyHolder>, KeysError> {
        self.read(|keys| {
            let mut select = keys.prepare(
                "SELECT person, made, link_until, (SELECT count(*) FROM session WHERE key = key.id AND ?1 < used),
                     (SELECT json_group_array(room) FROM (SELECT room FROM key_room WHERE key = key.id ORDER BY room))
                 FROM key ORDER BY person, made, id",
            )?;
            let holder = |row: &rusqlite::Row<'_>| {
                Ok(KeyHolder {
                    person: PersonId::new(row.get::<_, String>(0)?),
                    made: timestamp(row.get(1)?),
                    link_until: timestamp(row.get(2)?),
                    sessions: usize::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
                    rooms: rooms(&row.get::<_, String>(4)?),
                })
            };
            select.query_map([self.idle_since()], holder)?.collect()
        })
    }

    /// A session for whoever holds this key; `None` if it is no key, or its link is too old.
    pub(crate) fn join(&self, key: &Token) -> Result<Option<Session>, KeysError> {
        let now = millis((self.outside.now)());
        let find = |keys: &Connection| {
            let of_key = "SELECT id, person FROM key WHERE hash = ?1 AND ?2 < link_until";
            let found = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
            keys.query_row(of_key, params![key.hash(), now], found).optional()
        };
        // Whoever has no key keeps nobody waiting who writes.
        if self.read(find)?.is_none() {
            return Ok(None);
        }
        let (cookie, page) = (self.token(), self.token());
        self.write(|keys| {
            let Some((id, person)) = find(keys)? else { return Ok(None) };
            keys.execute(
                "INSERT INTO session (hash, page, key, used) VALUES (?1, ?2, ?3, ?4)",
                params![cookie.hash(), page.hash(), id, now],
            )?;
            let until = now.saturating_add(i64::try_from(LINK_FOR_ONCE_USED.as_millis()).unwrap_or(i64::MAX));
            keys.execute("UPDATE key SET link_until = min(link_until, ?2) WHERE id = ?1", params![id, until])?;
            keys.execute("DELETE FROM session WHERE used <= ?1", [self.idle_since()])?;
            keys.execute(
                "DELETE FROM session WHERE key = ?1 AND hash NOT IN
                     (SELECT hash FROM session WHERE key = ?1 ORDER BY used DESC, rowid DESC LIMIT ?2)",
                params![id, SESSIONS_MAX],
            )?;
            Ok(Some(Session { cookie: cookie.clone(), page: page.clone(), person: PersonId::new(person) }))
        })
    }

    /// Whose session this is, at this instant.
    pub(crate) fn member(&self, cookie: &Token, page: &Token) -> Result<Option<Member>, KeysError> {
        let session = cookie.hash();
        self.read(|keys| {
            let of_session = "SELECT person, (SELECT json_group_array(room) FROM key_room WHERE key = key.id)
                 FROM session JOIN key ON key.id = session.key WHERE session.hash = ?1 AND page = ?2 AND ?3 < used";
            let member = |row: &rusqlite::Row<'_>| {
                let (person, in_rooms) = (row.get::<_, String>(0)?, row.get::<_, String>(1)?);
                Ok(Member { person: PersonId::new(person), rooms: rooms(&in_rooms), session, cookie: cookie.clone() })
            };
            keys.query_row(of_session, params![session, page.hash(), self.idle_since()], member).optional()
        })
    }

    /// Shows a page that this is the bridge which let it in, before the page says anything of its session: whoever else has
    /// taken the port does not know the word, nor its hash. `id`: of the session, as [`proof::id`] makes it.
    pub(crate) fn prove(&self, id: &[u8], nonce: &str) -> Result<Option<Vec<u8>>, KeysError> {
        let words: Vec<TokenHash> = self.read(|keys| {
            let mut select = keys.prepare("SELECT page FROM session WHERE ?1 < used")?;
            select.query_map([self.idle_since()], |row| row.get(0))?.collect()
        })?;
        Ok(words.iter().find(|word| proof::id(word) == id).map(|word| proof::of(word, nonce)))
    }

    /// These sessions are in use, so that they do not end for idleness.
    pub(crate) fn used<'a>(&self, sessions: impl IntoIterator<Item = &'a TokenHash>) -> Result<(), KeysError> {
        let now = millis((self.outside.now)());
        self.write(|keys| {
            for session in sessions {
                keys.execute("UPDATE session SET used = ?2 WHERE hash = ?1", params![session, now])?;
            }
            Ok(())
        })
    }

    /// Ends one session.
    pub(crate) fn leave(&self, session: &TokenHash) -> Result<(), KeysError> {
        self.write(|keys| keys.execute("DELETE FROM session WHERE hash = ?1", [session])).map(drop)
    }

    /// All sessions that there are.
    pub(crate) fn sessions(&self) -> Result<BTreeSet<TokenHash>, KeysError> {
        self.read(|keys| {
            let mut select = keys.prepare("SELECT hash FROM session WHERE ?1 < used")?;
            select.query_map([self.idle_since()], |row| row.get(0))?.collect()
        })
    }

    pub(crate) fn token(&self) -> Token {
        Token::from_random((self.outside.random)())
    }

    fn idle_since(&self) -> i64 {
        millis((self.outside.now)()) - i64::try_from(SESSION_IDLE_MAX.as_millis()).unwrap_or(i64::MAX)
    }

    fn read<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, KeysError> {
        layout::open(&self.path).and_then(|keys| ask(&keys)).map_err(|error| self.problem(error))
    }

    /// All of it or nothing.
    fn write<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, KeysError> {
        let change = |mut keys: Connection| {
            let transaction = keys.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changed = change(&transaction)?;
            transaction.commit()?;
            Ok(changed)
        };
        layout::open(&self.path).and_then(change).map_err(|error| self.problem(error))
    }

    fn problem(&self, source: rusqlite::Error) -> KeysError {
        let path = self.path.clone();
        // SQLite says of a file that is missing only that it cannot be opened.
        if path.exists() { KeysError::Unusable { path, source } } else { KeysError::Gone(path) }
    }
}

fn rooms(json: &str) -> Vec<RoomName> {
    serde_json::from_str::<Vec<String>>(json).unwrap_or_default().into_iter().map(RoomName::new).collect()
}

fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.unix_millis()).unwrap_or(i64::MAX)
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(u64::try_from(millis).unwrap_or_default())
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
