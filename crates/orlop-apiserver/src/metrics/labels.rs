//! What a request is counted under.
//!
//! After the functions `CleanScope`, `CanonicalVerb`, `cleanVerb` and `cleanDryRun` of upstream's
//! `metrics.go`.

use http::request::Parts;
use http::{Method, header};
use orlop_machinery::Str;

use crate::definition::Definition;
use crate::request::RequestInfo;

/// The word for what nobody knows.
const OTHER: &str = "other";

/// Subresources that are no requests for an object but connections.
const CONNECT: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// What paths are counted under that are about no resource: the path, the label of the
/// subresource, the label of the component. A path that ends in a slash stands for all below it.
const PATHS: &[(&str, &str, &str)] = &[
    ("/api", "api", "apiserver"),
    ("/api/", "api", "apiserver"),
    ("/apis", "apis", "apiserver"),
    ("/apis/", "apis", "apiserver"),
    ("/healthz", "/healthz", ""),
    ("/livez", "/livez", ""),
    ("/readyz", "/readyz", ""),
    ("/metrics", "/metrics", ""),
    ("/openapi/v2", "openapi/v2", ""),
    ("/openapi/v3", "openapi/v3", ""),
    ("/openapi/v3/", "openapi/v3/", ""),
    ("/version", "/version", ""),
    ("/version/", "/version", ""),
];

/// The labels of requests, but for the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Labels {
    pub verb: &'static str,
    pub dry_run: &'static str,
    pub group: Str,
    pub version: Str,
    pub resource: Str,
    pub subresource: Str,
    pub scope: &'static str,
    pub component: &'static str,
}

impl Labels {
    pub(super) fn new(
        info: &RequestInfo,
        parts: &Parts,
        definition: Option<&Definition>,
    ) -> Labels {
        let scope = scope(info);
        let mut labels = Labels {
            verb: verb(info, parts, scope),
            dry_run: dry_run(parts.uri.query().unwrap_or_default()),
            group: Str::default(),
            version: Str::default(),
            resource: Str::default(),
            subresource: Str::default(),
            scope,
            component: "apiserver",
        };
        match definition {
            Some(definition) => {
                let resource = &definition.resource;
                labels.group = resource.group.clone();
                labels.version = resource.version.clone();
                labels.resource = resource.plural.clone();
                labels.subresource = match definition.subresource(&info.subresource) {
                    Some(known) => Str::const_new(known.name),
                    None if info.subresource.is_empty() => Str::default(),
                    None => Str::const_new(OTHER),
                };
            }
            None if info.is_resource => labels.resource = Str::const_new(OTHER),
            None => {
                let (subresource, component) = path(&info.path);
                labels.subresource = Str::const_new(subresource);
                labels.component = component;
            }
        }
        labels
    }

    /// Whether such a request is under way for as long as the client likes.
    pub(super) fn is_long_running(&self) -> bool {
        matches!(self.verb, "WATCH" | "CONNECT")
    }

    /// Whether the sizes of answers are of interest.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.verb, "GET" | "LIST")
    }
}

fn scope(info: &RequestInfo) -> &'static str {
    match info {
        _ if !info.name.is_empty() || info.verb == "create" => "resource",
        _ if !info.namespace.is_empty() => "namespace",
        _ if info.is_resource => "cluster",
        _ => "",
    }
}

fn verb(info: &RequestInfo, parts: &Parts, scope: &str) -> &'static str {
    if info.is_resource && CONNECT.contains(&info.subresource.as_str()) {
        return "CONNECT";
    }
    match parts.method {
        Method::GET if info.verb == "watch" => "WATCH",
        Method::GET | Method::HEAD if scope != "resource" && !scope.is_empty() => "LIST",
        Method::GET | Method::HEAD => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => {
            let content_type = parts.headers.get(header::CONTENT_TYPE);
            let is_apply = content_type.is_some_and(|ty| ty == "application/apply-patch+yaml");
            if is_apply { "APPLY" } else { "PATCH" }
        }
        Method::CONNECT => "CONNECT",
        _ => OTHER,
    }
}

fn dry_run(query: &str) -> &'static str {
    if !query.contains("dryRun") {
        return "";
    }
    let parameters = form_urlencoded::parse(query.as_bytes());
    let mut values = parameters.filter(|(name, _)| name == "dryRun").map(|(_, value)| value);
    match values.next() {
        None => "",
        Some(first) if first == "All" && values.all(|value| value == "All") => "All",
        Some(_) => "invalid",
    }
}

fn path(path: &str) -> (&'static str, &'static str) {
    let exact = PATHS.iter().find(|(known, _, _)| *known == path);
    let known = exact.or_else(|| {
        PATHS.iter().find(|(known, _, _)| known.ends_with('/') && path.starts_with(known))
    });
    known.map_or((OTHER, "apiserver"), |(_, subresource, component)| (subresource, component))
}
