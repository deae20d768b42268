//! TLS: the server's certificate and what becomes of a client's.
//!
//! As upstream asks for a client certificate without refusing the connection over it, so that a
//! client whose certificate is not trusted gets 401 with a Status instead of a TLS alert: the
//! handshake proves that the client has the key, and [`Tls::peer`] checks the chain afterwards,
//! also when a session is resumed.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use orlop_storage::Clock;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::time_provider::TimeProvider;
use rustls::{
    DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, ServerConnection,
    SignatureScheme,
};

use super::peer::Peer;

/// HTTP/2 in ALPN.
pub(super) const ALPN_HTTP2: &[u8] = b"h2";
/// HTTP/1.1 in ALPN.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// The TLS side of a listener. Clones are the same: what one is given anew, all have.
#[derive(Clone)]
pub struct Tls {
    material: Arc<ArcSwap<Material>>,
    clock: Arc<dyn Clock>,
}

/// What connections are made with.
struct Material {
    config: Arc<ServerConfig>,
    clients: Option<Arc<dyn ClientCertVerifier>>,
}

/// Why certificates and keys cannot be served with.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// PEM that does not read.
    #[error("the {what} is not valid PEM: {reason}")]
    Pem {
        /// What it should have been.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// No certificate where one should be.
    #[error("the {what} holds no certificate")]
    Empty {
        /// What it should have been.
        what: &'static str,
    },
    /// A CA that cannot be one.
    #[error("the client CA cannot be used: {0}")]
    ClientCa(String),
    /// A certificate and key that do not fit, or are of an unknown sort.
    #[error("the serving certificate and its key cannot be used")]
    Serving(#[source] rustls::Error),
}

impl Tls {
    /// Serves with a certificate (its chain after it) and its key; knows clients by a CA, if given.
    /// All are PEM.
    ///
    /// # Errors
    /// When something of it cannot be used.
    pub fn new(
        certificate: &str,
        key: &str,
        client_ca: Option<&str>,
        clock: Arc<dyn Clock>,
    ) -> Result<Tls, TlsError> {
        let material = Material::new(certificate, key, client_ca, &clock)?;
        Ok(Tls { material: Arc::new(ArcSwap::from_pointee(material)), clock })
    }

    /// Serves new connections with another certificate, key and CA; see [`Tls::new`]. Connections
    /// that are open stay as they are.
    ///
    /// # Errors
    /// When something of it cannot be used; then everything stays as it is.
    pub fn replace(
        &self,
        certificate: &str,
        key: &str,
        client_ca: Option<&str>,
    ) -> Result<(), TlsError> {
        let material = Material::new(certificate, key, client_ca, &self.clock)?;
        self.material.store(Arc::new(material));
        Ok(())
    }

    /// The configuration for connections.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        self.material.load().config.clone()
    }

    /// Who a connection belongs to, after its handshake.
    pub(super) fn peer(&self, address: SocketAddr, connection: &ServerConnection) -> Peer {
        let mut peer = Peer::new(address);
        let shown = connection.peer_certificates().unwrap_or_default();
        let material = self.material.load();
        let (Some(clients), [own, between @ ..]) = (&material.clients, shown) else { return peer };
        let now = UnixTime::since_unix_epoch(self.clock.now());
        match clients.verify_client_cert(own, between, now) {
            Ok(_) => {
                peer.expires = end_of(own);
                peer.certificates = shown.iter().map(|one| one.clone().into_owned()).collect();
            }
            Err(error) => peer.refused = Some(error.to_string()),
        }
        peer
    }
}

impl Material {
    fn new(
        certificate: &str,
        key: &str,
        client_ca: Option<&str>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Material, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let clients = client_ca.map(|ca| verifier(ca, provider.clone())).transpose()?;
        let verifier: Arc<dyn ClientCertVerifier> = match &clients {
            Some(clients) => Arc::new(AskWithoutJudging(clients.clone())),
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let chain = certificates(certificate, "serving certificate")?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|error| TlsError::Pem { what: "serving key", reason: error.to_string() })?;
        let time = Arc::new(ClockTime(clock.clone()));
        let mut config = ServerConfig::builder_with_details(provider, time)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(TlsError::Serving)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(TlsError::Serving)?;
        config.alpn_protocols = vec![ALPN_HTTP2.to_vec(), ALPN_HTTP1.to_vec()];
        Ok(Material { config: Arc::new(config), clients })
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_clients = self.material.load().clients.is_some();
        out.debug_struct("Tls").field("clients", &has_clients).finish_non_exhaustive()
    }
}

fn verifier(
    ca: &str,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for root in certificates(ca, "client CA")? {
        roots.add(root).map_err(|error| TlsError::ClientCa(error.to_string()))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .allow_unauthenticated()
        .build()
        .map_err(|error| TlsError::ClientCa(error.to_string()))
}

fn certificates(pem: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Pem { what, reason: error.to_string() })?;
    if found.is_empty() { Err(TlsError::Empty { what }) } else { Ok(found) }
}

/// When a certificate ends, as time since the Unix epoch.
fn end_of(certificate: &CertificateDer<'_>) -> Option<Duration> {
    let (_, parsed) = x509_parser::parse_x509_certificate(certificate).ok()?;
    u64::try_from(parsed.validity().not_after.timestamp()).ok().map(Duration::from_secs)
}

/// Asks for a certificate and has the client prove its key, and no more.
#[derive(Debug)]
struct AskWithoutJudging(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for AskWithoutJudging {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Our clock, for TLS.
#[derive(Debug)]
pub(crate) struct ClockTime(pub(crate) Arc<dyn Clock>);

impl TimeProvider for ClockTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(self.0.now()))
    }
}
