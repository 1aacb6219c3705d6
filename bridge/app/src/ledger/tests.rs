//! What the ledger keeps, and what it refuses.

use std::fs;

#[cfg(feature = "http")]
use bridge_core::Kept;
use bridge_model::{Delivery, Digest, PersonId, Refused};

use super::*;

const REQUEST: RequestId = RequestId { run: u64::MAX, number: 3 };
const AT: Timestamp = Timestamp::from_unix_millis(7);

#[test]
fn a_held_request_is_left_open_until_its_card_is_closed() {
    let (dir, mut ledger) = ledger();
    ledger.write(&held(), AT).expect("written");
    ledger.write(&Entry::Posted { request: REQUEST, card: card() }, AT).expect("written");
    drop(ledger);

    let mut ledger = Ledger::open(dir.path(), None).expect("opened");
    let restarted = Ending::Withdrawn(Withdrawn::BridgeRestarted);
    assert_eq!(ledger.left_open().expect("read"), [(Some(card()), closed(restarted.clone()))]);
    ledger.write(&Entry::Settled { request: REQUEST, ending: restarted, at: None, outcome: None }, AT).expect("written");
    ledger.card_closed(REQUEST).expect("written");
    assert_eq!(ledger.left_open().expect("read"), []);
}

#[test]
fn an_answer_that_may_not_have_arrived_is_not_said_to_have() {
    let (_dir, mut ledger) = ledger();
    ledger.write(&held(), AT).expect("written");
    ledger
        .write(&Entry::Settled { request: REQUEST, ending: answered(Delivery::Pending), at: Some(AT), outcome: None }, AT)
        .expect("written");
    let unknown = answered(Delivery::NotDelivered(NotDelivered::BridgeRestarted));
    assert_eq!(ledger.left_open().expect("read"), [(None, ClosedCard { at: Some(AT), ..closed(unknown) })]);
}

#[test]
fn what_was_never_held_is_not_left_open() {
    let (_dir, mut ledger) = ledger();
    ledger
        .write(
            &Entry::Settled {
                request: REQUEST,
                ending: Ending::Refused(Refused::ByPolicy("the policy says delete = auto_deny".into())),
                at: Some(AT),
                outcome: None,
            },
            AT,
        )
        .expect("written");
    assert_eq!(ledger.left_open().expect("read"), []);
}

#[test]
fn what_a_card_showed_is_on_record_by_its_digest() {
    let (_dir, mut ledger) = ledger();
    ledger.write(&held(), AT).expect("written");
    let shown: String = ledger.database.query_row("SELECT shown FROM request", [], |row| row.get(0)).expect("read");
    assert_eq!(shown, "01".repeat(32));
    let Entry::Held { request, room, headline, deadline, .. } = held() else { unreachable!("it is") };
    let again = Entry::Held { request, room, headline, deadline, shown: Digest::from_bytes([2; 32]), kept: None };
    ledger.write(&again, AT).expect("written");
    let shown: String = ledger.database.query_row("SELECT shown FROM request", [], |row| row.get(0)).expect("read");
    assert_eq!(shown, "02".repeat(32));
}

#[test]
fn a_ledger_of_the_first_layout_is_taken_over() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("ledger.sqlite");
    let added = ["shown    TEXT,", "ended    INTEGER,", "first    TEXT,", "source   TEXT,", "snapshot TEXT,", "outcome  TEXT,"];
    let first = added.iter().fold(LAYOUT.to_owned(), |layout, column| layout.replace(column, ""));
    let database = open(&path).expect("opened");
    let row = "INSERT INTO request (run, number, room, headline, deadline) VALUES ('ffffffffffffffff', 3, 'r', 'h', 1);";
    database.execute_batch(&format!("{first} {row} PRAGMA user_version = 1;")).expect("made");
    drop(database);
    let mut ledger = Ledger::open(dir.path(), None).expect("opened");
    assert_eq!(ledger.left_open().expect("read"), [(None, closed(Ending::Withdrawn(Withdrawn::BridgeRestarted)))]);
    let ending = Ending::Withdrawn(Withdrawn::BridgeRestarted);
    ledger.write(&Entry::Settled { request: REQUEST, ending, at: Some(AT), outcome: None }, AT).expect("written");
}

#[test]
fn a_second_bridge_is_kept_out() {
    let (dir, _ledger) = ledger();
    assert!(matches!(Ledger::open(dir.path(), None), Err(LedgerError::InUse(_))));
}

#[test]
fn a_newer_or_broken_ledger_is_refused_and_kept() {
    let (dir, ledger) = ledger();
    ledger.database.pragma_update(None, "user_version", VERSION + 1).expect("set");
    drop(ledger);
    assert!(matches!(Ledger::open(dir.path(), None), Err(LedgerError::Newer { .. })));
    let path = dir.path().join("ledger.sqlite");
    for name in ["ledger.sqlite-wal", "ledger.sqlite-shm"] {
        let _ = fs::remove_file(dir.path().join(name));
    }
    fs::write(&path, "not a database at all, but text that is long enough to be taken for one".repeat(20)).expect("written");
    assert!(matches!(Ledger::open(dir.path(), None), Err(LedgerError::Database(..))));
    assert!(fs::read(&path).expect("kept").starts_with(b"not a database"));
}

#[test]
fn a_folder_that_others_could_change_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a folder");
    for mode in [0o777, 0o770, 0o702] {
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).expect("set");
        assert!(matches!(Ledger::open(dir.path(), None), Err(LedgerError::NotPrivate(_))), "{mode:o}");
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("set");
    assert!(Ledger::open(dir.path(), None).is_ok());
}

#[test]
fn others_cannot_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, _ledger) = ledger();
    let mode = fs::metadata(dir.path().join("ledger.sqlite")).expect("there").permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

fn ledger() -> (tempfile::TempDir, Ledger) {
    let dir = tempfile::tempdir().expect("a folder");
    let ledger = Ledger::open(dir.path(), None).expect("opened");
    (dir, ledger)
}

fn card() -> CardRef {
    CardRef { room: RoomName::new("r"), control: MessageId::new("$c"), parts: vec![MessageId::new("$m")] }
}

fn answered(delivery: Delivery) -> Ending {
    Ending::Answered {
        person: PersonId::new("@a:x"),
        name: Shown::line("A"),
        option: Shown::line("Yes"),
        does: bridge_model::ButtonStyle::AllowOnce,
        first: None,
        delivery,
    }
}

fn held() -> Entry {
    Entry::Held {
        request: REQUEST,
        room: RoomName::new("r"),
        headline: Shown::line("h"),
        deadline: Timestamp::from_unix_millis(1),
        shown: Digest::from_bytes([1; 32]),
        kept: None,
    }
}

fn closed(ending: Ending) -> ClosedCard {
    ClosedCard { request: REQUEST, room: RoomName::new("r"), headline: Shown::line("h"), ending, at: None }
}

#[cfg(feature = "http")]
#[test]
fn what_comes_back_is_kept_until_it_has_ended_and_then_how_it_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = || Ledger::open(folder.path(), None).expect("opened");
    let from = ReplyTo { source: bridge_model::SourceName::new("http"), ask: u64::MAX };
    let kept = Kept { from: from.clone(), comes_back: "mine".to_owned(), snapshot: "{\"all\":1}".to_owned() };
    let Entry::Held { request, room, headline, deadline, shown, .. } = held() else { unreachable!() };
    let held = Entry::Held { request, room, headline, deadline, shown, kept: Some(kept) };
    ledger().write(&held, AT).expect("written");
    let going = ledger().that_go_on().expect("read");
    assert_eq!((going.len(), &going[0].from, &going[0].card), (1, &from, &None));
    // Its card was not seen to be posted, so whatever is there of it is closed, and it goes on on another.
    assert_eq!(ledger().left_open().expect("read").len(), 1);
    ledger().write(&Entry::Posted { request: REQUEST, card: card() }, AT).expect("written");
    let going = ledger().that_go_on().expect("read");
    assert_eq!((going[0].snapshot.as_str(), going[0].comes_back.as_str()), ("{\"all\":1}", "mine"));
    assert_eq!(going[0].card, Some(card()));
    assert!(ledger().left_open().expect("read").is_empty());
    assert!(ledger().outcomes().expect("read").is_empty());
    let settled = |delivery, outcome| Entry::Settled { request: REQUEST, ending: answered(delivery), at: Some(AT), outcome };
    ledger().write(&settled(Delivery::Pending, Some(Outcome::Cancelled)), AT).expect("written");
    // Whether it was taken changes nothing about what it was.
    ledger().write(&settled(Delivery::Taken, None), AT).expect("written");
    assert!(ledger().that_go_on().expect("read").is_empty());
    let outcomes = ledger().outcomes().expect("read");
    assert_eq!((outcomes.len(), &outcomes[0].from, outcomes[0].outcome.as_deref()), (1, &from, Some("null")));
    assert_eq!((&outcomes[0].ending, outcomes[0].at), (&answered(Delivery::Taken), Some(AT)));
    let database = rusqlite::Connection::open(path(folder.path())).expect("a database");
    let snapshots: i64 = database.query_row("SELECT count(snapshot) FROM request", [], |row| row.get(0)).expect("a number");
    assert_eq!(snapshots, 0, "what the tool would have done is not kept");
}
