//! The listener with real clients over loopback.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use orlop_storage::SystemClock;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::*;
use crate::body::Pieces;
use crate::pki::{self, Files, Identity, Pki};

const SOON: Duration = Duration::from_millis(50);
const LATE: Duration = Duration::from_secs(20);

fn pki() -> Pki {
    let names = pki::serving_names([127, 0, 0, 1].into(), [10, 96, 0, 1].into());
    Pki::complete(&Files::new(), &names, &SystemClock).unwrap()
}

/// Says who asks and how; `/wait` answers when it is let go; `/watch` ends when the end begins.
struct Echo {
    shutting_down: ShuttingDown,
    go: Notify,
    entered: Notify,
    users: AtomicUsize,
}

impl Handle for Echo {
    async fn handle(&self, request: http::Request<RequestBody>, peer: Arc<Peer>) -> Response<Body> {
        match request.uri().path() {
            "/wait" => {
                self.entered.notify_one();
                self.go.notified().await;
            }
            "/watch" => {
                let end = Box::pin(self.shutting_down.begun());
                return Response::new(Body::stream(UntilTheEnd(Some("begun "), end)));
            }
            _ => {}
        }
        let now = orlop_storage::Clock::now(&SystemClock);
        let _ = peer.user(now, |_| {
            self.users.fetch_add(1, Ordering::Relaxed);
            None
        });
        let (known, refused) = (peer.certificates.len(), peer.refused.is_some());
        let version = request.version();
        let body = request.into_body().collect().await.map(|body| body.to_bytes().len());
        let text = format!("{version:?} certificates={known} refused={refused} {body:?}");
        Response::new(Body::from(text))
    }
}

struct UntilTheEnd(Option<&'static str>, Pin<Box<dyn Future<Output = ()> + Send>>);

impl Pieces for UntilTheEnd {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.0.take() {
            Some(text) => Poll::Ready(Some(Bytes::from_static(text.as_bytes()))),
            None => self.1.as_mut().poll(context).map(|()| None),
        }
    }
}

struct Running {
    pki: Pki,
    tls: Tls,
    address: SocketAddr,
    handler: Arc<Echo>,
    ended: JoinHandle<usize>,
}

impl Running {
    async fn start(limits: Limits) -> Running {
        let pki = pki();
        let Identity { certificate, key } = &pki.apiserver;
        let clock = Arc::new(SystemClock);
        let tls = Tls::new(certificate, key, Some(&pki.ca.certificate), clock).unwrap();
        let serve = Serve::bind(([127, 0, 0, 1], 0).into(), tls.clone(), limits).await.unwrap();
        let address = serve.address();
        let shutting_down = ShuttingDown::new();
        let handler = Arc::new(Echo {
            shutting_down: shutting_down.clone(),
            go: Notify::new(),
            entered: Notify::new(),
            users: AtomicUsize::new(0),
        });
        let served = handler.clone();
        let ended = tokio::spawn(async move { serve.run(served, &shutting_down).await });
        Running { pki, tls, address, handler, ended }
    }

    async fn connect(&self, protocol: &str, identity: Option<&Identity>) -> Client {
        self.connect_with(protocol, identity, &rustls::version::TLS13).await
    }

    async fn connect_with(
        &self,
        protocol: &str,
        identity: Option<&Identity>,
        version: &'static SupportedProtocolVersion,
    ) -> Client {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&self.pki.ca)).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
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

    async fn http1(&self, identity: Option<&Identity>) -> Sender {
        let stream = TokioIo::new(self.connect("http/1.1", identity).await);
        let (sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        Sender::Http1(sender)
    }

    async fn http2(&self, identity: Option<&Identity>) -> Sender {
        let stream = TokioIo::new(self.connect("h2", identity).await);
        let (sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        tokio::spawn(connection);
        Sender::Http2(sender)
    }

    async fn end(self) -> usize {
        self.handler.shutting_down.begin();
        self.ended.await.unwrap()
    }
}

type Client = TlsStream<TcpStream>;

fn certificate(identity: &Identity) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()
}

enum Sender {
    Http1(hyper::client::conn::http1::SendRequest<Empty<Bytes>>),
    Http2(hyper::client::conn::http2::SendRequest<Empty<Bytes>>),
}

impl Sender {
    async fn send(&mut self, request: Request<Empty<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Sender::Http1(sender) => sender.send_request(request).await,
            Sender::Http2(sender) => sender.send_request(request).await,
        }
    }

    async fn get(&mut self, path: &str) -> hyper::Result<Response<Incoming>> {
        self.send(get(path)).await
    }

    async fn text(&mut self, path: &str) -> String {
        text(self.get(path).await.unwrap()).await
    }
}

fn get(path: &str) -> Request<Empty<Bytes>> {
    let uri = format!("https://kubernetes{path}");
    Request::builder().uri(uri).header("host", "kubernetes").body(Empty::new()).unwrap()
}

async fn text(answer: Response<Incoming>) -> String {
    String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn new_connections_get_the_new_certificate() {
    let mut running = Running::start(Limits::default()).await;
    let admin = running.pki.admin.clone();
    let mut old = running.http1(Some(&admin)).await;
    let known = " certificates=1 refused=false Ok(0)";
    assert_eq!(old.text("/").await, format!("HTTP/1.1{known}"));
    let new = pki();
    let Identity { certificate, key } = &new.apiserver;
    assert!(running.tls.replace(&running.pki.apiserver.certificate, key, None).is_err());
    running.tls.replace(certificate, key, Some(&new.ca.certificate)).unwrap();
    running.pki = new;
    let mut sender = running.http2(Some(&running.pki.admin)).await;
    assert_eq!(sender.text("/").await, format!("HTTP/2.0{known}"));
    let mut stranger = running.http2(Some(&admin)).await;
    assert_eq!(stranger.text("/").await, "HTTP/2.0 certificates=0 refused=true Ok(0)");
    assert_eq!(old.text("/").await, format!("HTTP/1.1{known}"), "open connections stay");
    drop((old, sender, stranger));
    assert_eq!(running.end().await, 0);
}

#[tokio::test]
async fn both_versions_of_http_see_the_client_certificate() {
    let running = Running::start(Limits::default()).await;
    let admin = Some(&running.pki.admin);
    let check = async |mut sender: Sender, expect: &str| {
        assert_eq!(sender.text("/").await, expect);
        assert_eq!(sender.text("/").await, expect);
    };
    check(running.http1(None).await, "HTTP/1.1 certificates=0 refused=false Ok(0)").await;
    check(running.http2(None).await, "HTTP/2.0 certificates=0 refused=false Ok(0)").await;
    assert_eq!(running.handler.users.load(Ordering::Relaxed), 0);
    check(running.http1(admin).await, "HTTP/1.1 certificates=1 refused=false Ok(0)").await;
    check(running.http2(admin).await, "HTTP/2.0 certificates=1 refused=false Ok(0)").await;
    assert_eq!(running.handler.users.load(Ordering::Relaxed), 2, "once per connection");
    let mut old = running.connect_with("http/1.1", admin, &rustls::version::TLS12).await;
    old.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    let _ = old.read_to_string(&mut answer).await;
    assert!(answer.contains("certificates=1"), "{answer}");
    assert_eq!(running.end().await, 0);
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_told_and_not_believed() {
    let running = Running::start(Limits::default()).await;
    let foreign = pki();
    for identity in [&foreign.admin, &running.pki.apiserver, &running.pki.front_proxy_client] {
        let mut sender = running.http2(Some(identity)).await;
        assert_eq!(sender.text("/").await, "HTTP/2.0 certificates=0 refused=true Ok(0)");
    }
    running.end().await;
}

#[tokio::test]
async fn headers_that_are_too_large_are_answered_431() {
    let limits = Limits { header_bytes_max: 16 * 1024, ..Limits::default() };
    let running = Running::start(limits).await;
    for mut sender in [running.http1(None).await, running.http2(None).await] {
        let mut request = get("/");
        let large = "x".repeat(17 * 1024).parse().unwrap();
        request.headers_mut().insert("x-large", large);
        let answer = sender.send(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    }
    running.end().await;
}

#[tokio::test]
async fn clients_that_do_not_ask_in_time_are_cut_off() {
    let limits = Limits {
        handshake_timeout: SOON,
        first_request_timeout: SOON,
        idle_timeout: SOON,
        ..Limits::default()
    };
    let running = Running::start(limits).await;
    let mut nothing = TcpStream::connect(running.address).await.unwrap();
    ends(&mut nothing, "no handshake").await;
    let mut slow = running.connect("http/1.1", None).await;
    slow.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();
    ends(&mut slow, "half a header").await;
    let mut idle = running.connect("http/1.1", None).await;
    idle.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    ends(&mut idle, "idle after a request").await;
    running.end().await;
}

/// Waits until the server has closed.
async fn ends(stream: &mut (impl tokio::io::AsyncRead + Unpin), what: &str) {
    let mut all = Vec::new();
    let read = tokio::time::timeout(LATE, stream.read_to_end(&mut all)).await;
    assert!(read.is_ok(), "{what}: the connection should have ended");
}

#[tokio::test]
async fn a_client_that_idles_over_http2_is_told_to_go() {
    let limits = Limits { idle_timeout: SOON, ..Limits::default() };
    let running = Running::start(limits).await;
    let stream = TokioIo::new(running.connect("h2", None).await);
    let handshake =
        hyper::client::conn::http2::handshake::<_, _, Empty<Bytes>>(TokioExecutor::new(), stream);
    let (mut sender, connection) = handshake.await.unwrap();
    let connection = tokio::spawn(connection);
    assert_eq!(sender.send_request(get("/")).await.unwrap().version(), Version::HTTP_2);
    tokio::time::timeout(LATE, connection).await.unwrap().unwrap().unwrap();
    running.end().await;
}

#[tokio::test]
async fn the_end_lets_requests_finish_and_watches_end() {
    let running = Running::start(Limits::default()).await;
    for sender in [running.http1(None).await, running.http2(None).await] {
        let mut sender = sender;
        tokio::spawn(async move { sender.text("/wait").await });
        running.handler.entered.notified().await;
    }
    let mut watches = Vec::new();
    for mut sender in [running.http1(None).await, running.http2(None).await] {
        let answer = sender.get("/watch").await.unwrap();
        watches.push(tokio::spawn(async move {
            let _open = sender;
            text(answer).await
        }));
    }
    let mut idle = running.connect("http/1.1", None).await;
    let (address, handler) = (running.address, running.handler.clone());
    let ended = tokio::spawn(running.end());
    for watch in watches {
        assert_eq!(watch.await.unwrap(), "begun ", "ends as a whole answer");
    }
    ends(&mut idle, "nothing under way").await;
    let late = TcpStream::connect(address).await;
    assert!(late.is_err(), "nobody listens any more");
    assert!(!ended.is_finished(), "two requests are under way");
    handler.go.notify_one();
    handler.go.notify_one();
    handler.go.notify_waiters();
    assert_eq!(tokio::time::timeout(LATE, ended).await.unwrap().unwrap(), 0);
}

#[tokio::test]
async fn what_does_not_end_in_time_is_cut_off() {
    let running = Running::start(Limits { drain_timeout: SOON, ..Limits::default() }).await;
    let mut sender = running.http2(None).await;
    let waits = tokio::spawn(async move { sender.get("/wait").await.is_err() });
    running.handler.entered.notified().await;
    assert_eq!(running.end().await, 1);
    assert!(tokio::time::timeout(LATE, waits).await.unwrap().unwrap());
}

#[tokio::test]
async fn goaway_makes_a_client_connect_anew_and_loses_nothing() {
    let running = Running::start(Limits { goaway_chance: 1.0, ..Limits::default() }).await;
    let mut sender = running.http2(None).await;
    assert!(sender.text("/").await.starts_with("HTTP/2.0"));
    let Sender::Http2(mut sender) = sender else { unreachable!("it is HTTP/2") };
    tokio::time::timeout(LATE, async {
        while sender.ready().await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
    running.end().await;
}

#[tokio::test]
async fn further_clients_wait_for_room() {
    let running = Running::start(Limits { connections_max: 1, ..Limits::default() }).await;
    let mut first = running.http1(None).await;
    assert!(first.text("/").await.starts_with("HTTP/1.1"));
    let mut second = Box::pin(running.http1(None));
    assert!(tokio::time::timeout(SOON, &mut second).await.is_err(), "there is no room");
    drop(first);
    let mut second = tokio::time::timeout(LATE, second).await.unwrap();
    assert!(second.text("/").await.starts_with("HTTP/1.1"));
    drop(second);
    running.end().await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let running = Running::start(Limits::default()).await;
    let Identity { certificate, key } = &running.pki.apiserver;
    let tls = Tls::new(certificate, key, None, Arc::new(SystemClock)).unwrap();
    let error = Serve::bind(running.address, tls, Limits::default()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{} is in use by another process", running.address));
    running.end().await;
}

#[tokio::test]
async fn a_handler_needs_no_socket() {
    let running = Running::start(Limits::default()).await;
    let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let request = Request::builder().uri("/").body(body).unwrap();
    let answer = running.handler.handle(request, Arc::new(Peer::local())).await;
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "HTTP/1.1 certificates=0 refused=false Ok(0)");
    running.end().await;
}

#[test]
fn certificates_that_cannot_be_served_with_are_named() {
    let check = |certificate: &str, key: &str, ca: Option<&str>, expect: &str| {
        let error = Tls::new(certificate, key, ca, Arc::new(SystemClock)).unwrap_err();
        assert!(error.to_string().starts_with(expect), "{error}");
    };
    let pki = pki();
    let Identity { certificate, key } = &pki.apiserver;
    check("", key, None, "the serving certificate holds no certificate");
    check(certificate, "x", None, "the serving key is not valid PEM");
    check(certificate, &pki.admin.key, None, "the serving certificate and its key cannot be used");
    check(certificate, key, Some(""), "the client CA holds no certificate");
}
