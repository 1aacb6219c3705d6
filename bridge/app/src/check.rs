//! `countersign check`: what works, what is missing, and what to do about it.

#[cfg(feature = "discord")]
mod discord;
#[cfg(feature = "matrix")]
mod matrix;
#[cfg(feature = "web")]
mod web;

#[cfg(feature = "matrix")]
pub(crate) use matrix::recovery_key;

use std::io::Write as _;
use std::process::ExitCode;

use bridge_config::Config;
use bridge_model::{Humanity, Person, Presence, RoleId, RoomName, Shown};
use policy::{Approvers, Who};

use crate::cli::{ConfigArgs, EXIT_CONFIG};
use crate::ledger::Ledger;
use crate::{log, setup};

pub(crate) async fn run(args: &ConfigArgs) -> ExitCode {
    let config = match load(args) {
        Ok(config) => config,
        Err(status) => return status,
    };
    say(&format!("configuration  {}", config.file.display()));
    for warning in &config.warnings {
        say(&format!("  ! {warning}"));
    }
    if look(&config).await { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The configuration, with logs as it has them; what is wrong with it is said.
pub(crate) fn load(args: &ConfigArgs) -> Result<Config, ExitCode> {
    match bridge_config::load(args.config.as_deref()) {
        Ok(Some(config)) => {
            log::start(&config.log);
            Ok(config)
        }
        Ok(None) => {
            let places = bridge_config::places().unwrap_or_default();
            let places: Vec<_> = places.iter().map(|place| format!("  {}", place.display())).collect();
            say(&format!("There is no configuration. Looked for:\n{}\n`countersign init` writes one.", places.join("\n")));
            Err(EXIT_CONFIG.into())
        }
        Err(problems) => {
            say(&problems.to_string());
            Err(EXIT_CONFIG.into())
        }
    }
}

/// Whether requests can be shown and somebody could answer them, in every room.
async fn look(config: &Config) -> bool {
    let ledger = Ledger::open(&config.state_dir, config.audit_keep);
    match &ledger {
        Ok(_) => say(&format!("ledger         {} can be written", config.state_dir.display())),
        Err(problem) => {
            say(&format!("  ! {problem}"));
            return false;
        }
    }
    if config.rooms.is_empty() {
        say("  ! no room is configured, so every permission request is refused; add a [rooms.NAME] section");
        return false;
    }
    if let Some(problem) = setup::not_built_in(config) {
        say(&format!("  ! {problem}"));
        return false;
    }
    // Each service is looked at, also after one that does not work.
    let mut works = true;
    #[cfg(feature = "matrix")]
    if let Some(options) = setup::matrix::options(config) {
        works &= matrix::look(config, options).await;
    }
    #[cfg(feature = "discord")]
    if let Some(options) = setup::discord::options(config) {
        works &= discord::look(config, options).await;
    }
    #[cfg(feature = "web")]
    if let Some(options) = setup::web::options(config) {
        works &= web::look(config, &options).await;
    }
    works
}

#[cfg(any(feature = "discord", feature = "matrix"))]
const fn yes(what: bool) -> &'static str {
    if what { "yes" } else { "NO" }
}

/// Says who could answer in a room where these members and roles are, and whether anybody could.
fn say_who_could_answer(config: &Config, name: &RoomName, members: &[Person], roles: &[(RoleId, String)]) -> bool {
    let Some(approvers) = config.rooms.get(name).map(|room| &room.answers.rules.approvers) else { return false };
    let people = could_answer(approvers, members).into_iter().map(name_of);
    let roles = roles.iter().map(|(id, name)| format!("members of the role {} ({id}), if it has any", Shown::line(name)));
    let anyone = (approvers.who == Who::Anyone).then(|| "any human who can see it".to_owned());
    let could: Vec<_> = people.chain(roles).chain(anyone).collect();
    say(&format!("  who could answer   {}", if could.is_empty() { "NOBODY".to_owned() } else { could.join(", ") }));
    if let Who::Listed(listed) = &approvers.who {
        for id in &listed.people {
            match members.iter().find(|person| person.id == *id) {
                Some(person) if person.humanity == Humanity::Bot => {
                    say(&format!("  ! {id} is an approver and a bot, so its clicks never count; list people"));
                }
                Some(person) if person.presence == Presence::InRoom => {}
                Some(_) | None => say(&format!("  ! {id} is an approver but not in the room; invite them")),
            }
        }
    }
    if could.is_empty() {
        say(&format!("  ! nobody could answer here; list people who are in the room under rooms.{name}.approvers"));
    }
    !could.is_empty()
}

/// A bare number tells an operator nothing.
fn name_of(person: &Person) -> String {
    match &person.name {
        Some(name) if person.id.as_str().bytes().all(|b| b.is_ascii_digit()) => format!("{} ({})", Shown::line(name), person.id),
        Some(_) | None => person.id.to_string(),
    }
}

/// Those whose click would count now. A click still brings facts of its own.
fn could_answer<'a>(approvers: &Approvers, members: &'a [Person]) -> Vec<&'a Person> {
    members.iter().filter(|person| approvers.admit(person).is_ok()).collect()
}

/// What the command is for, on standard output.
pub(crate) fn say(line: &str) {
    // Whoever has stopped reading misses nothing.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// For people: it does not mix with what another program may read.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
