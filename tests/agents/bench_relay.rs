//! What every bridge is measured against: starts an agent and copies bytes both ways, without looking at them.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, ExitCode, Stdio};
use std::thread;

const BUFFER_BYTES: usize = 64 * 1024;

fn main() -> io::Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "usage: bench-relay AGENT..."))?;
    let mut agent = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(agent_in), Some(agent_out)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Ok(ExitCode::FAILURE);
    };
    let client_in = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let client_out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // Not joined: a client that keeps its end open must not keep the relay of a dead agent alive.
    thread::spawn(move || copy(client_in, agent_in));
    let to_client = thread::spawn(move || copy(agent_out, client_out));
    to_client.join().map_err(|_| io::Error::other("a thread panicked"))??;
    Ok(if agent.wait()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Not `io::copy`, which would hand the pages from pipe to pipe without reading them. Closes both ends when it is done.
fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&buffer[..read])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
