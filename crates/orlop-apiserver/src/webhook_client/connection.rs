//! Connections to a webhook: made when they are needed, kept while they are good.
//!
//! HTTP/2 has one connection for all calls; HTTP/1.1 one per call, and some that wait for the next.
//! A request that a kept connection could not take any more goes to a new one: it was not sent, so
//! this repeats nothing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig as TlsConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::failure::CallError;
use super::service::ServiceResolver;
use super::target::Target;
use super::{Call, tls};

/// How long a connection may wait for the next call and still be used.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// The connections of one webhook.
pub(super) struct Connections {
    target: Target,
    tls: Arc<TlsConfig>,
    resolver: Arc<dyn ServiceResolver>,
    kept: Mutex<Kept>,
    idle_max: usize,
}

#[derive(Default)]
struct Kept {
    shared: Option<http2::SendRequest<Full<Bytes>>>,
    idle: Vec<(http1::SendRequest<Full<Bytes>>, Instant)>,
}

/// The end of a connection that requests go into.
pub(super) enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connections {
    pub(super) fn new(
        target: Target,
        tls: Arc<TlsConfig>,
        resolver: Arc<dyn ServiceResolver>,
        idle_max: usize,
    ) -> Connections {
        Connections { target, tls, resolver, kept: Mutex::default(), idle_max }
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Sends a call and waits for the head of its answer.
    pub(super) async fn send(
        &self,
        call: &Call,
    ) -> Result<(http::Response<Incoming>, Sender), CallError> {
        // Each turn takes a kept connection away, so it ends.
        while let Some(sender) = self.take() {
            let is_shared = matches!(sender, Sender::Http2(_));
            if let Some(answer) = self.send_on(call, sender).await? {
                return Ok(answer);
            }
            if is_shared {
                self.kept().shared = None;
            }
        }
        let sender = self.connect(call).await?;
        let answer = self.send_on(call, sender).await?;
        answer.ok_or_else(|| CallError::Transport {
            url: call.url.clone(),
            reason: "EOF".to_owned(),
            is_lost: true,
        })
    }

    /// Sends on one connection; none when that was closed before it took anything.
    async fn send_on(
        &self,
        call: &Call,
        mut sender: Sender,
    ) -> Result<Option<(http::Response<Incoming>, Sender)>, CallError> {
        let request = call.request(&sender, &self.target.authority)?;
        let sent = match &mut sender {
            Sender::Http1(sender) => match sender.ready().await {
                Ok(()) => sender.try_send_request(request).await,
                Err(_) => return Ok(None),
            },
            Sender::Http2(sender) => match sender.ready().await {
                Ok(()) => sender.try_send_request(request).await,
                Err(_) => return Ok(None),
            },
        };
        let mut error = match sent {
            Ok(response) => return Ok(Some((response, sender))),
            Err(error) => error,
        };
        if error.take_message().is_some() {
            return Ok(None);
        }
        let is_http2 = matches!(sender, Sender::Http2(_));
        Err(CallError::lost(&call.url, error.error(), is_http2))
    }

    /// Keeps a connection whose answer has been read to its end.
    pub(super) fn give_back(&self, sender: Sender) {
        if let Sender::Http1(sender) = sender
            && !sender.is_closed()
        {
            let mut kept = self.kept();
            if kept.idle.len() < self.idle_max {
                kept.idle.push((sender, Instant::now()));
            }
        }
    }

    fn take(&self) -> Option<Sender> {
        let mut kept = self.kept();
        if let Some(sender) = &kept.shared {
            if !sender.is_closed() {
                return Some(Sender::Http2(sender.clone()));
            }
            kept.shared = None;
        }
        let now = Instant::now();
        kept.idle.retain(|(sender, since)| {
            !sender.is_closed() && now.duration_since(*since) < IDLE_TIMEOUT
        });
        kept.idle.pop().map(|(sender, _)| Sender::Http1(sender))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self, call: &Call) -> Result<Sender, CallError> {
        let refuse = |reason: String| CallError::unreachable(&call.url, reason);
        let stream = self.connect_tls().await.map_err(refuse)?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(tls::ALPN_HTTP2);
        let lost = |error: hyper::Error| CallError::lost(&call.url, &error, is_http2);
        let stream = TokioIo::new(stream);
        // How a connection ends, every request on it is told.
        if is_http2 {
            let made = http2::handshake(TokioExecutor::new(), stream).await;
            let (sender, running) = made.map_err(lost)?;
            tokio::spawn(async move { drop(running.await) });
            self.kept().shared = Some(sender.clone());
            return Ok(Sender::Http2(sender));
        }
        let (sender, running) = http1::handshake(stream).await.map_err(lost)?;
        tokio::spawn(async move { drop(running.await) });
        Ok(Sender::Http1(sender))
    }

    async fn connect_tls(&self) -> Result<TlsStream<TcpStream>, String> {
        let Target { host, port, service, .. } = &self.target;
        let stream = match service {
            Some(service) => {
                let (namespace, name) = (&service.namespace, &service.name);
                let (host, port) = self.resolver.resolve(namespace, name, *port).await?;
                dial(&host, port).await?
            }
            None => dial(host, *port).await?,
        };
        let name = ServerName::try_from(host.clone())
            .map_err(|_| format!("tls: \"{host}\" is no name of a server"))?;
        let connected = TlsConnector::from(self.tls.clone()).connect(name.clone(), stream).await;
        connected.map_err(|error| tls::describe(&error, &name))
    }
}

/// Connects to the first address of a host that answers.
async fn dial(host: &str, port: u16) -> Result<TcpStream, String> {
    let addresses = tokio::net::lookup_host((host, port)).await;
    let addresses: Vec<SocketAddr> =
        addresses.map_err(|_| format!("dial tcp: lookup {host}: no such host"))?.collect();
    let mut reason = format!("dial tcp: lookup {host}: no such host");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // A call is one piece; nothing follows that it could be sent with.
                drop(stream.set_nodelay(true));
                return Ok(stream);
            }
            Err(error) => reason = format!("dial tcp {address}: connect: {}", go_text(&error)),
        }
    }
    Err(reason)
}

fn go_text(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        std::io::ErrorKind::HostUnreachable => "no route to host".to_owned(),
        std::io::ErrorKind::NetworkUnreachable => "network is unreachable".to_owned(),
        std::io::ErrorKind::TimedOut => "connection timed out".to_owned(),
        _ => error.to_string().to_lowercase(),
    }
}
