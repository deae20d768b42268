//! A webhook for tests: an HTTPS server that answers as a test says, well or badly.
//!
//! It listens on a port of this machine that is free, has a certificate of an authority of its own,
//! and ends when it is dropped. What it was asked can be looked at afterwards.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use anyhow::Result;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

/// Which versions of HTTP a webhook offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 alone.
    Http1,
    /// HTTP/2 alone.
    Http2,
    /// HTTP/2 before HTTP/1.1.
    Both,
}

/// What a webhook was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path and the query.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The version of HTTP.
    pub version: http::Version,
    /// The body, or null if it is no JSON.
    pub body: Value,
}

/// How a webhook answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// 200, with JSON.
    Json(Value),
    /// A code, a header (`content-type` unless another is named) and a text.
    Text(u16, &'static [(&'static str, &'static str)], String),
    /// The connection ends without an answer.
    HangUp,
    /// The connection ends in the middle of the answer.
    HangUpHalfway,
    /// No answer ever.
    Silence,
    /// 200 and so many bytes, whose number is not said.
    Endless(usize),
}

/// What a webhook does: it is told how often it was called before, and what it is asked.
type Behaviour = dyn Fn(usize, &Asked) -> Reply + Send + Sync;

/// See the module's documentation.
#[derive(Debug)]
pub struct WebhookServer {
    address: SocketAddr,
    authority: String,
    seen: Arc<Seen>,
    accepting: AbortHandle,
}

#[derive(Debug, Default)]
struct Seen {
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl WebhookServer {
    /// Starts a webhook. Its certificate is for `127.0.0.1`, `localhost` and `hook.default.svc`.
    ///
    /// # Errors
    /// When there is no free port or no certificate can be made.
    pub async fn start(
        protocol: Protocol,
        behaviour: impl Fn(usize, &Asked) -> Reply + Send + Sync + 'static,
    ) -> Result<WebhookServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (authority, tls) = make_tls(protocol)?;
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let seen = Arc::new(Seen::default());
        let (behaviour, noted): (Arc<Behaviour>, _) = (Arc::new(behaviour), seen.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                noted.connections.fetch_add(1, Ordering::SeqCst);
                let (acceptor, behaviour) = (acceptor.clone(), behaviour.clone());
                let task = tokio::spawn(serve(stream, acceptor, behaviour, noted.clone()));
                let mut tasks = noted.tasks.lock().unwrap_or_else(PoisonError::into_inner);
                tasks.retain(|task| !task.is_finished());
                tasks.push(task.abort_handle());
            }
        });
        Ok(WebhookServer { address, authority, seen, accepting: accepting.abort_handle() })
    }

    /// A webhook that converts by changing each object with a function, and is right otherwise.
    ///
    /// # Errors
    /// As [`WebhookServer::start`].
    pub async fn converting(
        change: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Result<WebhookServer> {
        WebhookServer::start(Protocol::Both, move |_, asked| {
            Reply::Json(convert(&asked.body, &change))
        })
        .await
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate of the authority that its own comes from, as PEM.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// A `clientConfig` that leads to it by URL. `ca_bundle` is base64 of [`Self::authority`].
    #[must_use]
    pub fn client_config(&self, path: &str, ca_bundle: &str) -> Value {
        json!({"url": format!("https://{}{path}", self.address), "caBundle": ca_bundle})
    }

    /// What it was asked until now.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.seen.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections there have been.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Ends all connections, as a restart would.
    pub fn cut_connections(&self) {
        let mut tasks = self.seen.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for task in tasks.drain(..) {
            task.abort();
        }
    }
}

impl Drop for WebhookServer {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut_connections();
    }
}

/// The right answer to a ConversionReview, with objects changed by a function.
#[must_use]
pub fn convert(review: &Value, change: &dyn Fn(&mut Value)) -> Value {
    let request = &review["request"];
    let mut objects = request["objects"].as_array().cloned().unwrap_or_default();
    for object in &mut objects {
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        change(object);
    }
    json!({
        "apiVersion": review["apiVersion"],
        "kind": review["kind"],
        "response": {
            "uid": request["uid"],
            "convertedObjects": objects,
            "result": {"status": "Success"},
        },
    })
}

fn make_tls(protocol: Protocol) -> Result<(String, ServerConfig)> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);
    let names = ["127.0.0.1", "localhost", "hook.default.svc"].map(str::to_owned);
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new(names)?.signed_by(&key, &issuer)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    let (http1, http2) = (b"http/1.1".to_vec(), b"h2".to_vec());
    tls.alpn_protocols = match protocol {
        Protocol::Http1 => vec![http1],
        Protocol::Http2 => vec![http2],
        Protocol::Both => vec![http2, http1],
    };
    Ok((authority_pem, tls))
}

async fn serve(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    behaviour: Arc<Behaviour>,
    seen: Arc<Seen>,
) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let service = service_fn(move |request| answer(request, behaviour.clone(), seen.clone()));
    let stream = TokioIo::new(stream);
    // How a connection ends is the client's business.
    if is_http2 {
        let running = http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service);
        drop(running.await);
    } else {
        drop(http1::Builder::new().serve_connection(stream, service).await);
    }
}

async fn answer(
    request: Request<Incoming>,
    behaviour: Arc<Behaviour>,
    seen: Arc<Seen>,
) -> Result<Response<ReplyBody>, std::io::Error> {
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
    let asked = Asked {
        target: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: parts.headers,
        version: parts.version,
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    };
    let before = {
        let mut all = seen.asked.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(asked.clone());
        all.len() - 1
    };
    let respond = |code: u16, headers: &[(&str, &str)], body: ReplyBody| {
        let mut response = Response::builder().status(code);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        response.body(body).map_err(std::io::Error::other)
    };
    let json = [("content-type", "application/json")];
    let whole = |text: String| ReplyBody { bytes: text.into(), ..ReplyBody::default() };
    match behaviour(before, &asked) {
        Reply::Json(value) => respond(200, &json, whole(value.to_string())),
        Reply::Text(code, headers, text) => respond(code, headers, whole(text)),
        Reply::HangUp => Err(std::io::Error::other("the test wants it so")),
        Reply::HangUpHalfway => {
            let body = ReplyBody { bytes: "{".into(), is_broken: true, ..ReplyBody::default() };
            respond(200, &json, body)
        }
        Reply::Silence => std::future::pending().await,
        Reply::Endless(left) => respond(200, &json, ReplyBody { left, ..ReplyBody::default() }),
    }
}

/// First some bytes, then so many blanks, then an end that may be none.
#[derive(Default)]
struct ReplyBody {
    bytes: Bytes,
    left: usize,
    is_broken: bool,
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        const PIECE: &[u8] = &[b' '; 4096];
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if self.left > 0 {
            let piece = &PIECE[..PIECE.len().min(self.left)];
            self.left -= piece.len();
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(piece)))));
        }
        let is_broken = std::mem::take(&mut self.is_broken);
        let error = is_broken.then(|| Err(std::io::Error::other("the test wants it so")));
        Poll::Ready(error)
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty() && self.left == 0 && !self.is_broken
    }

    fn size_hint(&self) -> SizeHint {
        if self.left == 0 && !self.is_broken {
            return SizeHint::with_exact(self.bytes.len() as u64);
        }
        SizeHint::default()
    }
}
