//! The Matrix account and its rooms.

use std::process::ExitCode;

use bridge_config::Config;
use matrix_room::{Inspection, Options, RoomInspection};

use crate::cli::{ConfigArgs, EXIT_CONFIG};
use crate::ledger::Ledger;
use crate::setup;

use super::{say, say_who_could_answer, yes};

pub(crate) async fn recovery_key(args: &ConfigArgs) -> ExitCode {
    let config = match super::load(args) {
        Ok(config) => config,
        Err(status) => return status,
    };
    // Held while the account is in use, so that no bridge uses it at the same time.
    let _ledger = match Ledger::open(&config.state_dir, config.audit_keep) {
        Ok(ledger) => ledger,
        Err(problem) => {
            say(&format!("  ! {problem}"));
            return ExitCode::FAILURE;
        }
    };
    let Some(options) = setup::matrix::options(&config) else {
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

pub(super) async fn look(config: &Config, options: Options) -> bool {
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
    let somebody = say_who_could_answer(config, &room.name, &room.members, &[]);
    for problem in &room.problems {
        say(&format!("  ! {problem}"));
    }
    room.is_joined && room.may_send_messages && room.may_send_polls && somebody && room.problems.is_empty()
}
