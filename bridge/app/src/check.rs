//! `countersign check`: what works, what is missing, and what to do about it.

use std::process::ExitCode;

use bridge_config::Config;
use bridge_model::{Humanity, Person, Presence};
use matrix_room::{Inspection, RoomInspection};
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

pub(crate) async fn recovery_key(args: &ConfigArgs) -> ExitCode {
    let config = match load(args) {
        Ok(config) => config,
        Err(status) => return status,
    };
    // Held while the account is in use, so that no bridge uses it at the same time.
    let _ledger = match Ledger::open(&config.state_dir) {
        Ok(ledger) => ledger,
        Err(problem) => {
            say(&format!("  ! {problem}"));
            return ExitCode::FAILURE;
        }
    };
    let Some(options) = setup::matrix_options(&config) else {
        say("  ! no Matrix room is configured");
        return EXIT_CONFIG.into();
    };
    match matrix_room::create_recovery_key(options).await {
        Ok(key) => {
            say(&key);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            say(&format!("  ! {problem}"));
            ExitCode::FAILURE
        }
    }
}

/// The configuration, with logs as it has them; what is wrong with it is said.
fn load(args: &ConfigArgs) -> Result<Config, ExitCode> {
    match bridge_config::load(args.config.as_deref()) {
        Ok(Some(config)) => {
            log::start(&config.log);
            Ok(config)
        }
        Ok(None) => {
            let places = bridge_config::places().unwrap_or_default();
            let places: Vec<_> = places.iter().map(|place| format!("  {}", place.display())).collect();
            say(&format!("There is no configuration. Looked for:\n{}", places.join("\n")));
            Err(EXIT_CONFIG.into())
        }
        Err(problems) => {
            say(&problems.to_string());
            Err(EXIT_CONFIG.into())
        }
    }
}

/// Whether requests can be shown and somebody could answer them.
async fn look(config: &Config) -> bool {
    let ledger = Ledger::open(&config.state_dir);
    match &ledger {
        Ok(_) => say(&format!("ledger         {} can be written", config.state_dir.display())),
        Err(problem) => {
            say(&format!("  ! {problem}"));
            return false;
        }
    }
    let Some(options) = setup::matrix_options(config) else {
        say("  ! no room is configured, so every permission request is refused; add a [rooms.NAME] section");
        return false;
    };
    say(&format!("logging in     as {} at {} …", options.user, options.homeserver));
    match matrix_room::inspect(options).await {
        Err(problem) => {
            say(&format!("  ! {problem}"));
            false
        }
        Ok(inspection) => {
            account(&inspection);
            let rooms = inspection.rooms.iter().map(|room| look_at(config, room));
            // All rooms are looked at, also after one that does not work.
            rooms.fold(true, |all, works| all & works)
        }
    }
}

fn account(inspection: &Inspection) {
    let signed = if inspection.device_is_signed { "verified by its own account" } else { "NOT verified by its own account" };
    say(&format!("account        {}, device {}, {signed}", inspection.user, inspection.device));
    for problem in &inspection.problems {
        say(&format!("  ! {problem}"));
    }
}

fn look_at(config: &Config, room: &RoomInspection) -> bool {
    let yes = |what: bool| if what { "yes" } else { "NO" };
    let encrypted = room.is_encrypted.map_or("not known", yes);
    say(&format!("room {}  ({})", room.name, room.id));
    say(&format!("  reachable          {}", yes(room.is_joined)));
    say(&format!(
        "  may post           messages {}, polls {}, remove own {}",
        yes(room.may_send_messages),
        yes(room.may_send_polls),
        yes(room.may_remove_own)
    ));
    say(&format!("  encrypted          {encrypted}"));
    let could =
        config.rooms.get(&room.name).map(|room_config| could_answer(&room_config.approvers, &room.members)).unwrap_or_default();
    let names: Vec<_> = could.iter().map(|person| person.id.to_string()).collect();
    say(&format!("  who could answer   {}", if names.is_empty() { "NOBODY".to_owned() } else { names.join(", ") }));
    if let Some(room_config) = config.rooms.get(&room.name) {
        for id in missing(&room_config.approvers, &room.members) {
            say(&format!("  ! {id} is an approver but not in the room; invite them"));
        }
    }
    for problem in &room.problems {
        say(&format!("  ! {problem}"));
    }
    if names.is_empty() {
        say(&format!("  ! nobody could answer here; list people who are in the room under rooms.{}.approvers", room.name));
    }
    room.is_joined && room.may_send_messages && room.may_send_polls && !names.is_empty() && room.problems.is_empty()
}

/// Those whose click would count now. A click still brings facts of its own.
fn could_answer<'a>(approvers: &Approvers, members: &'a [Person]) -> Vec<&'a Person> {
    members.iter().filter(|person| approvers.admit(person).is_ok()).collect()
}

fn missing<'a>(approvers: &'a Approvers, members: &[Person]) -> Vec<&'a bridge_model::PersonId> {
    let present = |id: &bridge_model::PersonId| {
        members.iter().any(|person| person.id == *id && person.presence == Presence::InRoom && person.humanity == Humanity::Human)
    };
    match &approvers.who {
        Who::Anyone => Vec::new(),
        Who::Listed(listed) => listed.iter().filter(|id| !present(id)).collect(),
    }
}

#[expect(clippy::print_stdout, reason = "this is what the command is for")]
fn say(line: &str) {
    println!("{line}");
}
