//! Logs on standard error, since standard output belongs to the protocol.

use std::io::IsTerminal;

use bridge_config::{Log, LogFormat};
use tracing::{Level, Metadata};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt};

/// The SDK tells how it works at `info`, and reports each missing thing that it asks for, such as a key backup, as an
/// error of its HTTP client. The operator's own directives come after these and win.
const QUIET: &str = "matrix_sdk=warn,matrix_sdk_base=warn,matrix_sdk_sqlite=warn,matrix_sdk_crypto=error,\
    matrix_sdk::encryption::backups=error,matrix_sdk::http_client=off";

/// Serenity's spans carry whole requests, and the gateway's frames the bot's token. No directive shows these.
const SECRETIVE: [&str; 3] = ["serenity", "tungstenite", "tokio_tungstenite"];

/// Without a configuration.
pub(crate) fn default() -> Log {
    Log { format: LogFormat::Human, level: "info".to_owned() }
}

/// Once per process; a second call changes nothing.
pub(crate) fn start(log: &Log) {
    let filter = EnvFilter::new(format!("{QUIET},{}", log.level));
    let stderr = std::io::stderr();
    let lines = fmt::layer().with_ansi(stderr.is_terminal()).with_writer(std::io::stderr);
    let lines = match log.format {
        LogFormat::Human => lines.with_target(false).compact().boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let _ = tracing_subscriber::registry().with(lines).with(filter).with(filter_fn(shows_no_secret)).try_init();
}

fn shows_no_secret(metadata: &Metadata<'_>) -> bool {
    let of = |library: &&str| metadata.target() == *library || metadata.target().starts_with(&format!("{library}::"));
    // The lower the level, the more it says. One warning quotes a frame that cannot be read.
    let quotes_frames = metadata.target().starts_with("serenity::gateway::ws");
    !quotes_frames && (!SECRETIVE.iter().any(of) || *metadata.level() <= Level::WARN)
}
