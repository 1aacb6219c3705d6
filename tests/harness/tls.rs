//! A certificate for the servers of tests, from an authority that only tests trust.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// One for all of a process, so that a client made for one server can talk to another.
pub(crate) static TLS: LazyLock<Tls> = LazyLock::new(Tls::make);

/// In PEM.
pub struct Certificate {
    pub authority: String,
    pub chain: String,
    pub key: String,
}

/// For a page at `approvals.example.org`.
pub fn approvals_certificate() -> Certificate {
    Certificate { authority: TLS.ca_pem.clone(), chain: TLS.certificate_pem.clone(), key: TLS.key_pem.clone() }
}

pub(crate) struct Tls {
    pub(crate) ca_pem: String,
    certificate_pem: String,
    key_pem: String,
    pub(crate) acceptor: TlsAcceptor,
}

impl Tls {
    fn make() -> Self {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key")).expect("a certificate");
        let key = KeyPair::generate().expect("a key");
        let leaf = CertificateParams::new(["discord.com", "approvals.example.org"].map(str::to_owned)).expect("a name");
        let leaf = leaf.signed_by(&key, &authority).expect("a certificate");

        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .expect("a certificate and its key");
        Self {
            ca_pem: authority.pem(),
            certificate_pem: leaf.pem(),
            key_pem: key.serialize_pem(),
            acceptor: TlsAcceptor::from(Arc::new(config)),
        }
    }

    /// Writes `ca.pem`, and `cert.pem` with its `key.pem`, for a server that is another program.
    pub(crate) fn write(&self, folder: &Path) {
        let files = [("ca.pem", &self.ca_pem), ("cert.pem", &self.certificate_pem), ("key.pem", &self.key_pem)];
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("the folder can be written");
        }
    }
}
