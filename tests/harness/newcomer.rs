//! The README's first command, run as it stands there.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::Once;

use tokio::process::Command;

use crate::binaries::{cargo, target_dir, workspace};
use crate::bridge_process::BridgeProcess;

static BUILT: Once = Once::new();

/// Starts it in the project's folder, with more arguments. What it builds is kept apart from what the tests build, since it
/// builds less. `temporary`: where it makes its folders.
pub async fn first_command(more: &[&str], temporary: &Path) -> BridgeProcess {
    let readme = fs::read_to_string(workspace().join("README.md")).expect("README.md");
    let (_, quick_start) = readme.split_once("## Quick start").expect("a quick start");
    let command = quick_start.split("```sh\n").nth(1).and_then(|rest| rest.split_once('\n')).expect("a command").0.to_owned();
    let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
    assert_eq!(words[0], "cargo", "{command}");
    let with_cargo = move |more: &[&str]| {
        let mut cargo = cargo();
        cargo.args(&words[1..]).args(more).current_dir(workspace()).env("CARGO_TARGET_DIR", target_dir().join("demo"));
        cargo
    };
    let mut help = with_cargo(&["--help"]);
    let built = || BUILT.call_once(|| assert!(help.stdout(Stdio::null()).status().is_ok_and(|status| status.success())));
    tokio::task::block_in_place(built);
    let mut command = Command::from(with_cargo(more));
    // What an operator has set for real does not change it.
    command.env("TMPDIR", temporary).env("COUNTERSIGN__POLICY__DEFAULT", "auto_deny");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let home = tempfile::Builder::new().prefix("countersign-home-").tempdir().expect("a temporary directory");
    BridgeProcess::of(command.spawn().expect("cargo can be run"), home)
}
