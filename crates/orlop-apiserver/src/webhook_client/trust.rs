//! Whom a webhook's `caBundle` makes trustworthy: who is signed by a certificate in it, and, as in
//! Go, who is in it.
//!
//! After `Verify` in Go's `crypto/x509`: a certificate that is itself in the pool of roots needs no
//! issuer. Tests of controllers rely on it; envtest's bundle is the certificate of the webhook's
//! server. Its dates and names are checked all the same.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// Checks a server's certificate against a bundle.
#[derive(Debug)]
pub(super) struct Trust {
    signed: Arc<WebPkiServerVerifier>,
    bundle: Vec<CertificateDer<'static>>,
}

impl Trust {
    /// In whom a bundle puts trust; none if it has no certificate that can be used.
    pub(super) fn new(
        bundle: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Option<Trust> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(bundle.iter().cloned());
        let signed = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
        Some(Trust { signed: signed.build().ok()?, bundle })
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.bundle.iter().any(|trusted| trusted == end_entity) {
            verify_dates(end_entity, now)?;
            let parsed = ParsedCertificate::try_from(end_entity)?;
            rustls::client::verify_server_name(&parsed, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        let signed = &self.signed;
        signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

fn verify_dates(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let (_, parsed) =
        X509Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let validity = parsed.validity();
    if now < validity.not_before.timestamp() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > validity.not_after.timestamp() {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    /// The certificate of an authority, and one that it has signed for `a.test`, of January 1971.
    fn certificates() -> (CertificateDer<'static>, CertificateDer<'static>) {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.not_after = date_time_ymd(1980, 1, 1);
        let key = KeyPair::generate().unwrap();
        let authority_certificate = authority.self_signed(&key).unwrap();
        let issuer = Issuer::new(authority, key);
        let mut params = CertificateParams::new(["a.test".to_owned()]).unwrap();
        params.not_before = date_time_ymd(1971, 1, 1);
        params.not_after = date_time_ymd(1971, 2, 1);
        let leaf = params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap();
        (authority_certificate.der().clone(), leaf.der().clone())
    }

    fn check(
        bundle: &CertificateDer<'static>,
        leaf: &CertificateDer<'_>,
        (name, day): (&'static str, u64),
        expect: &str,
    ) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust = Trust::new(vec![bundle.clone()], provider).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(day * DAY));
        let name = ServerName::try_from(name).unwrap();
        let verdict = trust.verify_server_cert(leaf, &[], &name, &[], now);
        let said = match verdict {
            Ok(_) => "trusted".to_owned(),
            Err(Error::InvalidCertificate(why)) => format!("{why:?}"),
            Err(other) => format!("{other:?}"),
        };
        assert!(said.starts_with(expect), "{said}");
    }

    #[test]
    fn a_certificate_in_the_bundle_needs_no_issuer() {
        let (authority, leaf) = certificates();
        check(&authority, &leaf, ("a.test", 370), "trusted");
        check(&leaf, &leaf, ("a.test", 370), "trusted");
        check(&leaf, &leaf, ("b.test", 370), "NotValidForName");
        check(&leaf, &leaf, ("a.test", 300), "NotValidYet");
        check(&leaf, &leaf, ("a.test", 400), "Expired");
        let (stranger, other) = certificates();
        // All authorities here have the same name, so only the signature tells them apart.
        check(&stranger, &leaf, ("a.test", 370), "BadSignature");
        check(&other, &leaf, ("a.test", 370), "BadSignature");
    }
}
