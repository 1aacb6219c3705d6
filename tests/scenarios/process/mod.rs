//! The bridge as a process between a client and an agent, without a room.

mod bytes;
mod endings;
mod privacy;
mod rules;
mod start;

use std::ffi::OsString;

/// An agent that is a shell script.
fn shell(script: &str) -> Vec<OsString> {
    vec!["sh".into(), "-c".into(), script.into()]
}
