//! Where the page listens, and by which names it may be asked for.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bridge_core::RoomError;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

use crate::Options;

/// A peer that is gone without a word is noticed after this, so that it does not count as present.
const GONE_AFTER: Duration = Duration::from_mins(1);

/// The open socket, before anybody is served. Connections wait in it meanwhile.
#[derive(Clone)]
pub(crate) struct Listening {
    pub(crate) listener: Arc<TcpListener>,
    pub(crate) own: Own,
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

/// The page's own origin, `scheme://host[:port]` as browsers write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) origin: String,
    pub(crate) is_secure: bool,
    port: u16,
}

impl Own {
    fn of(url: Option<&str>, listen: SocketAddr) -> Self {
        let port = listen.port();
        // Not `localhost`: it leads to two addresses, and whoever listens on the other one would be this page too.
        let own = || {
            // A browser leaves the port out that the scheme implies.
            let port = if port == 80 { String::new() } else { format!(":{port}") };
            match listen.ip() {
                IpAddr::V4(ip) => format!("http://{ip}{port}"),
                IpAddr::V6(ip) => format!("http://[{ip}]{port}"),
            }
        };
        let origin = url.map_or_else(own, |url| url.trim_end_matches('/').to_ascii_lowercase());
        Self { is_secure: origin.starts_with("https://"), origin, port }
    }

    pub(crate) fn has_host(&self, host: &str) -> bool {
        self.origin.split_once("://").is_some_and(|(_, own)| own.eq_ignore_ascii_case(host))
    }

    /// Hosts share their cookies among all ports, so that each page has a cookie of its own name.
    pub(crate) fn cookie_name(&self) -> String {
        let prefix = if self.is_secure { "__Host-" } else { "" };
        format!("{prefix}countersign-{}", self.port)
    }
}

/// The link by which a person joins a page with a key. The key stands where browsers keep it to themselves.
pub fn join_link(options: &Options, key: &str) -> String {
    format!("{}/join#{key}", Own::of(options.url.as_deref(), options.listen).origin)
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
    let listener = Arc::new(listener);
    let at = listener.local_addr().unwrap_or(options.listen);
    Ok(Listening {
        listener,
        own: Own::of(options.url.as_deref(), at),
        trust: if options.proxies.is_empty() { Trust::Everybody } else { Trust::Proxies(options.proxies.clone()) },
        #[cfg(feature = "tls")]
        tls: options.tls.as_ref().map(tls).transpose()?,
    })
}

fn not_bound(at: SocketAddr, error: &std::io::Error) -> RoomError {
    let what = if error.kind() == ErrorKind::AddrInUse {
        format!("{at} is in use by another program; end it, or choose another port as web.listen")
    } else {
        format!("{at} cannot be listened on ({error}); choose another address as web.listen")
    };
    RoomError::Refused(what)
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
    let unfit = |error: rustls::Error| refused(format!("the certificate and the key of the page do not fit ({error})"));
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(unfit)?;
    Ok(tokio_rustls::TlsAcceptor::from(Arc::new(config)))
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
    fn a_page_on_loopback_is_asked_for_by_its_address() {
        let own = Own::of(None, loopback(7391));
        assert_eq!(own.origin, "http://127.0.0.1:7391");
        assert!(own.has_host("127.0.0.1:7391") && !own.is_secure);
        for host in ["127.0.0.1", "127.0.0.1:7392", "evil.example:7391", "localhost:7391", "", "127.0.0.1:7391.evil.example"] {
            assert!(!own.has_host(host), "{host:?}");
        }
        assert_eq!(Own::of(None, "[::1]:7391".parse().expect("an address")).origin, "http://[::1]:7391");
        assert!(Own::of(None, loopback(80)).has_host("127.0.0.1"));
    }

    #[test]
    fn a_page_with_a_name_is_asked_for_by_it_alone() {
        let own = Own::of(Some("https://Approvals.example.org/"), loopback(7391));
        assert_eq!(own.origin, "https://approvals.example.org");
        assert!(own.has_host("Approvals.example.org") && !own.has_host("127.0.0.1:7391"));
        assert_eq!((own.is_secure, own.cookie_name().as_str()), (true, "__Host-countersign-7391"));
    }

    #[tokio::test]
    async fn what_could_be_reached_from_elsewhere_is_not_listened_on_without_encryption() {
        let outside = crate::Outside { now: Arc::new(|| bridge_model::Timestamp::from_unix_millis(0)), random: || [0; 32] };
        let options = Options {
            listen: ([0, 0, 0, 0], 0).into(),
            url: None,
            tls: None,
            proxies: BTreeSet::new(),
            folder: std::path::PathBuf::new(),
            rooms: BTreeSet::new(),
            outside,
        };
        assert!(matches!(open(&options).await, Err(RoomError::Refused(_))));
        assert!(open(&Options { listen: loopback(0), ..options }).await.is_ok());
    }
}
