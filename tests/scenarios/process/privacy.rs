//! Secrets stay with the bridge.

use std::fs;

use countersign_tests::{Launch, Synapse, scripted_agent};
use serde_json::Value;
use tempfile::TempDir;

use super::shell;
use crate::stage::{PLAIN, People, Plan, Stage, selected};

#[tokio::test]
async fn an_agent_does_not_inherit_what_holds_secrets() {
    let folder = TempDir::new().expect("a temporary directory");
    let config = folder.path().join("countersign.toml");
    let text = r#"
[matrix]
homeserver = "http://127.0.0.1:9"
user = "@bot:localhost"
password_env = "BOT_PASSWORD"
store_passphrase_env = "BOT_PASSPHRASE"
"#;
    fs::write(&config, text).expect("written");
    let launch = Launch::acp(Some(&config), &shell("env")).await;
    let launch = launch.env("BOT_PASSWORD", "hunter2").env("BOT_PASSPHRASE", "hunter3").env("BOT_RECOVERY", "hunter4");
    let launch = launch.env("COUNTERSIGN__MATRIX__RECOVERY_KEY_ENV", "BOT_RECOVERY").env("BOT_KIND", "left alone");
    let mut bridge = launch.start();
    let environment = String::from_utf8(bridge.rest_of_output().await).expect("text");
    assert!(bridge.wait_exit().await.success());
    assert!(environment.contains("BOT_KIND=left alone\n") && environment.contains("PATH="), "{environment}");
    for withheld in ["BOT_PASSWORD", "BOT_PASSPHRASE", "BOT_RECOVERY", "COUNTERSIGN__", "hunter"] {
        assert!(!environment.contains(withheld), "{withheld} was inherited:\n{environment}");
    }
}

#[tokio::test]
async fn no_level_of_logging_shows_a_secret() {
    for encrypted in [false, true] {
        let plan = Plan { encrypted, more: EVERYTHING, ..PLAIN };
        let mut people = People::gather(Synapse::shared().await, &plan).await;
        // A second start resumes the session.
        for name in ["first", "second"] {
            let launch = Launch::acp(Some(&people.config()), &scripted_agent()).await;
            let launch = launch.env("COUNTERSIGN__MATRIX__STORE_PASSPHRASE_ENV", "PASSPHRASE").env("PASSPHRASE", PASSPHRASE);
            let mut bridge = launch.start();
            let session = bridge.open_session().await;
            let mut stage = Stage { bridge, session, people };
            let (prompt, card) = stage.ask_and_see(name).await;
            stage.people.ada.press(&card, "Yes").await;
            assert_eq!(stage.outcome(&prompt, name).await, (selected("once:1"), true));
            stage.bridge.rest_of_output().await;
            stage.bridge.wait_exit().await;
            let said = stage.bridge.stderr();
            people = stage.people;
            assert!(said.contains("TRACE"), "{said}");
            for secret in tokens(&people).iter().chain([&people.bot.password, &PASSPHRASE.to_owned()]) {
                let shown = said.lines().find(|line| line.contains(secret));
                assert_eq!(shown, None, "encrypted: {encrypted}");
            }
        }
    }
}

/// Also what is off unless it is asked for by its name.
const EVERYTHING: &str = r#"
[log]
level = "trace,matrix_sdk=trace,matrix_sdk_base=trace,matrix_sdk_crypto=trace,matrix_sdk::http_client=trace"
"#;

const PASSPHRASE: &str = "correct horse battery staple";

/// What the bot is logged in with.
fn tokens(people: &People) -> Vec<String> {
    let saved = fs::read_to_string(people.file("state/matrix/session.json")).expect("a session is saved");
    let saved: Value = serde_json::from_str(&saved).expect("JSON");
    let tokens =
        ["access_token", "refresh_token"].map(|name| saved[name].as_str().unwrap_or_else(|| panic!("{saved}")).to_owned());
    tokens.into()
}
