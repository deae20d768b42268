//! Who asks: by client certificate, or nobody.
//!
//! After `staging/src/k8s.io/apiserver/pkg/authentication/request` (`x509`, `bearertoken`,
//! `websocket`, `anonymous`) and `.../pkg/endpoints/filters/authentication.go`. The certificate
//! was verified when the connection was made. Tokens are known to nobody yet, so one that comes
//! without a certificate is refused; other kinds of credentials are passed over, as upstream does.

use std::time::Duration;

use http::HeaderMap;
use http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::serve::Peer;
use crate::user::{AUTHENTICATED, User};

/// The key under which the user's extra data name the certificate.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
/// The attribute of a subject that holds a uid.
const UID_ATTRIBUTE: &str = "1.3.6.1.4.1.57683.2";
/// How a browser sends a token along with a WebSocket.
const WEBSOCKET_TOKEN: &str = "base64url.bearer.authorization.k8s.io.";
/// The most groups of one certificate.
const GROUPS_MAX: usize = 4096;

/// The user of a connection's certificate; none if it has none.
///
/// # Errors
///
/// When it has one that is not good, or not any more.
pub(crate) fn user_of(peer: &Peer, now: Duration) -> Result<Option<&User>, Status> {
    if peer.refused.is_some() || peer.is_expired(now) {
        return Err(unauthorized());
    }
    Ok(peer.user(now, |certificate| user_of_certificate(certificate).ok().flatten()))
}

/// Who asks. `known` is the user of the connection's certificate, if it has one.
///
/// # Errors
///
/// When there is a token that nobody knows.
pub(crate) fn authenticate(known: Option<&User>, headers: &HeaderMap) -> Result<User, Status> {
    if let Some(user) = known {
        return Ok(user.clone());
    }
    if has_token(headers) {
        return Err(unauthorized());
    }
    Ok(User::anonymous())
}

/// The user that a verified certificate names; none when it has no common name.
///
/// # Errors
///
/// When it cannot be read, or names several uids.
pub(crate) fn user_of_certificate(der: &[u8]) -> Result<Option<User>, Status> {
    let (_, certificate) = X509Certificate::from_der(der).map_err(|_| unauthorized())?;
    let subject = certificate.subject();
    let names = subject.iter_common_name().filter_map(|name| name.as_str().ok());
    // Go keeps the last one.
    let Some(name) = names.last().filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let organizations = subject.iter_organization().filter_map(|name| name.as_str().ok());
    let mut groups: Vec<Str> = organizations.take(GROUPS_MAX).map(Str::new).collect();
    if !groups.iter().any(|group| group == AUTHENTICATED) {
        groups.push(Str::const_new(AUTHENTICATED));
    }
    let uids: Vec<&str> = subject
        .iter_attributes()
        .filter(|attribute| attribute.attr_type().to_id_string() == UID_ATTRIBUTE)
        .map(|attribute| attribute.as_str().unwrap_or_default())
        .collect();
    let uid = match uids.as_slice() {
        [] => "",
        [uid] => uid,
        _ => return Err(unauthorized()),
    };
    let id = Value::from(format!("X509SHA256={}", hex(&Sha256::digest(der))));
    let extra = Value::from([(CREDENTIAL_ID, Value::from(vec![id]))]);
    Ok(Some(User { name: Str::new(name), uid: Str::new(uid), groups, extra }))
}

fn unauthorized() -> Status {
    Status::unauthorized("Unauthorized")
}

fn has_token(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut words = text(AUTHORIZATION).trim().split(' ');
    let is_bearer = words.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    let has_word = words.next().is_some_and(|token| !token.is_empty());
    let mut protocols = text(SEC_WEBSOCKET_PROTOCOL).split(',').map(str::trim);
    is_bearer && has_word || protocols.any(|protocol| protocol.starts_with(WEBSOCKET_TOKEN))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

    fn certificate(attributes: &[(DnType, &str)]) -> Vec<u8> {
        let mut name = DistinguishedName::new();
        for (ty, value) in attributes {
            name.push(ty.clone(), *value);
        }
        let mut params = CertificateParams::default();
        params.distinguished_name = name;
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn a_certificate_names_a_user_and_groups() {
        let attributes =
            [(DnType::CommonName, "admin"), (DnType::OrganizationName, "system:masters")];
        let der = certificate(&attributes);
        let user = user_of_certificate(&der).unwrap().unwrap();
        assert_eq!(user.name, "admin");
        assert_eq!(user.groups, ["system:masters", "system:authenticated"]);
        let id = user.extra.at(CREDENTIAL_ID).list()[0].str().to_owned();
        assert!(id.starts_with("X509SHA256=") && id.len() == 11 + 64, "{id}");
        let uid = DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 57683, 2]);
        let der = certificate(&[(DnType::CommonName, "a"), (uid, "u")]);
        assert_eq!(user_of_certificate(&der).unwrap().unwrap().uid, "u");
    }

    #[test]
    fn a_certificate_without_a_name_names_nobody() {
        let der = certificate(&[(DnType::OrganizationName, "system:masters")]);
        assert_eq!(user_of_certificate(&der).unwrap(), None);
        assert_eq!(user_of_certificate(b"nonsense").unwrap_err().code, 401);
    }

    #[test]
    fn only_unknown_tokens_are_refused() {
        let check = |name: http::HeaderName, value: &str, expect: &str| {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
            let shown = match authenticate(None, &headers) {
                Ok(user) => user.name.to_string(),
                Err(status) => format!("{} {}", status.code, status.message),
            };
            assert_eq!(shown, expect, "{value}");
            let admin = User { name: "admin".into(), ..User::default() };
            assert_eq!(authenticate(Some(&admin), &headers), Ok(admin));
        };
        check(AUTHORIZATION, "", "system:anonymous");
        check(AUTHORIZATION, "Bearer abc", "401 Unauthorized");
        check(AUTHORIZATION, " bearer abc def", "401 Unauthorized");
        check(AUTHORIZATION, "Bearer", "system:anonymous");
        check(AUTHORIZATION, "Bearer  abc", "system:anonymous");
        check(AUTHORIZATION, "Basic YTpi", "system:anonymous");
        let token = "base64url.bearer.authorization.k8s.io.YQ, v4.channel.k8s.io";
        check(SEC_WEBSOCKET_PROTOCOL, token, "401 Unauthorized");
        check(SEC_WEBSOCKET_PROTOCOL, "v4.channel.k8s.io", "system:anonymous");
    }
}
