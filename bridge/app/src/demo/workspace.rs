//! The folder that the scripted agent works in.

use std::fs;
use std::io;
use std::path::Path;

pub(super) const SETTINGS: &str = "server.toml";
pub(super) const BACKUP: &str = "server.toml.bak";
pub(super) const NOTES: &str = "old-notes.txt";

pub(super) const SETTINGS_BEFORE: &str = "\
# What the server listens on, and what it says.

[server]
host = \"0.0.0.0\"
port = 8080
workers = 2

[log]
level = \"debug\"
format = \"text\"
";

pub(super) const SETTINGS_AFTER: &str = "\
# What the server listens on, and what it says.

[server]
host = \"127.0.0.1\"
port = 8080
workers = 4

[log]
level = \"info\"
format = \"text\"
";

const NOTES_TEXT: &str = "Nobody has needed these since spring.\n";

/// Tells this folder from all others, in which the scripted agent does nothing.
const MARK: &str = ".made-by-countersign-demo";

/// Makes it, or makes it again as it was.
pub(super) fn fill(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(MARK), "")?;
    fs::write(folder.join(SETTINGS), SETTINGS_BEFORE)?;
    fs::write(folder.join(NOTES), NOTES_TEXT)?;
    match fs::remove_file(folder.join(BACKUP)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) fn is_one(folder: &Path) -> bool {
    folder.join(MARK).is_file()
}
