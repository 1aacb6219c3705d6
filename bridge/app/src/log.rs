//! Logs on standard error, since standard output belongs to the protocol.

use std::io::IsTerminal;

use bridge_config::{Log, LogFormat};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

/// The SDK reports each missing thing that it asks for, such as a key backup, as an error of its HTTP client.
const QUIET: [&str; 2] = ["matrix_sdk::http_client=off", "matrix_sdk_base::response_processors=error"];

/// Without a configuration.
pub(crate) fn default() -> Log {
    Log { format: LogFormat::Human, level: "info,matrix_sdk=warn,matrix_sdk_base=warn,matrix_sdk_crypto=error".to_owned() }
}

/// Once per process; a second call changes nothing.
pub(crate) fn start(log: &Log) {
    let filter = QUIET.iter().filter_map(|quiet| quiet.parse().ok()).fold(EnvFilter::new(&log.level), EnvFilter::add_directive);
    let stderr = std::io::stderr();
    let lines = fmt().with_env_filter(filter).with_ansi(stderr.is_terminal()).with_writer(std::io::stderr);
    let _ = match log.format {
        LogFormat::Human => lines.with_target(false).compact().try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
}
