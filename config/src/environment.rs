//! The environment, read once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::problem::{ConfigError, Origin, Problem};

/// What the name of every override starts with.
pub(crate) const PREFIX: &str = "COUNTERSIGN__";

/// The variables of a process.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// A variable of ours that is not text is an error; others that are not text count as not set.
    pub fn of_this_process() -> Result<Self, ConfigError> {
        let mut variables = BTreeMap::new();
        let mut problems = Vec::new();
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => drop(variables.insert(name, value)),
                Err(_) if name.starts_with("COUNTERSIGN_") => problems.push(Problem {
                    origin: Origin::Environment,
                    key: Some(name),
                    what: "is not valid UTF-8".into(),
                    advice: "set it to UTF-8 text, or unset it".into(),
                }),
                Err(_) => {}
            }
        }
        if problems.is_empty() { Ok(Self(variables)) } else { Err(ConfigError { file: PathBuf::new(), problems }) }
    }

    /// Without overrides, to see what a file says by itself.
    #[must_use]
    pub fn without_overrides(mut self) -> Self {
        self.0.retain(|name, _| !name.starts_with(PREFIX));
        self
    }

    /// Without the variables that are not about settings, so that a configuration nobody vouches for cannot name one.
    pub(crate) fn of_ours_only(&self) -> Self {
        let is_ours = |name: &str| name.starts_with(PREFIX) || matches!(name, "HOME" | "XDG_STATE_HOME");
        Self(self.0.iter().filter(|(name, _)| is_ours(name)).map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A path from a variable. The XDG rules say that one which is not absolute is to be ignored.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The variables that override a setting, by their full names.
    pub(crate) fn overrides(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter(|(name, _)| name.starts_with(PREFIX)).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The names of the variables that override settings. A program that is given settings of its own must not inherit them.
    pub fn override_names(&self) -> impl Iterator<Item = &str> {
        self.overrides().map(|(name, _)| name)
    }

    /// Overrides without a file would be lost in silence, so they are an error.
    pub(crate) fn overrides_nothing(&self) -> Option<ConfigError> {
        let problems = self.overrides().map(|(name, _)| Problem {
            origin: Origin::Environment,
            key: Some(name.to_owned()),
            what: "there is no configuration file whose setting this could override".into(),
            advice: "write one (an empty file is enough) and name it with --config, or unset the variable".into(),
        });
        let problems: Vec<_> = problems.collect();
        (!problems.is_empty()).then_some(ConfigError { file: PathBuf::new(), problems })
    }
}

/// Never shows a value: some of them are secrets, and not only ours.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
