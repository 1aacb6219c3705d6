//! The bridge ends as its agent ends, in bounded time, and leaves nothing behind.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use countersign_tests::{BridgeProcess, Launch, within};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::shell;

#[tokio::test]
async fn an_exit_status_is_handed_on() {
    for code in [0, 3, 255] {
        assert_eq!(ended_as(&format!("exit {code}")).await.code(), Some(code));
    }
}

#[tokio::test]
async fn a_death_by_signal_is_handed_on() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1] {
        assert_eq!(ended_as(&format!("kill -{} $$", signal as i32)).await.signal(), Some(signal as i32));
    }
}

#[tokio::test]
async fn an_end_of_input_lets_the_agent_end_by_itself() {
    let mut group = Group::of("while read -r line; do :; done; exit 7").await;
    group.bridge.close_stdin();
    assert_eq!(group.bridge.wait_exit().await.code(), Some(7));
    group.assert_gone().await;
}

#[tokio::test]
async fn an_agent_that_ignores_the_end_of_its_input_is_ended() {
    let mut group = Group::of("exec sleep 600").await;
    group.bridge.close_stdin();
    assert_eq!(group.bridge.wait_exit().await.signal(), Some(Signal::SIGTERM as i32));
    group.assert_gone().await;
}

#[tokio::test]
async fn an_agent_that_ignores_the_end_of_its_input_and_signals_is_ended() {
    let mut group = Group::of("trap '' TERM; exec sleep 600").await;
    group.bridge.close_stdin();
    assert_eq!(group.bridge.wait_exit().await.signal(), Some(Signal::SIGKILL as i32));
    group.assert_gone().await;
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed_though_the_agent_does_not_read() {
    let mut group = Group::of("exec sleep 600").await;
    // More than the pipe to the agent holds, so that the bridge waits for the agent; less than all pipes together hold.
    group.bridge.send_bytes(&b"{\"method\":\"_notice\"}\n".repeat(60_000)).await;
    group.bridge.close_stdin();
    assert_eq!(group.bridge.wait_exit().await.signal(), Some(Signal::SIGTERM as i32));
    group.assert_gone().await;
}

#[tokio::test]
async fn a_signal_to_the_bridge_ends_the_agent_and_its_children() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        // A shell lets what it starts in the background ignore SIGINT.
        let mut group = Group::of("sleep 600 & exec python3 -c 'import time; print(flush=True); time.sleep(600)'").await;
        assert_eq!(group.bridge.next_frame().await, b"\n");
        group.bridge.signal(signal);
        let status = group.bridge.wait_exit().await;
        // To Python an interrupt is an exception, after which it dies of the signal.
        assert_eq!(status.signal(), Some(signal as i32), "{status}");
        group.assert_gone().await;
    }
}

#[tokio::test]
async fn a_signal_to_the_bridge_ends_those_who_ignore_it_too() {
    for stubborn in ["(trap '' TERM; exec sleep 600) & exec sleep 600", "trap '' TERM; sleep 600 & exec sleep 600"] {
        let mut group = Group::of(stubborn).await;
        group.bridge.signal(Signal::SIGTERM);
        let status = group.bridge.wait_exit().await;
        let expected = if stubborn.starts_with("trap") { Signal::SIGKILL } else { Signal::SIGTERM };
        assert_eq!(status.signal(), Some(expected as i32), "{stubborn}");
        group.assert_gone().await;
    }
}

#[tokio::test]
async fn what_an_agent_leaves_behind_is_ended() {
    for left in ["sleep 600", "sleep 600 >/dev/null 2>&1", "(trap '' TERM; exec sleep 600)"] {
        let mut group = Group::of(&format!("{left} & exit 3")).await;
        assert_eq!(group.bridge.wait_exit().await.code(), Some(3), "{left}");
        group.assert_gone().await;
    }
}

#[tokio::test]
async fn an_agent_that_closes_its_output_and_stays_is_ended() {
    let mut group = Group::of("exec >/dev/null; exec sleep 600").await;
    assert_eq!(group.bridge.try_next_frame().await, None);
    assert_eq!(group.bridge.wait_exit().await.signal(), Some(Signal::SIGTERM as i32));
    group.assert_gone().await;
}

/// An agent with everything it starts, behind a bridge.
struct Group {
    bridge: BridgeProcess,
    /// All of them hold the other end.
    tether: pipe::Receiver,
    _folder: TempDir,
}

impl Group {
    /// Returns once the script runs.
    async fn of(script: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("countersign-tether-").tempdir().expect("a temporary directory");
        let path = folder.path().join("tether");
        mkfifo(&path, Mode::S_IRWXU).expect("a named pipe");
        let tether = pipe::OpenOptions::new().open_receiver(&path).expect("it can be read");
        let script = format!("exec 9>'{}'; echo runs; {script}", path.display());
        let mut bridge = Launch::acp(None, &shell(&script)).await.start();
        assert_eq!(bridge.next_frame().await, b"runs\n");
        Self { bridge, tether, _folder: folder }
    }

    /// Once the bridge has ended nobody is left; waits only for the system to clear away the dead.
    async fn assert_gone(mut self) {
        let mut nothing = Vec::new();
        let read = within("the end of all that the agent started", self.tether.read_to_end(&mut nothing)).await;
        assert_eq!(read.expect("it can be read"), 0);
    }
}

async fn ended_as(script: &str) -> ExitStatus {
    Launch::acp(None, &shell(script)).await.start().wait_exit().await
}
