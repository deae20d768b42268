//! Authorities: kept as they are, or made when there is none.

use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use x509_parser::pem::parse_x509_pem;

use super::{Files, Identity, PkiError};

/// How long an authority lasts.
const VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
/// How long before it was made a certificate is good already, for clocks that are behind.
pub(super) const CLOCK_SKEW: Duration = Duration::from_secs(60 * 60);

/// What an authority is called.
pub(super) struct Names {
    common_name: &'static str,
    certificate: &'static str,
    key: &'static str,
}

/// The authority of the cluster.
pub(super) const CLUSTER: Names =
    Names { common_name: "kubernetes", certificate: "ca.crt", key: "ca.key" };
/// The authority of proxies that speak for users.
pub(super) const FRONT_PROXY: Names = Names {
    common_name: "front-proxy-ca",
    certificate: "front-proxy-ca.crt",
    key: "front-proxy-ca.key",
};

/// An authority that can sign.
pub(super) struct Authority {
    identity: Identity,
    pub(super) issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// The kept one, or a new one if there is none.
    pub(super) fn keep_or_make(
        kept: &Files,
        names: &Names,
        now: Duration,
    ) -> Result<Authority, PkiError> {
        let half = |present, missing| Err(PkiError::Half { present, missing });
        match (kept.get(names.certificate), kept.get(names.key)) {
            (Some(certificate), Some(key)) => {
                let (certificate, key) = (certificate.clone(), key.clone());
                keep(Identity { certificate, key }, names, now)
            }
            (None, None) => make(names, now)
                .map_err(|source| PkiError::Make { file: names.certificate, source }),
            (Some(_), None) => half(names.certificate, names.key),
            (None, Some(_)) => half(names.key, names.certificate),
        }
    }

    /// The authority as PEM.
    pub(super) fn into_identity(self) -> Identity {
        self.identity
    }

    /// The certificate as PEM.
    pub(super) fn certificate(&self) -> &str {
        &self.identity.certificate
    }
}

fn keep(identity: Identity, names: &Names, now: Duration) -> Result<Authority, PkiError> {
    let unusable = |file, reason: String| PkiError::Unusable { file, reason };
    let key =
        KeyPair::from_pem(&identity.key).map_err(|error| unusable(names.key, error.to_string()))?;
    let refuse = |reason: String| unusable(names.certificate, reason);
    let (_, pem) = parse_x509_pem(identity.certificate.as_bytes())
        .map_err(|error| refuse(error.to_string()))?;
    let parsed = pem.parse_x509().map_err(|error| refuse(error.to_string()))?;
    if parsed.public_key().subject_public_key.data.as_ref() != key.public_key_raw() {
        return Err(refuse(format!("it is not the certificate of {}", names.key)));
    }
    if seconds(now) > parsed.validity().not_after.timestamp() {
        return Err(refuse("it has expired".into()));
    }
    let issuer = Issuer::from_ca_cert_pem(&identity.certificate, key)
        .map_err(|error| refuse(error.to_string()))?;
    Ok(Authority { identity, issuer })
}

fn make(names: &Names, now: Duration) -> Result<Authority, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, names.common_name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    set_validity(&mut params, now, VALIDITY)?;
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    let identity = Identity { certificate: certificate.pem(), key: key.serialize_pem() };
    Ok(Authority { identity, issuer: Issuer::new(params, key) })
}

/// Makes a certificate good from now on.
pub(super) fn set_validity(
    params: &mut CertificateParams,
    now: Duration,
    validity: Duration,
) -> Result<(), rcgen::Error> {
    let at = |time: Duration| {
        x509_parser::time::ASN1Time::from_timestamp(seconds(time))
            .map(|time| time.to_datetime())
            .map_err(|_| rcgen::Error::Time)
    };
    params.not_before = at(now.saturating_sub(CLOCK_SKEW))?;
    params.not_after = at(now + validity)?;
    Ok(())
}

/// Time since the Unix epoch as certificates count it.
pub(super) fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}
