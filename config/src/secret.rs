//! Secrets, read from a file or a variable.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use bridge_model::Secret;

use crate::environment::Environment;
use crate::file::Unusable;
use crate::problem::Reported;
use crate::section::{Entry, Section};

/// Reads a file that the configuration names, as it is.
pub type ReadFile<'a> = dyn Fn(&Path, Privacy) -> Result<String, Unusable> + 'a;

/// Who else may read a file. Nobody else may write any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    Secret,
    Public,
}

/// Takes secrets where the configuration says they are.
pub(crate) struct Secrets<'a> {
    file: &'a Path,
    environment: &'a Environment,
    read: &'a ReadFile<'a>,
    variables: RefCell<BTreeSet<String>>,
}

impl<'a> Secrets<'a> {
    pub(crate) fn new(file: &'a Path, environment: &'a Environment, read: &'a ReadFile<'a>) -> Self {
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
            (None, Some(file), None) => (self.in_file(&file, Privacy::Secret).map(Secret::new), file),
            (None, None, Some(env)) => (self.in_variable(&env), env),
        };
        if secret.as_ref().is_ok_and(|secret| secret.expose().is_empty()) {
            entry.refuse("leads to an empty text", "put the secret there");
            return Some(Err(Reported));
        }
        Some(secret)
    }

    /// A file that is no secret, such as a certificate.
    pub(crate) fn public(&self, entry: &Entry<'_>) -> Option<String> {
        self.in_file(entry, Privacy::Public).ok()
    }

    /// The variables that were named, set or not.
    pub(crate) fn into_variables(self) -> BTreeSet<String> {
        self.variables.into_inner()
    }

    fn in_file(&self, entry: &Entry<'_>, privacy: Privacy) -> Result<String, Reported> {
        let named = entry.text().ok_or(Reported)?;
        if named.starts_with('~') {
            entry.refuse("starts with `~`, which only a shell expands", "write the whole path");
            return Err(Reported);
        }
        let path = self.file.parent().unwrap_or(Path::new("")).join(named);
        match (self.read)(&path, privacy) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
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
