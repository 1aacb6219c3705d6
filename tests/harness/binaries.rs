//! Programs that the tests run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The `countersign` binary, built once per run.
pub async fn countersign() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    tokio::task::spawn_blocking(|| BUILT.get_or_init(build)).await.expect("`countersign` can be built").as_path()
}

/// The whole workspace, so that features, and with them all dependencies, are those that the tests were built with.
fn build() -> PathBuf {
    let mut cargo = cargo();
    let output = cargo
        .args(["build", "--workspace", "--bins", "--message-format=json-render-diagnostics"])
        .current_dir(workspace())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "`countersign` does not build");
    let messages = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let executable = |message: Value| {
        let is_it = message["target"]["name"] == "countersign" && message["target"]["kind"][0] == "bin";
        is_it.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    };
    messages.filter_map(executable).next_back().expect("the workspace has a binary `countersign`")
}

/// Cargo, as if it had not been Cargo that runs this.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    // It says these of the package whose tests it runs; build scripts that look at them would all run anew.
    for of_this_package in ["MANIFEST_DIR", "MANIFEST_LINKS", "PKG_NAME"] {
        cargo.env_remove(format!("CARGO_{of_this_package}"));
    }
    for part in ["MAJOR", "MINOR", "PATCH", "PRE"] {
        cargo.env_remove(format!("CARGO_PKG_VERSION_{part}"));
    }
    cargo
}

/// Where this test binary was built.
pub(crate) fn target_dir() -> PathBuf {
    let test = std::env::current_exe().expect("this program's path");
    // target/debug/deps/scenarios-0123456789abcdef
    test.ancestors().nth(3).expect("a target folder").to_owned()
}

/// A binary of this package; Cargo builds it before its integration tests.
pub(crate) fn own_binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this program's path");
    test.ancestors().nth(2).expect("a profile's folder").join(name)
}

pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in the workspace")
}

/// The Python of a virtual environment that `tests/run` makes, or the one that the variable names.
#[expect(clippy::disallowed_methods, reason = "the tests' only settings; the program under test reads its own")]
pub(crate) fn python(variable: &str, environment: &str) -> PathBuf {
    let made = || target_dir().join(environment).join("bin/python");
    let python = std::env::var_os(variable).map_or_else(made, PathBuf::from);
    assert!(python.exists(), "no Python at {}: run `tests/run`, which makes it", python.display());
    python
}
