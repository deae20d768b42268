//! Reaching what is not the API server: nodes, pods, the other parts of a control plane.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/proxy/dial.go` and `pkg/kubelet/client`. What
//! goes wrong on the way is said in Go's words, because clients show it to people as it is. The
//! certificate of the other side is not checked, as upstream does not check that of a node unless
//! it is told an authority (`--kubelet-certificate-authority`), and never that of a pod.

mod tls;

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};

use crate::body::{Body, Pieces, RequestBody};

/// How long it may take to reach somebody.
const DIAL_TIME_MAX: Duration = Duration::from_secs(30);

/// Where something listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Whether it speaks TLS.
    pub is_secure: bool,
    /// A name or an address.
    pub host: String,
    /// A number; empty for the usual one.
    pub port: String,
}

/// Bytes to and from somebody.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

impl Address {
    /// `http` or `https`.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.is_secure { "https" } else { "http" }
    }

    /// Host and port, as a URL has them.
    pub(crate) fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        if self.port.is_empty() { host } else { format!("{host}:{}", self.port) }
    }

    fn port(&self) -> &str {
        match self.port.as_str() {
            "" if self.is_secure => "443",
            "" => "80",
            port => port,
        }
    }

    /// Connects, with TLS where it is spoken.
    ///
    /// # Errors
    ///
    /// Why it cannot be reached, in Go's words.
    pub(crate) async fn connect(&self) -> Result<Box<dyn Connection>, String> {
        let stream = self.dial().await?;
        if !self.is_secure {
            return Ok(Box::new(stream));
        }
        let stream = tokio::time::timeout(DIAL_TIME_MAX, tls::connect(&self.host, stream)).await;
        let stream = stream.map_err(|_| "net/http: TLS handshake timeout".to_owned())??;
        Ok(Box::new(stream))
    }

    async fn dial(&self) -> Result<TcpStream, String> {
        let (host, port) = (self.host.as_str(), self.port());
        let Ok(number) = port.parse::<u16>() else {
            return Err(format!("dial tcp: lookup tcp/{port}: unknown port"));
        };
        let dialled = tokio::time::timeout(DIAL_TIME_MAX, dial(host, number)).await;
        dialled.unwrap_or_else(|_| {
            let usual = Address { port: port.to_owned(), ..self.clone() };
            Err(format!("dial tcp {}: i/o timeout", usual.authority()))
        })
    }

    /// Sends one request over a connection of its own.
    ///
    /// # Errors
    ///
    /// Why there is no answer, in Go's words.
    pub(crate) async fn send(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, String> {
        let stream = TokioIo::new(self.connect().await?);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream)
            .await
            .map_err(|error| describe_http(&error))?;
        tokio::spawn(connection.with_upgrades());
        sender.send_request(request).await.map_err(|error| describe_http(&error))
    }
}

async fn dial(host: &str, port: u16) -> Result<TcpStream, String> {
    let addresses = lookup_host((host, port)).await;
    let addresses = addresses.map_err(|_| format!("dial tcp: lookup {host}: no such host"))?;
    let mut failure = format!("dial tcp: lookup {host}: no such host");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = format!("dial tcp {address}: connect: {}", Errno(&error)),
        }
    }
    Err(failure)
}

/// An error of the system as Go prints it: without its number and in lower case.
struct Errno<'a>(&'a io::Error);

impl fmt::Display for Errno<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        out.write_str(&text.to_ascii_lowercase())
    }
}

fn describe_http(error: &hyper::Error) -> String {
    if error.is_incomplete_message() || error.is_closed() {
        return "EOF".to_owned();
    }
    format!("net/http: {error}")
}

/// The body of somebody's answer as that of ours. When it breaks off, so does ours.
pub(crate) fn forward_body(body: Incoming) -> Body {
    Body::stream(Forwarded(body))
}

struct Forwarded(Incoming);

impl Pieces for Forwarded {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            let frame = match Pin::new(&mut self.0).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(error))) => {
                    tracing::debug!(%error, "an answer that is passed on broke off");
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            match frame.into_data() {
                Ok(data) if !data.is_empty() => return Poll::Ready(Some(data)),
                _ => {}
            }
        }
    }
}
