//! Passes one request and its answer on.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/proxy/{upgradeaware,transport}.go` and Go's
//! `httputil.ReverseProxy`.

use http::header::{self, HeaderName, LOCATION};
use http::uri::Uri;
use http::{HeaderMap, HeaderValue, Request, Response};
use orlop_machinery::status::Status;

use crate::backend::forward_body;
use crate::body::Body;
use crate::call::Call;
use crate::subresource::connection::Location;

/// What concerns one connection and not the request.
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// What only the API server may say about who else may read its answers.
const CROSS_ORIGIN: [HeaderName; 4] = [
    header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    header::ACCESS_CONTROL_ALLOW_HEADERS,
    header::ACCESS_CONTROL_ALLOW_METHODS,
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
];

const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");

/// Passes the request on to a place.
pub(super) async fn forward(
    call: &mut Call,
    location: &Location,
) -> Result<Response<Body>, Status> {
    let unavailable = |error: String| {
        Status::service_unavailable(&format!("error trying to reach service: {error}"))
    };
    let prefix = prefix(&call.parts.uri, location);
    let mut request = Request::new(call.body.take().unwrap_or_default());
    *request.method_mut() = call.parts.method.clone();
    let uri = location.target().parse::<Uri>();
    *request.uri_mut() = uri.map_err(|error| unavailable(error.to_string()))?;
    *request.headers_mut() = call.parts.headers.clone();
    let headers = request.headers_mut();
    remove_hop_by_hop(headers);
    headers.remove(header::AUTHORIZATION);
    if let Ok(forwarded) = HeaderValue::from_str(&format!("{prefix}{}", location.path)) {
        headers.insert(FORWARDED_URI, forwarded);
    }
    if !headers.contains_key(header::HOST) {
        let host = HeaderValue::from_str(&location.address.authority());
        headers.insert(header::HOST, host.map_err(|error| unavailable(error.to_string()))?);
    }
    let host = headers[header::HOST].to_str().unwrap_or_default().to_owned();
    let mut response = location.address.send(request).await.map_err(unavailable)?;
    let headers = response.headers_mut();
    remove_hop_by_hop(headers);
    CROSS_ORIGIN.iter().for_each(|name| drop(headers.remove(name)));
    let redirect = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let hosts = [location.address.authority(), host];
    if let Some(changed) = redirect.and_then(|redirect| lead_back(redirect, &prefix, &hosts)) {
        headers.insert(LOCATION, changed);
    }
    Ok(response.map(forward_body))
}

/// The part of the path that leads to the proxy.
fn prefix(uri: &Uri, location: &Location) -> String {
    let path = uri.path();
    path.strip_suffix(&location.path).unwrap_or(path).to_owned()
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// A redirect to the same host, so that it leads through the proxy; none if it stays as it is.
fn lead_back(redirect: &str, prefix: &str, hosts: &[String; 2]) -> Option<HeaderValue> {
    let uri: Uri = redirect.parse().ok()?;
    let is_ours =
        uri.authority().is_none_or(|host| hosts.iter().any(|known| known == host.as_str()));
    if !is_ours || (uri.authority().is_none() && !redirect.starts_with('/')) {
        return None;
    }
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    if target.starts_with(prefix) {
        return HeaderValue::from_str(target).ok();
    }
    HeaderValue::from_str(&format!("{prefix}{target}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_to_the_same_host_lead_through_the_proxy() {
        let hosts = ["10.0.0.1:80".to_owned(), "api:6443".to_owned()];
        let check = |redirect: &str, expect: &str| {
            let found = lead_back(redirect, "/p/proxy", &hosts);
            let found = found.as_ref().map_or(redirect, |value| value.to_str().unwrap());
            assert_eq!(found, expect);
        };
        check("/a?b=c", "/p/proxy/a?b=c");
        check("http://10.0.0.1:80/a/", "/p/proxy/a/");
        check("https://api:6443/p/proxy/a", "/p/proxy/a");
        check("http://elsewhere/a", "http://elsewhere/a");
        check("a/b", "a/b");
    }

    #[test]
    fn what_concerns_the_connection_stays() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("connection", "close, X-Mine"), ("x-mine", "1"), ("te", "x")] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers.insert("accept", HeaderValue::from_static("*/*"));
        remove_hop_by_hop(&mut headers);
        assert_eq!(headers.len(), 1);
    }
}
