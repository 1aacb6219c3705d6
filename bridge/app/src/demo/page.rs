//! The page that the scripted agent wants to fetch. It serves it itself, on loopback.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const BODY: &str = "Release notes: the server now listens on loopback by default.\n";
const REQUEST_BYTES_MAX: usize = 8 * 1024;
const REPLY_BYTES_MAX: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// Served for as long as this lives.
pub(super) struct Page {
    pub(super) address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Page {
    pub(super) async fn serve() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            // One after the other: there is one reader.
            while let Ok((stream, _)) = listener.accept().await {
                let _ = tokio::time::timeout(PATIENCE, reply(stream)).await;
            }
        });
        Ok(Self { address, serving })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

pub(super) fn url(address: SocketAddr) -> String {
    format!("http://{address}/release-notes")
}

pub(super) async fn fetch(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /release-notes HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut reply = String::new();
    stream.take(REPLY_BYTES_MAX).read_to_string(&mut reply).await?;
    match reply.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200 ") => Ok(body.to_owned()),
        Some(_) | None => Err(io::Error::other("the page is not there")),
    }
}

async fn reply(mut stream: TcpStream) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") && request.len() < REQUEST_BYTES_MAX {
        if stream.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let length = BODY.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(BODY.as_bytes()).await?;
    stream.shutdown().await
}
