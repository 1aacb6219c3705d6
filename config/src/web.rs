//! `[web]`: the page that Countersign serves itself.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use bridge_model::Secret;
use url::Url;

use crate::problem::Reported;
use crate::secret::Secrets;
use crate::section::{Entry, Section};

/// Where the page is served, and how people reach it.
#[derive(Clone, Debug)]
pub struct Web {
    pub listen: SocketAddr,
    /// What people open, without a path, where it is encrypted. `None`: the address that is listened on.
    pub url: Option<Url>,
    pub tls: Option<WebTls>,
    /// Where requests may come from that a reverse proxy has taken the TLS off. Empty: there is no proxy.
    pub proxies: BTreeSet<IpAddr>,
}

/// The certificate of the page, in PEM, and its key.
#[derive(Clone, Debug)]
pub struct WebTls {
    pub certificates: String,
    pub key: Secret,
}

const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7391);

impl Default for Web {
    fn default() -> Self {
        Self { listen: LISTEN, url: None, tls: None, proxies: BTreeSet::new() }
    }
}

pub(crate) fn web(mut section: Section<'_>, secrets: &Secrets<'_>) -> Result<Web, Reported> {
    let listen_entry = section.take("listen");
    let listen = listen_entry.map(|entry| entry.address("127.0.0.1:7391").ok_or(Reported));
    let url_entry = section.take("url");
    let url = url_entry.as_ref().map(origin);
    let tls = tls(&mut section, secrets);
    let proxies = section.take("proxies").map(|entry| proxies(&entry));
    let listen = listen.transpose()?.unwrap_or(LISTEN);
    let (url, tls, proxies) = (url.transpose()?, tls.transpose()?, proxies.transpose()?.unwrap_or_default());

    let is_secure = tls.is_some() || !proxies.is_empty();
    if let (Some(_), false) = (&tls, proxies.is_empty()) {
        let advice = "remove tls_cert_file and tls_key_file, since the proxy has the certificate, or remove proxies";
        section.refuse("proxies", "stands beside tls_cert_file", advice);
    }
    match (&url, &url_entry) {
        (Some(url), Some(entry)) if is_secure && url.scheme() != "https" => {
            entry.refuse(
                format!("{url} is not encrypted, though a certificate or a proxy is configured"),
                "write it with https://",
            );
        }
        (Some(_), Some(entry)) if !is_secure => {
            entry.refuse(
                "is for a page that is encrypted; this one is at the address that it listens on",
                "remove it, add tls_cert_file and tls_key_file, or put a proxy with TLS before it and name its address under proxies",
            );
        }
        (None, _) if is_secure => {
            section.missing("url", "write what people open, such as \"https://approvals.example.org\"");
        }
        _ => {}
    }
    if !is_secure && !listen.ip().is_loopback() {
        let advice = "listen on 127.0.0.1, add tls_cert_file and tls_key_file, or name a proxy's address under proxies";
        section.refuse("listen", format!("{listen} can be reached from elsewhere without encryption"), advice);
    }
    Ok(Web { listen, url, tls, proxies })
}

fn tls(section: &mut Section<'_>, secrets: &Secrets<'_>) -> Option<Result<WebTls, Reported>> {
    let certificates = section.take("tls_cert_file");
    let key = secrets.take(section, "tls_key");
    match (certificates, key) {
        (None, None) => None,
        (Some(_), None) => {
            section.missing("tls_key_file", "name the file with the certificate's key");
            Some(Err(Reported))
        }
        (None, Some(_)) => {
            section.missing("tls_cert_file", "name the file with the certificate, and those that it depends on after it");
            Some(Err(Reported))
        }
        (Some(certificates), Some(key)) => {
            let certificates = secrets.public(&certificates);
            Some(certificates.zip(key.ok()).map(|(certificates, key)| WebTls { certificates, key }).ok_or(Reported))
        }
    }
}

fn origin(entry: &Entry<'_>) -> Result<Url, Reported> {
    let text = entry.text().ok_or(Reported)?;
    let url = Url::parse(&text).ok().filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
    let is_bare = |url: &Url| {
        url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    };
    let url = url.filter(is_bare);
    if url.is_none() {
        let advice = "write scheme and host alone, such as \"https://approvals.example.org\"";
        entry.refuse(format!("{text:?} is not the address of a page"), advice);
    }
    url.ok_or(Reported)
}

fn proxies(entry: &Entry<'_>) -> Result<BTreeSet<IpAddr>, Reported> {
    let parse = |entry: Entry<'_>| {
        let text = entry.text().ok_or(Reported)?;
        text.parse().map_err(|_| {
            entry.refuse(format!("{text:?} is not an IP address"), "write the proxy's address, such as \"127.0.0.1\"");
            Reported
        })
    };
    entry.list().ok_or(Reported)?.into_iter().map(parse).collect()
}
