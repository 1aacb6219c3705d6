//! The session on disk: who the bot is logged in as, and by which tokens.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bridge_core::RoomError;
use matrix_sdk::authentication::matrix::MatrixSession;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) homeserver: String,
    #[serde(flatten)]
    pub(crate) session: MatrixSession,
}

/// Where the session is kept, beside the store that belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct SessionFile {
    path: PathBuf,
}

impl SessionFile {
    /// Makes the directory, for nobody but us, where it is missing.
    pub(crate) fn in_dir(dir: &Path) -> Result<Self, RoomError> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|error| RoomError::Refused(format!("cannot make the directory {}: {error}", dir.display())))?;
        Ok(Self { path: dir.join("session.json") })
    }

    pub(crate) fn read(&self) -> Result<Option<Saved>, RoomError> {
        let refuse = |why: String| RoomError::Refused(format!("cannot read {}: {why}", self.path.display()));
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refuse(error.to_string())),
        };
        // The parser's message would quote the file, and with it a token.
        serde_json::from_str(&text).map(Some).map_err(|_| refuse("it is not a saved session".to_owned()))
    }

    /// Replaces the file at once or not at all.
    pub(crate) fn write(&self, saved: &Saved) -> io::Result<()> {
        let new = self.path.with_extension("json.new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(serde_json::to_string(saved)?.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        // The rename itself is durable only once its directory is.
        self.path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
