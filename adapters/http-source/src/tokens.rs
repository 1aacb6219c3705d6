//! Who may raise requests: tokens that the operator made, of which only hashes are kept.
//!
//! One file, looked at anew for each question: the command line changes it while the bridge runs. A token can raise and
//! withdraw requests, and nothing else; none can answer.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bridge_model::{PersonId, RoomName, Timestamp};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use policy::Launch;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Tokens at once.
const TOKENS_MAX: usize = 1_000;
const FILE: &str = "tokens.json";
/// So that a token is known for what it is wherever it turns up.
const PREFIX: &str = "countersign_";

/// Why the tokens cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    #[error("{0} can be read or written by other users; run: chmod go= {0}")]
    Open(PathBuf),
    #[error("the tokens in {0} cannot be read: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("the tokens in {0} cannot be understood: {1}; move it away to begin anew, which revokes all of them")]
    NotUnderstood(PathBuf, serde_json::Error),
    #[error("the tokens in {0} cannot be written: {1}")]
    NotWritten(PathBuf, io::Error),
    #[error("there is a token {0} already; revoke it first, or take another name")]
    Taken(String),
    #[error("there are {TOKENS_MAX} tokens already; revoke those that nobody needs")]
    TooMany,
}

/// What the holder of a token may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub name: String,
    /// The rooms that it may ask. Empty: all of them.
    #[serde(default)]
    pub rooms: Vec<RoomName>,
    /// Narrows the policy for all that it asks.
    #[serde(default)]
    pub launch: Launch,
    /// Who launches the agents that it is for. `None`: each request says.
    #[serde(default)]
    pub requester: Option<PersonId>,
    /// What its callers say of where paths lead is believed, by which rules may go.
    #[serde(default)]
    pub trust_paths: bool,
    pub made: Timestamp,
    /// SHA-256 of the token, in hexadecimal digits.
    hash: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Contents {
    tokens: Vec<Grant>,
}

/// The file with the tokens.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    /// What was read last, and of which file.
    read: Mutex<Option<(Stamp, Arc<Vec<Grant>>)>>,
}

/// Tells a file that was replaced from one that was not.
type Stamp = (u64, i64, i64, u64);

impl Grant {
    /// With the text of a new token, which is kept nowhere. `random`: nobody else may know it.
    #[must_use]
    pub fn new(name: &str, random: [u8; 32], made: Timestamp) -> (Self, String) {
        let text = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&random));
        let grant = Self {
            name: name.to_owned(),
            rooms: Vec::new(),
            launch: Launch::default(),
            requester: None,
            trust_paths: false,
            made,
            hash: HEXLOWER.encode(&hash(&text)),
        };
        (grant, text)
    }

    /// What its requests are known by: a new token of an old name is another one.
    pub(crate) fn id(&self) -> String {
        format!("{}:{}", self.name, self.hash.get(..16).unwrap_or_default())
    }

    /// Whether it may ask this room.
    #[must_use]
    pub fn may_ask(&self, room: &RoomName) -> bool {
        self.rooms.is_empty() || self.rooms.contains(room)
    }
}

impl Tokens {
    /// Those in `folder`. None are there until one is added.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self { path: folder.join(FILE), read: Mutex::default() }
    }

    /// All of them, in the order of their names.
    pub fn all(&self) -> Result<Vec<Grant>, TokensError> {
        Ok(self.read()?.to_vec())
    }

    /// Whether this grant still counts.
    pub(crate) fn has(&self, grant: &Grant) -> Result<bool, TokensError> {
        Ok(self.read()?.iter().any(|other| other == grant))
    }

    pub fn add(&self, grant: Grant) -> Result<(), TokensError> {
        self.change(|tokens| {
            if tokens.iter().any(|other| other.name == grant.name) {
                return Err(TokensError::Taken(grant.name));
            }
            if TOKENS_MAX <= tokens.len() {
                return Err(TokensError::TooMany);
            }
            tokens.push(grant);
            tokens.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(())
        })
    }

    /// Whether there was one.
    pub fn revoke(&self, name: &str) -> Result<bool, TokensError> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            Ok(tokens.len() < before)
        })
    }

    /// What the holder of this token may do now. Takes as long whichever token it is, and whether it is one.
    pub(crate) fn grant(&self, token: &str) -> Result<Option<Grant>, TokensError> {
        let hash = HEXLOWER.encode(&hash(token));
        let mut found = None;
        for grant in self.read()?.iter() {
            if bool::from(grant.hash.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some(grant.clone());
            }
        }
        Ok(found)
    }

    fn read(&self) -> Result<Arc<Vec<Grant>>, TokensError> {
        let unreadable = |error| TokensError::Unreadable(self.path.clone(), error);
        let stamp = match fs::metadata(&self.path) {
            Ok(found) if found.mode() & 0o077 != 0 => return Err(TokensError::Open(self.path.clone())),
            Ok(found) => (found.ino(), found.mtime(), found.mtime_nsec(), found.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, tokens)) = &*read
            && *known == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        let text = fs::read(&self.path).map_err(unreadable)?;
        let contents: Contents =
            serde_json::from_slice(&text).map_err(|error| TokensError::NotUnderstood(self.path.clone(), error))?;
        let tokens = Arc::new(contents.tokens);
        *read = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }

    /// One process after the other; a reader sees all of a change or nothing of it.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<Grant>) -> Result<T, TokensError>) -> Result<T, TokensError> {
        let not_written = |error| TokensError::NotWritten(self.path.clone(), error);
        let lock = self.path.with_extension("lock");
        let lock = File::options().create(true).truncate(false).write(true).mode(0o600).open(lock).map_err(not_written)?;
        lock.lock().map_err(not_written)?;
        let mut tokens = self.read()?.to_vec();
        let changed = change(&mut tokens)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        // Readable by its owner alone.
        let mut next = tempfile::NamedTempFile::new_in(folder).map_err(not_written)?;
        let text = serde_json::to_vec_pretty(&Contents { tokens }).map_err(|error| not_written(error.into()))?;
        next.write_all(&text).and_then(|()| next.as_file().sync_all()).map_err(not_written)?;
        next.persist(&self.path).map_err(|error| not_written(error.error))?;
        Ok(changed)
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const AT: Timestamp = Timestamp::from_unix_millis(1);

    #[test]
    fn a_token_is_known_until_it_is_revoked_also_by_another_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let (tokens, other) = (Tokens::of(folder.path()), Tokens::of(folder.path()));
        assert!(tokens.all().expect("read").is_empty());
        let (grant, text) = Grant::new("ci", [7; 32], AT);
        other.add(Grant { rooms: vec![RoomName::new("ops")], ..grant.clone() }).expect("added");
        let found = tokens.grant(&text).expect("read").expect("it is known");
        assert_eq!((found.name.as_str(), found.may_ask(&RoomName::new("ops"))), ("ci", true));
        assert!(!found.may_ask(&RoomName::new("builds")) && grant.may_ask(&RoomName::new("builds")));
        assert!(matches!(tokens.add(grant), Err(TokensError::Taken(_))));
        for wrong in ["", "countersign_", &text[1..], &text.to_uppercase(), &format!("{text} "), &found.hash] {
            assert_eq!(tokens.grant(wrong).expect("read"), None, "{wrong:?}");
        }
        assert_eq!([other.revoke("ci").expect("revoked"), other.revoke("ci").expect("gone")], [true, false]);
        assert_eq!(tokens.grant(&text).expect("read"), None);
    }

    #[test]
    fn the_file_holds_no_token_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let tokens = Tokens::of(folder.path());
        let (grant, text) = Grant::new("ci", [7; 32], AT);
        tokens.add(grant).expect("added");
        let path = folder.path().join(FILE);
        let written = fs::read_to_string(&path).expect("a file");
        assert!(!written.contains(&text) && !written.contains(text.trim_start_matches(PREFIX)));
        assert_eq!(fs::metadata(&path).expect("a file").mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
        assert!(matches!(tokens.grant(&text), Err(TokensError::Open(_))));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("changed");
        fs::write(&path, "{").expect("written");
        assert!(matches!(tokens.grant(&text), Err(TokensError::NotUnderstood(..))));
    }
}
