//! The rules of a launch, and what is told of rules.

use std::fs;
use std::path::PathBuf;

use countersign_tests::Launch;
use tempfile::TempDir;

use super::shell;

const RULES: &str = "lifetime = \"5m\"\n[policy.kinds]\nread = \"auto_allow\"\ndelete = \"auto_deny\"\n[rooms.desk]\nweb = true\n\
                     approvers = [\"ada\"]\n[rooms.desk.kinds.edit]\nrequester_may_answer = false\napprovals = 2\n";

#[tokio::test]
async fn a_launch_that_asks_for_more_than_the_policy_has_is_refused_before_the_agent_starts() {
    for (arguments, said) in [
        (&["--permission", "delete=ask"][..], "delete = ask is looser than the policy's auto_deny"),
        (&["--permission", "execute=auto_allow"], "execute = auto_allow is looser than the policy's ask"),
        (&["--permission", "auto_deny,default=ask", "--permission", "title:x=auto_allow"], "a title is the agent's own words"),
        (&["--lifetime", "6m"], "a lifetime of 360s is longer than the policy's 300s"),
        (&[], "rooms.desk.requester_may_answer is false, so it has to be known who launches the agent: add --requester ID"),
        (&["--requester", "Ada!"], "--requester \"Ada!\" is nobody's id in the service of desk"),
    ] {
        let home = Home::new();
        // Each of the others knows who launches it, so that it is refused for what it asks.
        let knows = arguments.is_empty() || arguments.contains(&"--requester");
        let requester: &[&str] = if knows { &[] } else { &["--requester", "ada"] };
        let marker = home.folder.path().join("started");
        let mut bridge = home.acp(&[arguments, requester].concat(), &format!("touch '{}'", marker.display())).await;
        assert_eq!(bridge.wait_exit().await.code(), Some(78), "{arguments:?}");
        bridge.stderr_contains(said).await;
        assert!(!marker.exists(), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_launch_that_narrows_is_taken() {
    let home = Home::new();
    let narrow = ["--permission", "execute=auto_deny,read=ask", "--permission", "title:x, y=auto_deny", "--lifetime", "2m"];
    let mut bridge = home.acp(&[&narrow[..], &["--requester", "ada"]].concat(), "exit 3").await;
    assert_eq!(bridge.wait_exit().await.code(), Some(3));
}

#[tokio::test]
async fn a_verdict_that_is_none_is_a_wrong_command_line() {
    for permission in ["execute=allow", "exceute=ask", ""] {
        let home = Home::new();
        let mut bridge = home.acp(&["--permission", permission], "exit 3").await;
        assert_eq!(bridge.wait_exit().await.code(), Some(2), "{permission:?}");
    }
}

#[tokio::test]
async fn it_is_told_which_rule_decides_and_who_may_answer() {
    let home = Home::new();
    let cwd = home.folder.path().to_str().expect("UTF-8");
    let edit = ["--kind", "edit", "--cwd", cwd, "--path", "a", "--requester", "ada", "--person"];
    for (arguments, told) in [
        (
            &["--kind", "read", "--cwd", cwd, "--path", "a"][..],
            &["auto_allow: allowed", "because  the policy says read = auto_allow"][..],
        ),
        (
            &["--kind", "read", "--cwd", cwd, "--path", "/etc/passwd"],
            &["ask: people", "because  it reaches outside of the workspace: /etc/passwd"],
        ),
        (&["--kind", "read", "--option", "allow_always"], &["ask: people", "because  it is about files and names none"]),
        (&["--kind", "banana"], &["ask: people", "its kind is unknown or missing"]),
        (&["--kind", "delete"], &["auto_deny: refused at once", "because  the policy says delete = auto_deny"]),
        (
            &["--kind", "execute", "--permission", "auto_deny", "--person", "ada"],
            &["because  the launch says default = auto_deny", "person     ada is not asked, and nobody is"],
        ),
        (
            &[&edit[..], &["ada"]].concat(),
            &["two different people", "person     ada may not answer: you asked for this yourself"],
        ),
        (&[&edit[..], &["bob"]].concat(), &["approvers  ada", "person     bob may not answer: you are not among the approvers"]),
        (&["--kind", "execute", "--lifetime", "2m"], &["ask: people", "waits      2m at most"]),
        (&["--kind", "execute", "--person", "ada"], &["person     ada may answer, as a human who is in the room"]),
    ] {
        let config = home.config();
        let all = [&["explain"][..], arguments, &["--config", config.to_str().expect("UTF-8")]].concat();
        let mut program = Launch::countersign(&all).await.start();
        let said = String::from_utf8(program.rest_of_output().await).expect("text");
        assert!(program.wait_exit().await.success(), "{arguments:?}: {said}");
        assert!(told.iter().all(|told| said.contains(told)), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn where_no_bridge_runs_there_is_none_to_tell() {
    let home = Home::new();
    let config = home.config();
    let mut program = Launch::countersign(&["reload", "--config", config.to_str().expect("UTF-8")]).await.start();
    let said = String::from_utf8(program.rest_of_output().await).expect("text");
    assert_eq!(program.wait_exit().await.code(), Some(78));
    assert!(said.contains("no bridge runs on "), "{said}");
}

struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary directory");
        let state = folder.path().join("state");
        let page = "[web]\nlisten = \"127.0.0.1:0\"\n";
        fs::write(
            folder.path().join("countersign.toml"),
            format!("state_dir = \"{}\"\n{page}[policy]\n{RULES}", state.display()),
        )
        .expect("written");
        Self { folder }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("countersign.toml")
    }

    async fn acp(&self, arguments: &[&str], agent: &str) -> countersign_tests::BridgeProcess {
        Launch::acp_with(Some(&self.config()), arguments, &shell(agent)).await.start()
    }
}
