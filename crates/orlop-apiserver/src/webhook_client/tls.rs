//! TLS with webhooks: whom to trust, and Go's words for certificates that are not.

use std::error::Error as _;
use std::io;
use std::sync::{Arc, OnceLock};

use orlop_storage::Clock;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig as TlsConfig, RootCertStore};

use super::WebhookOptions;
use super::failure::CallError;
use super::target::{ClientConfig, Target};
use super::trust::Trust;
use crate::serve::ClockTime;

/// HTTP/2 in ALPN.
pub(super) const ALPN_HTTP2: &[u8] = b"h2";
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// The authorities that a machine trusts. They are read at first need, and once for all webhooks.
#[derive(Debug, Default)]
pub struct SystemRoots {
    pem: String,
    roots: OnceLock<Arc<RootCertStore>>,
}

impl SystemRoots {
    /// From certificates as PEM.
    #[must_use]
    pub fn new(pem: String) -> SystemRoots {
        SystemRoots { pem, roots: OnceLock::new() }
    }

    fn get(&self) -> Arc<RootCertStore> {
        let read = || {
            let mut roots = RootCertStore::empty();
            // A machine may trust authorities that this library cannot read.
            roots.add_parsable_certificates(read_certificates(self.pem.as_bytes()));
            Arc::new(roots)
        };
        self.roots.get_or_init(read).clone()
    }
}

pub(super) fn client_config(
    config: &ClientConfig,
    target: &Target,
    options: &WebhookOptions,
) -> Result<Arc<TlsConfig>, CallError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clock: Arc<dyn Clock> = options.clock.clone();
    let builder = TlsConfig::builder_with_details(provider.clone(), Arc::new(ClockTime(clock)))
        .with_safe_default_protocol_versions()
        .map_err(|error| CallError::Configuration(error.to_string()))?;
    let builder = if config.ca_bundle.is_empty() {
        builder.with_root_certificates(options.system_roots.get())
    } else {
        let trust =
            Trust::new(read_certificates(&config.ca_bundle), provider).ok_or_else(|| {
                let reason = "unable to load root certificates: unable to parse bytes as PEM block";
                CallError::Configuration(reason.to_owned())
            })?;
        builder.dangerous().with_custom_certificate_verifier(Arc::new(trust))
    };
    let mut tls = builder.with_no_client_auth();
    tls.alpn_protocols = if target.is_loopback() {
        vec![ALPN_HTTP2.to_vec(), ALPN_HTTP1.to_vec()]
    } else {
        vec![ALPN_HTTP1.to_vec()]
    };
    Ok(Arc::new(tls))
}

/// All certificates in a text.
fn read_certificates(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect()
}

/// What Go says of a handshake that failed.
pub(super) fn describe(error: &io::Error, name: &ServerName<'_>) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(why)) => {
            let why = describe_certificate(why, &name.to_str());
            format!("tls: failed to verify certificate: x509: {why}")
        }
        Some(rustls::Error::AlertReceived(alert)) => format!("remote error: tls: {alert:?}"),
        Some(other) => format!("tls: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        None if error.kind() == io::ErrorKind::ConnectionReset => {
            "read: connection reset by peer".to_owned()
        }
        None => error.source().map_or_else(|| error.to_string(), ToString::to_string),
    }
}

fn describe_certificate(error: &CertificateError, name: &str) -> String {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired
        | CertificateError::NotValidYet
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::NotValidForName => format!("certificate is not valid for {name}"),
        CertificateError::NotValidForNameContext { presented, .. } => {
            describe_names(presented, name)
        }
        other => other.to_string(),
    }
}

/// Which names of the same sort a certificate has. The library shows them as `DnsName("a")` and
/// `IpAddress(127.0.0.1)`.
fn describe_names(presented: &[String], name: &str) -> String {
    let is_address = name.parse::<std::net::IpAddr>().is_ok();
    let sort = if is_address { "IpAddress(" } else { "DnsName(" };
    let names: Vec<&str> = presented
        .iter()
        .filter_map(|shown| shown.strip_prefix(sort)?.strip_suffix(')'))
        .map(|shown| shown.trim_matches('"'))
        .collect();
    match (names.is_empty(), is_address) {
        (false, _) => format!("certificate is valid for {}, not {name}", names.join(", ")),
        (true, true) => {
            format!("cannot validate certificate for {name} because it doesn't contain any IP SANs")
        }
        (true, false) => {
            format!("certificate is not valid for any names, but wanted to match {name}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_certificate_are_told_by_their_sort() {
        let presented = ["DnsName(\"a\")", "DnsName(\"b\")", "IpAddress(127.0.0.1)"];
        let presented = presented.map(str::to_owned);
        let check = |presented: &[String], name: &str, expect: &str| {
            assert_eq!(describe_names(presented, name), expect);
        };
        check(&presented, "c", "certificate is valid for a, b, not c");
        check(&presented, "127.0.0.2", "certificate is valid for 127.0.0.1, not 127.0.0.2");
        let none = "cannot validate certificate for ::1 because it doesn't contain any IP SANs";
        check(&presented[..2], "::1", none);
        let none = "certificate is not valid for any names, but wanted to match a";
        check(&presented[2..], "a", none);
    }

    #[test]
    fn a_bundle_without_a_certificate_is_no_bundle() {
        let check = |pem: &[u8]| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            assert!(Trust::new(read_certificates(pem), provider).is_none());
        };
        check(b"");
        check(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----");
    }
}
