//! What aggregated API servers need to know to trust the clients of this one.
//!
//! After `pkg/controlplane/controller/clusterauthenticationtrust`. The ConfigMap joins what it
//! holds with what this server has, so that servers with different authorities do not fight;
//! certificates that have expired go.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::{Str, Value, json};
use orlop_storage::Clock;
use x509_parser::pem::Pem;

use super::BootstrapOptions;
use crate::objects::{FIELD_MANAGER, Objects, Place};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
const PLACE: Place<'static> =
    Place { api_version: "v1", kind: "ConfigMap", namespace: NAMESPACE, name: NAME };
const CLIENT_CA: &str = "client-ca-file";
const REQUEST_HEADER_CA: &str = "requestheader-client-ca-file";
/// How many characters of a certificate stand on a line.
const LINE: usize = 64;

/// What this server trusts.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuthenticationTrust {
    /// The authorities of client certificates, in PEM; empty for none.
    pub client_ca: String,
    /// The proxy in front of aggregated servers, if there is one.
    pub request_header: Option<RequestHeaderTrust>,
}

/// How a proxy says whose request it brings.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestHeaderTrust {
    /// The authorities of the proxy's certificate, in PEM.
    pub client_ca: String,
    /// The names that its certificate may have; empty for any.
    pub allowed_names: Vec<Str>,
    /// Headers with the name.
    pub username_headers: Vec<Str>,
    /// Headers with the uid.
    pub uid_headers: Vec<Str>,
    /// Headers with groups.
    pub group_headers: Vec<Str>,
    /// What headers with anything else begin with.
    pub extra_headers_prefixes: Vec<Str>,
}

/// Makes the ConfigMap hold what this server trusts, among others.
pub(super) async fn ensure(
    objects: &dyn Objects,
    clock: &dyn Clock,
    options: &BootstrapOptions,
) -> Result<(), Status> {
    let found = objects.get(PLACE).await?;
    let fresh = || {
        Value::from([
            ("apiVersion", Value::from("v1")),
            ("kind", "ConfigMap".into()),
            ("metadata", Value::from([("name", NAME), ("namespace", NAMESPACE)])),
        ])
    };
    let mut wanted = found.clone().unwrap_or_else(fresh);
    let data = join(wanted.at("data"), &options.authentication_trust, clock.now())?;
    // None is the same as an empty one.
    if found.is_some() && wanted.at("data").map() == data.map() {
        return Ok(());
    }
    wanted.set("data", data);
    let written = match found {
        Some(_) => objects.update(wanted, FIELD_MANAGER).await,
        None => objects.create(wanted, FIELD_MANAGER).await,
    };
    match written {
        // Another server was quicker; the next round joins what it wrote.
        Err(status) if status.is(&Reason::Conflict) || status.is(&Reason::AlreadyExists) => Ok(()),
        written => written.map(|_| ()),
    }
}

/// The data of the ConfigMap: what it has and what is trusted.
fn join(data: &Value, trust: &AuthenticationTrust, now: Duration) -> Result<Value, Status> {
    let own = trust.request_header.clone().unwrap_or_default();
    let mut joined = Value::Map(orlop_machinery::Map::new());
    let client_ca = join_certificates(data.at(CLIENT_CA).str(), &trust.client_ca, now)?;
    if !client_ca.is_empty() {
        joined.set(CLIENT_CA, client_ca);
    }
    let proxy_ca = join_certificates(data.at(REQUEST_HEADER_CA).str(), &own.client_ca, now)?;
    if proxy_ca.is_empty() {
        return Ok(joined);
    }
    joined.set(REQUEST_HEADER_CA, proxy_ca);
    let lists = [
        ("requestheader-allowed-names", &own.allowed_names),
        ("requestheader-username-headers", &own.username_headers),
        ("requestheader-uid-headers", &own.uid_headers),
        ("requestheader-group-headers", &own.group_headers),
        ("requestheader-extra-headers-prefix", &own.extra_headers_prefixes),
    ];
    for (key, own) in lists {
        let list = join_list(data.at(key).str(), own)?;
        if key != "requestheader-uid-headers" || !list.is_empty() {
            joined.set(key, json::to_string(&Value::from(list)));
        }
    }
    Ok(joined)
}

fn join_list(found: &str, own: &[Str]) -> Result<Vec<Str>, Status> {
    let found = match found {
        "" => Value::Null,
        text => json::parse(text.as_bytes()).map_err(Status::internal_error)?,
    };
    let mut joined: Vec<Str> = Vec::new();
    for text in found.list().iter().map(Value::str).chain(own.iter().map(Str::as_str)) {
        if !joined.iter().any(|known| known == text) {
            joined.push(Str::new(text));
        }
    }
    Ok(joined)
}

fn join_certificates(found: &str, own: &str, now: Duration) -> Result<String, Status> {
    let mut joined: Vec<Vec<u8>> = Vec::new();
    for block in
        Pem::iter_from_buffer(found.as_bytes()).chain(Pem::iter_from_buffer(own.as_bytes()))
    {
        let block = block.map_err(Status::internal_error)?;
        if block.label != "CERTIFICATE" {
            continue;
        }
        let expires = block.parse_x509().map_err(Status::internal_error)?.validity().not_after;
        let is_expired = i64::try_from(now.as_secs()).is_ok_and(|now| expires.timestamp() < now);
        if !is_expired && !joined.contains(&block.contents) {
            joined.push(block.contents);
        }
    }
    Ok(joined.iter().map(|bytes| to_pem(bytes)).collect())
}

fn to_pem(certificate: &[u8]) -> String {
    let text = STANDARD.encode(certificate);
    let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn authority() -> String {
        let key = rcgen::KeyPair::generate().unwrap();
        rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap().pem()
    }

    fn count(data: &Value, key: &str) -> usize {
        data.at(key).str().matches("BEGIN CERTIFICATE").count()
    }

    #[test]
    fn what_other_servers_trust_stays() {
        let trust = |client_ca: String, header: &str| AuthenticationTrust {
            client_ca,
            request_header: Some(RequestHeaderTrust {
                client_ca: authority(),
                username_headers: vec![Str::new(header)],
                ..RequestHeaderTrust::default()
            }),
        };
        let first = trust(authority(), "X-Remote-User");
        let now = Duration::from_secs(1_700_000_000);
        let data = join(&Value::Null, &first, now).unwrap();
        assert_eq!(join(&data, &first, now).unwrap(), data, "twice is once");
        assert_eq!(count(&data, CLIENT_CA), 1);
        let data = join(&data, &trust(authority(), "X-User"), now).unwrap();
        assert_eq!(count(&data, CLIENT_CA), 2);
        assert_eq!(count(&data, REQUEST_HEADER_CA), 2);
        let headers = data.at("requestheader-username-headers").str();
        assert_eq!(headers, r#"["X-Remote-User","X-User"]"#);
        assert_eq!(data.at("requestheader-allowed-names").str(), "[]");
        assert!(data.at("requestheader-uid-headers").is_null());
    }

    #[test]
    fn what_has_expired_goes() {
        let trust = AuthenticationTrust { client_ca: authority(), request_header: None };
        let late = Duration::from_secs(1 << 40);
        assert!(join(&Value::Null, &trust, late).unwrap().is_empty());
    }

    #[test]
    fn certificates_are_written_as_they_are_read() {
        let pem = authority().replace('\r', "");
        let now = Duration::from_secs(1_700_000_000);
        assert_eq!(join_certificates(&pem, "", now).unwrap(), pem);
    }
}
