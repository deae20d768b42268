//! How to reach an etcd cluster and how patient to be with it.
//!
//! The defaults suit a cluster in one place. Secrets are in here: `Debug` leaves them out.
//!
//! Not here: reading files or the environment; certificates and keys come as PEM bytes.

use std::fmt;
use std::time::Duration;

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::{Error, WATCH_BUFFER_EVENTS};

/// How to reach an etcd cluster.
///
/// ```
/// # use orlop_storage::EtcdOptions;
/// let options = EtcdOptions::new(["https://10.0.0.1:2379", "https://10.0.0.2:2379"])
///     .ca("-----BEGIN CERTIFICATE-----...")
///     .user("orlop", "secret");
/// assert!(!format!("{options:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct EtcdOptions {
    /// The members' client URLs; one that starts with `https` is reached with TLS.
    pub endpoints: Vec<String>,
    /// The certificates that a member's certificate must descend from, as PEM. Needed for TLS.
    pub ca: Option<Vec<u8>>,
    /// The certificate to show to the members, and its key, as PEM.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name that a member's certificate must have, if it is not the host of its URL.
    pub domain: Option<String>,
    /// Name and password, if etcd's authentication is on. The user needs every key.
    pub user: Option<(String, String)>,
    /// How long a connection may take to come about; below `request_timeout`.
    pub connect_timeout: Duration,
    /// How long one call may take, all its attempts together.
    pub request_timeout: Duration,
    /// How often a quiet connection is checked. Not below etcd's minimum of five seconds.
    pub keep_alive_every: Duration,
    /// How long the answer to such a check may take.
    pub keep_alive_timeout: Duration,
    /// How many events a watcher may be behind before it is cut off.
    pub watch_buffer: usize,
    /// How old history must be to be given up, and how often that happens; none is never.
    pub compact_every: Option<Duration>,
}

impl EtcdOptions {
    /// A cluster without TLS and authentication at these URLs.
    #[must_use]
    pub fn new<E: Into<String>>(endpoints: impl IntoIterator<Item = E>) -> Self {
        Self {
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            ca: None,
            identity: None,
            domain: None,
            user: None,
            connect_timeout: Duration::from_secs(2),
            request_timeout: Duration::from_secs(5),
            keep_alive_every: Duration::from_secs(10),
            keep_alive_timeout: Duration::from_secs(3),
            watch_buffer: WATCH_BUFFER_EVENTS,
            compact_every: Some(Duration::from_secs(300)),
        }
    }

    /// Trusts the members whose certificates descend from these.
    #[must_use]
    pub fn ca(self, pem: impl Into<Vec<u8>>) -> Self {
        Self { ca: Some(pem.into()), ..self }
    }

    /// Shows this certificate to the members.
    #[must_use]
    pub fn identity(self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        Self { identity: Some((certificate.into(), key.into())), ..self }
    }

    /// Expects this name in the members' certificates.
    #[must_use]
    pub fn domain(self, domain: impl Into<String>) -> Self {
        Self { domain: Some(domain.into()), ..self }
    }

    /// Logs in.
    #[must_use]
    pub fn user(self, name: impl Into<String>, password: impl Into<String>) -> Self {
        Self { user: Some((name.into(), password.into())), ..self }
    }

    /// Gives up history of this age, this often; none is never.
    #[must_use]
    pub fn compact_every(self, interval: Option<Duration>) -> Self {
        Self { compact_every: interval, ..self }
    }

    /// How to reach each endpoint.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what cannot work, said before anything is tried.
    pub(super) fn to_endpoints(&self) -> Result<Vec<Endpoint>, Error> {
        let refuse = |reason: &str| Err(Error::Invalid { reason: reason.into() });
        if self.endpoints.is_empty() {
            return refuse("etcd needs at least one endpoint");
        }
        if self.watch_buffer == 0 {
            return refuse("a watch buffer needs room for at least one event");
        }
        if self.compact_every.is_some_and(|interval| interval.is_zero()) {
            return refuse("the interval between compactions must not be zero");
        }
        self.endpoints.iter().map(|url| self.endpoint(url)).collect()
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, Error> {
        let refuse = |why: &dyn fmt::Display| Error::Invalid {
            reason: format!("etcd endpoint {url}: {why}"),
        };
        let endpoint = Endpoint::from_shared(url.to_string()).map_err(|error| refuse(&error))?;
        let endpoint = endpoint
            .connect_timeout(self.connect_timeout)
            .tcp_keepalive(Some(self.keep_alive_every))
            .http2_keep_alive_interval(self.keep_alive_every)
            .keep_alive_timeout(self.keep_alive_timeout)
            // Without streams etcd allows no pings and answers with GOAWAY: an idle connection
            // is kept by a read now and then instead (`Cluster::keep_alive`).
            .keep_alive_while_idle(false);
        let tls = self.ca.is_some() || self.identity.is_some() || self.domain.is_some();
        match url.split_once("://") {
            Some(("http", _)) if tls => Err(refuse(&"TLS is configured, but this is not https")),
            Some(("http", _)) => Ok(endpoint),
            Some(("https", _)) if self.ca.is_none() => Err(refuse(&"TLS needs a CA to trust")),
            Some(("https", _)) => endpoint.tls_config(self.tls()).map_err(|error| refuse(&error)),
            _ => Err(refuse(&"must start with http:// or https://")),
        }
    }

    fn tls(&self) -> ClientTlsConfig {
        let mut tls = ClientTlsConfig::new().timeout(self.connect_timeout);
        if let Some(ca) = &self.ca {
            tls = tls.ca_certificate(Certificate::from_pem(ca));
        }
        if let Some((certificate, key)) = &self.identity {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        if let Some(domain) = &self.domain {
            tls = tls.domain_name(domain);
        }
        tls
    }
}

impl fmt::Debug for EtcdOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdOptions")
            .field("endpoints", &self.endpoints)
            .field("user", &self.user.as_ref().map(|(name, _)| name))
            .field("domain", &self.domain)
            .field("request_timeout", &self.request_timeout)
            .field("watch_buffer", &self.watch_buffer)
            .field("compact_every", &self.compact_every)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(options: &EtcdOptions, expect: &str) {
        let found = match options.to_endpoints() {
            Ok(_) => "ok".to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expect);
    }

    #[test]
    fn options_that_cannot_work_are_refused_by_name() {
        let none: [&str; 0] = [];
        check(&EtcdOptions::new(none), "invalid request: etcd needs at least one endpoint");
        check(
            &EtcdOptions::new(["http://a:1"]).ca("x"),
            "invalid request: etcd endpoint http://a:1: TLS is configured, but this is not https",
        );
        check(
            &EtcdOptions::new(["https://a:1"]),
            "invalid request: etcd endpoint https://a:1: TLS needs a CA to trust",
        );
        check(
            &EtcdOptions::new(["a:1"]),
            "invalid request: etcd endpoint a:1: must start with http:// or https://",
        );
        check(
            &EtcdOptions { watch_buffer: 0, ..EtcdOptions::new(["http://a:1"]) },
            "invalid request: a watch buffer needs room for at least one event",
        );
        check(&EtcdOptions::new(["http://a:1", "http://b:1"]), "ok");
    }

    #[test]
    fn secrets_are_not_printed() {
        let options = EtcdOptions::new(["https://a:1"]).user("me", "pass1").identity("c", "key1");
        let text = format!("{options:?}");
        assert!(text.contains("me") && !text.contains("pass1") && !text.contains("key1"));
    }
}
