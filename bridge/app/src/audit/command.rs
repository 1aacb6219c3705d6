//! `countersign audit`: reads the audit, also while the bridge runs.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use bridge_model::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::{Whole, line, millis, verify};
use crate::check::{load, say};
use crate::cli::{AuditArgs, AuditCommand, AuditListArgs, EXIT_CONFIG, Since};
use crate::clock::Clock;
use crate::ledger;

pub(crate) fn run(args: &AuditArgs) -> ExitCode {
    let config = match load(&args.config) {
        Ok(config) => config,
        Err(status) => return status,
    };
    let path = ledger::path(&config.state_dir);
    if !path.exists() {
        say(&format!("There is no ledger in {} yet; a bridge begins one when it first runs.", config.state_dir.display()));
        return EXIT_CONFIG.into();
    }
    let read = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|database| match &args.command {
        AuditCommand::Verify(args) => verified(&database, args.holds.as_deref()),
        AuditCommand::List(args) => list(&database, args),
    });
    read.unwrap_or_else(|problem| {
        say(&format!("The audit in {} cannot be read: {problem}.", path.display()));
        ExitCode::FAILURE
    })
}

fn verified(database: &Connection, holds: Option<&str>) -> rusqlite::Result<ExitCode> {
    Ok(match verify(database, holds)? {
        Ok(Whole { tip, .. }) if tip.seq == 0 => {
            say("The audit is empty.");
            ExitCode::SUCCESS
        }
        Ok(Whole { first, tip }) => {
            say(&format!("The audit is whole, from line {first} to line {}. The hash of the last line:\n{}", tip.seq, tip.hash));
            if holds.is_none() {
                say(
                    "Kept elsewhere, it shows later that nothing up to there was changed: `countersign audit verify --holds HASH`.",
                );
            }
            ExitCode::SUCCESS
        }
        Err(broken) => {
            say(&format!("The audit is BROKEN: {broken}."));
            ExitCode::FAILURE
        }
    })
}

fn list(database: &Connection, args: &AuditListArgs) -> rusqlite::Result<ExitCode> {
    let since = args.since.map_or(0, |since| match since {
        Since::Ago(span) => Clock::default().now().unix_millis().saturating_sub(millis(span)),
        Since::At(at) => at.unix_millis(),
    });
    let mut select = database.prepare("SELECT line FROM audit WHERE at >= ?1 ORDER BY seq")?;
    let mut rows = select.query([i64::try_from(since).unwrap_or(i64::MAX)])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        say(&if args.json { line } else { line::for_people(&line) });
    }
    Ok(ExitCode::SUCCESS)
}

/// A span before now such as `24h`, or a time such as `2026-11-30T22:00:00Z`.
pub(crate) fn since(text: &str) -> Result<Since, String> {
    if let Ok(span) = humantime::parse_duration(text) {
        return Ok(Since::Ago(span));
    }
    let at = humantime::parse_rfc3339_weak(text).or_else(|_| humantime::parse_rfc3339_weak(&format!("{text}T00:00:00Z")));
    let at = at.map_err(|_| format!("{text:?} is no time; write 24h, 2026-11-30 or 2026-11-30T22:00:00Z"))?;
    let span: Duration = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Since::At(Timestamp::from_unix_millis(millis(span))))
}
