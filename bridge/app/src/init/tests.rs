use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::answers::word;
use super::terminal::tests::Script;
use super::*;

#[test]
fn flags_alone_make_each_kind_of_configuration() {
    let home = Home::new();
    for (args, kind) in [(web(), Kind::Web), (home.matrix(), Kind::Matrix), (home.discord(), Kind::Discord)] {
        let place = home.path(word(kind)).join("countersign.toml");
        let config = unattended(&args, kind, &place).and_then(Prepared::write).expect("written");
        assert_eq!((config.file.as_path(), config.warnings.len()), (place.as_path(), 0));
        let loaded = bridge_config::load(Some(&place)).expect("understood").expect("there");
        assert_eq!((&loaded.rooms, &loaded.warnings), (&config.rooms, &config.warnings));
        assert_eq!(loaded.matrix.map(|matrix| matrix.invites_from), config.matrix.map(|matrix| matrix.invites_from));
        let secrets = secret_name(kind).map(|name| fs::read_to_string(place.with_file_name(name)).expect("written"));
        assert!(secrets.is_none_or(|secret| secret == "hunter2\n"));
        assert!(!fs::read_to_string(&place).expect("written").contains("hunter2"));
    }
}

#[test]
fn all_that_is_missing_is_told_at_once() {
    let home = Home::new();
    let flags = |kind: Kind, args: InitArgs| {
        let told = unattended(&args, kind, &home.path("c.toml")).expect_err("something is missing").0;
        told.iter().filter_map(|line| line.split_once(" is missing: ")).map(|(flag, _)| flag.to_owned()).collect::<Vec<_>>()
    };
    let nothing = InitArgs::default;
    assert_eq!(flags(Kind::Web, nothing()), ["--approver WHO"]);
    let of_matrix = ["--homeserver URL", "--user ID", "--password-file FILE", "--room-id ID", "--approver WHO"];
    assert_eq!(flags(Kind::Matrix, nothing()), of_matrix);
    let of_discord = ["--token-file FILE", "--channel ID", "--approver WHO, or --approver-role ID"];
    assert_eq!(flags(Kind::Discord, nothing()), of_discord);
    assert_eq!(flags(Kind::Discord, InitArgs { approver_roles: vec!["7".into()], ..nothing() }), of_discord[..2]);
    let both = InitArgs { homeserver: Some("ftp://x".into()), ..nothing() };
    let told = unattended(&both, Kind::Matrix, &home.path("c.toml")).expect_err("problems").0;
    assert!(told.len() == 5 && told[0].starts_with("matrix.homeserver: is not an https address"), "{told:?}");
    assert!(!home.path("c.toml").exists());
}

#[test]
fn flags_of_another_kind_are_refused() {
    let home = Home::new();
    let args = InitArgs { channel: Some("5".into()), ..web() };
    let told = unattended(&args, Kind::Web, &home.path("c.toml")).expect_err("a problem").0;
    assert_eq!(told, ["--channel is for discord rooms; remove it"]);
}

#[test]
fn what_flags_say_cannot_add_keys() {
    let home = Home::new();
    for value in ["x\"]\n[policy]\ndefault = \"auto_deny\"", "'''\n[acp]\nroom = \"x\"\n'''", "ada\", \"bob"] {
        let args = InitArgs { approvers: vec![value.into()], ..web() };
        let told = unattended(&args, Kind::Web, &home.path("c.toml")).expect_err("a problem").0;
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("rooms.builds.approvers[0]: ") && told[0].contains("is not a person's name"), "{told:?}");
    }
}

#[test]
fn a_secret_that_lies_at_its_place_is_used_and_left() {
    let home = Home::new();
    let place = home.path("matrix/countersign.toml");
    unattended(&home.matrix(), Kind::Matrix, &place).and_then(Prepared::write).expect("written");
    fs::remove_file(&place).expect("removed");
    let secret = place.with_file_name("matrix-password");
    for password_file in [None, Some(secret.clone())] {
        let args = InitArgs { password_file, ..home.matrix() };
        unattended(&args, Kind::Matrix, &place).and_then(Prepared::write).expect("written");
        assert_eq!(fs::read_to_string(&secret).expect("there"), "hunter2\n");
    }
    fs::write(home.path("secret"), "another").expect("written");
    let told = unattended(&home.matrix(), Kind::Matrix, &place).and_then(Prepared::write).expect_err("refused").0;
    assert!(told[0].contains("matrix-password is there already, with something else in it"), "{told:?}");
    assert_eq!(fs::read_to_string(&secret).expect("there"), "hunter2\n");
}

#[test]
fn a_person_is_asked_only_for_what_is_missing() {
    let home = Home::new();
    let place = home.path("countersign.toml");
    let args = InitArgs { room: Some("ops".into()), ..InitArgs::default() };
    let prepared = prepare(&args, Kind::Web, &place, Some(&mut Script::new(&["ada\n"]))).expect("answered");
    prepared.write().expect("written");
    assert!(fs::read_to_string(&place).expect("written").contains("[rooms.ops]\nweb = true\n"));
    // Nor for anything where the answers would be in vain.
    let told = prepare(&args, Kind::Web, &place, Some(&mut Script::new(&[]))).expect_err("refused").0;
    assert!(told.len() == 1 && told[0].contains("is there already and is never overwritten"), "{told:?}");
    prepare(&web(), Kind::Web, &home.path("other.toml"), Some(&mut Script::new(&[]))).expect("nothing to ask");
}

#[test]
fn a_person_who_ends_it_leaves_nothing() {
    let home = Home::new();
    let place = home.path("matrix/countersign.toml");
    let typed = ["\n", "https://matrix.example.org\n", "@bot:example.org\n", "hunter2"];
    let stop = prepare(&InitArgs::default(), Kind::Matrix, &place, Some(&mut Script::new(&typed))).expect_err("ended");
    assert!(stop.0.is_empty() && !place.parent().is_some_and(Path::exists));
}

#[test]
fn nobody_needs_a_link_to_a_room_of_a_chat() {
    let home = Home::new();
    let config = unattended(&home.matrix(), Kind::Matrix, &home.path("m/c.toml")).expect("prepared").config;
    assert!(invitations(&config).is_empty());
}

fn unattended(args: &InitArgs, kind: Kind, place: &Path) -> Result<Prepared, Stop> {
    prepare(args, kind, place, None::<&mut Script>)
}

fn web() -> InitArgs {
    InitArgs { approvers: vec!["ada".into(), "bob".into()], ..InitArgs::default() }
}

/// A folder with a secret in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        fs::write(home.path().join("secret"), "hunter2\n").expect("written");
        Self(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn matrix(&self) -> InitArgs {
        InitArgs {
            homeserver: Some("https://matrix.example.org".into()),
            user: Some("@bot:example.org".into()),
            room_id: Some("!abc:example.org".into()),
            approvers: vec!["@ada:example.org".into()],
            password_file: Some(self.path("secret")),
            ..InitArgs::default()
        }
    }

    fn discord(&self) -> InitArgs {
        let (channel, approvers) = (Some("123".into()), vec!["5".into()]);
        InitArgs { channel, approvers, token_file: Some(self.path("secret")), ..InitArgs::default() }
    }
}
