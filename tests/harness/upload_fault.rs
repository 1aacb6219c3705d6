//! A proxy in front of a homeserver that lets everything pass, and uploads only when it is told to.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub struct UploadFault {
    address: SocketAddr,
    state: Arc<State>,
    serving: JoinHandle<()>,
}

struct State {
    homeserver: String,
    /// Zero lets uploads pass.
    status: AtomicU16,
    refused: AtomicUsize,
}

impl UploadFault {
    /// Answers uploads with this status and a page that no Matrix client reads.
    pub async fn before(homeserver: &str, status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let homeserver = homeserver.trim_start_matches("http://").to_owned();
        let state = Arc::new(State { homeserver, status: status.into(), refused: AtomicUsize::new(0) });
        let serving = tokio::spawn(serve(listener, Arc::clone(&state)));
        Self { address, state, serving }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn end(&self) {
        self.state.status.store(0, Ordering::Relaxed);
    }

    /// How many uploads it has refused.
    pub fn refused(&self) -> usize {
        self.state.refused.load(Ordering::Relaxed)
    }
}

impl Drop for UploadFault {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    while let Ok((client, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        // Whoever hangs up early has no further use for it.
        tokio::spawn(async move { pass(client, &state).await });
    }
}

/// One request and its answer; then the connection closes.
async fn pass(mut client: TcpStream, state: &State) -> io::Result<()> {
    let request = read(&mut client).await?;
    let status = state.status.load(Ordering::Relaxed);
    if status != 0 && is_upload(&request) {
        state.refused.fetch_add(1, Ordering::Relaxed);
        let page = "<html>";
        let head = format!("HTTP/1.1 {status} No\r\ncontent-type: text/html\r\ncontent-length: {}\r\n", page.len());
        return client.write_all(format!("{head}connection: close\r\n\r\n{page}").as_bytes()).await;
    }
    let mut homeserver = TcpStream::connect(&state.homeserver).await?;
    let line_end = request.windows(2).position(|two| two == b"\r\n").map_or(0, |at| at + 2);
    homeserver.write_all(&[&request[..line_end], b"connection: close\r\n", &request[line_end..]].concat()).await?;
    tokio::io::copy(&mut homeserver, &mut client).await.map(drop)
}

fn is_upload(request: &[u8]) -> bool {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    line.starts_with(b"POST ") && String::from_utf8_lossy(line).contains("/media/")
}

/// A request with its body.
async fn read(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut request = Vec::new();
    loop {
        if let Some(length) = length(&request)
            && length <= request.len()
        {
            return Ok(request);
        }
        if client.read_buf(&mut request).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Of the request, once its head is there.
fn length(request: &[u8]) -> Option<usize> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = parsed.parse(request).ok()? else { return None };
    let length = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let body = length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse::<usize>().ok());
    Some(head + body.unwrap_or(0))
}
