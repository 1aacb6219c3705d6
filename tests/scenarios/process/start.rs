//! What happens before an agent runs.

use std::fs;

use countersign_tests::Launch;
use tempfile::TempDir;

use super::shell;

#[tokio::test]
async fn a_version_is_told() {
    let mut program = Launch::countersign(&["--version"]).await.start();
    let told = String::from_utf8(program.rest_of_output().await).expect("text");
    assert_eq!(told, concat!("countersign ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(program.wait_exit().await.success());
}

#[tokio::test]
async fn an_agent_that_does_not_exist_is_named() {
    for missing in ["no-such-agent", "/no/such/agent"] {
        let mut bridge = Launch::acp(None, &[missing.into(), "argument".into()]).await.start();
        assert_eq!(bridge.wait_exit().await.code(), Some(127));
        bridge.stderr_contains(missing).await;
        assert!(bridge.rest_of_output().await.is_empty());
    }
}

#[tokio::test]
async fn without_an_agent_the_usage_is_told() {
    for arguments in [&[][..], &["acp"], &["acp", "--"], &["acp", "agent"], &["acp", "--unknown", "--", "agent"]] {
        let mut program = Launch::countersign(arguments).await.start();
        assert_eq!(program.wait_exit().await.code(), Some(2), "{arguments:?}");
        program.stderr_contains("Usage: countersign").await;
        assert!(program.rest_of_output().await.is_empty());
    }
}

#[tokio::test]
async fn all_problems_of_a_configuration_are_told_before_the_agent_starts() {
    let folder = TempDir::new().expect("a temporary directory");
    let (config, marker) = (folder.path().join("countersign.toml"), folder.path().join("started"));
    let text = r##"
[policy]
lifetime = "soon"
[matrix]
homeserver = "https://example.org"
user = "@bot:example.org"
password_env = "COUNTERSIGN_TESTS_SET_NO_SUCH_VARIABLE"
[rooms.builds]
matrix = "#builds:example.org"
"##;
    fs::write(&config, text).expect("written");
    let mut bridge = Launch::acp(Some(&config), &shell(&format!("touch '{}'", marker.display()))).await.start();
    assert_eq!(bridge.wait_exit().await.code(), Some(78));
    for key in ["policy.lifetime: ", "matrix.password_env: ", "rooms.builds.matrix: "] {
        bridge.stderr_contains(&format!("{}: {key}", config.display())).await;
    }
    assert_eq!(bridge.stderr().lines().count(), 3);
    assert!(bridge.rest_of_output().await.is_empty());
    assert!(!marker.exists());
}

#[tokio::test]
async fn a_configuration_that_was_named_and_does_not_exist_is_no_configuration_to_go_without() {
    let folder = TempDir::new().expect("a temporary directory");
    let marker = folder.path().join("started");
    let agent = shell(&format!("touch '{}'", marker.display()));
    let mut bridge = Launch::acp(Some(&folder.path().join("absent.toml")), &agent).await.start();
    assert_eq!(bridge.wait_exit().await.code(), Some(78));
    bridge.stderr_contains("absent.toml").await;
    assert!(!marker.exists());
}
