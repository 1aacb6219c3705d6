mod answers;
mod cards;
mod discord;
mod rules;
mod starter;
mod web;

use std::time::Duration;

use bridge_model::{PersonId, RoleId, Secret, ToolKind};
use policy::{Approvers, Listed, RefusalStyle, Verdict, Verdicts, Who};

use super::*;

const MATRIX: &str = "[matrix]\nhomeserver = \"https://matrix.example.org\"\nuser = \"@countersign:example.org\"\n";
const BUILDS: &str = "[rooms.builds]\nmatrix = \"!abc:example.org\"\napprovers = [\"@ada:example.org\"]\n";
const OPS: &str = "[rooms.ops]\nmatrix = \"!ops:example.org\"\napprovers = \"anyone\"\n";
const DISCORD: &str = "[discord]\ntoken_file = \"token\"\n[rooms.chat]\ndiscord = \"123\"\n";
const WEB: &str = "[rooms.desk]\nweb = true\napprovers = [\"ada\"]\n";
/// What every secret in these tests is.
const SECRET: &str = "hunter2";
const NO_ROOM: &str = "warning: no room is configured, so every permission request is refused";

#[test]
fn the_example_is_fine_as_it_is() {
    let config = check(EXAMPLE, &[], &[]).expect("a configuration");
    let room = &config.rooms[&RoomName::new("builds")];
    assert_eq!(room.service, Service::Matrix { room_id: "!abc:example.org".into(), reactions: false });
    assert_eq!(room.answers.rules.approvers.who, Who::Listed(Listed::people([PersonId::new("@ada:example.org")])));
    assert_eq!(config.acp, Acp { room: Some(RoomName::new("builds")), also_ask_client: false, name: None });
    let matrix = config.matrix.expect("an account");
    assert!(matches!(&matrix.login, Some(Login::Password(password)) if password.expose() == SECRET));
    assert_eq!(matrix.invites_from, [PersonId::new("@ada:example.org")].into());
}

#[test]
fn every_setting_that_is_off_in_the_example_may_be_turned_on() {
    let lines: Vec<&str> = EXAMPLE.lines().collect();
    let off = lines.iter().enumerate().filter(|(_, line)| line.starts_with('#') && !line.starts_with("# ") && line.len() != 1);
    let off: Vec<usize> = off.map(|(at, _)| at).collect();
    // Those that stand together belong together.
    let groups: Vec<&[usize]> = off.chunk_by(|a, b| a + 1 == *b).collect();
    assert_eq!((off.len(), groups.len()), (32, 26));
    for group in groups {
        let mut lines = lines.clone();
        for at in group {
            lines[*at] = &lines[*at][1..];
        }
        check(&lines.join("\n"), &[], &[]);
    }
}

#[test]
fn the_example_states_the_defaults() {
    let chat = DISCORD.replace("123", "123456789012345678");
    let bare = format!("{MATRIX}{BUILDS}{WEB}{chat}approvers = [\"234567890123456789\"]\n[acp]\nroom = \"builds\"");
    let (example, bare) = (check(EXAMPLE, &[], &[]), check(&bare, &[], &[]));
    let (example, bare) = (example.expect("a configuration"), bare.expect("a configuration"));
    assert_eq!(example.log, bare.log);
    assert_eq!(example.acp, bare.acp);
    assert_eq!(example.policy, bare.policy);
    assert_eq!(example.rooms, bare.rooms);
    assert_eq!(example.web.listen, bare.web.listen);
    assert_eq!(example.matrix.map(|matrix| matrix.device_name), bare.matrix.map(|matrix| matrix.device_name));
}

#[test]
fn an_empty_file_asks_and_has_nobody_to_ask() {
    let config = check("", &[], &[NO_ROOM]).expect("a configuration");
    assert_eq!(config.acp, Acp { room: None, also_ask_client: false, name: None });
    assert_eq!(config.policy, Policy::asking(Duration::from_mins(5)));
    assert!(config.matrix.is_none());
    assert_eq!(config.state_dir, Path::new("/home/ada/.local/state/countersign"));
}

#[test]
fn independent_problems_are_all_told_at_once() {
    let text = "nonsense = 1\n[log]\nformat = \"xml\"\n[policy]\ndefault = \"auto_allow\"\nlifetime = \"0s\"\n\
                [matrix]\nhomeserver = \"ftp://x\"\npassword = \"hunter2\"\n[rooms.builds]\napprovers = [\"@ada:x\", \"ada\"]\n";
    let expected = [
        "log.format: \"xml\" is not a format; use human or json",
        "policy.default: would allow everything without a person; write mode = \"approve-all\"",
        "policy.lifetime: \"0s\" is too short or too long; use 1s to 30days",
        "matrix.user: is missing; write the bot's own id",
        "matrix.homeserver: is not an https address; write it as",
        "matrix.password: would be a secret in plain sight; use password_file, or password_env",
        "rooms.builds.matrix: is missing; say which room it is",
        "rooms.builds.approvers[1]: \"ada\" is not a Matrix user id; write it as \"@ada:example.org\"",
        "nonsense: is not a known key; remove it; known here: state_dir, audit, log, acp, http, metrics, policy, limits, matrix, discord, web, rooms",
    ];
    check(text, &[], &expected);
}

#[test]
fn programs_are_served_on_this_machine_alone() {
    let http = check("", &[], &[NO_ROOM]).expect("a configuration").http;
    assert_eq!(http.socket, Path::new("/home/ada/.local/state/countersign/countersign.sock"));
    assert_eq!((http.listen, http.room, http.lease), (None, None, Duration::from_mins(1)));
    let one = format!("{MATRIX}{BUILDS}[http]\nlisten = \"[::1]:80\"\nsocket = \"/run/c.sock\"\nlease = \"30s\"");
    let http = check(&one, &[], &[]).expect("a configuration").http;
    assert_eq!((http.listen, http.room), ("[::1]:80".parse().ok(), Some(RoomName::new("builds"))));
    assert_eq!((http.socket.as_path(), http.lease), (Path::new("/run/c.sock"), Duration::from_secs(30)));
    for (setting, problem) in [
        ("listen = \"0.0.0.0:80\"", "http.listen: 0.0.0.0:80 can be reached from elsewhere without encryption"),
        ("listen = \"somewhere\"", "http.listen: "),
        ("socket = \"c.sock\"", "http.socket: \"c.sock\" depends on where the program is started"),
        ("room = \"nowhere\"", "http.room: \"nowhere\" is not a configured room; use one of builds"),
        ("lease = \"1s\"", "http.lease: \"1s\" is too short or too long"),
    ] {
        check(&format!("{MATRIX}{BUILDS}[http]\n{setting}"), &[], &[problem]);
    }
}

#[test]
fn what_happened_is_kept_for_a_day_at_least() {
    let keep = |keep: &str| format!("[audit]\nkeep = \"{keep}\"\n");
    assert_eq!(check(&keep("90d"), &[], &[NO_ROOM]).expect("a configuration").audit_keep, Some(Duration::from_hours(90 * 24)));
    assert_eq!(check("", &[], &[NO_ROOM]).expect("a configuration").audit_keep, None);
    check(&keep("23h"), &[], &["audit.keep: \"23h\" is too short or too long"]);
}

#[test]
fn a_problem_names_the_file_or_the_environment() {
    let environment = [("COUNTERSIGN__LOG__FORMAT", "xml")].into_iter().collect();
    let error =
        parse(Path::new("countersign.toml"), "state_dir = \"x\"", &environment, &|_, _| unreachable!()).expect_err("problems");
    assert_eq!(
        error.to_string(),
        "countersign.toml: state_dir: \"x\" depends on where the program is started; write an absolute path\n\
         environment: log.format: \"xml\" is not a format; use human or json"
    );
}

#[test]
fn syntax_errors_are_told_by_line_and_quote_nothing() {
    check("[log]\n[log]\n", &[], &["line 2: duplicate key"]);
    check("[matrix]\npassword = \"hunter2\nuser = 1 hunter2\n", &[], &["line 2: ", "line 3: "]);
    check("big = 99999999999999999999\n", &[], &["a number: "]);
}

#[test]
fn keys_that_are_not_known_are_refused_in_every_section() {
    for (text, key) in [
        ("a = 1\n", "a"),
        ("Log.level = 1\n", "Log"),
        ("\"log.level\" = \"debug\"\n", "log.level"),
        ("\"a[999999999999]\" = 1\n", "a[999999999999]"),
        ("[log]\nlevels = 1\n", "log.levels"),
        ("[acp]\na = 1\n", "acp.a"),
        ("[audit]\nkept = \"1d\"\n", "audit.kept"),
        ("[policy]\non_timeout = \"allow\"\n", "policy.on_timeout"),
    ] {
        check(text, &[], &[&format!("{key}: is not a known key; remove it")]);
    }
    check(&format!("{MATRIX}a = 1\n{BUILDS}"), &[], &["matrix.a: is not a known key"]);
    check(&format!("{MATRIX}{BUILDS}approver = 1\n"), &[], &["rooms.builds.approver: is not a known key"]);
}

#[test]
fn wrong_types_are_named_without_the_value() {
    for (text, expected) in [
        ("state_dir = 1", "state_dir: is a whole number; write text in quotes"),
        ("log = \"hunter2\"", "log: is text; write a table"),
        ("[log]\nlevel = 1.5", "log.level: is a fraction; write text"),
        ("[acp]\nalso_ask_client = \"true\"", "acp.also_ask_client: is text; write true or false"),
        ("policy = [\"hunter2\"]", "policy: is a list; write a table"),
        ("[policy]\nkinds = \"hunter2\"", "policy.kinds: is text; write a table"),
        ("[policy]\nlifetime = 5", "policy.lifetime: is a whole number; write text in quotes"),
        ("[policy.kinds]\nread = true", "policy.kinds.read: is true or false; write text in quotes"),
        ("rooms = true", "rooms: is true or false; write a table"),
        ("rooms.builds = \"hunter2\"", "rooms.builds: is text; write a table"),
    ] {
        check(text, &[], &[expected]);
    }
    check(&format!("{MATRIX}password_file = [\"hunter2\"]"), &[], &["matrix.password_file: is a list; write text"]);
    check(&format!("{MATRIX}{BUILDS}power_min = \"50\""), &[], &["rooms.builds.power_min: is text; write a whole number"]);
    check(&format!("{MATRIX}{BUILDS}bots = \"@a:b\""), &[], &["rooms.builds.bots: is text; write a list"]);
    check(&format!("{MATRIX}{BUILDS}bots = [1]"), &[], &["rooms.builds.bots[0]: is a whole number; write text"]);
}

#[test]
fn the_environment_overrides_the_file() {
    let text = format!("{MATRIX}{BUILDS}{OPS}[acp]\nroom = \"builds\"\n[policy.kinds]\nread = \"ask\"\n");
    let environment = [
        ("COUNTERSIGN__LOG__FORMAT", "json"),
        ("COUNTERSIGN__ACP__ROOM", "ops"),
        ("COUNTERSIGN__ACP__ALSO_ASK_CLIENT", "true"),
        ("COUNTERSIGN__POLICY__KINDS__DELETE", "auto_deny"),
        ("COUNTERSIGN__MATRIX__HOMESERVER", "http://127.0.0.1:8008"),
        ("COUNTERSIGN__ROOMS__BUILDS__POWER_MIN", "50"),
        ("COUNTERSIGN__ROOMS__BUILDS__APPROVERS", "@ada:example.org, @bob:example.org"),
        ("COUNTERSIGN__ROOMS__OPS__APPROVERS", ""),
        ("OTHER__LOG__FORMAT", "xml"),
    ];
    let empty = "warning: rooms.ops.approvers is empty";
    let config = check(&text, &environment, &[empty]).expect("a configuration");
    assert_eq!(config.log, Log { format: LogFormat::Json, level: "info".into() });
    assert_eq!(config.acp, Acp { room: Some(RoomName::new("ops")), also_ask_client: true, name: None });
    assert_eq!(config.policy.verdicts.by_kind, [(ToolKind::Delete, Verdict::AutoDeny), (ToolKind::Read, Verdict::Ask)].into());
    assert_eq!(config.matrix.map(|matrix| matrix.homeserver.to_string()).as_deref(), Some("http://127.0.0.1:8008/"));
    let approvers = &config.rooms[&RoomName::new("builds")].answers.rules.approvers;
    assert_eq!(approvers.power_min, Some(50));
    assert_eq!(approvers.who, Who::Listed(Listed::people(["@ada:example.org", "@bob:example.org"].map(PersonId::new))));
    assert_eq!(config.own_variables.len(), 8);
}

#[test]
fn a_variable_that_overrides_nothing_is_a_problem() {
    for (name, expected) in [
        ("COUNTERSIGN__LOG__LEVELS", "environment: log.levels: is not a known key"),
        ("COUNTERSIGN__NONSENSE", "environment: nonsense: is not a known key"),
        ("COUNTERSIGN__MATRIX__PASSWORD", "matrix.password: would be a secret in plain sight; use password_file"),
        ("COUNTERSIGN__Log__Level", "environment: COUNTERSIGN__Log__Level: does not name a setting"),
        ("COUNTERSIGN__LOG____LEVEL", "environment: COUNTERSIGN__LOG____LEVEL: does not name a setting"),
        ("COUNTERSIGN__A[99999999999]", "environment: COUNTERSIGN__A[99999999999]: does not name a setting"),
        ("COUNTERSIGN__", "environment: COUNTERSIGN__: does not name a setting"),
        ("COUNTERSIGN__LOG", "environment: log: is text; write a table"),
    ] {
        check(&format!("{MATRIX}{BUILDS}"), &[(name, SECRET)], &[expected]);
    }
    let both = [("COUNTERSIGN__POLICY", SECRET), ("COUNTERSIGN__POLICY__LIFETIME", "1m")];
    check("", &both, &["environment: COUNTERSIGN__POLICY: is a section, not a setting"]);
}

#[test]
fn the_state_lies_at_an_absolute_path() {
    let state_dir =
        |text: &str, environment: &[_], expected: &[&str]| check(text, environment, expected).map(|config| config.state_dir);
    assert_eq!(state_dir("state_dir = \"/srv/x\"", &[], &[NO_ROOM]), Some("/srv/x".into()));
    assert_eq!(state_dir("", &[("XDG_STATE_HOME", "/state")], &[NO_ROOM]), Some("/state/countersign".into()));
    assert_eq!(state_dir("", &[("XDG_STATE_HOME", "state")], &[NO_ROOM]), Some("/home/ada/.local/state/countersign".into()));
    state_dir("", &[("HOME", "")], &["state_dir: is missing; write an absolute path"]);
    state_dir("state_dir = \"~/x\"", &[], &["state_dir: \"~/x\" depends on where"]);
}

#[test]
fn a_log_level_is_a_level_or_a_directive() {
    for level in ["off", "debug", "info,matrix_sdk=warn", "warn,countersign[ask]=trace", "INFO"] {
        let config = check(&format!("[log]\nlevel = \"{level}\""), &[], &[NO_ROOM]).expect("a configuration");
        assert_eq!(config.log.level, level);
    }
    for level in ["", "debgu", "info,debgu", "info,a=loud", "a=b=c"] {
        check(&format!("[log]\nlevel = \"{level}\""), &[], &[&format!("log.level: {level:?} is not a level; use off,")]);
    }
}

#[test]
fn cards_go_to_the_only_room_or_to_the_one_that_is_named() {
    let room = |text: String, expected: &[&str]| check(&text, &[], expected).and_then(|config| config.acp.room);
    let two = format!("{MATRIX}{BUILDS}{OPS}");
    assert_eq!(room(format!("{MATRIX}{OPS}"), &[]), Some(RoomName::new("ops")));
    assert_eq!(room(format!("{two}[acp]\nroom = \"builds\""), &[]), Some(RoomName::new("builds")));
    room(two.clone(), &["acp.room: is missing; choose one of builds, ops"]);
    room(format!("{two}[acp]\nroom = \"dev\""), &["acp.room: \"dev\" is not a configured room; use one of builds, ops"]);
    room("[acp]\nroom = \"dev\"".into(), &["acp.room: \"dev\" is not a configured room; add it as [rooms.NAME]"]);
}

#[test]
fn a_homeserver_is_reached_by_https_or_on_this_machine() {
    let with = |address: &str| format!("[matrix]\nuser = \"@c:x\"\nhomeserver = \"{address}\"\n");
    for address in ["https://x", "https://x:8448/sub", "http://localhost:8008", "http://127.1.2.3", "http://[::1]:8008"] {
        check(&with(address), &[], &[NO_ROOM]);
    }
    for (address, expected) in [
        ("http://matrix.example.org", "would send the bot's login and all cards unencrypted; use https"),
        ("http://localhost.example.org", "would send the bot's login"),
        ("http://10.0.0.1", "would send the bot's login"),
        ("http://[::2]", "would send the bot's login"),
        ("matrix.example.org", "is not an address; write it as"),
        ("unix:/run/matrix", "is not an https address"),
        ("https://c:hunter2@x", "holds more than a server's address"),
        ("https://:hunter2@x", "holds more than a server's address"),
        ("https://x?access_token=hunter2", "holds more than a server's address"),
        ("", "is not an address"),
    ] {
        check(&with(address), &[], &[&format!("matrix.homeserver: {expected}")]);
    }
    check("[matrix]", &[], &["matrix.homeserver: is missing", "matrix.user: is missing"]);
}

#[test]
fn there_is_at_most_one_way_to_log_in() {
    let with = |lines: &str, expected: &[&str]| {
        let environment = [("TOKEN", SECRET), ("EMPTY", "")];
        check(&format!("{MATRIX}{lines}\n{BUILDS}"), &environment, expected).and_then(|config| config.matrix)?.login
    };
    assert!(with("", &[]).is_none());
    assert!(matches!(with("password_file = \"p\"", &[]), Some(Login::Password(password)) if password.expose() == SECRET));
    assert!(matches!(with("password_env = \"TOKEN\"", &[]), Some(Login::Password(password)) if password.expose() == SECRET));
    let token = with("access_token_env = \"TOKEN\"\ndevice_id = \"D\"", &[]);
    assert!(matches!(token, Some(Login::AccessToken { token, device_id }) if token.expose() == SECRET && device_id == "D"));
    for (lines, expected) in [
        ("password_file = \"p\"\naccess_token_file = \"t\"\ndevice_id = \"D\"", "matrix: has two ways to log in; keep the"),
        ("password_file = \"p\"\npassword_env = \"TOKEN\"", "matrix.password_env: stands beside password_file; keep one"),
        ("access_token_env = \"TOKEN\"", "matrix.device_id: is missing"),
        ("device_id = \"D\"", "matrix.device_id: stands without an access token"),
        ("password_file = \"p\"\ndevice_id = \"D\"", "matrix.device_id: stands without an access token"),
        ("password_env = \"UNSET\"", "matrix.password_env: names a variable that is not set; set it"),
        ("password_env = \"EMPTY\"", "matrix.password_env: leads to an empty text; put the secret there"),
        ("password_file = \"empty\"", "matrix.password_file: leads to an empty text"),
        ("password_file = \"~/p\"", "matrix.password_file: starts with `~`"),
        ("password_file = \"absent\"", "matrix.password_file: cannot be used; do otherwise"),
    ] {
        assert!(with(lines, &[expected]).is_none());
    }
}

#[test]
fn secrets_are_never_written_in_the_file_and_never_shown() {
    for (name, also) in
        [("password", ""), ("access_token", "\ndevice_id = \"D\""), ("store_passphrase", ""), ("recovery_key", "")]
    {
        let expected = format!("matrix.{name}: would be a secret in plain sight; use {name}_file, or {name}_env with the name");
        check(&format!("{MATRIX}{name} = \"hunter2\"{also}\n{BUILDS}"), &[], &[&expected]);
        check(
            &format!("{MATRIX}{name}_env = \"hunter2\"{also}\n{BUILDS}"),
            &[],
            &[&format!("matrix.{name}_env: names a variable")],
        );
    }
    let text = format!("{MATRIX}password_env = \"P\"\nstore_passphrase_file = \"/s\"\nrecovery_key_file = \"r\"\n{BUILDS}");
    let config = check(&text, &[("P", SECRET)], &[]).expect("a configuration");
    assert_eq!(config.own_variables, ["P".to_owned()].into());
    let shown = format!("{config:?}");
    assert!(shown.contains("Secret(..)") && !shown.contains(SECRET), "{shown}");
    let matrix = config.matrix.expect("an account");
    assert_eq!(matrix.store_passphrase.as_ref().map(Secret::expose), Some(SECRET));
    assert_eq!(matrix.recovery_key.as_ref().map(Secret::expose), Some(SECRET));
}

#[test]
fn the_file_of_a_secret_is_sought_beside_the_configuration_and_loses_its_last_line_end() {
    for (written, expected) in [("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), (" a ", " a ")] {
        let read = |path: &Path, _: Privacy| {
            assert_eq!(path, Path::new("/etc/countersign/p"));
            Ok(written.to_owned())
        };
        let text = format!("state_dir = \"/s\"\n{MATRIX}password_file = \"p\"\n");
        let config = parse(Path::new("/etc/countersign/c.toml"), &text, &Environment::default(), &read).expect("a configuration");
        let login = config.matrix.and_then(|matrix| matrix.login);
        assert!(matches!(login, Some(Login::Password(password)) if password.expose() == expected));
    }
}

#[test]
fn a_room_has_a_plain_name() {
    let with = |name: &str| format!("{MATRIX}[rooms.{name}]\nmatrix = \"!a\"\napprovers = \"anyone\"\n");
    for name in ["a", "build-box_2", &"a".repeat(64)] {
        check(&with(name), &[], &[]);
    }
    for name in ["Builds", "\"a b\"", "\"a.b\"", "\"é\"", "\"\"", &"a".repeat(65)] {
        let path = format!("rooms.{}: is not a room's name; use up to 64", name.trim_matches('"'));
        check(&with(name), &[], &[&path]);
    }
}

#[test]
fn a_room_is_one_room_of_one_service() {
    let with = |room: &str| format!("{MATRIX}[rooms.a]\nmatrix = \"{room}\"\napprovers = \"anyone\"\n");
    for room in ["!abc:example.org", "!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM"] {
        check(&with(room), &[], &[]);
    }
    for room in ["", "!", "abc:example.org", "!a b", &format!("!{}", "a".repeat(255))] {
        check(&with(room), &[], &[&format!("rooms.a.matrix: {room:?} is not a Matrix room id; write the room's id")]);
    }
    check(&with("#builds:x"), &[], &["rooms.a.matrix: \"#builds:x\" is an alias, which can be pointed elsewhere; write"]);
    check(BUILDS, &[], &["rooms.builds.matrix: needs an account to post with; add a [matrix] section"]);
    check(&format!("{MATRIX}[rooms.a]"), &[], &["rooms.a.matrix: is missing; say which room it is"]);
    let twice = format!("{}{BUILDS}{}", "", OPS.replace("!ops", "!abc"));
    check(&format!("{MATRIX}{twice}[acp]\nroom = \"ops\""), &[], &["rooms.ops.matrix: is the room of rooms.builds already"]);
    let config = check(&format!("{MATRIX}{OPS}reactions = true"), &[], &[]).expect("a configuration");
    assert!(matches!(config.rooms[&RoomName::new("ops")].service, Service::Matrix { reactions: true, .. }));
}

#[test]
fn nobody_may_answer_unless_it_is_written() {
    let with = |lines: &str, expected: &[&str]| {
        let config = check(&format!("{MATRIX}[rooms.a]\nmatrix = \"!a\"\n{lines}\n"), &[], expected)?;
        Some(config.rooms[&RoomName::new("a")].answers.rules.approvers.clone())
    };
    let nobody = Approvers { who: Who::Listed(Listed::default()), power_min: None, bots: BTreeSet::new() };
    let empty = ["warning: rooms.a.approvers is empty, so nobody can answer there"];
    assert_eq!(with("", &empty), Some(nobody.clone()));
    assert_eq!(with("approvers = []", &empty), Some(nobody.clone()));
    assert_eq!(with("approvers = \"anyone\"", &[]), Some(Approvers { who: Who::Anyone, ..nobody }));
    for approvers in ["\"\"", "\"everyone\"", "\"Anyone\"", "\"@ada:example.org\""] {
        let expected = "rooms.a.approvers: is text other than \"anyone\"; write a list of user ids in brackets, or \"anyone\"";
        with(&format!("approvers = {approvers}"), &[expected]);
    }
    for id in ["", "anyone", "@", "@ada", "@:x", "@ada:", "@a da:x", "@ada:x\\n", "ada@example.org", "!abc:x"] {
        with(&format!("approvers = [\"@bob:x\", \"{id}\"]"), &["rooms.a.approvers[1]: "]);
    }
    with(
        "bots = [\"relay\"]\napprovers = \"anyone\"",
        &["rooms.a.bots[0]: \"relay\" is not a Matrix user id; write it as \"@relay:"],
    );
}

#[test]
fn approvers_whose_clicks_never_count_are_pointed_out() {
    let own = OPS.replace("\"anyone\"", "[\"@countersign:example.org\", \"@relay:x\", \"@ada:x\"]\nbots = [\"@relay:x\"]");
    let expected = [
        "warning: rooms.ops.approvers lists @countersign:example.org, which is Countersign's own account",
        "warning: rooms.ops.approvers lists @relay:x, which is listed as a bot",
    ];
    check(&format!("{MATRIX}{own}"), &[], &expected);
}

#[test]
fn invitations_are_accepted_from_people_who_are_named() {
    check(&format!("{MATRIX}invites_from = [\"@ada:x\"]\n{BUILDS}"), &[], &[]);
    check(&format!("{MATRIX}invites_from = \"@ada:x\"\n{BUILDS}"), &[], &["matrix.invites_from: is text; write a list"]);
    check(&format!("{MATRIX}invites_from = [\"ada\"]\n{BUILDS}"), &[], &["matrix.invites_from[0]: \"ada\" is not"]);
}

#[test]
fn overrides_without_a_file_are_not_lost_in_silence() {
    let environment = |name: &str| [(name, SECRET)].into_iter().collect::<Environment>();
    assert!(environment("COUNTERSIGN_CONFIG").overrides_nothing().is_none());
    let error = environment("COUNTERSIGN__LOG__LEVEL").overrides_nothing().expect("an error").to_string();
    assert!(error.starts_with("environment: COUNTERSIGN__LOG__LEVEL: there is no configuration file"), "{error}");
    assert!(!format!("{:?}", environment("PASSWORD")).contains(SECRET));
}

/// Parses with this environment. `expected` is how each problem starts after the file's name, or each warning after
/// `warning: `, in order.
fn check(text: &str, environment: &[(&str, &str)], expected: &[&str]) -> Option<Config> {
    let environment: Environment = [("HOME", "/home/ada")].iter().chain(environment).copied().collect();
    let read_file = |path: &Path, _: Privacy| match path.file_name().and_then(|name| name.to_str()) {
        Some("absent") => Err(Unusable { what: "cannot be used".into(), advice: "do otherwise".into() }),
        Some("empty") => Ok("\n".into()),
        Some(_) | None => Ok(format!("{SECRET}\n")),
    };
    let parsed = parse(Path::new("c.toml"), text, &environment, &read_file);
    let told = match &parsed {
        Ok(config) => config.warnings.iter().map(|warning| format!("warning: {warning}")).collect::<Vec<_>>().join("\n"),
        Err(error) => error.to_string(),
    };
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{text}\n{told}");
    for (line, expected) in lines.iter().zip(expected) {
        let unnamed = line.strip_prefix("c.toml: ").unwrap_or(line);
        let unplaced = line.strip_prefix("environment: ").unwrap_or(unnamed);
        assert!(unnamed.starts_with(expected) || unplaced.starts_with(expected), "{text}\n{told}\nexpected: {expected}");
    }
    assert!(!told.contains(SECRET), "a secret is shown: {told}");
    parsed.ok()
}
