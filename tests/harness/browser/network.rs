//! One person's way to the network.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A SOCKS proxy that leads to loopback and nowhere else, and can be cut. What Chromium emulates by itself fails what is
/// requested from then on, and leaves open what is: a stream of events would go on.
pub(super) struct Network {
    address: SocketAddr,
    is_cut: watch::Sender<bool>,
}

impl Network {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (is_cut, cut) = watch::channel(false);
        tokio::spawn(serve(listener, cut));
        Self { address, is_cut }
    }

    /// As Chromium wants it.
    pub(super) fn proxy(&self) -> String {
        format!("socks5://{}", self.address)
    }

    pub(super) fn cut(&self, cut: bool) {
        self.is_cut.send_replace(cut);
    }
}

/// Until nobody has the network any more.
async fn serve(listener: TcpListener, mut cut: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { return };
                tokio::spawn(lead(client, cut.clone()));
            }
            changed = cut.changed() => if changed.is_err() { return },
        }
    }
}

/// Ends both connections as soon as it is cut.
async fn lead(client: TcpStream, mut cut: watch::Receiver<bool>) {
    tokio::select! {
        biased;
        _ = cut.wait_for(|is_cut| *is_cut) => {}
        _ = tunnel(client) => {}
    }
}

/// RFC 1928, as far as Chromium uses it: no authentication, connections only, every host as a name.
async fn tunnel(mut client: TcpStream) -> io::Result<()> {
    const VERSION: u8 = 5;
    const CONNECT: u8 = 1;
    const NAME: u8 = 3;
    const REFUSED: u8 = 5;
    let [VERSION, methods] = read(&mut client).await? else { return Err(ErrorKind::InvalidData.into()) };
    client.read_exact(&mut vec![0; methods.into()]).await?;
    client.write_all(&[VERSION, 0]).await?;
    let [VERSION, CONNECT, _, NAME, length] = read(&mut client).await? else { return Err(ErrorKind::InvalidData.into()) };
    let mut name = vec![0; length.into()];
    client.read_exact(&mut name).await?;
    let port = u16::from_be_bytes(read(&mut client).await?);
    let reply = |status: u8| [VERSION, status, 0, 1, 0, 0, 0, 0, 0, 0];
    let host = str::from_utf8(&name).ok().and_then(|name| name.parse().ok()).filter(IpAddr::is_loopback);
    let server = match host {
        Some(host) => TcpStream::connect((host, port)).await,
        None => Err(ErrorKind::AddrNotAvailable.into()),
    };
    match server {
        Ok(mut server) => {
            client.write_all(&reply(0)).await?;
            copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
        Err(error) => client.write_all(&reply(REFUSED)).await.and(Err(error)),
    }
}

async fn read<const LENGTH: usize>(client: &mut TcpStream) -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}
