//! The server: accepts connections, few enough that nobody can take them all.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tower_service::Service as _;
use tracing::warn;

use crate::listen::{self, Listening};
use crate::routes;
use crate::served::Served;

/// Connections at once, besides those that carry an event stream. One more closes the oldest.
const CONNECTIONS_MAX: usize = 128;
/// How long a client may take to say what it wants, and to say nothing in between.
const HEADERS_WITHIN: Duration = Duration::from_secs(20);
/// Of a request's head, in bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// After an error of the listening socket, which is mostly too many open files.
const PAUSE: Duration = Duration::from_millis(200);

/// What is known of a connection by those who serve its requests.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) peer: SocketAddr,
    /// It carries an event stream of somebody who has joined.
    pub(crate) is_stream: Arc<AtomicBool>,
}

/// Serves until `stop` ends.
pub(crate) async fn run(listening: Listening, served: Arc<Served>, mut stop: watch::Receiver<()>) {
    let router = routes::router(&served);
    let mut open: Vec<(AbortHandle, Arc<AtomicBool>)> = Vec::new();
    loop {
        let accepted = tokio::select! {
            accepted = listening.listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                warn!("a connection to the page could not be accepted: {error}");
                pause().await;
                continue;
            }
        };
        listen::notice_when_gone(&stream);
        open.retain(|(task, _)| !task.is_finished());
        let mut others = open.iter().filter(|(_, is_stream)| !is_stream.load(Ordering::SeqCst));
        if let Some((oldest, _)) = others.next()
            && CONNECTIONS_MAX <= others.count() + 1
        {
            oldest.abort();
        }
        let connection = routes::connection(peer);
        let is_stream = Arc::clone(&connection.is_stream);
        #[cfg(feature = "tls")]
        let task = match &listening.tls {
            Some(tls) => tokio::spawn(encrypted(tls.clone(), stream, router.clone(), connection)),
            None => tokio::spawn(plain(stream, router.clone(), connection)),
        };
        #[cfg(not(feature = "tls"))]
        let task = tokio::spawn(plain(stream, router.clone(), connection));
        open.push((task.abort_handle(), is_stream));
    }
    for (task, _) in open {
        task.abort();
    }
}

async fn plain(stream: TcpStream, router: Router, connection: Connection) {
    http(stream, router, connection).await;
}

#[cfg(feature = "tls")]
async fn encrypted(tls: tokio_rustls::TlsAcceptor, stream: TcpStream, router: Router, connection: Connection) {
    // Whoever does not get through the handshake is none of ours.
    if let Ok(Ok(stream)) = tokio::time::timeout(HEADERS_WITHIN, tls.accept(stream)).await {
        http(stream, router, connection).await;
    }
}

async fn http(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router, connection: Connection) {
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        let mut router = router.clone();
        async move { router.call(request.map(axum::body::Body::new)).await }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_buf_size(HEAD_BYTES_MAX);
    // A connection that breaks has nobody to be told.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

#[expect(clippy::disallowed_methods, reason = "the one pause of the server, while the system has no room for a connection")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
