//! Schemathesis, which calls an HTTP API in every way that its description allows, and in ways that it does not.

use std::ffi::OsStr;
use std::path::Path;

use crate::binaries::python;
use crate::launch::Launch;

/// `configuration`: its file. `description`: where the API describes itself.
pub fn schemathesis(configuration: &Path, description: &str) -> Launch {
    let program = python("COUNTERSIGN_TEST_SCHEMATHESIS_PYTHON", "schemathesis-venv").with_file_name("schemathesis");
    let [no_color, file, run, description] = ["--no-color", "--config-file", "run", description].map(OsStr::new);
    let arguments = [no_color, file, configuration.as_os_str(), run, description];
    // What it calls is on this machine, whatever proxy there is.
    Launch::program(program, &arguments).env("NO_PROXY", "127.0.0.1")
}
