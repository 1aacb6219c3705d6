//! The agent's process: started in a group of its own, ended in bounded time, its exit handed on.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::sync::watch;

/// Bytes a pipe should hold, so that a large line does not need a switch between processes for every 64 KiB.
const PIPE_BYTES: i32 = 1 << 20;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitHow {
    Code(i32),
    Signal(i32),
}

/// A running agent.
pub struct Agent {
    pipes: Option<(OwnedFd, OwnedFd)>,
    group: Pid,
    exit: watch::Receiver<Option<ExitHow>>,
}

impl Agent {
    /// Starts `program`; its standard error is ours.
    ///
    /// It gets a process group of its own, so that whatever it starts can be ended with it, and an environment without
    /// the variables `withheld`, which may hold what only the bridge may know.
    pub fn start<'a>(
        program: &OsStr,
        arguments: &[OsString],
        withheld: impl IntoIterator<Item = &'a String>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        for variable in withheld {
            command.env_remove(variable);
        }
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).process_group(0);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("the agent has no pipes");
        let stdin = File::from(OwnedFd::from(child.stdin.take().ok_or_else(missing)?));
        let stdout = File::from(OwnedFd::from(child.stdout.take().ok_or_else(missing)?));
        widen(&stdin);
        widen(&stdout);
        let group = i32::try_from(child.id()).map(Pid::from_raw).map_err(io::Error::other)?;
        let (told, exit) = watch::channel(None);
        let told = Arc::new(told);
        std::thread::Builder::new().name("acp-agent-exit".into()).spawn(move || told.send_replace(Some(wait(&mut child))))?;
        Ok(Self { pipes: Some((stdin.into(), stdout.into())), group, exit })
    }

    pub(crate) fn take_pipes(&mut self) -> io::Result<(File, File)> {
        let (stdin, stdout) = self.pipes.take().ok_or_else(|| io::Error::other("the agent's pipes are taken"))?;
        Ok((stdin.into(), stdout.into()))
    }

    /// How the agent ended; waits at most `within`, and `None` means it still runs. Cancel-safe.
    pub async fn exited(&self, within: Duration) -> Option<ExitHow> {
        let mut exit = self.exit.clone();
        tokio::time::timeout(within, exit.wait_for(Option::is_some)).await.ok()?.ok().and_then(|how| *how)
    }

    /// Sends a signal to the agent and everything it started. A group that is gone is no error.
    pub fn signal(&self, signal: i32) {
        if let Ok(signal) = Signal::try_from(signal) {
            let _ = killpg(self.group, signal);
        }
    }

    /// Ends the agent and everything it started: politely, then, after `grace`, for good.
    pub async fn end(&self, grace: Duration) -> ExitHow {
        self.signal(Signal::SIGTERM as i32);
        let polite = self.exited(grace).await;
        // What the agent left behind in its group goes too, whether or not the agent itself went by now.
        self.signal(Signal::SIGKILL as i32);
        match polite {
            Some(how) => how,
            None => self.exited(grace).await.unwrap_or(ExitHow::Signal(Signal::SIGKILL as i32)),
        }
    }
}

fn wait(child: &mut Child) -> ExitHow {
    match child.wait() {
        Ok(status) => status.code().map_or_else(|| ExitHow::Signal(status.signal().unwrap_or_default()), ExitHow::Code),
        Err(_) => ExitHow::Code(1),
    }
}

/// Lets a pipe hold more than the usual 64 KiB where the system can and allows it. Nothing but speed depends on it.
pub fn widen(end: impl AsFd) {
    let _ = fcntl(end, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
}
