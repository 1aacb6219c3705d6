//! Secrets stay with the bridge.

use std::fs;

use countersign_tests::Launch;
use tempfile::TempDir;

use super::shell;

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
