//! The server: accepts connections, few enough that nobody can take them all.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tower_service::Service as _;
use tracing::warn;

use crate::listen::{self, Listening};
use crate::routes;
use crate::served::Served;
use crate::streams::Progress;

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
    /// The event stream that it carries, of somebody who has joined.
    stream: Arc<Mutex<Option<Arc<Progress>>>>,
}

impl Connection {
    pub(crate) fn new(peer: SocketAddr) -> Self {
        Self { peer, stream: Arc::default() }
    }

    pub(crate) fn carries(&self, stream: Option<Arc<Progress>>) {
        *self.stream() = stream;
    }

    /// Whether nobody would miss it.
    fn may_be_closed(&self) -> bool {
        self.stream().is_none()
    }

    /// Held only between awaits.
    fn stream(&self) -> MutexGuard<'_, Option<Arc<Progress>>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves until `stop` ends.
pub(crate) async fn run(listening: Listening, served: Arc<Served>, mut stop: watch::Receiver<()>) {
    let router = routes::router(&served);
    let mut open: Vec<(AbortHandle, Connection)> = Vec::new();
    let mut is_full = false;
    loop {
        let accepted = tokio::select! {
            accepted = listening.listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Said once, since it comes again and again.
                if !std::mem::replace(&mut is_full, true) {
                    warn!("connections to the page cannot be accepted: {error}");
                }
                pause().await;
                continue;
            }
        };
        is_full = false;
        listen::notice_when_gone(&stream);
        open.retain(|(task, _)| !task.is_finished());
        let mut others = (0..open.len()).filter(|at| open[*at].1.may_be_closed());
        if let Some(oldest) = others.next()
            && CONNECTIONS_MAX <= others.count() + 1
        {
            open.remove(oldest).0.abort();
        }
        let connection = Connection::new(peer);
        let known = connection.clone();
        #[cfg(feature = "tls")]
        let task = match &listening.tls {
            Some(tls) => tokio::spawn(encrypted(tls.clone(), stream, router.clone(), connection)),
            None => tokio::spawn(http(stream, router.clone(), connection)),
        };
        #[cfg(not(feature = "tls"))]
        let task = tokio::spawn(http(stream, router.clone(), connection));
        open.push((task.abort_handle(), known));
    }
    for (task, _) in open {
        task.abort();
    }
}

#[cfg(feature = "tls")]
async fn encrypted(tls: tokio_rustls::TlsAcceptor, stream: tokio::net::TcpStream, router: Router, connection: Connection) {
    // Whoever does not get through the handshake is none of ours.
    if let Ok(Ok(stream)) = tokio::time::timeout(HEADERS_WITHIN, tls.accept(stream)).await {
        http(stream, router, connection).await;
    }
}

async fn http(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router, connection: Connection) {
    let stream = Noted { stream, connection: connection.clone() };
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

/// Tells the event stream that a connection carries when all of it has been sent.
struct Noted<S> {
    stream: S,
    connection: Connection,
}

impl<S: AsyncRead + Unpin> AsyncRead for Noted<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Noted<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if let (Poll::Ready(Ok(())), Some(stream)) = (&flushed, &*self.connection.stream()) {
            stream.all_is_sent();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[expect(clippy::disallowed_methods, reason = "the one pause of the server, while the system has no room for a connection")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
