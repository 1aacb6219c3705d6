//! The small sections: `state_dir`, `[audit]`, `[log]` and `[acp]`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bridge_model::{RoomName, Shown};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::environment::Environment;
use crate::problem::{Origin, Problems};
use crate::rooms::RoomConfig;
use crate::rules::span;
use crate::section::{Entry, Section};

/// How the program speaks to its operator, on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub format: LogFormat,
    /// Directives that `tracing_subscriber::EnvFilter` parses.
    pub level: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Human,
    Json,
}

/// The source between an ACP client and its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acp {
    /// Where its requests are shown. `None` if no room is configured: every request is refused.
    pub room: Option<RoomName>,
    /// The client is asked too, and may answer.
    pub also_ask_client: bool,
    /// What cards call the agent.
    pub name: Option<String>,
}

/// A relative one would lie in the agent's working directory.
pub(crate) fn state_dir(root: &mut Section<'_>, environment: &Environment) -> Option<PathBuf> {
    let Some(entry) = root.take("state_dir") else {
        let state_home = environment.folder("XDG_STATE_HOME");
        let state_home = state_home.or_else(|| environment.folder("HOME").map(|home| home.join(".local/state")));
        if state_home.is_none() {
            root.missing("state_dir", "write an absolute path; without HOME there is no default");
        }
        return state_home.map(|folder| folder.join("countersign"));
    };
    let text = entry.text()?;
    let path = PathBuf::from(&text);
    if !path.is_absolute() {
        entry.refuse(format!("{text:?} depends on where the program is started"), "write an absolute path");
    }
    Some(path)
}

/// `[audit]`: no less than a day, so that nobody loses by a typing error what happened today.
pub(crate) fn audit_keep(root: &mut Section<'_>) -> Option<Duration> {
    const MIN: Duration = Duration::from_hours(24);
    const MAX: Duration = Duration::from_hours(24 * 36_525);
    root.section("audit")?.take("keep").and_then(|entry| span(&entry, MIN, MAX))
}

/// `[metrics]`: it tells nothing of people or of what tools would do, so that it may be reached from elsewhere.
pub(crate) fn metrics(root: &mut Section<'_>) -> Option<SocketAddr> {
    root.section("metrics")?.take("listen").and_then(|entry| entry.address("127.0.0.1:7393"))
}

pub(crate) fn log(root: &mut Section<'_>) -> Log {
    let mut section = root.section("log");
    let mut take = |key| section.as_mut().and_then(|section| section.take(key));
    let format = take("format").and_then(|entry| log_format(&entry)).unwrap_or(LogFormat::Human);
    let level = take("level").and_then(|entry| log_level(&entry)).unwrap_or_else(|| "info".into());
    Log { format, level }
}

pub(crate) fn acp(section: Option<Section<'_>>, rooms: &BTreeMap<RoomName, Option<RoomConfig>>, problems: &Problems) -> Acp {
    let mut section = section;
    let also_ask_client = section.as_mut().and_then(|section| section.flag("also_ask_client")).unwrap_or(false);
    let name = section.as_mut().and_then(|section| section.take("name")).and_then(|entry| {
        let name = agent_name(&entry.text()?);
        name.map_err(|advice| entry.refuse("is no name for an agent", advice)).ok()
    });
    let names = rooms.keys().map(RoomName::as_str).collect::<Vec<_>>().join(", ");
    let room = match (section.as_mut().and_then(|section| section.take("room")), rooms.len()) {
        (Some(entry), _) => entry.text().and_then(|text| {
            let room = rooms.keys().find(|room| room.as_str() == text).cloned();
            if room.is_none() {
                let advice = if names.is_empty() { "add it as [rooms.NAME]".into() } else { format!("use one of {names}") };
                entry.refuse(format!("{text:?} is not a configured room"), advice);
            }
            room
        }),
        (None, 0 | 1) => rooms.keys().next().cloned(),
        (None, _) => {
            problems.add(Origin::File, "acp.room", "is missing", format!("choose one of {names}"));
            None
        }
    };
    let asked = room.as_ref().and_then(|name| rooms.get(name)?.as_ref());
    if also_ask_client && asked.is_some_and(|room| room.answers.take_more()) {
        let what = "is true, and the room that is asked takes more than one press of an approver";
        let advice = "remove one of the two: whoever sits at the client answers alone, and at once";
        problems.add(Origin::File, "acp.also_ask_client", what, advice);
    }
    Acp { room, also_ask_client, name }
}

/// A name for an agent, which stands in the first line of every card. The error says what to write instead.
pub fn agent_name(text: &str) -> Result<String, String> {
    const MAX: usize = 40;
    let name = text.trim();
    let fits = (1..=MAX).contains(&name.chars().count()) && Shown::line(name).as_str() == name;
    fits.then(|| name.to_owned()).ok_or_else(|| format!("use 1 to {MAX} characters, all of which can be seen"))
}

fn log_format(entry: &Entry<'_>) -> Option<LogFormat> {
    let text = entry.text()?;
    match text.as_str() {
        "human" => Some(LogFormat::Human),
        "json" => Some(LogFormat::Json),
        _ => {
            entry.refuse(format!("{text:?} is not a format"), "use human or json");
            None
        }
    }
}

fn log_level(entry: &Entry<'_>) -> Option<String> {
    let text = entry.text()?;
    // `EnvFilter` takes a lone word that is no level for a target, so that a misspelt level would pass.
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    let no_lone_target = text.split(',').all(|word| word.contains(['=', '[']) || is_level(word.trim()));
    if no_lone_target && EnvFilter::builder().parse(&text).is_ok() {
        return Some(text);
    }
    let advice = "use off, error, warn, info, debug or trace, or directives such as \"info,matrix_sdk=warn\"";
    entry.refuse(format!("{text:?} is not a level"), advice);
    None
}
