//! What it costs to stand between a client and its agent: `cargo bench -p countersign-tests --bench relay`.
//!
//! The same agent is reached through a plain relay of bytes, through Countersign without a configuration, and through the
//! official conductor without a proxy. They take turns, each round with fresh processes and another one first, so that a
//! machine that slows down slows all of them. A figure is the median of the rounds, a ratio the median of the ratios
//! within a round.
//!
//! `-- relay conductor` measures only those. Ends with 1 when Countersign misses a target.

#![expect(clippy::print_stdout, reason = "this program prints a table")]

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROUNDS: usize = 5;
const SMALL_BYTES: usize = 200;
const SMALL_WARM_UP: usize = 500;
const SMALL_FRAMES: usize = 5_000;
const LARGE_BYTES: usize = 1 << 20;
const LARGE_WARM_UP: usize = 10;
const LARGE_FRAMES: usize = 200;
/// What a request is longer than its text.
const ENVELOPE_BYTES: usize = 76;
const STREAM_FRAMES: usize = 100_000;
/// One contender in one round. Whoever takes longer is stuck.
const ROUND_TIMEOUT: Duration = Duration::from_mins(3);
const CONDUCTOR: &str = "agent-client-protocol-conductor";
const CONDUCTOR_VERSION: &str = "5.0.0";

const MEASURES: [Measure; 4] = [
    Measure { name: "small, median (us)", target: Target::AtMost(1.5), of: |figures| figures.small_median_us },
    Measure { name: "small, p99 (us)", target: Target::AtMost(2.0), of: |figures| figures.small_p99_us },
    Measure { name: "1 MiB (MiB/s)", target: Target::AtLeast(0.7), of: |figures| figures.large_mib_per_s },
    Measure { name: "stream (frames/s)", target: Target::AtLeast(0.4), of: |figures| figures.stream_frames_per_s },
];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all targets are met.
fn run() -> Result<bool> {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let folder = tempfile::tempdir()?;
    let contenders = contenders(&chosen)?;
    let mut rounds: Vec<Vec<Figures>> = Vec::new();
    for round in 0..ROUNDS {
        let mut figures = vec![Figures::default(); contenders.len()];
        for turn in 0..contenders.len() {
            let at = (round + turn) % contenders.len();
            figures[at] =
                contenders[at].measure(folder.path()).map_err(|error| contenders[at].failure(&*error, folder.path()))?;
        }
        println!("round {} of {ROUNDS}", round + 1);
        rounds.push(figures);
    }
    Ok(print_table(&contenders, &rounds))
}

/// Something that stands before the agent.
struct Contender {
    name: &'static str,
    command: Vec<PathBuf>,
    /// Frames pass it byte for byte. The conductor writes them anew.
    keeps_bytes: bool,
    has_targets: bool,
}

/// What one contender did in one round.
#[derive(Clone, Copy, Default)]
struct Figures {
    small_median_us: f64,
    small_p99_us: f64,
    large_mib_per_s: f64,
    stream_frames_per_s: f64,
}

struct Measure {
    name: &'static str,
    target: Target,
    of: fn(&Figures) -> f64,
}

/// A bound for the ratio to the relay.
#[derive(Clone, Copy)]
enum Target {
    AtMost(f64),
    AtLeast(f64),
}

fn contenders(chosen: &[String]) -> Result<Vec<Contender>> {
    let agent = PathBuf::from(env!("CARGO_BIN_EXE_bench-agent"));
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    let relay = PathBuf::from(env!("CARGO_BIN_EXE_bench-relay"));
    // Everything is compared with it, so it cannot be left out.
    let relay = Contender { name: "relay", command: vec![relay, agent.clone()], keeps_bytes: true, has_targets: false };
    let mut contenders = vec![relay];
    if is_chosen("countersign") {
        let command = vec![built_countersign()?, "acp".into(), "--".into(), agent.clone()];
        contenders.push(Contender { name: "countersign", command, keeps_bytes: true, has_targets: true });
    }
    if is_chosen("conductor") {
        // It takes a command line, or this, in which a path needs no quoting of a shell.
        let agent = serde_json::json!({ "command": agent, "args": [] }).to_string();
        let command = vec![installed_conductor()?, "agent".into(), agent.into()];
        contenders.push(Contender { name: "conductor", command, keeps_bytes: false, has_targets: false });
    }
    Ok(contenders)
}

/// Cargo's folder of artifacts: this program is `TARGET/PROFILE/deps/relay-HASH`.
fn target_folder() -> Result<PathBuf> {
    let this = std::env::current_exe()?;
    Ok(this.ancestors().nth(3).ok_or("this program does not lie in a target folder")?.to_owned())
}

fn built_countersign() -> Result<PathBuf> {
    let target = target_folder()?;
    cargo(&["build", "--release", "-p", "countersign", "--target-dir"], &target)?;
    Ok(target.join("release/countersign"))
}

fn installed_conductor() -> Result<PathBuf> {
    let root = target_folder()?.join("bench-tools");
    let binary = root.join("bin").join(CONDUCTOR);
    if !binary.exists() {
        cargo(&["install", "--locked", CONDUCTOR, "--version", CONDUCTOR_VERSION, "--root"], &root)?;
    }
    Ok(binary)
}

fn cargo(arguments: &[&str], folder: &Path) -> Result<()> {
    let status = Command::new(env!("CARGO")).current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).arg(folder).status()?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" ")).into()) }
}

impl Contender {
    fn measure(&self, folder: &Path) -> Result<Figures> {
        let mut client = Client::start(&self.command, folder)?;
        client.ask("initialize", r#"{"protocolVersion":1,"clientCapabilities":{}}"#)?;
        let (small_median_us, small_p99_us) = self.small(&mut client)?;
        let large_mib_per_s = self.large(&mut client)?;
        let stream_frames_per_s = stream(&mut client)?;
        client.stop()?;
        Ok(Figures { small_median_us, small_p99_us, large_mib_per_s, stream_frames_per_s })
    }

    /// One frame at a time, there and back.
    fn small(&self, client: &mut Client) -> Result<(f64, f64)> {
        let mut echo = Echo::new(SMALL_BYTES);
        let mut times = Vec::with_capacity(SMALL_FRAMES);
        for at in 0..SMALL_WARM_UP + SMALL_FRAMES {
            echo.number(client.next_id());
            let started = now();
            client.write(&echo.request)?;
            client.read()?;
            let time = started.elapsed();
            self.check(client, &echo)?;
            if SMALL_WARM_UP <= at {
                times.push(time);
            }
        }
        times.sort_unstable();
        let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
        Ok((microseconds(times[times.len() / 2]), microseconds(times[times.len() * 99 / 100])))
    }

    /// As many frames as fit, there and back at once.
    fn large(&self, client: &mut Client) -> Result<f64> {
        self.pass_large(client, LARGE_WARM_UP)?;
        let started = now();
        self.pass_large(client, LARGE_FRAMES)?;
        Ok(per_second(LARGE_FRAMES * (LARGE_BYTES >> 20), started))
    }

    fn pass_large(&self, client: &mut Client, frames: usize) -> Result<()> {
        let ids: Vec<usize> = (0..frames).map(|_| client.next_id()).collect();
        let (mut sent, mut expected) = (Echo::new(LARGE_BYTES), Echo::new(LARGE_BYTES));
        let mut input = client.input.take().ok_or("the client has stopped")?;
        let to_send = ids.clone();
        let writer = thread::spawn(move || {
            let written = to_send.into_iter().try_for_each(|id| {
                sent.number(id);
                input.write_all(&sent.request)
            });
            written.map(|()| input)
        });
        for id in ids {
            client.read()?;
            expected.number(id);
            self.check(client, &expected)?;
        }
        client.input = Some(writer.join().map_err(|_| "the writer panicked")??);
        Ok(())
    }

    /// Whether the last line is the response to the echo.
    fn check(&self, client: &Client, echo: &Echo) -> Result<()> {
        let line = client.line.as_slice();
        let is_response = if self.keeps_bytes { echo.is_response(line) } else { echo.params.len() < line.len() };
        let shown = String::from_utf8_lossy(&line[..line.len().min(300)]);
        if is_response { Ok(()) } else { Err(format!("an echo came back as {shown:?}").into()) }
    }

    fn failure(&self, error: &dyn Error, folder: &Path) -> String {
        let told = std::fs::read_to_string(folder.join("stderr")).unwrap_or_default();
        format!("{}: {error}\n{told}", self.name)
    }
}

/// The agent speaks as fast as it can, the client counts lines.
fn stream(client: &mut Client) -> Result<f64> {
    let request = client.request("_bench/flood", &format!("{{\"count\":{STREAM_FRAMES}}}"));
    let started = now();
    client.write(&request)?;
    client.read_lines(STREAM_FRAMES + 1)?;
    Ok(per_second(STREAM_FRAMES, started))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn per_second(count: usize, started: Instant) -> f64 {
    count as f64 / started.elapsed().as_secs_f64()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn now() -> Instant {
    Instant::now()
}

/// A request that is used again and again, each time with another id.
struct Echo {
    params: String,
    request: Vec<u8>,
    response_head: String,
}

impl Echo {
    fn new(bytes: usize) -> Self {
        let params = format!("{{\"text\":\"{}\"}}", "x".repeat(bytes - ENVELOPE_BYTES));
        Self { params, request: Vec::with_capacity(bytes), response_head: String::new() }
    }

    fn number(&mut self, id: usize) {
        self.request.clear();
        push_request(&mut self.request, id, "_bench/echo", &self.params);
        self.response_head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":");
    }

    fn is_response(&self, line: &[u8]) -> bool {
        let params = line.strip_prefix(self.response_head.as_bytes()).and_then(|rest| rest.strip_suffix(b"}\n"));
        params == Some(self.params.as_bytes())
    }
}

fn push_request(frame: &mut Vec<u8>, id: usize, method: &str, params: &str) {
    let id = id.to_string();
    for part in ["{\"jsonrpc\":\"2.0\",\"id\":", &id, ",\"method\":\"", method, "\",\"params\":", params, "}\n"] {
        frame.extend_from_slice(part.as_bytes());
    }
}

/// The client's end of a contender.
struct Client {
    child: Arc<Mutex<Child>>,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The last line that was read.
    line: Vec<u8>,
    ids: usize,
    /// Dropping it tells the watchdog that all is well.
    _watchdog: Sender<()>,
}

impl Client {
    fn start(command: &[PathBuf], folder: &Path) -> Result<Self> {
        let (program, arguments) = command.split_first().ok_or("no command")?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        // No configuration is found here, and nothing is left behind.
        command.env_remove("COUNTERSIGN_CONFIG").env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME").env("HOME", folder);
        let mut child = command.stderr(File::create(folder.join("stderr"))?).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let child = Arc::new(Mutex::new(child));
        let (watchdog, well) = mpsc::channel::<()>();
        let watched = Arc::clone(&child);
        thread::spawn(move || {
            if well.recv_timeout(ROUND_TIMEOUT) == Err(RecvTimeoutError::Timeout)
                && let Ok(mut child) = watched.lock()
            {
                child.kill().ok();
            }
        });
        let output = BufReader::with_capacity(256 << 10, output.ok_or("no output")?);
        Ok(Self { child, input, output, line: Vec::new(), ids: 0, _watchdog: watchdog })
    }

    fn ask(&mut self, method: &str, params: &str) -> Result<()> {
        let request = self.request(method, params);
        self.write(&request)?;
        self.read()
    }

    fn request(&mut self, method: &str, params: &str) -> Vec<u8> {
        let mut frame = Vec::new();
        push_request(&mut frame, self.next_id(), method, params);
        frame
    }

    fn next_id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    fn write(&mut self, frame: &[u8]) -> Result<()> {
        Ok(self.input.as_mut().ok_or("the client has stopped")?.write_all(frame)?)
    }

    fn read(&mut self) -> Result<()> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 { Err("it is gone".into()) } else { Ok(()) }
    }

    #[expect(clippy::naive_bytecount, reason = "it is vectorised, and no bottleneck")]
    fn read_lines(&mut self, lines: usize) -> Result<()> {
        let mut left = lines;
        while left != 0 {
            let bytes = self.output.fill_buf()?;
            if bytes.is_empty() {
                return Err(format!("it is gone, with {left} lines to come").into());
            }
            let (ends, len) = (bytes.iter().filter(|byte| **byte == b'\n').count(), bytes.len());
            left = left.checked_sub(ends).ok_or("there were more lines than the agent sent")?;
            self.output.consume(len);
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        drop(self.input.take());
        // The end of the output, not of the process: the watchdog needs the lock to end a process that does not go.
        self.output.read_to_end(&mut self.line)?;
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Whether all targets are met.
fn print_table(contenders: &[Contender], rounds: &[Vec<Figures>]) -> bool {
    let mut all_met = true;
    println!("\n{:<20} {:<12} {:>12} {:>10}  target", "", "", "figure", "to relay");
    for measure in &MEASURES {
        for (at, contender) in contenders.iter().enumerate() {
            let figure = median(rounds.iter().map(|round| (measure.of)(&round[at])));
            let ratio = median(rounds.iter().map(|round| (measure.of)(&round[at]) / (measure.of)(&round[0])));
            let (is_met, target) = match measure.target {
                Target::AtMost(most) => (ratio <= most, format!("at most {most}")),
                Target::AtLeast(least) => (least <= ratio, format!("at least {least}")),
            };
            let target = match (contender.has_targets, is_met) {
                (false, _) => String::new(),
                (true, true) => format!("{target}: met"),
                (true, false) => format!("{target}: MISSED"),
            };
            all_met &= is_met || !contender.has_targets;
            println!("{:<20} {:<12} {figure:>12.1} {ratio:>10.2}  {target}", measure.name, contender.name);
        }
    }
    all_met
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
