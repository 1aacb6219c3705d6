//! The file of the keys: its tables, and how it is made and opened.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::KeysError;

/// The layout this version reads and writes.
pub(super) const VERSION: i64 = 1;

/// How long one process waits for another that writes.
const BUSY_FOR: Duration = Duration::from_secs(2);

const LAYOUT: &str = "
    CREATE TABLE key (
        id         INTEGER PRIMARY KEY,
        person     TEXT NOT NULL,
        hash       BLOB NOT NULL UNIQUE,
        made       INTEGER NOT NULL,
        link_until INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE key_room (
        key  INTEGER NOT NULL REFERENCES key ON DELETE CASCADE,
        room TEXT NOT NULL,
        PRIMARY KEY (key, room)
    ) STRICT;
    CREATE TABLE session (
        hash BLOB NOT NULL PRIMARY KEY,
        page BLOB NOT NULL,
        key  INTEGER NOT NULL REFERENCES key ON DELETE CASCADE,
        used INTEGER NOT NULL
    ) STRICT;
";

/// Opens or begins the file, readable by its owner alone.
pub(super) fn make(path: &Path) -> Result<(), KeysError> {
    let not_made = |source| KeysError::NotMade { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(not_made)?;
    }
    // Made by us before SQLite would make it, so that nobody else can read it.
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(path).map_err(not_made)?;
    if file.metadata().map_err(not_made)?.mode() & 0o077 != 0 {
        return Err(KeysError::Open(path.to_owned()));
    }
    let found = open(path).and_then(|keys| lay_out(&keys));
    match found.map_err(|source| KeysError::Unusable { path: path.to_owned(), source })? {
        VERSION => Ok(()),
        found => Err(KeysError::Newer { path: path.to_owned(), found }),
    }
}

/// Never makes it anew: whoever removed it took the keys away.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let keys = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    keys.busy_timeout(BUSY_FOR)?;
    keys.pragma_update(None, "foreign_keys", true)?;
    Ok(keys)
}

/// Makes the tables of a new file; returns the layout that is there. Two processes may do so at once.
fn lay_out(keys: &Connection) -> rusqlite::Result<i64> {
    keys.execute_batch("BEGIN IMMEDIATE")?;
    let found: i64 = keys.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let made = if found == 0 { keys.execute_batch(&format!("{LAYOUT} PRAGMA user_version = {VERSION};")) } else { Ok(()) };
    match made {
        Ok(()) => keys.execute_batch("COMMIT")?,
        Err(error) => {
            keys.execute_batch("ROLLBACK")?;
            return Err(error);
        }
    }
    Ok(if found == 0 { VERSION } else { found })
}
