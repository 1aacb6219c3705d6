//! Where callers connect.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use nix::sys::resource::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tower_service::Service as _;
use tracing::warn;

use crate::routes;
use crate::shared::Shared;

/// Connections at once of the port, and as many of the socket; the others wait to be accepted. Two for each request that may
/// be open, and some to spare.
const CONNECTIONS_MAX: usize = 20_100;
/// How long a call may take to arrive, up to its body.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
/// After the system had no room for a connection.
const PAUSE: Duration = Duration::from_millis(200);

/// Why nobody can connect.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("{0} cannot be listened on: {1}")]
    Address(SocketAddr, io::Error),
    #[error("{0} can be reached from elsewhere without encryption; listen on a loopback address, or on a socket")]
    Open(SocketAddr),
    #[error("the socket {0} cannot be listened on: {1}")]
    Socket(PathBuf, io::Error),
    #[error("{0} is there and is no socket; move it away, or name another file")]
    NotASocket(PathBuf),
    #[error("another program listens on the socket {0}")]
    SocketTaken(PathBuf),
}

/// Open, and not served yet. Connections wait.
#[derive(Debug, Default)]
pub struct Listening {
    tcp: Option<TcpListener>,
    unix: Option<UnixListener>,
}

impl Listening {
    pub async fn open(listen: Option<SocketAddr>, socket: Option<&Path>) -> Result<Self, ListenError> {
        let tcp = match listen {
            Some(address) if !address.ip().is_loopback() => return Err(ListenError::Open(address)),
            Some(address) => Some(TcpListener::bind(address).await.map_err(|error| ListenError::Address(address, error))?),
            None => None,
        };
        let unix = socket.map(open_socket).transpose()?;
        Ok(Self { tcp, unix })
    }

    /// The address of the TCP port, where there is one.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }

    /// Serves for as long as the program runs.
    pub(crate) fn serve(self, shared: &Arc<Shared>) {
        let router = routes::router(shared);
        let places = places();
        if let Some(tcp) = self.tcp {
            tokio::spawn(accept(router.clone(), places, async move || {
                let (stream, _) = tcp.accept().await?;
                // Answers are small, and somebody waits for each.
                stream.set_nodelay(true)?;
                Ok(stream)
            }));
        }
        if let Some(unix) = self.unix {
            // Any user of this machine can take all places of the port, so the socket has its own.
            tokio::spawn(accept(router, places, async move || unix.accept().await.map(|(stream, _)| stream)));
        }
    }
}

/// A quarter of the files that the program may have open, for the port and for the socket each, since rooms and the ledger
/// need some too.
fn places() -> usize {
    let files_max = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| usize::try_from(soft).unwrap_or(usize::MAX));
    (files_max / 4).clamp(1, CONNECTIONS_MAX)
}

/// Only its owner can connect. One that a program has left behind is taken over.
fn open_socket(path: &Path) -> Result<UnixListener, ListenError> {
    let failed = |error| ListenError::Socket(path.to_owned(), error);
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => return Err(ListenError::NotASocket(path.to_owned())),
        Ok(_) if std::os::unix::net::UnixStream::connect(path).is_ok() => return Err(ListenError::SocketTaken(path.to_owned())),
        Ok(_) => fs::remove_file(path).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    // Nobody else reaches it before it is its owner's alone: its folder is.
    let listener = UnixListener::bind(path).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

async fn accept<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    router: Router,
    places: usize,
    mut next: impl AsyncFnMut() -> io::Result<S>,
) {
    let room = Arc::new(Semaphore::new(places));
    let mut is_full = false;
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match next().await {
            Ok(stream) => {
                is_full = false;
                let router = router.clone();
                tokio::spawn(async move {
                    http(stream, router).await;
                    drop(place);
                });
            }
            Err(error) => {
                // Said once, since it comes again and again.
                if !std::mem::replace(&mut is_full, true) {
                    warn!("connections of programs cannot be accepted: {error}");
                }
                pause().await;
            }
        }
    }
}

async fn http(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut router = router.clone();
        async move { router.call(request.map(axum::body::Body::new)).await }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN);
    // A connection that breaks has nobody to be told.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

#[expect(clippy::disallowed_methods, reason = "the one pause of the server, while the system has no room for a connection")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
