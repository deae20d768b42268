//! Who is called: a URL, or a Service.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use orlop_machinery::Value;

use super::failure::CallError;

/// The port of HTTPS.
const HTTPS: u16 = 443;

/// A `clientConfig` of a webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientConfig {
    /// The name that errors of the configuration have.
    pub name: String,
    /// Where the webhook is, unless a Service is named.
    pub url: String,
    /// The Service that is called, if it is one.
    pub service: Option<ServiceReference>,
    /// The authorities that its certificate comes from, as PEM; those of the machine if empty.
    pub ca_bundle: Vec<u8>,
}

/// A Service that is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceReference {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What is asked for.
    pub path: String,
    /// Its port.
    pub port: u16,
}

impl ClientConfig {
    /// Reads a `clientConfig` of an object.
    #[must_use]
    pub fn read(name: String, config: &Value) -> ClientConfig {
        // Bytes that do not decode were refused when the object was written.
        let ca_bundle = STANDARD.decode(config.at("caBundle").str()).unwrap_or_default();
        let is_blank = ca_bundle.trim_ascii().is_empty();
        let service = config.get("service").filter(|service| !service.is_null());
        ClientConfig {
            name,
            url: config.at("url").str().to_owned(),
            service: service.map(ServiceReference::read),
            ca_bundle: if is_blank { Vec::new() } else { ca_bundle },
        }
    }
}

impl ServiceReference {
    fn read(service: &Value) -> ServiceReference {
        let text = |field: &str| service.at(field).str().to_owned();
        let port = u16::try_from(service.at("port").int()).unwrap_or_default();
        ServiceReference {
            namespace: text("namespace"),
            name: text("name"),
            path: text("path"),
            port: if port == 0 { HTTPS } else { port },
        }
    }
}

/// Where calls go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Host and port as in the URL.
    pub authority: String,
    /// The host alone, whose certificate is wanted.
    pub host: String,
    pub port: u16,
    /// Begins with a slash.
    pub path: String,
    /// The Service whose address stands for the host.
    pub service: Option<ServiceReference>,
}

impl Target {
    pub(super) fn new(config: &ClientConfig) -> Result<Target, CallError> {
        let refuse = |reason: String| {
            let name = &config.name;
            CallError::Configuration(format!("failed calling webhook \"{name}\": {reason}"))
        };
        if let Some(service) = &config.service {
            let host = format!("{}.{}.svc", service.name, service.namespace);
            return Ok(Target {
                authority: format!("{host}:{}", service.port),
                host,
                port: service.port,
                path: clean_path(&service.path),
                service: Some(service.clone()),
            });
        }
        if config.url.is_empty() {
            return Err(refuse("webhook configuration must have either service or URL".into()));
        }
        let uri: Uri =
            config.url.parse().map_err(|error| refuse(format!("Unparsable URL: {error}")))?;
        let (Some("https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(refuse("Unparsable URL: it is no address of HTTPS".into()));
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        Ok(Target {
            authority: authority.as_str().to_owned(),
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(HTTPS),
            path: clean_path(uri.path()),
            service: None,
        })
    }

    /// Whether the URL names this machine, to which HTTP/2 may be spoken.
    pub(super) fn is_loopback(&self) -> bool {
        let is_loopback = |host: &str| host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        let is_here = self.host.eq_ignore_ascii_case("localhost") || is_loopback(&self.host);
        self.service.is_none() && is_here
    }
}

/// A path as Go's `path.Join` leaves it: one slash between steps, none at the end.
fn clean_path(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    format!("/{}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orlop_machinery::json;

    fn target(config: &str) -> Result<Target, String> {
        let config = json::parse(config.as_bytes()).unwrap();
        let config = ClientConfig::read("hook".to_owned(), &config);
        Target::new(&config).map_err(|error| error.to_string())
    }

    fn check(config: &str, authority: &str, path: &str, is_loopback: bool) {
        let target = target(config).unwrap();
        let found = (target.authority.as_str(), target.path.as_str(), target.is_loopback());
        assert_eq!(found, (authority, path, is_loopback), "{config}");
    }

    #[test]
    fn a_url_says_where_calls_go() {
        check(r#"{"url": "https://example.com"}"#, "example.com", "/", false);
        check(r#"{"url": "https://example.com/a//b/../c/"}"#, "example.com", "/a/c", false);
        check(r#"{"url": "https://[::1]:8443/a"}"#, "[::1]:8443", "/a", true);
        check(r#"{"url": "https://LOCALHOST/a"}"#, "LOCALHOST", "/a", true);
        check(r#"{"url": "https://127.0.0.2:1/"}"#, "127.0.0.2:1", "/", true);
    }

    #[test]
    fn a_service_is_called_by_its_name() {
        let config = r#"{"service": {"namespace": "a", "name": "b", "path": "/c"}}"#;
        check(config, "b.a.svc:443", "/c", false);
        let config = r#"{"service": {"namespace": "a", "name": "b", "port": 8443}}"#;
        check(config, "b.a.svc:8443", "/", false);
    }

    #[test]
    fn who_is_not_named_cannot_be_called() {
        let nobody = "failed calling webhook \"hook\": webhook configuration must have either \
                      service or URL";
        assert_eq!(target("{}").unwrap_err(), nobody);
        assert!(target(r#"{"url": "http://a/"}"#).is_err());
        assert!(target(r#"{"url": "https:// /"}"#).is_err());
    }

    #[test]
    fn a_blank_bundle_is_none() {
        let config = json::parse(br#"{"caBundle": "IAo="}"#).unwrap();
        assert!(ClientConfig::read(String::new(), &config).ca_bundle.is_empty());
    }
}
