//! Somebody who asks a server over HTTP/1.1, one request at a time on a connection.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use orlop_machinery::{Value, bytes as base64, yaml};
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::ready::Anybody;

/// Where a server is, and as whom to ask it.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    /// The value of the header, for those who have no certificate.
    authorization: Option<String>,
}

impl Client {
    /// As a kubeconfig says.
    pub(crate) fn new(kubeconfig: &Path) -> Result<Client> {
        let config = yaml::parse(&std::fs::read(kubeconfig)?)?;
        let first = |list: &str, what: &str| -> Option<Value> {
            config.get(list)?.as_list()?.first()?.get(what).cloned()
        };
        let cluster = first("clusters", "cluster").context("no cluster in the kubeconfig")?;
        let user = first("users", "user").context("no user in the kubeconfig")?;
        let server = cluster.get("server").and_then(Value::as_str).context("no server")?;
        let address = server.trim_start_matches("https://").parse()?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody(provider)));
        let pem = |key: &str| -> Option<Vec<u8>> { base64::decode(user.get(key)?.as_str()?).ok() };
        let tls = match (pem("client-certificate-data"), pem("client-key-data")) {
            (Some(certificate), Some(key)) => builder.with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(&certificate)?],
                PrivateKeyDer::from_pem_slice(&key)?,
            )?,
            _ => builder.with_no_client_auth(),
        };
        let token = user.get("token").and_then(Value::as_str);
        let authorization = token.map(|token| format!("Bearer {token}"));
        Ok(Client { address, tls: Arc::new(tls), authorization })
    }

    /// A new connection.
    pub(crate) async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let stream = TlsConnector::from(self.tls.clone()).connect(name, stream).await?;
        let (sender, running) = http1::handshake(TokioIo::new(stream)).await?;
        // How it ends, the requests on it are told.
        tokio::spawn(async move { drop(running.await) });
        Ok(Connection { sender, authorization: self.authorization.clone() })
    }
}

/// One connection.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    authorization: Option<String>,
}

impl Connection {
    /// The code and body of an answer.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<(u16, Bytes)> {
        let response = self.start(method, path, body.into()).await?;
        let code = response.status().as_u16();
        Ok((code, response.into_body().collect().await?.to_bytes()))
    }

    /// The body of an answer that has this code.
    pub(crate) async fn expect(
        &mut self,
        code: u16,
        (method, path): (&str, &str),
        body: impl Into<Bytes>,
    ) -> Result<Bytes> {
        let (came, bytes) = self.send(method, path, body).await?;
        ensure!(came == code, "{method} {path}: {came} {}", String::from_utf8_lossy(&bytes));
        Ok(bytes)
    }

    /// The events of a watch, or the code with which it is refused.
    pub(crate) async fn watch(mut self, path: &str) -> Result<Result<Events, u16>> {
        let response = self.start("GET", path, Bytes::new()).await?;
        let code = response.status().as_u16();
        let events = Events { body: response.into_body(), lines: 0, _connection: self };
        Ok(if code == 200 { Ok(events) } else { Err(code) })
    }

    async fn start(&mut self, method: &str, path: &str, body: Bytes) -> Result<Response<Incoming>> {
        let content = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", content);
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        self.sender.ready().await?;
        Ok(self.sender.send_request(request.body(Full::new(body))?).await?)
    }
}

/// The events of a watch.
pub(crate) struct Events {
    body: Incoming,
    /// How many have come that nobody has asked for.
    lines: usize,
    _connection: Connection,
}

impl Events {
    /// Waits for one more event.
    pub(crate) async fn next(&mut self) -> Result<()> {
        while self.lines == 0 {
            let Some(frame) = self.body.frame().await else { bail!("the watch has ended") };
            let Ok(data) = frame?.into_data() else { continue };
            self.lines += data.iter().filter(|byte| **byte == b'\n').count();
        }
        self.lines -= 1;
        Ok(())
    }
}
