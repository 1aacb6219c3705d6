//! Why there is no demo, or no more of it.

use std::io;

use bridge_config::ConfigError;

use crate::cli::EXIT_CONFIG;

#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("{0}")]
    Setting(String),
    #[error("{0}")]
    System(#[from] io::Error),
    /// It ends when its agent does, and with the agent's status. Its log says more.
    #[error("the bridge or its agent has ended, with status {status}")]
    BridgeEnded { status: u8 },
    #[error("the page does not come up: {why}")]
    NoPage { why: String },
    #[error("{what}")]
    Agent { what: String },
}

impl Problem {
    /// The exit status.
    pub(super) fn status(&self) -> u8 {
        match self {
            Self::Setting(_) => EXIT_CONFIG,
            Self::BridgeEnded { status } => *status,
            Self::System(_) | Self::NoPage { .. } | Self::Agent { .. } => 1,
        }
    }

    /// Whether the bridge's log may tell more.
    pub(super) fn is_of_bridge(&self) -> bool {
        match self {
            Self::BridgeEnded { .. } | Self::NoPage { .. } | Self::Agent { .. } => true,
            Self::Setting(_) | Self::System(_) => false,
        }
    }
}

impl From<ConfigError> for Problem {
    /// Without the file, which nobody has written.
    fn from(error: ConfigError) -> Self {
        let problem = |problem: &bridge_config::Problem| {
            let key = problem.key.as_deref().unwrap_or("the configuration");
            format!("{key}: {}; {}", problem.what, problem.advice)
        };
        Self::Setting(error.problems.iter().map(problem).collect::<Vec<_>>().join("\n"))
    }
}
