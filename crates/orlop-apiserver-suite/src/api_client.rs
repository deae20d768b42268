//! Somebody who asks an API server over HTTPS, with HTTP/2, and asks again after it was away.
//!
//! All requests share one connection. It is made when somebody needs it and made anew when it has
//! ended; no request is sent twice.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::api_server::Credentials;

/// How long an answer may take: longer than the server itself allows.
const PATIENCE: Duration = Duration::from_secs(70);
/// How long a connection may take to come about.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// See the module's documentation.
#[derive(Debug)]
pub struct ApiClient {
    address: Arc<Mutex<SocketAddr>>,
    tls: Arc<ClientConfig>,
    connection: tokio::sync::Mutex<Option<SendRequest<Full<Bytes>>>>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum NoReply {
    /// The request was not sent.
    NotSent(String),
    /// The request was sent, and nobody knows what became of it.
    Lost(String),
}

/// What a server answered.
#[derive(Debug)]
pub struct Reply {
    /// The code.
    pub code: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub bytes: Bytes,
}

/// A watch that is being read.
#[derive(Debug)]
pub struct ApiWatch {
    body: Incoming,
    buffer: Vec<u8>,
}

impl ApiClient {
    /// A client of whoever is at this address, which may change.
    ///
    /// # Errors
    /// When the credentials cannot be used.
    pub fn new(address: Arc<Mutex<SocketAddr>>, credentials: &Credentials) -> Result<Self> {
        let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes());
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&credentials.ca)?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_slice(credentials.key.as_bytes())?;
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate(&credentials.certificate)?], key)?;
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { address, tls: Arc::new(tls), connection: tokio::sync::Mutex::default() })
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// When there is none.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, NoReply> {
        read(self.start((method, path), "application/json", body).await?).await
    }

    /// Reads what is at a path in a form of it.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn get_as(&self, path: &str, accept: &str) -> Result<Reply, NoReply> {
        read(self.start(("GET", path), accept, None).await?).await
    }

    /// Starts to watch.
    ///
    /// # Errors
    /// When the server refuses, or there is no answer.
    pub async fn watch(&self, path: &str) -> Result<Result<ApiWatch, Reply>, NoReply> {
        let response = self.start(("GET", path), "application/json", None).await?;
        if response.status().is_success() {
            return Ok(Ok(ApiWatch { body: response.into_body(), buffer: Vec::new() }));
        }
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(|error| NoReply::Lost(error.to_string()))?;
        let (code, bytes) = (parts.status.as_u16(), bytes.to_bytes());
        Ok(Err(Reply { code, headers: parts.headers, bytes }))
    }

    async fn start(
        &self,
        (method, path): (&str, &str),
        accept: &str,
        body: Option<&Value>,
    ) -> Result<http::Response<Incoming>, NoReply> {
        let mut sender =
            self.connect().await.map_err(|why| NoReply::NotSent(format!("{why:#}")))?;
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(format!("https://kubernetes{path}"))
            .header("accept", accept)
            .header("content-type", "application/json")
            .body(Full::new(bytes))
            .map_err(|error| NoReply::NotSent(error.to_string()))?;
        let answered = tokio::time::timeout(PATIENCE, sender.send_request(request)).await;
        let lost = |error: &dyn std::fmt::Display| NoReply::Lost(error.to_string());
        answered.map_err(|late| lost(&late))?.map_err(|error| lost(&error))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        let mut connection = self.connection.lock().await;
        if let Some(sender) = &*connection
            && !sender.is_closed()
        {
            return Ok(sender.clone());
        }
        let address = *self.address.lock().unwrap_or_else(PoisonError::into_inner);
        let connecting = async {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let name = ServerName::try_from("kubernetes")?;
            let stream = TlsConnector::from(self.tls.clone()).connect(name, stream).await?;
            let made = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
            anyhow::Ok(made?)
        };
        let (sender, running) = tokio::time::timeout(CONNECT_PATIENCE, connecting).await??;
        // How it ends, every request on it is told.
        tokio::spawn(async move { drop(running.await) });
        *connection = Some(sender.clone());
        Ok(sender)
    }

    /// The object in an answer with this code.
    ///
    /// # Errors
    /// Another answer, or none.
    pub async fn expect(
        &self,
        code: u16,
        (method, path): (&str, &str),
        body: Option<&Value>,
    ) -> Result<Value> {
        let reply = self.send(method, path, body).await;
        let reply = reply.map_err(|none| anyhow::anyhow!("{method} {path}: {none:?}"))?;
        ensure!(reply.code == code, "{method} {path}: {} {}", reply.code, reply.text());
        reply.json()
    }

    /// Reads an object or a list.
    ///
    /// # Errors
    /// As [`ApiClient::expect`].
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.expect(200, ("GET", path), None).await
    }

    /// Makes an object.
    ///
    /// # Errors
    /// As [`ApiClient::expect`].
    pub async fn create(&self, path: &str, object: &Value) -> Result<Value> {
        self.expect(201, ("POST", path), Some(object)).await
    }
}

/// Reads the whole answer.
async fn read(response: http::Response<Incoming>) -> Result<Reply, NoReply> {
    let lost = |error: &dyn std::fmt::Display| NoReply::Lost(error.to_string());
    let (parts, body) = response.into_parts();
    let bytes = tokio::time::timeout(PATIENCE, body.collect()).await;
    let bytes = bytes.map_err(|late| lost(&late))?.map_err(|error| lost(&error))?.to_bytes();
    Ok(Reply { code: parts.status.as_u16(), headers: parts.headers, bytes })
}

impl NoReply {
    /// What went wrong.
    #[must_use]
    pub fn reason(self) -> String {
        match self {
            Self::NotSent(reason) | Self::Lost(reason) => reason,
        }
    }
}

impl Reply {
    /// The object in it.
    ///
    /// # Errors
    /// It is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.bytes).with_context(|| self.text())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The reason of a failure.
    #[must_use]
    pub fn reason(&self) -> String {
        let status: Value = serde_json::from_slice(&self.bytes).unwrap_or_default();
        status["reason"].as_str().unwrap_or_default().to_owned()
    }
}

impl ApiWatch {
    /// The next event; none at the end, which a broken connection is too. Cancel safe.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).expect("a line is an event"));
            }
            let frame = self.body.frame().await?.ok()?;
            self.buffer.extend_from_slice(&frame.into_data().unwrap_or_default());
        }
    }
}
