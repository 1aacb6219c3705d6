//! Logs on standard error, since standard output belongs to the protocol.

use std::io::IsTerminal;

use bridge_config::{Log, LogFormat};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

/// The SDK tells how it works at `info`, and reports each missing thing that it asks for, such as a key backup, as an
/// error of its HTTP client. The operator's own directives come after these and win.
const QUIET: &str = "matrix_sdk=warn,matrix_sdk_base=warn,matrix_sdk_sqlite=warn,matrix_sdk_crypto=error,\
    matrix_sdk::encryption::backups=error,matrix_sdk::http_client=off";

/// Without a configuration.
pub(crate) fn default() -> Log {
    Log { format: LogFormat::Human, level: "info".to_owned() }
}

/// Once per process; a second call changes nothing.
pub(crate) fn start(log: &Log) {
    let filter = EnvFilter::new(format!("{QUIET},{}", log.level));
    let stderr = std::io::stderr();
    let lines = fmt().with_env_filter(filter).with_ansi(stderr.is_terminal()).with_writer(std::io::stderr);
    let _ = match log.format {
        LogFormat::Human => lines.with_target(false).compact().try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
}
