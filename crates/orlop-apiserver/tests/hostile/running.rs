//! A server behind its listener, and bare connections to it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use orlop_apiserver::pki::{self, Files, Identity, Pki};
use orlop_apiserver::serve::{Handle, Limits, Peer, Serve, ShuttingDown, Tls};
use orlop_apiserver::{Options, Server, User};
use orlop_storage::{Memory, SystemClock};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// What does not come by then is not going to.
pub(crate) const LATE: Duration = Duration::from_secs(30);

pub(crate) const MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub(crate) type Stream = TlsStream<TcpStream>;

/// A handler behind a listener.
pub(crate) struct Running<H> {
    pub handler: Arc<H>,
    pub address: SocketAddr,
    pki: Pki,
    shutting_down: ShuttingDown,
    ended: JoinHandle<usize>,
}

impl Running<Server> {
    pub(crate) async fn start() -> Running<Server> {
        Running::with(Limits::default(), Duration::from_secs(60)).await
    }

    pub(crate) async fn with(limits: Limits, request_timeout: Duration) -> Running<Server> {
        let mut options = Options::new(Ipv4Addr::LOCALHOST.into(), 6443);
        options.request_timeout = request_timeout;
        let server = Server::start(Arc::new(Memory::new()), options).await.unwrap();
        Running::serve(server, limits).await
    }

    /// Asks the server without a socket.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: impl Into<Bytes>) -> Asked {
        let groups = vec!["system:masters".into()];
        let peer = Peer::acting_for(User { name: "admin".into(), groups, ..User::default() });
        let body = Full::new(body.into()).map_err(|never| match never {}).boxed_unsync();
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("content-type", "application/json").body(body).unwrap();
        let (parts, body) = self.handler.answer(request, &peer).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Asked { code: parts.status.as_u16(), bytes }
    }

    /// Makes a ConfigMap with so many bytes.
    pub(crate) async fn make(&self, name: &str, length: usize) {
        let data = serde_json::json!({"a": "x".repeat(length)});
        let map = serde_json::json!({"metadata": {"name": name}, "data": data});
        assert_eq!(self.ask("POST", MAPS, map.to_string()).await.code, 201);
    }

    /// How many watches are under way.
    pub(crate) async fn watches(&self) -> u64 {
        let text = self.ask("GET", "/metrics", "").await.bytes;
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().filter(|line| line.starts_with("apiserver_longrunning_requests{"));
        lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
    }

    /// Waits until so many watches are under way.
    pub(crate) async fn wait_for_watches(&self, count: u64) {
        let wait = async {
            while self.watches().await != count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let waited = tokio::time::timeout(LATE, wait).await;
        assert!(waited.is_ok(), "{} watches instead of {count}", self.watches().await);
    }

    /// The server is well: a new client is answered.
    pub(crate) async fn is_well(&self) {
        let mut stream = self.admin("http/1.1").await;
        let answer = exchange(&mut stream, "GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close");
        assert!(answer.await.ends_with("ok"));
    }
}

/// What the server answered.
pub(crate) struct Asked {
    pub code: u16,
    pub bytes: Bytes,
}

impl<H: Handle> Running<H> {
    pub(crate) async fn serve(handler: H, limits: Limits) -> Running<H> {
        let names = pki::serving_names([127, 0, 0, 1].into(), [10, 96, 0, 1].into());
        let pki = Pki::complete(&Files::new(), &names, &SystemClock).unwrap();
        let Identity { certificate, key } = &pki.apiserver;
        let clock = Arc::new(SystemClock);
        let tls = Tls::new(certificate, key, Some(&pki.ca.certificate), clock).unwrap();
        let serve = Serve::bind(([127, 0, 0, 1], 0).into(), tls, limits).await.unwrap();
        let address = serve.address();
        let (handler, shutting_down) = (Arc::new(handler), ShuttingDown::new());
        let ended = tokio::spawn({
            let (handler, shutting_down) = (handler.clone(), shutting_down.clone());
            async move { serve.run(handler, &shutting_down).await }
        });
        Running { handler, address, pki, shutting_down, ended }
    }

    /// A connection of somebody who may do everything.
    pub(crate) async fn admin(&self, protocol: &str) -> Stream {
        self.connect(protocol, Some(&self.pki.admin)).await
    }

    /// A connection of nobody in particular.
    pub(crate) async fn stranger(&self, protocol: &str) -> Stream {
        self.connect(protocol, None).await
    }

    async fn connect(&self, protocol: &str, identity: Option<&Identity>) -> Stream {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&self.pki.ca)).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match identity {
            Some(identity) => {
                let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
                builder.with_client_auth_cert(vec![certificate(identity)], key).unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("kubernetes.default.svc").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }

    /// Ends the server; nothing has to be cut off, whatever clients did before they left.
    pub(crate) async fn end(self) {
        self.shutting_down.begin();
        tokio::time::timeout(LATE, self.ended).await.unwrap().unwrap();
    }
}

fn certificate(identity: &Identity) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()
}

/// Sends a head, or more, and reads until the server closes.
pub(crate) async fn exchange(stream: &mut Stream, head: &str) -> String {
    stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
    read_to_end(stream).await
}

/// Everything until the server closes, in whatever way it does.
pub(crate) async fn read_to_end(stream: &mut Stream) -> String {
    let mut all = Vec::new();
    let read = tokio::time::timeout(LATE, stream.read_to_end(&mut all)).await;
    assert!(read.is_ok(), "the server should have closed after {}", String::from_utf8_lossy(&all));
    String::from_utf8_lossy(&all).into_owned()
}

/// The Status in an answer of HTTP/1.1.
pub(crate) fn status_of(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}
