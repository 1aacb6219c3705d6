//! The operator's configuration: one TOML file, a section per component, with overrides from the environment.
//!
//! `COUNTERSIGN__MATRIX__HOMESERVER` overrides `matrix.homeserver`. A key that is not known is refused, and all problems
//! are reported at once, each with its key. Secrets never stand in the file; it names a file or a variable that holds
//! them. Nothing in this grammar allows on a timeout or an error; without a person only what a rule allows by its kind.
//!
//! This is the only crate that reads the environment.

mod answers;
mod discord;
mod environment;
mod example;
mod file;
mod http;
mod ids;
mod launch;
mod limits;
mod matrix;
mod problem;
mod reach;
mod rooms;
mod rules;
mod secret;
mod section;
mod settings;
mod starter;
mod tree;
mod web;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bridge_model::RoomName;
use policy::{Pace, Policy};

pub use answers::{Answers, Escalate};
pub use discord::Discord;
pub use environment::Environment;
pub use example::EXAMPLE;
pub use file::{Unusable, new_place, places, private_folder, read_named};
pub use http::Http;
pub use ids::person_name;
pub use launch::{launch, permissions};
pub use matrix::{Login, Matrix};
pub use problem::{ConfigError, Origin, Problem};
pub use reach::Reach;
pub use rooms::{Details, RoomConfig, Service};
pub use secret::{Privacy, ReadFile};
pub use settings::{Acp, Log, LogFormat, agent_name};
pub use starter::{DISCORD_TOKEN, MATRIX_PASSWORD, Starter, StarterService};
pub use web::{Web, WebTls};

use file::ConfigFile;
use problem::Problems;
use section::Section;

/// A configuration in which everything was understood.
#[derive(Debug)]
pub struct Config {
    /// Where it came from. Shown at start, because whoever can write there decides who may answer.
    pub file: PathBuf,
    /// Absolute, so that it never lies in the agent's working directory by accident.
    pub state_dir: PathBuf,
    /// How long lines of the audit are kept; `None`: for ever.
    pub audit_keep: Option<Duration>,
    pub log: Log,
    pub acp: Acp,
    pub http: Http,
    /// Where health and metrics are served; `None`: nowhere.
    pub metrics: Option<SocketAddr>,
    pub policy: Policy,
    pub limits: Pace,
    pub matrix: Option<Matrix>,
    pub discord: Option<Discord>,
    /// As it is by default where there is no `[web]`.
    pub web: Web,
    pub rooms: BTreeMap<RoomName, RoomConfig>,
    /// Variables that hold secrets or settings of ours. An agent must not inherit them.
    pub own_variables: BTreeSet<String>,
    /// What is allowed and probably not meant. Each reads alone.
    pub warnings: Vec<String>,
}

/// Finds, reads and understands the configuration. `None` if there is no file at any of [`places`].
///
/// A file that other users could have written is refused, wherever it lies.
pub fn load(explicit: Option<&Path>) -> Result<Option<Config>, ConfigError> {
    let environment = Environment::of_this_process()?;
    let Some(ConfigFile { path, text, in_working_directory }) = file::find(explicit, file::HERE, &environment)? else {
        return environment.overrides_nothing().map_or(Ok(None), Err);
    };
    if !in_working_directory {
        return parse(&path, &text, &environment, &file::read_named).map(Some);
    }
    let mut config =
        parse(&path, &text, &environment.of_ours_only(), &|named, privacy| file::read_beside(&path, named, privacy))?;
    if config.policy.allows_anything() {
        let what = "allows something without a person, and lies in the working directory, where an agent can put one too";
        return Err(ConfigError::of_file(&path, what, "name it with --config, or keep it elsewhere"));
    }
    config.warnings.push(format!(
        "{} lies in the working directory, where an agent or a cloned repository can put one too; keep the \
         configuration elsewhere, or name this one with --config",
        path.display()
    ));
    Ok(Some(config))
}

/// Understands `text`. `file` names it in problems, and relative paths of secrets start at its folder.
///
/// Pure but for `read_file`.
pub fn parse(file: &Path, text: &str, environment: &Environment, read_file: &ReadFile) -> Result<Config, ConfigError> {
    let problems = Problems::new(file);
    let mut root = Section::root(tree::merge(text, environment, &problems)?, &problems);
    let secrets = secret::Secrets::new(file, environment, read_file);

    let state_dir = settings::state_dir(&mut root, environment);
    let audit_keep = settings::audit_keep(&mut root);
    let log = settings::log(&mut root);
    let acp = root.section("acp");
    let http = root.section("http");
    let metrics = settings::metrics(&mut root);
    let policy = rules::policy(&mut root, &problems);
    let limits = limits::limits(&mut root);
    let matrix_section = root.section("matrix");
    let has_matrix = matrix_section.is_some();
    let matrix = matrix_section.and_then(|section| matrix::matrix(section, &secrets));
    let discord_section = root.section("discord");
    let has_discord = discord_section.is_some();
    let discord = discord_section.and_then(|section| discord::discord(section, &secrets));
    let web = root.section("web").map_or_else(|| Ok(Web::default()), |section| web::web(section, &secrets));
    let lifetime = policy.lifetime;
    let lifetime_max = lifetime.max(policy.detached_lifetime);
    let around = rooms::Around { problems: &problems, has_matrix, matrix: matrix.as_ref(), has_discord, lifetime, lifetime_max };
    let rooms = rooms::rooms(root.section("rooms"), &around);
    let acp = settings::acp(acp, &rooms, &problems);
    let http = http::http(http, state_dir.as_deref().unwrap_or(Path::new("")), &rooms);
    drop(root);

    let warnings = problems.finish()?;
    Ok(Config {
        file: file.to_owned(),
        state_dir: state_dir.unwrap_or_default(),
        audit_keep,
        log,
        acp,
        http,
        metrics,
        policy,
        limits,
        matrix,
        discord,
        web: web.unwrap_or_default(),
        rooms: rooms.into_iter().filter_map(|(name, room)| Some((name, room?))).collect(),
        own_variables: environment.overrides().map(|(name, _)| name.to_owned()).chain(secrets.into_variables()).collect(),
        warnings,
    })
}

#[cfg(test)]
mod tests;
