//! Certificates that an authority of ours signs: kept while they are good.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::parse_x509_pem;

use super::authority::{Authority, seconds, set_validity};
use super::{Files, Identity, PkiError};
use crate::user::MASTERS;

/// How long a certificate lasts.
const VALIDITY: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long before its end it is made anew.
const RENEW_BEFORE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A certificate as it should be.
pub(super) struct Leaf<'a> {
    certificate: &'static str,
    key: &'static str,
    common_name: &'static str,
    organization: Option<&'static str>,
    usage: ExtendedKeyUsagePurpose,
    names: &'a [String],
}

impl<'a> Leaf<'a> {
    /// What the API server shows.
    pub(super) fn apiserver(names: &'a [String]) -> Leaf<'a> {
        Leaf {
            certificate: "apiserver.crt",
            key: "apiserver.key",
            common_name: "kube-apiserver",
            organization: None,
            usage: ExtendedKeyUsagePurpose::ServerAuth,
            names,
        }
    }

    /// What the administrator shows.
    pub(super) fn admin() -> Leaf<'a> {
        Leaf {
            certificate: "admin.crt",
            key: "admin.key",
            common_name: super::ADMIN,
            organization: Some(MASTERS),
            usage: ExtendedKeyUsagePurpose::ClientAuth,
            names: &[],
        }
    }

    /// What the API server shows to the servers of other APIs.
    pub(super) fn front_proxy_client() -> Leaf<'a> {
        Leaf {
            certificate: "front-proxy-client.crt",
            key: "front-proxy-client.key",
            common_name: "front-proxy-client",
            organization: None,
            usage: ExtendedKeyUsagePurpose::ClientAuth,
            names: &[],
        }
    }

    /// The kept one while it is good, else a new one.
    pub(super) fn keep_or_make(
        &self,
        kept: &Files,
        by: &Authority,
        now: Duration,
    ) -> Result<Identity, PkiError> {
        if let (Some(certificate), Some(key)) = (kept.get(self.certificate), kept.get(self.key))
            && self.is_good(certificate, key, by, now).unwrap_or(false)
        {
            return Ok(Identity { certificate: certificate.clone(), key: key.clone() });
        }
        self.make(by, now).map_err(|source| PkiError::Make { file: self.certificate, source })
    }

    /// Whether a certificate needs no replacement; none if it does not even read.
    fn is_good(&self, certificate: &str, key: &str, by: &Authority, now: Duration) -> Option<bool> {
        let (_, pem) = parse_x509_pem(certificate.as_bytes()).ok()?;
        let parsed = pem.parse_x509().ok()?;
        let (_, authority) = parse_x509_pem(by.certificate().as_bytes()).ok()?;
        let authority = authority.parse_x509().ok()?;
        let key = KeyPair::from_pem(key).ok()?;
        let names: BTreeSet<String> = names_of(&parsed).into_iter().collect();
        let validity = parsed.validity();
        Some(
            parsed.verify_signature(Some(authority.public_key())).is_ok()
                && parsed.public_key().subject_public_key.data.as_ref() == key.public_key_raw()
                && validity.not_before.timestamp() <= seconds(now)
                && seconds(now + RENEW_BEFORE) < validity.not_after.timestamp()
                && self.names.iter().all(|name| names.contains(name)),
        )
    }

    fn make(&self, by: &Authority, now: Duration) -> Result<Identity, rcgen::Error> {
        let mut params = CertificateParams::new(self.names)?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        if let Some(organization) = self.organization {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        params.distinguished_name.push(DnType::CommonName, self.common_name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![self.usage.clone()];
        params.use_authority_key_identifier_extension = true;
        set_validity(&mut params, now, VALIDITY)?;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &by.issuer)?;
        Ok(Identity { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// The names in a certificate, sorted.
pub(super) fn names_of(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(found)) = certificate.subject_alternative_name() else { return Vec::new() };
    let mut names: Vec<String> = found.value.general_names.iter().filter_map(name_of).collect();
    names.sort();
    names
}

fn name_of(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_string()),
        GeneralName::IPAddress(bytes) => {
            let address = match bytes.len() {
                4 => IpAddr::from(<[u8; 4]>::try_from(*bytes).ok()?),
                _ => IpAddr::from(<[u8; 16]>::try_from(*bytes).ok()?),
            };
            Some(address.to_string())
        }
        _ => None,
    }
}
