//! A chain that holds, and every way in which one does not.

use bridge_model::{CardRef, Digest, Ending, MessageId, PersonId, RequestId, RoomName, Shown};

use super::*;
use crate::ledger::Ledger;

const REQUEST: RequestId = RequestId { run: 7, number: 3 };
const DAY: u64 = 86_400_000;

#[test]
fn each_line_follows_from_the_one_before_it() {
    let (dir, ledger) = written(DAY, None);
    let tip = ledger.tip().clone();
    assert_eq!(check(&dir, None), Ok(Whole { first: 1, tip: tip.clone() }));
    let lines = lines(&dir);
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        format!(
            r#"{{"seq":1,"at":{DAY},"request":"0000000000000007-3","what":"held","room":"r","deadline":9,"shown":"{}"}}"#,
            "01".repeat(32)
        )
    );
    // As anybody can work it out.
    let chain =
        lines.iter().fold(NOTHING.to_owned(), |before, line| HEXLOWER.encode(&Sha256::digest(format!("{before}\n{line}"))));
    assert_eq!(chain, tip.hash);
    assert!(!lines.concat().contains("headline"), "what is asked is in none of them");
}

#[test]
fn it_goes_on_after_a_restart() {
    let (dir, ledger) = written(DAY, None);
    drop(ledger);
    let mut ledger = Ledger::open(dir.path(), None).expect("opened");
    ledger.write(&expired(), at(2 * DAY)).expect("written");
    assert_eq!(check(&dir, None).map(|whole| whole.tip.seq), Ok(5));
}

#[test]
fn whatever_is_changed_is_noticed() {
    for (change, broken) in [
        ("UPDATE audit SET line = replace(line, '@ada:x', '@eve:x') WHERE seq = 3", Broken::Link(3)),
        (
            "UPDATE audit SET line = replace(line, '\"at\":86400000', '\"at\":86400001'), at = 86400001 WHERE seq = 2",
            Broken::Link(2),
        ),
        ("UPDATE audit SET at = 5 WHERE seq = 2", Broken::Number(2)),
        ("UPDATE audit SET line = 'x' WHERE seq = 2", Broken::Number(2)),
        ("UPDATE audit SET hash = replace(hash, 'a', 'b') WHERE seq = 2", Broken::Link(2)),
        ("DELETE FROM audit WHERE seq = 2", Broken::Link(3)),
        ("DELETE FROM audit WHERE seq = 1", Broken::Beginning(2)),
        ("DELETE FROM audit WHERE seq <= 3", Broken::Beginning(4)),
        ("UPDATE audit SET line = replace(line, '\"at\":', '\"at\" :') WHERE seq = 1", Broken::Link(1)),
    ] {
        let (dir, ledger) = written(DAY, None);
        drop(ledger);
        assert_eq!(database(&dir).execute(change, []), Ok(1 + usize::from(change.ends_with("<= 3")) * 2), "{change}");
        assert_eq!(check(&dir, None), Err(broken), "{change}");
    }
}

#[test]
fn a_hash_that_was_kept_shows_that_lines_were_taken_off_the_end_or_written_anew() {
    let (dir, ledger) = written(DAY, None);
    let kept = ledger.tip().hash.clone();
    drop(ledger);
    assert!(check(&dir, Some(&kept)).is_ok());
    database(&dir).execute("DELETE FROM audit WHERE seq = 4", []).expect("changed");
    assert!(check(&dir, None).is_ok());
    assert_eq!(check(&dir, Some(&kept)), Err(Broken::NotHeld(kept)));
}

#[test]
fn lines_that_are_too_old_are_left_out_and_the_chain_holds() {
    let (dir, mut ledger) = written(DAY, Some(Duration::from_hours(48)));
    ledger.write(&expired(), at(2 * DAY)).expect("written");
    assert_eq!(lines(&dir).len(), 5, "none is old enough");
    ledger.write(&expired(), at(3 * DAY + 1)).expect("written");
    let kept = lines(&dir);
    assert_eq!(kept.len(), 3, "two, and that the others are gone: {kept:?}");
    assert!(kept[2].contains(r#""what":"forgotten","up_to":4"#), "{kept:?}");
    assert_eq!(check(&dir, None).map(|whole| (whole.first, whole.tip.seq)), Ok((5, 7)));
    // Not again at once, though more could go.
    ledger.write(&expired(), at(3 * DAY + 2)).expect("written");
    assert_eq!(lines(&dir).len(), 4);
    ledger.write(&expired(), at(9 * DAY)).expect("written");
    assert_eq!(check(&dir, None).map(|whole| (whole.first, whole.tip.seq)), Ok((9, 10)));
    drop(ledger);
    // Whoever takes out more than was said is found out.
    database(&dir).execute("DELETE FROM audit WHERE seq = 9", []).expect("changed");
    assert_eq!(check(&dir, None), Err(Broken::Beginning(10)));
}

#[test]
fn people_can_read_it() {
    let (dir, _ledger) = written(DAY, None);
    let told: Vec<_> = lines(&dir).iter().map(|line| line::for_people(line)).collect();
    let about = "1970-01-02 00:00:00 UTC  request 0000000000000007-3  ";
    assert_eq!(
        told,
        [
            format!("1  {about}waits in r until 1970-01-01 00:00:00 UTC, shown as {}", "01".repeat(32)),
            format!("2  {about}is on the card $c in r"),
            format!("3  {about}@ada:x is the first of two who chose \"Yes\""),
            format!("4  {about}nobody answered in time; refused"),
        ]
    );
}

#[test]
fn a_ledger_from_before_it_begins_one() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(Ledger::open(dir.path(), None).expect("opened"));
    let since = "ALTER TABLE request DROP COLUMN source; ALTER TABLE request DROP COLUMN snapshot;
        ALTER TABLE request DROP COLUMN outcome;";
    database(&dir).execute_batch(&format!("DROP TABLE audit; {since} PRAGMA user_version = 3;")).expect("changed");
    let mut ledger = Ledger::open(dir.path(), None).expect("opened");
    ledger.write(&expired(), at(1)).expect("written");
    assert_eq!(check(&dir, None).map(|whole| whole.tip.seq), Ok(1));
}

fn written(millis: u64, keep: Option<Duration>) -> (tempfile::TempDir, Ledger) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut ledger = Ledger::open(dir.path(), keep).expect("opened");
    let (room, deadline) = (RoomName::new("r"), Timestamp::from_unix_millis(9));
    let held = Entry::Held {
        request: REQUEST,
        room,
        headline: Shown::line("the headline"),
        deadline,
        shown: Digest::from_bytes([1; 32]),
        kept: None,
    };
    let card = CardRef { room: RoomName::new("r"), control: MessageId::new("$c"), parts: vec![] };
    let first =
        Entry::ChosenFirst { request: REQUEST, person: PersonId::new("@ada:x"), option: Shown::line("Yes"), at: at(millis) };
    for entry in [held, Entry::Posted { request: REQUEST, card }, first, expired()] {
        ledger.write(&entry, at(millis)).expect("written");
    }
    (dir, ledger)
}

fn expired() -> Entry {
    Entry::Settled { request: REQUEST, ending: Ending::Expired, at: None, outcome: None }
}

const fn at(millis: u64) -> Timestamp {
    Timestamp::from_unix_millis(millis)
}

fn database(dir: &tempfile::TempDir) -> Connection {
    Connection::open(crate::ledger::path(dir.path())).expect("opened")
}

fn check(dir: &tempfile::TempDir, holds: Option<&str>) -> Result<Whole, Broken> {
    verify(&database(dir), holds).expect("read")
}

fn lines(dir: &tempfile::TempDir) -> Vec<String> {
    let database = database(dir);
    let mut select = database.prepare("SELECT line FROM audit ORDER BY seq").expect("read");
    let lines = select.query_map([], |row| row.get(0)).expect("read");
    lines.collect::<Result<_, _>>().expect("read")
}
