//! Secrets: held so that they do not leak, and read from a file or a variable.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::environment::Environment;
use crate::file::Unusable;
use crate::problem::Reported;
use crate::section::{Entry, Section};

/// A password, token or key. It never prints itself.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Reads the file of a secret, as it is.
pub type ReadSecret<'a> = dyn Fn(&Path) -> Result<String, Unusable> + 'a;

/// Takes secrets where the configuration says they are.
pub(crate) struct Secrets<'a> {
    file: &'a Path,
    environment: &'a Environment,
    read: &'a ReadSecret<'a>,
    variables: RefCell<BTreeSet<String>>,
}

impl<'a> Secrets<'a> {
    pub(crate) fn new(file: &'a Path, environment: &'a Environment, read: &'a ReadSecret<'a>) -> Self {
        Self { file, environment, read, variables: RefCell::default() }
    }

    /// `NAME_file` or `NAME_env`; `None` if neither is there. Takes all keys of that name.
    pub(crate) fn take(&self, section: &mut Section<'_>, name: &str) -> Option<Result<Secret, Reported>> {
        let (file_key, env_key) = (format!("{name}_file"), format!("{name}_env"));
        let (inline, file, env) = (section.take(name), section.take(&file_key), section.take(&env_key));
        let (secret, entry) = match (inline, file, env) {
            (None, None, None) => return None,
            (Some(inline), _, _) => {
                let advice = format!("use {file_key}, or {env_key} with the name of a variable");
                inline.refuse("would be a secret in plain sight", advice);
                return Some(Err(Reported));
            }
            (None, Some(_), Some(env)) => {
                env.refuse(format!("stands beside {file_key}"), "keep one of them");
                return Some(Err(Reported));
            }
            (None, Some(file), None) => (self.in_file(&file), file),
            (None, None, Some(env)) => (self.in_variable(&env), env),
        };
        if secret.as_ref().is_ok_and(|secret| secret.expose().is_empty()) {
            entry.refuse("leads to an empty text", "put the secret there");
            return Some(Err(Reported));
        }
        Some(secret)
    }

    /// The variables that were named, set or not.
    pub(crate) fn into_variables(self) -> BTreeSet<String> {
        self.variables.into_inner()
    }

    fn in_file(&self, entry: &Entry<'_>) -> Result<Secret, Reported> {
        let named = entry.text().ok_or(Reported)?;
        if named.starts_with('~') {
            entry.refuse("starts with `~`, which only a shell expands", "write the whole path");
            return Err(Reported);
        }
        let path = self.file.parent().unwrap_or(Path::new("")).join(named);
        match (self.read)(&path) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                Ok(Secret::new(text.strip_suffix('\r').unwrap_or(text)))
            }
            Err(Unusable { what, advice }) => {
                entry.refuse(what, advice);
                Err(Reported)
            }
        }
    }

    /// The name is not shown: a secret could stand there by mistake.
    fn in_variable(&self, entry: &Entry<'_>) -> Result<Secret, Reported> {
        let name = entry.text().ok_or(Reported)?;
        let Some(value) = self.environment.get(&name) else {
            entry.refuse("names a variable that is not set", "set it, and write its name here, never its value");
            return Err(Reported);
        };
        self.variables.borrow_mut().insert(name);
        Ok(Secret::new(value))
    }
}
