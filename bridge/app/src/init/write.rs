//! Writes files that are not there yet, all of them or none.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use bridge_config::{Privacy, read_named};
use bridge_model::Secret;

/// A file to write.
#[derive(Debug)]
pub(super) struct NewFile {
    pub(super) path: PathBuf,
    pub(super) text: Secret,
    /// Who else may read one that is there already.
    pub(super) privacy: Privacy,
}

/// Those that are not there yet. One that says the same already is left as it is; one that says something else is
/// nobody's to overwrite.
pub(super) fn missing(files: &[NewFile]) -> Result<Vec<&NewFile>, Vec<String>> {
    let (mut missing, mut problems) = (Vec::new(), Vec::new());
    for file in files {
        match fs::symlink_metadata(&file.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => missing.push(file),
            Err(error) => problems.push(format!("{} cannot be written ({error})", file.path.display())),
            Ok(_) => problems.extend(differs(file)),
        }
    }
    if problems.is_empty() { Ok(missing) } else { Err(problems) }
}

/// Writes them in this order, each readable by its owner only. On failure nothing of it is left.
pub(super) fn create(files: &[&NewFile]) -> Result<(), String> {
    let mut made = Made::default();
    for file in files {
        let folder = file.path.parent().map_or(Ok(()), |folder| made.folder(folder));
        let written = folder.and_then(|()| made.file(&file.path, file.text.expose()));
        written.map_err(|error| format!("{} cannot be written ({error})", file.path.display()))?;
    }
    made.keep();
    Ok(())
}

/// What keeps a file that is there from being used as it is.
fn differs(file: &NewFile) -> Option<String> {
    let at = file.path.display();
    match read_named(&file.path, file.privacy) {
        Ok(text) if without_line_end(&text) == without_line_end(file.text.expose()) => None,
        Ok(_) => Some(format!(
            "{at} is there already, with something else in it, and is never overwritten; move it away, or write elsewhere with \
             --config FILE"
        )),
        Err(unusable) => Some(format!("{at} is there already and cannot be used: {}; {}", unusable.what, unusable.advice)),
    }
}

fn without_line_end(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

/// What was made so far; taken back unless it is kept.
#[derive(Default)]
struct Made {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<_> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            DirBuilder::new().mode(0o700).create(folder)?;
            self.folders.push(folder.to_owned());
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn keep(mut self) {
        self.folders.clear();
        self.files.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        // Only those in which nobody else has put anything meanwhile.
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests;
