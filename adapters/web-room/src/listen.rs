//! Where the page listens, and by which names it may be asked for.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bridge_core::RoomError;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

use crate::Options;

/// A peer that is gone without a word is noticed after this, so that it does not count as present.
const GONE_AFTER: Duration = Duration::from_mins(1);

/// The open socket, before anybody is served.
pub(crate) struct Listening {
    pub(crate) listener: TcpListener,
    pub(crate) origins: Origins,
    pub(crate) trust: Trust,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<tokio_rustls::TlsAcceptor>,
}

/// By whom the page may be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Anybody who reaches it.
    Everybody,
    /// These reverse proxies, for what they received encrypted.
    Proxies(BTreeSet<IpAddr>),
}

/// The page's own origins, `scheme://host[:port]` as browsers write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origins {
    all: Vec<String>,
    pub(crate) is_secure: bool,
    port: u16,
}

impl Origins {
    fn of(url: Option<&str>, listen: SocketAddr) -> Self {
        let port = listen.port();
        let all = if let Some(url) = url {
            vec![url.trim_end_matches('/').to_ascii_lowercase()]
        } else {
            let hosts = [listen.ip().to_string(), "localhost".to_owned()];
            // A browser leaves the port out that the scheme implies.
            let suffix = if port == 80 { String::new() } else { format!(":{port}") };
            let bracketed = |host: String| if host.contains(':') { format!("[{host}]") } else { host };
            hosts.into_iter().map(|host| format!("http://{}{suffix}", bracketed(host))).collect()
        };
        let is_secure = all.iter().all(|origin| origin.starts_with("https://"));
        Self { all, is_secure, port }
    }

    /// What to open. There is always one.
    pub(crate) fn first(&self) -> &str {
        self.all.first().map_or("", String::as_str)
    }

    /// The origin whose host this is.
    pub(crate) fn of_host(&self, host: &str) -> Option<&str> {
        let host = host.to_ascii_lowercase();
        let is_it = |origin: &&String| origin.split_once("://").is_some_and(|(_, of_origin)| of_origin == host);
        self.all.iter().find(is_it).map(String::as_str)
    }

    /// Hosts share their cookies among all ports, so that each page has a cookie of its own name.
    pub(crate) fn cookie_name(&self) -> String {
        let prefix = if self.is_secure { "__Host-" } else { "" };
        format!("{prefix}countersign-{}", self.port)
    }
}

/// The link by which a person joins a page with a key. The key stands where browsers keep it to themselves.
pub fn join_link(options: &Options, key: &str) -> String {
    format!("{}/join#{key}", Origins::of(options.url.as_deref(), options.listen).first())
}

pub(crate) async fn open(options: &Options) -> Result<Listening, RoomError> {
    if options.tls.is_none() && options.proxies.is_empty() && !options.listen.ip().is_loopback() {
        return Err(RoomError::Refused(format!("{} can be reached from elsewhere without encryption", options.listen)));
    }
    #[cfg(not(feature = "tls"))]
    if options.tls.is_some() {
        return Err(RoomError::Refused("this program was built without TLS; build it with `--features web-tls`".to_owned()));
    }
    let listener = TcpListener::bind(options.listen).await.map_err(|error| not_bound(options.listen, &error))?;
    let at = listener.local_addr().unwrap_or(options.listen);
    Ok(Listening {
        listener,
        origins: Origins::of(options.url.as_deref(), at),
        trust: if options.proxies.is_empty() { Trust::Everybody } else { Trust::Proxies(options.proxies.clone()) },
        #[cfg(feature = "tls")]
        tls: options.tls.as_ref().map(tls).transpose()?,
    })
}

fn not_bound(at: SocketAddr, error: &std::io::Error) -> RoomError {
    // Whoever has it may let go of it.
    if error.kind() == ErrorKind::AddrInUse {
        return RoomError::Unavailable(format!(
            "{at} is in use by another program; end it, or choose another port as web.listen"
        ));
    }
    RoomError::Refused(format!("{at} cannot be listened on ({error}); choose another address as web.listen"))
}

#[cfg(feature = "tls")]
fn tls(tls: &crate::Tls) -> Result<tokio_rustls::TlsAcceptor, RoomError> {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    let refused = |what: String| RoomError::Refused(what);
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(tls.certificates.as_bytes()).collect();
    let certificates = certificates.map_err(|error| refused(format!("web.tls_cert_file cannot be read ({error})")))?;
    if certificates.is_empty() {
        return Err(refused("web.tls_cert_file holds no certificate in PEM".to_owned()));
    }
    // What is wrong with it is not said: it would be a piece of the key.
    let key = PrivateKeyDer::from_pem_slice(tls.key.expose().as_bytes())
        .map_err(|_| refused("web.tls_key_file holds no private key in PEM".to_owned()))?;
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key);
    let config = config.map_err(|error| refused(format!("the certificate and the key of the page do not fit ({error})")))?;
    Ok(tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config)))
}

/// Best effort: a system that cannot do it only notices later.
pub(crate) fn notice_when_gone(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(GONE_AFTER / 2).with_interval(GONE_AFTER / 6));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(GONE_AFTER));
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn loopback(port: u16) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)
    }

    #[test]
    fn a_page_on_loopback_is_asked_for_by_its_address_or_as_localhost() {
        let origins = Origins::of(None, loopback(7391));
        assert_eq!(origins.first(), "http://127.0.0.1:7391");
        assert_eq!(origins.of_host("LocalHost:7391"), Some("http://localhost:7391"));
        for host in ["127.0.0.1", "127.0.0.1:7392", "evil.example:7391", "localhost", "", "localhost:7391.evil.example"] {
            assert_eq!(origins.of_host(host), None, "{host:?}");
        }
        assert!(!origins.is_secure);
        assert_eq!(Origins::of(None, "[::1]:7391".parse().expect("an address")).first(), "http://[::1]:7391");
        assert_eq!(Origins::of(None, loopback(80)).of_host("localhost"), Some("http://localhost"));
    }

    #[test]
    fn a_page_with_a_name_is_asked_for_by_it_alone() {
        let origins = Origins::of(Some("https://Approvals.example.org/"), loopback(7391));
        assert_eq!(origins.of_host("approvals.example.org"), Some("https://approvals.example.org"));
        assert_eq!(origins.of_host("127.0.0.1:7391"), None);
        assert!(origins.is_secure);
        assert_eq!(origins.cookie_name(), "__Host-countersign-7391");
    }
}
