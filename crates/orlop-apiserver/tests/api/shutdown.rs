//! The end of a server, as its clients see it over real connections.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use orlop_apiserver::Options;
use orlop_apiserver::pki::{self, Files, Identity, Pki};
use orlop_apiserver::serve::{Limits, Serve, ShuttingDown, Tls};
use orlop_storage::{Memory, SystemClock};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::cluster::Cluster;

/// A server that listens.
struct Listening {
    cluster: Cluster,
    pki: Pki,
    address: SocketAddr,
    shutting_down: ShuttingDown,
    /// How many connections were cut off.
    ended: JoinHandle<usize>,
}

impl Listening {
    async fn start() -> Listening {
        let names = pki::serving_names(Ipv4Addr::LOCALHOST.into(), [10, 96, 0, 1].into());
        let pki = Pki::complete(&Files::new(), &names, &SystemClock).unwrap();
        let options = Options::new(Ipv4Addr::new(192, 0, 2, 1).into(), 6443);
        let shutting_down = options.shutting_down.clone();
        let cluster = Cluster::with(Arc::new(Memory::new()), options).await;
        let Identity { certificate, key } = &pki.apiserver;
        let ca = Some(pki.ca.certificate.as_str());
        let tls = Tls::new(certificate, key, ca, Arc::new(SystemClock)).unwrap();
        let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let serve = Serve::bind(address, tls, Limits::default()).await.unwrap();
        let address = serve.address();
        let (server, ending) = (cluster.server.clone(), shutting_down.clone());
        let ended = tokio::spawn(async move { serve.run(server, &ending).await });
        Listening { cluster, pki, address, shutting_down, ended }
    }

    /// A connection of the administrator.
    async fn connect(&self, protocol: &str) -> TlsStream<TcpStream> {
        let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&self.pki.ca.certificate)).unwrap();
        let key = PrivateKeyDer::from_pem_slice(self.pki.admin.key.as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate(&self.pki.admin.certificate)], key)
            .unwrap();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("kubernetes.default.svc").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }

    /// Ends the server, which must not have to cut anybody off.
    async fn end(self) {
        self.shutting_down.begin();
        assert_eq!(self.ended.await.unwrap(), 0, "connections were cut off");
    }
}

/// Reads until a text has come, and says everything that has.
async fn read_until(stream: &mut TlsStream<TcpStream>, text: &str) -> String {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains(text) {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "the connection has ended");
    }
    String::from_utf8(bytes).unwrap()
}

const WATCH: &str = "/api/v1/namespaces?watch=true";

#[tokio::test]
async fn a_watch_over_http_1_ends_with_its_last_chunk() {
    let listening = Listening::start().await;
    let mut stream = listening.connect("http/1.1").await;
    let request = format!("GET {WATCH} HTTP/1.1\r\nhost: kubernetes\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = read_until(&mut stream, "\"kube-system\"").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    listening.shutting_down.begin();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"\r\n0\r\n\r\n") || rest == b"0\r\n\r\n", "{rest:?}");
    listening.end().await;
}

#[tokio::test]
async fn a_watch_over_http_2_ends_with_its_stream() {
    let listening = Listening::start().await;
    let stream = TokioIo::new(listening.connect("h2").await);
    let connected = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await;
    let (mut sender, connection) = connected.unwrap();
    let connection = tokio::spawn(connection);
    let uri = format!("https://kubernetes{WATCH}");
    let request = Request::builder().uri(uri).body(Empty::<Bytes>::new()).unwrap();
    let mut answer = sender.send_request(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.frame().await.unwrap().unwrap().is_data());
    listening.shutting_down.begin();
    // A stream that is reset is an error.
    answer.into_body().collect().await.unwrap();
    drop(sender);
    listening.end().await;
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_write_that_has_begun_is_done() {
    let listening = Listening::start().await;
    let mut stream = listening.connect("http/1.1").await;
    let body = r#"{"metadata":{"name":"late"}}"#;
    let (first, second) = body.split_at(10);
    let request = format!(
        "POST /api/v1/namespaces HTTP/1.1\r\nhost: kubernetes\r\nexpect: 100-continue\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    // Whoever asks for the body is at work.
    read_until(&mut stream, "100 Continue\r\n\r\n").await;
    stream.write_all(first.as_bytes()).await.unwrap();
    listening.shutting_down.begin();
    stream.write_all(second.as_bytes()).await.unwrap();
    let answer = read_until(&mut stream, "\"late\"").await;
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    let watch = listening.cluster.watch(WATCH).await.next().await;
    assert_eq!(watch, None, "a watch that comes late ends at once");
    listening.end().await;
}

#[tokio::test]
async fn a_server_that_leaves_is_not_ready_and_goes_on() {
    let listening = Listening::start().await;
    let cluster = &listening.cluster;
    assert_eq!(cluster.get("/readyz").await.text(), "ok");
    cluster.server.leave().await;
    let answer = cluster.get("/readyz").await;
    assert_eq!(answer.code, 500);
    assert!(answer.text().contains("[-]shutdown failed: reason withheld\n"), "{}", answer.text());
    assert_eq!(cluster.get("/livez").await.text(), "ok");
    cluster.get("/api/v1/namespaces/default").await.expect(200);
    listening.shutting_down.begin();
    let late = cluster.get("/api/v1/namespaces/default").await;
    assert_eq!(late.headers["retry-after"], "1");
    let expect = ("ServiceUnavailable".to_owned(), "apiserver is shutting down".to_owned());
    assert_eq!(late.failure(503), expect);
    assert_eq!(cluster.get("/livez").await.code, 200);
    listening.end().await;
}
