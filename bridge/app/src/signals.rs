//! The signals that ask a program to end.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// Of those that this program listens to, whichever comes first.
pub(crate) struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    /// The terminal was closed; elsewhere it asks for something else.
    hangup: Option<unix::Signal>,
}

impl Signals {
    pub(crate) fn of_a_service() -> io::Result<Self> {
        let [terminate, interrupt] = [SignalKind::terminate(), SignalKind::interrupt()].map(unix::signal);
        Ok(Self { terminate: terminate?, interrupt: interrupt?, hangup: None })
    }

    #[cfg(feature = "demo")]
    pub(crate) fn of_a_terminal() -> io::Result<Self> {
        Ok(Self { hangup: Some(unix::signal(SignalKind::hangup())?), ..Self::of_a_service()? })
    }

    /// Cancel-safe.
    pub(crate) async fn next(&mut self) -> i32 {
        let Self { terminate, interrupt, hangup } = self;
        let hung_up = async {
            match hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        let kind = tokio::select! {
            _ = terminate.recv() => SignalKind::terminate(),
            _ = interrupt.recv() => SignalKind::interrupt(),
            _ = hung_up => SignalKind::hangup(),
        };
        kind.as_raw_value()
    }
}
