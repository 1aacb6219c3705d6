use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use tempfile::TempDir;

use super::*;

const DAY: Duration = Duration::from_hours(24);

#[test]
fn whoever_has_a_key_joins_and_is_known_again() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk", "ops"]);
    let session = join(&keys, &key).expect("a session");
    assert_eq!(session.person, PersonId::new("ada"));
    let member = keys.member(&session.cookie, &session.page).expect("read").expect("a member");
    assert_eq!((member.person.as_str(), member.rooms), ("ada", vec![RoomName::new("desk"), RoomName::new("ops")]));
    // Another process sees the same.
    let again = Keys::open(stage.folder.path(), stage.outside()).expect("opened");
    assert!(again.member(&session.cookie, &session.page).expect("read").is_some());
}

#[test]
fn neither_half_of_a_session_is_enough() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    let (one, two) = (join(&keys, &key).expect("a session"), join(&keys, &key).expect("another"));
    let key = Token::parse(&key).expect("a token");
    for (cookie, page) in
        [(&one.cookie, &two.page), (&two.cookie, &one.page), (&one.page, &one.cookie), (&key, &one.page), (&one.cookie, &key)]
    {
        assert_eq!(keys.member(cookie, page).expect("read"), None);
    }
}

#[test]
fn what_is_no_key_opens_nothing() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    let hash = BASE.encode(&Token::parse(&key).expect("a token").hash());
    assert!(join(&keys, &hash).is_none(), "the stored hash is no key");
    assert!(join(&keys, &Token::from_random([9; 32]).text()).is_none());
    assert!(join(&keys, &key).is_some());
}

#[test]
fn a_revoked_key_takes_its_sessions_with_it_and_no_others() {
    let (stage, keys) = stage();
    let (ada, bob) = (stage.made(&keys, "ada", &["desk"]), stage.made(&keys, "bob", &["desk"]));
    stage.made(&keys, "ada", &["desk"]);
    let (adas, bobs) = (join(&keys, &ada).expect("a session"), join(&keys, &bob).expect("a session"));
    assert_eq!(keys.revoke(&PersonId::new("ada")).expect("written"), 2);
    assert_eq!(keys.member(&adas.cookie, &adas.page).expect("read"), None);
    assert!(join(&keys, &ada).is_none());
    assert!(keys.member(&bobs.cookie, &bobs.page).expect("read").is_some());
    assert_eq!(keys.sessions().expect("read"), [bobs.cookie.hash()].into());
    assert_eq!(keys.revoke(&PersonId::new("ada")).expect("written"), 0);
}

#[test]
fn a_link_ends_soon_after_it_was_used_and_what_it_opened_goes_on() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    stage.pass(DAY.saturating_sub(LINK_FOR_ONCE_USED * 2));
    let session = join(&keys, &key).expect("a session");
    stage.pass(LINK_FOR_ONCE_USED.saturating_sub(Duration::from_millis(1)));
    assert!(join(&keys, &key).is_some(), "for a phone as well");
    stage.pass(Duration::from_millis(1));
    assert!(join(&keys, &key).is_none(), "at its end it is over");
    assert!(keys.member(&session.cookie, &session.page).expect("read").is_some());
}

#[test]
fn a_link_that_nobody_used_ends_when_it_was_said_to() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    stage.pass(DAY);
    assert!(join(&keys, &key).is_none());
}

#[test]
fn a_session_that_is_not_used_ends() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    let session = join(&keys, &key).expect("a session");
    let is_member = || keys.member(&session.cookie, &session.page).expect("read").is_some();
    stage.pass(SESSION_IDLE_MAX.saturating_sub(Duration::from_millis(1)));
    assert!(is_member());
    keys.used([&session.cookie.hash()]).expect("written");
    stage.pass(SESSION_IDLE_MAX.saturating_sub(Duration::from_millis(1)));
    assert!(is_member());
    stage.pass(Duration::from_millis(1));
    assert!(!is_member());
    assert!(keys.sessions().expect("read").is_empty());
}

#[test]
fn one_browser_too_many_ends_the_one_that_was_not_used_for_longest() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    let sessions: Vec<_> = (0..=SESSIONS_MAX)
        .map(|_| {
            stage.pass(Duration::from_secs(1));
            join(&keys, &key).expect("a session")
        })
        .collect();
    let known: Vec<_> =
        sessions.iter().map(|session| keys.member(&session.cookie, &session.page).expect("read").is_some()).collect();
    assert!(!known[0] && known[1..].iter().all(|known| *known), "{known:?}");
}

#[test]
fn there_are_only_so_many_keys() {
    let (stage, keys) = stage();
    let all = keys.write(|keys| {
        for n in 0..KEYS_MAX {
            keys.execute("INSERT INTO key (person, hash, made, link_until) VALUES ('x', ?1, 0, 0)", [n.to_be_bytes()])?;
        }
        Ok(())
    });
    all.expect("written");
    assert!(matches!(keys.make(&PersonId::new("ada"), &[], DAY), Err(KeysError::TooMany)));
    keys.revoke(&PersonId::new("x")).expect("written");
    stage.made(&keys, "ada", &["desk"]);
}

#[test]
fn a_file_that_was_taken_away_lets_nobody_in() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    let session = join(&keys, &key).expect("a session");
    fs::remove_file(stage.file()).expect("removed");
    assert!(matches!(keys.member(&session.cookie, &session.page), Err(KeysError::Gone(_))));
    assert!(matches!(keys.join(&Token::parse(&key).expect("a token")), Err(KeysError::Gone(_))));
    assert!(!stage.file().exists(), "it is not made anew");
    // Another file in its place knows none of the old keys.
    Keys::open(stage.folder.path(), stage.outside()).expect("opened");
    assert_eq!(keys.member(&session.cookie, &session.page).expect("read"), None);
    fs::write(stage.file(), "no database at all").expect("written");
    assert!(matches!(keys.sessions(), Err(KeysError::Unusable { .. })));
}

#[test]
fn nothing_that_is_stored_lets_anybody_in() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    let session = join(&keys, &key).expect("a session");
    let bytes = fs::read(stage.file()).expect("readable");
    for secret in [Token::parse(&key).expect("a token"), session.cookie, session.page] {
        let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        assert!(!has(secret.text().as_bytes()) && !has(&BASE.decode(secret.text().as_bytes()).expect("base 64")));
    }
    assert_eq!(fs::metadata(stage.file()).expect("there").permissions().mode() & 0o077, 0);
}

#[test]
fn a_file_that_others_could_change_is_refused() {
    let (stage, _keys) = stage();
    for mode in [0o640, 0o620, 0o604, 0o602] {
        fs::set_permissions(stage.file(), fs::Permissions::from_mode(mode)).expect("set");
        assert!(matches!(Keys::open(stage.folder.path(), stage.outside()), Err(KeysError::Open(_))), "{mode:o}");
    }
}

#[test]
fn whoever_only_looks_makes_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (stage, _keys) = stage();
    assert!(Keys::open_if_there(folder.path(), stage.outside()).expect("read").is_none());
    assert!(fs::read_dir(folder.path()).expect("read").next().is_none());
    assert!(Keys::open_if_there(stage.folder.path(), stage.outside()).expect("read").is_some());
}

#[test]
fn the_bridge_is_known_by_what_only_it_and_the_page_know() {
    let (stage, keys) = stage();
    let key = stage.made(&keys, "ada", &["desk"]);
    let (one, two) = (join(&keys, &key).expect("a session"), join(&keys, &key).expect("another"));
    let id = |session: &Session| proof::id(&session.page.hash());
    let proven = keys.prove(&id(&one), "nonce").expect("read").expect("a proof");
    assert_eq!(proven, proof::of(&one.page.hash(), "nonce"));
    assert_ne!(proven, proof::of(&one.page.hash(), "another"));
    assert_ne!(proven, keys.prove(&id(&two), "nonce").expect("read").expect("a proof"));
    assert_eq!(keys.prove(&id(&one)[1..], "nonce").expect("read"), None);
    keys.revoke(&PersonId::new("ada")).expect("written");
    assert_eq!(keys.prove(&id(&one), "nonce").expect("read"), None);
}

#[test]
fn a_newer_file_is_refused_and_kept() {
    let (stage, _keys) = stage();
    let database = Connection::open(stage.file()).expect("opened");
    database.pragma_update(None, "user_version", layout::VERSION + 1).expect("set");
    assert!(matches!(Keys::open(stage.folder.path(), stage.outside()), Err(KeysError::Newer { .. })));
}

const BASE: data_encoding::Encoding = data_encoding::BASE64URL_NOPAD;

struct Stage {
    folder: TempDir,
    now: Arc<AtomicU64>,
}

fn stage() -> (Stage, Keys) {
    let stage = Stage { folder: tempfile::tempdir().expect("a folder"), now: Arc::new(AtomicU64::new(1_000_000)) };
    let keys = Keys::open(stage.folder.path(), stage.outside()).expect("opened");
    (stage, keys)
}

impl Stage {
    fn outside(&self) -> Outside {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let now = Arc::clone(&self.now);
        let random = || {
            let mut bytes = [0; 32];
            bytes[31] = NEXT.fetch_add(1, Ordering::Relaxed);
            bytes[..8].copy_from_slice(&std::process::id().to_be_bytes().repeat(2));
            bytes
        };
        Outside { now: Arc::new(move || Timestamp::from_unix_millis(now.load(Ordering::Relaxed))), random }
    }

    fn pass(&self, span: Duration) {
        self.now.fetch_add(u64::try_from(span.as_millis()).expect("a span"), Ordering::Relaxed);
    }

    fn made(&self, keys: &Keys, person: &str, rooms: &[&str]) -> String {
        let rooms: Vec<_> = rooms.iter().copied().map(RoomName::new).collect();
        assert!(self.file().exists());
        keys.make(&PersonId::new(person), &rooms, DAY).expect("made")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("web-room.sqlite3")
    }
}

fn join(keys: &Keys, key: &str) -> Option<Session> {
    keys.join(&Token::parse(key)?).expect("read")
}
