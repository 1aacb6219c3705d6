//! `countersign init` leaves a configuration that the other commands take as it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use countersign_tests::{BridgeProcess, Launch};

#[tokio::test]
async fn a_web_room_is_configured_by_flags_alone() {
    let mut init = init(&["web", "--approver", "ada", "--approver", "bob", "--no-check"]).await;
    let (code, said) = finish(&mut init).await;
    assert_eq!(code, Some(0), "{said}");
    let file = in_home(&init, "countersign.toml");
    let config = bridge_config::load(Some(&file)).expect("understood").expect("there");
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    assert_eq!((mode(&file), mode(&in_home(&init, ""))), (0o600, 0o700));
    for person in ["ada", "bob"] {
        assert!(said.contains(&format!("join           {person}: http://127.0.0.1:7391/join#")), "{said}");
    }
    assert!(said.contains("countersign acp -- YOUR-AGENT"), "{said}");
}

#[tokio::test]
async fn a_secret_comes_over_standard_input_and_lands_in_a_file_of_its_own() {
    let mut init = init(&["discord", "--channel", "123", "--approver", "456", "--token-file", "-", "--no-check"]).await;
    init.send_bytes(b"abc.def\n").await;
    let (code, said) = finish(&mut init).await;
    assert_eq!(code, Some(0), "{said}");
    let token = in_home(&init, "discord-token");
    assert_eq!((fs::read_to_string(&token).expect("readable").as_str(), mode(&token)), ("abc.def\n", 0o600));
    let config = bridge_config::load(Some(&in_home(&init, "countersign.toml"))).expect("understood").expect("there");
    assert_eq!(config.discord.expect("a bot").token.expose(), "abc.def");
    assert!(!said.contains("abc.def"), "{said}");
}

#[tokio::test]
async fn without_a_terminal_what_is_missing_is_told_and_nothing_is_written() {
    let mut init = init(&["matrix", "--approver", "@ada:example.org"]).await;
    let (code, said) = finish(&mut init).await;
    assert_eq!(code, Some(78), "{said}");
    for flag in ["--homeserver URL", "--user ID", "--password-file FILE", "--room-id ID"] {
        assert!(said.contains(&format!("  ! {flag} is missing")), "{said}");
    }
    assert!(said.ends_with("Nothing was written.\n") && !init.home().join(".config").exists(), "{said}");
}

async fn init(arguments: &[&str]) -> BridgeProcess {
    let arguments: Vec<_> = ["init"].iter().chain(arguments).copied().collect();
    Launch::countersign(&arguments).await.start()
}

/// Its exit status, and what it printed.
async fn finish(init: &mut BridgeProcess) -> (Option<i32>, String) {
    let said = String::from_utf8(init.rest_of_output().await).expect("text");
    (init.wait_exit().await.code(), said)
}

fn in_home(init: &BridgeProcess, name: &str) -> PathBuf {
    init.home().join(".config/countersign").join(name)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o7777
}
