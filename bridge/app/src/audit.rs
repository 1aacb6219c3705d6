//! The audit: what happened, in lines that each prove those before it.
//!
//! A line is JSON, and its hash is the SHA-256 of the hash before it, a line break, and the line. So whoever keeps one hash
//! elsewhere can show that nothing up to there was changed. A line names room, card, person, option and how it ended, and
//! by its digest what was shown; never what a tool would have done.

mod command;
mod line;

use std::time::Duration;

use bridge_core::Entry;
use bridge_model::{RequestId, Timestamp};
use data_encoding::HEXLOWER;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sha2::{Digest as _, Sha256};

use crate::ledger;
pub(crate) use command::{run, since};
use line::{Line, Told, What};

/// A part of the ledger's layout.
pub(crate) const LAYOUT: &str = "
    CREATE TABLE audit (
        seq  INTEGER PRIMARY KEY,
        at   INTEGER NOT NULL,
        line TEXT NOT NULL,
        hash TEXT NOT NULL
    ) STRICT;
";

/// Before the first line.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How often lines that are too old are looked for.
const FORGET_EVERY: Duration = Duration::from_hours(1);

/// The end of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tip {
    pub(crate) seq: u64,
    pub(crate) hash: String,
}

/// Writes the chain on.
#[derive(Debug)]
pub(crate) struct Audit {
    tip: Tip,
    /// How long a line is kept; `None`: for ever.
    keep: Option<Duration>,
    forgets_at: Timestamp,
}

impl Audit {
    /// Of the lines that are there.
    pub(crate) fn of(database: &Connection, keep: Option<Duration>) -> rusqlite::Result<Self> {
        Ok(Self { tip: tip(database)?, keep, forgets_at: Timestamp::from_unix_millis(0) })
    }

    pub(crate) fn tip(&self) -> &Tip {
        &self.tip
    }

    /// Adds a line, and leaves out those that are too old. The new end of the chain, for [`Audit::is_at`] once all of it is
    /// durable.
    pub(crate) fn add(&self, within: &Transaction<'_>, entry: &Entry, now: Timestamp) -> rusqlite::Result<Tip> {
        let tip = append(within, &self.tip, What::of(entry), Some(entry.request()), now)?;
        let Some(keep) = self.keep.filter(|_| self.forgets_at.has_passed(now)) else { return Ok(tip) };
        forget(within, tip, Timestamp::from_unix_millis(now.unix_millis().saturating_sub(millis(keep))), now)
    }

    pub(crate) fn is_at(&mut self, tip: Tip, now: Timestamp) {
        self.tip = tip;
        if self.forgets_at.has_passed(now) {
            self.forgets_at = now.after(FORGET_EVERY);
        }
    }
}

fn append(
    within: &Transaction<'_>,
    before: &Tip,
    what: What<'_>,
    request: Option<RequestId>,
    now: Timestamp,
) -> rusqlite::Result<Tip> {
    let seq = before.seq + 1;
    let line = Line { seq, at: now.unix_millis(), request: request.map(|request| request.to_string()), what };
    // These types hold nothing that JSON cannot.
    let line = serde_json::to_string(&line).unwrap_or_default();
    let hash = hash(&before.hash, &line);
    within.execute(
        "INSERT INTO audit (seq, at, line, hash) VALUES (?1, ?2, ?3, ?4)",
        params![i64::try_from(seq).unwrap_or(i64::MAX), ledger::millis(now), line, hash],
    )?;
    Ok(Tip { seq, hash })
}

/// Takes out the lines of before `until`, and says in a line which, and how they ended, so that the chain holds.
fn forget(within: &Transaction<'_>, tip: Tip, until: Timestamp, now: Timestamp) -> rusqlite::Result<Tip> {
    let last = "SELECT seq, hash FROM audit WHERE at < ?1 ORDER BY seq DESC LIMIT 1";
    let last = within
        .query_row(last, [ledger::millis(until)], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let Some((last, hash)) = last else { return Ok(tip) };
    within.execute("DELETE FROM audit WHERE seq <= ?1", [last])?;
    let forgotten = What::Forgotten { up_to: u64::try_from(last).unwrap_or_default(), hash: &hash };
    append(within, &tip, forgotten, None, now)
}

/// The end of the chain as it stands in the database.
pub(crate) fn tip(database: &Connection) -> rusqlite::Result<Tip> {
    let last = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1";
    let last = database.query_row(last, [], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?))).optional()?;
    let (seq, hash) = last.unwrap_or((0, NOTHING.to_owned()));
    Ok(Tip { seq: u64::try_from(seq).unwrap_or_default(), hash })
}

fn hash(before: &str, line: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(format!("{before}\n{line}")))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Where a chain does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("line {0} does not follow from the one before it: one of the two was changed, or a line between them is missing")]
    Link(u64),
    #[error("line {0} is not what it says that it is: its number or its time was changed")]
    Number(u64),
    #[error("the lines before {0} are missing, and no line says that they were left out as too old")]
    Beginning(u64),
    #[error("no line has the hash {0}: the audit was changed at or before that line, or the line was left out as too old")]
    NotHeld(String),
}

/// What was found to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) first: u64,
    pub(crate) tip: Tip,
}

/// Goes through the chain. `holds`: a hash that one of its lines has to have.
pub(crate) fn verify(database: &Connection, holds: Option<&str>) -> rusqlite::Result<Result<Whole, Broken>> {
    let mut select = database.prepare("SELECT seq, at, line, hash FROM audit ORDER BY seq")?;
    let mut rows = select.query([])?;
    let mut first: Option<First> = None;
    let mut tip = Tip { seq: 0, hash: NOTHING.to_owned() };
    let mut is_held = holds.is_none();
    while let Some(row) = rows.next()? {
        let seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        let (at, line, own): (i64, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let Some(told) = Told::read(&line).filter(|told| told.seq == seq && i64::try_from(told.at) == Ok(at)) else {
            return Ok(Err(Broken::Number(seq)));
        };
        // What the first line follows may have been left out, and then a later line says what it was.
        let is_to_follow = first.is_some() || seq == 1;
        if is_to_follow && (tip.seq + 1 != seq || hash(&tip.hash, &line) != own) {
            return Ok(Err(Broken::Link(seq)));
        }
        let first = first.get_or_insert_with(|| First { seq, line, hash: own.clone(), is_known: seq == 1 });
        if let Some((up_to, ended)) = told.forgotten
            && up_to + 1 == first.seq
        {
            first.is_known = first.is_known || hash(&ended, &first.line) == first.hash;
        }
        is_held = is_held || holds == Some(own.as_str());
        tip = Tip { seq, hash: own };
    }
    Ok(match (first, holds) {
        (Some(First { seq, is_known: false, .. }), _) => Err(Broken::Beginning(seq)),
        (_, Some(hash)) if !is_held => Err(Broken::NotHeld(hash.to_owned())),
        (first, _) => Ok(Whole { first: first.map_or(0, |first| first.seq), tip }),
    })
}

/// The first line that is there.
struct First {
    seq: u64,
    line: String,
    hash: String,
    /// Whether it is known what it follows.
    is_known: bool,
}

#[cfg(test)]
mod tests;
