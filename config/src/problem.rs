//! What is wrong with a configuration, all of it, and what to do about each.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// Everything that keeps a configuration from being used, one problem a line. Never holds the value of a secret.
#[derive(Debug)]
pub struct ConfigError {
    pub file: PathBuf,
    /// At least one.
    pub problems: Vec<Problem>,
}

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub origin: Origin,
    /// The path of the key, such as `rooms.builds.approvers[1]`, or a line; `None` where the whole file is meant.
    pub key: Option<String>,
    pub what: String,
    /// An imperative that reads after "what is wrong; ".
    pub advice: String,
}

/// Where the value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    File,
    Environment,
}

impl ConfigError {
    pub(crate) fn of_file(file: &Path, what: impl Into<String>, advice: impl Into<String>) -> Self {
        let problem = Problem { origin: Origin::File, key: None, what: what.into(), advice: advice.into() };
        Self { file: file.to_owned(), problems: vec![problem] }
    }
}

impl Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at != 0 {
                writeln!(f)?;
            }
            match problem.origin {
                Origin::File => write!(f, "{}: {problem}", self.file.display())?,
                Origin::Environment => write!(f, "environment: {problem}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.key {
            // A key in quotes can hold anything, also what moves a terminal's cursor.
            write!(f, "{}: ", key.escape_debug())?;
        }
        write!(f, "{}; {}", self.what, self.advice)
    }
}

/// Collects problems and warnings while the sections are read.
pub(crate) struct Problems {
    file: PathBuf,
    found: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<String>>,
}

/// A problem was recorded; there is nothing more to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

impl Problems {
    pub(crate) fn new(file: &Path) -> Self {
        Self { file: file.to_owned(), found: RefCell::default(), warnings: RefCell::default() }
    }

    pub(crate) fn add(&self, origin: Origin, key: &str, what: impl Into<String>, advice: impl Into<String>) {
        let problem = Problem { origin, key: Some(key.into()), what: what.into(), advice: advice.into() };
        self.found.borrow_mut().push(problem);
    }

    pub(crate) fn warn(&self, warning: impl Into<String>) {
        self.warnings.borrow_mut().push(warning.into());
    }

    /// Stops here if anything was wrong so far.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let problems = self.found.take();
        if problems.is_empty() { Ok(()) } else { Err(ConfigError { file: self.file.clone(), problems }) }
    }

    /// The warnings, if there was nothing worse.
    pub(crate) fn finish(self) -> Result<Vec<String>, ConfigError> {
        self.check()?;
        Ok(self.warnings.into_inner())
    }
}
