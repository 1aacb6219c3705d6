//! `countersign status` and `countersign pending`: what the ledger says of a bridge, also while it runs.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bridge_config::Config;
use bridge_model::{Shown, Timestamp};
use nix::unistd::Pid;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::check::{load, say};
use crate::cli::{EXIT_CONFIG, PendingArgs, StatusArgs};
use crate::clock::Clock;
use crate::{audit, ledger};

/// A request that waits for a person.
struct Pending {
    number: u64,
    room: Shown,
    headline: Shown,
    left: Duration,
    is_posted: bool,
}

pub(crate) fn pending(args: &PendingArgs) -> ExitCode {
    read(&args.config, |config, database| {
        let pending = waiting(database)?;
        if pending.is_empty() && !args.json {
            say("Nothing waits for a person.");
        }
        for Pending { number, room, headline, left, is_posted } in &pending {
            if args.json {
                let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
                say(&json!({ "number": number, "room": room, "headline": headline, "left_ms": left, "posted": is_posted })
                    .to_string());
                continue;
            }
            let card = if *is_posted { "" } else { "; its card is not there yet" };
            say(&format!("#{number}  {room}  {} left{card}  {headline}", humantime::format_duration(*left)));
        }
        if !pending.is_empty() && ledger::running(&config.state_dir).is_none() && !args.json {
            say("No bridge runs here now; what comes back to its caller goes on at the next start, all else is refused then.");
        }
        Ok(ExitCode::SUCCESS)
    })
}

pub(crate) fn status(args: &StatusArgs) -> ExitCode {
    read(&args.config, |config, database| {
        let running = ledger::running(&config.state_dir);
        match running {
            Some(pid) => say(&format!("A bridge runs here, as process {pid}{}.", since(pid))),
            None => say("No bridge runs here."),
        }
        let rooms: Vec<_> = config.rooms.keys().map(ToString::to_string).collect();
        say(&format!("Rooms: {}.", if rooms.is_empty() { "none".to_owned() } else { rooms.join(", ") }));
        say(&format!("Requests that wait for a person: {}.", waiting(database)?.len()));
        let tip = audit::tip(database)?;
        say(&format!("The audit has {} lines; the hash of the last: {}", tip.seq, tip.hash));
        Ok(if running.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

/// How long a process has been there, where the system tells.
fn since(pid: Pid) -> String {
    let made = std::fs::metadata(Path::new("/proc").join(pid.to_string())).and_then(|process| process.modified());
    let span = made.ok().and_then(|made| made.elapsed().ok()).map(|span| Duration::from_secs(span.as_secs()));
    span.map_or_else(String::new, |span| format!(", for {}", humantime::format_duration(span)))
}

fn read(args: &crate::cli::ConfigArgs, look: impl FnOnce(&Config, &Connection) -> rusqlite::Result<ExitCode>) -> ExitCode {
    let config = match load(args) {
        Ok(config) => config,
        Err(status) => return status,
    };
    let path = ledger::path(&config.state_dir);
    if !path.exists() {
        say(&format!("There is no ledger in {} yet; a bridge begins one when it first runs.", config.state_dir.display()));
        return EXIT_CONFIG.into();
    }
    let database = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    database.and_then(|database| look(&config, &database)).unwrap_or_else(|problem| {
        say(&format!("The ledger {} cannot be read: {problem}.", path.display()));
        ExitCode::FAILURE
    })
}

/// In the order in which they came. One whose deadline has passed waits only for a bridge to say so.
fn waiting(database: &Connection) -> rusqlite::Result<Vec<Pending>> {
    let now = Clock::default().now();
    let mut select = database.prepare(
        "SELECT number, room, headline, deadline, control IS NOT NULL FROM request
             WHERE ending IS NULL AND closed = 0 AND ?1 < deadline ORDER BY rowid",
    )?;
    let rows = select.query_map([ledger::millis(now)], |row| {
        let deadline = u64::try_from(row.get::<_, i64>(3)?).unwrap_or_default();
        Ok(Pending {
            number: u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default(),
            room: Shown::line(&row.get::<_, String>(1)?),
            headline: Shown::line(&row.get::<_, String>(2)?),
            left: Duration::from_secs(Timestamp::from_unix_millis(deadline).since(now).as_secs()),
            is_posted: row.get(4)?,
        })
    })?;
    rows.collect()
}
