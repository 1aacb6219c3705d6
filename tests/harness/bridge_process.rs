//! The program under test, with a client's end of its pipes.

use std::collections::VecDeque;
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::wait::PATIENCE;

/// Running, with the client's ends of its pipes. It is killed when dropped.
pub struct BridgeProcess {
    child: Child,
    pid: Pid,
    stdin: Option<ChildStdin>,
    lines: mpsc::UnboundedReceiver<Vec<u8>>,
    /// Frames that were read while looking for another, and that nobody has taken.
    skipped: VecDeque<Vec<u8>>,
    stderr: watch::Receiver<String>,
    last_id: u64,
    home: TempDir,
}

impl BridgeProcess {
    /// `child`: its three pipes are not taken yet.
    pub(crate) fn of(mut child: Child, home: TempDir) -> Self {
        let pid = child.id().and_then(|id| id.try_into().ok()).map(Pid::from_raw).expect("a process id");
        let (to_lines, lines) = mpsc::unbounded_channel();
        tokio::spawn(read_lines(child.stdout.take().expect("a pipe"), to_lines));
        let (to_stderr, stderr) = watch::channel(String::new());
        tokio::spawn(read_stderr(child.stderr.take().expect("a pipe"), to_stderr));
        let stdin = child.stdin.take();
        Self { child, pid, stdin, lines, skipped: VecDeque::new(), stderr, last_id: 0, home }
    }

    pub async fn send(&mut self, frame: &Value) {
        self.send_bytes(format!("{frame}\n").as_bytes()).await;
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("its input is open");
        let sent = timeout(PATIENCE, async {
            stdin.write_all(bytes).await?;
            stdin.flush().await
        });
        match sent.await {
            Ok(Ok(())) => {}
            failed => panic!("cannot send to the bridge: {failed:?}; it said:\n{}", self.stderr()),
        }
    }

    /// The next line of its output that nobody has taken, with its end. `None`: there are no more.
    pub async fn try_next_frame(&mut self) -> Option<Vec<u8>> {
        match self.skipped.pop_front() {
            Some(line) => Some(line),
            None => self.read_frame().await,
        }
    }

    pub async fn next_frame(&mut self) -> Vec<u8> {
        let frame = self.try_next_frame().await;
        frame.unwrap_or_else(|| panic!("the bridge closed its output; it said:\n{}", self.stderr()))
    }

    /// Takes the first frame that satisfies, whether it has come already or not.
    pub async fn wait_for(&mut self, satisfies: impl Fn(&Value) -> bool) -> Value {
        let matching = |line: &Vec<u8>| serde_json::from_slice(line).ok().filter(&satisfies);
        if let Some((at, frame)) = self.skipped.iter().enumerate().find_map(|(at, line)| Some((at, matching(line)?))) {
            self.skipped.remove(at);
            return frame;
        }
        loop {
            let Some(line) = self.read_frame().await else {
                panic!("the bridge closed its output without the frame; it said:\n{}", self.stderr());
            };
            match matching(&line) {
                Some(frame) => return frame,
                None => self.skipped.push_back(line),
            }
        }
    }

    /// Closes its input and waits until its output ends; all of it that nobody has taken.
    pub async fn rest_of_output(&mut self) -> Vec<u8> {
        self.close_stdin();
        let mut rest = Vec::new();
        while let Some(line) = self.try_next_frame().await {
            rest.extend(line);
        }
        rest
    }

    /// Frames that have come and that nobody has taken.
    pub fn skipped(&self) -> impl Iterator<Item = &[u8]> {
        self.skipped.iter().map(Vec::as_slice)
    }

    async fn read_frame(&mut self) -> Option<Vec<u8>> {
        let line = timeout(PATIENCE, self.lines.recv()).await;
        line.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain for a frame; the bridge said:\n{}", self.stderr()))
    }

    pub(crate) fn next_id(&mut self) -> String {
        self.last_id += 1;
        format!("test-{}", self.last_id)
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// What it has said to its operator so far.
    pub fn stderr(&self) -> String {
        self.stderr.borrow().clone()
    }

    pub async fn stderr_contains(&self, text: &str) {
        let mut stderr = self.stderr.clone();
        let contained = timeout(PATIENCE, stderr.wait_for(|said| said.contains(text))).await;
        assert!(matches!(contained, Ok(Ok(_))), "the bridge did not say {text:?} but:\n{}", self.stderr());
    }

    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// It runs, or is not waited for yet.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid, signal).expect("the bridge can be signalled");
    }

    /// Ends it without warning.
    pub async fn kill(&mut self) {
        self.signal(Signal::SIGKILL);
        self.wait_exit().await;
    }

    pub async fn wait_exit(&mut self) -> ExitStatus {
        let exited = timeout(PATIENCE, self.child.wait()).await;
        let status = exited.unwrap_or_else(|_| panic!("the bridge does not exit; it said:\n{}", self.stderr()));
        status.expect("a child can be waited for")
    }

    /// Its home and working directory.
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

async fn read_lines(stdout: ChildStdout, lines: mpsc::UnboundedSender<Vec<u8>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => drop(lines.send(line)),
        }
    }
}

/// Keeps it for the test, and shows it where the test fails.
#[expect(clippy::print_stderr, reason = "the test runner captures it")]
async fn read_stderr(mut stderr: ChildStderr, said: watch::Sender<String>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let more = String::from_utf8_lossy(&buffer[..length]).into_owned();
        eprint!("{more}");
        said.send_modify(|said| said.push_str(&more));
    }
}
