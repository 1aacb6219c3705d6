//! The bridge, as anybody would start it: this program's `acp`, in a process of its own.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::{Client, ConnectTo, Lines};
use bridge_config::{Config, Environment};
use futures_util::{sink, stream};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use super::News;
use super::log::Log;
use super::problem::Problem;

/// How long the page may take to come up.
const UP_WITHIN: Duration = Duration::from_secs(20);

/// How long the bridge may take to end by itself, and then once it is told to.
const GRACE: Duration = Duration::from_secs(3);
const GRACE_ONCE_TOLD: Duration = Duration::from_secs(12);

/// It ends when it is dropped, since its input is closed then, and takes the time that it needs to end the agent.
pub(super) struct Bridge {
    child: Child,
    pipes: Option<(ChildStdin, ChildStdout)>,
    pub(super) log: Arc<Log>,
}

impl Bridge {
    /// `agent`: empty for the scripted one.
    pub(super) fn start(config: &Config, agent: &[OsString], news: mpsc::Sender<News>, verbose: bool) -> Result<Self, Problem> {
        let program = std::env::current_exe()?;
        let mut command = Command::new(&program);
        command.arg("acp").arg("--config").arg(&config.file).arg("--");
        if agent.is_empty() {
            command.arg(&program).arg("demo-agent");
        } else {
            command.args(agent);
        }
        for variable in Environment::of_this_process()?.override_names() {
            command.env_remove(variable);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // In a group of its own, so that Ctrl-C reaches the client alone, which then cancels the turn.
        let mut child = command.process_group(0).spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the bridge has no pipes").into());
        };
        Ok(Self { child, pipes: Some((stdin, stdout)), log: Log::follow(stderr, news, verbose) })
    }

    /// Returns once the bridge itself says that the page can be opened.
    pub(super) async fn page_is_up(&mut self) -> Result<(), Problem> {
        let log = Arc::clone(&self.log);
        tokio::select! {
            ended = self.child.wait() => Err(Problem::BridgeEnded { status: status(ended?) }),
            up = tokio::time::timeout(UP_WITHIN, log.page_is_up()) => match up {
                Ok(Ok(())) => Ok(()),
                Ok(Err(why)) => {
                    // It may be the last that it says.
                    let ended = tokio::time::timeout(GRACE, self.child.wait()).await;
                    let ended = ended.ok().transpose()?;
                    Err(ended.map_or(Problem::NoPage { why }, |ended| Problem::BridgeEnded { status: status(ended) }))
                }
                Err(_) => Err(Problem::NoPage { why: format!("the bridge has not said within {UP_WITHIN:?} that it is up") }),
            }
        }
    }

    /// The client's end of the connection. Once.
    pub(super) fn transport(&mut self) -> Result<impl ConnectTo<Client> + use<>, Problem> {
        let (stdin, stdout) = self.pipes.take().ok_or_else(|| io::Error::other("the bridge's pipes are taken"))?;
        let outgoing = sink::unfold(stdin, async |mut stdin: ChildStdin, line: String| {
            stdin.write_all(format!("{line}\n").as_bytes()).await?;
            Ok::<_, io::Error>(stdin)
        });
        let incoming = stream::unfold(BufReader::new(stdout), async |mut stdout| {
            loop {
                let mut line = Vec::new();
                match stdout.read_until(b'\n', &mut line).await {
                    Ok(0) => return None,
                    // Some agents write other things between their messages.
                    Ok(_) if !line.starts_with(b"{") => {}
                    Ok(_) => return Some((Ok(String::from_utf8_lossy(&line).into_owned()), stdout)),
                    Err(error) => return Some((Err(error), stdout)),
                }
            }
        });
        Ok(Lines::new(Box::pin(outgoing), Box::pin(incoming)))
    }

    /// How it ended, if it has by itself.
    pub(super) async fn has_ended(&mut self) -> Option<u8> {
        let ended = tokio::time::timeout(Duration::from_secs(1), self.child.wait()).await;
        ended.ok()?.ok().map(status)
    }

    /// Whether it ends by itself, and with it the agent, now that its input has been closed.
    pub(super) async fn ends(&mut self) -> bool {
        drop(self.pipes.take());
        tokio::time::timeout(GRACE, self.child.wait()).await.is_ok()
    }

    pub(super) fn tell_to_end(&self) {
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
    }

    /// Once it is told to.
    pub(super) async fn end(&mut self) {
        if tokio::time::timeout(GRACE_ONCE_TOLD, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }
}

/// As a shell has it.
fn status(ended: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let code = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
