//! Requests that are about no resource: discovery, OpenAPI, health, version, metrics, the index.
//!
//! One function knows all of them. After `staging/src/k8s.io/apiserver/pkg/server/routes` and
//! `.../server/mux/pathrecorder.go`: a path that nobody serves gets plain text, not a status.
//!
//! Not here: the documents of service account tokens, and what upstream offers for profiling.

use std::pin::Pin;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Response, header};
use orlop_machinery::json;
use orlop_storage::Clock;

use crate::body::Body;
use crate::catalog::Catalog;
use crate::discovery::{Answer, Discovery, check_route};
use crate::health::Health;
use crate::metrics::{self, Metrics, Snapshot};
use crate::openapi::OpenApi;
use crate::plain_text;
use crate::respond::indent;
use crate::version::Version;

/// Everything that is served besides resources.
pub struct NonResource {
    /// `/api` and `/apis`.
    pub discovery: Discovery,
    /// `/openapi`.
    pub open_api: OpenApi,
    /// `/healthz`, `/livez` and `/readyz`.
    pub health: Health,
    /// `/version`.
    pub version: Version,
}

/// What the answers are made of.
pub struct Sources<'a> {
    /// What is served.
    pub catalog: &'a Arc<Catalog>,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// What was counted.
    pub metrics: &'a Metrics,
    /// What is only known when somebody asks for metrics.
    pub snapshot: &'a (dyn Fn() -> Measuring<'a> + Sync),
}

/// Something that is being measured.
pub type Measuring<'a> = Pin<Box<dyn Future<Output = Snapshot> + Send + 'a>>;

impl NonResource {
    /// Answers a request that is about no resource.
    ///
    /// # Errors
    ///
    /// When the answer is a status: the client accepts no form there is, the method is wrong, a
    /// group has no such version.
    pub async fn serve(&self, sources: &Sources<'_>, parts: &Parts) -> Answer {
        let path = parts.uri.path();
        match path {
            "/" | "/index.html" => return Ok(self.index(sources.catalog)),
            "/version" | "/version/" => {
                check_route(parts, &["application/json"])?;
                return Ok(json_text(self.version.to_json()));
            }
            "/metrics" => {
                let text = sources.metrics.encode(&(sources.snapshot)().await);
                return Ok(typed(metrics::CONTENT_TYPE, text));
            }
            _ => {}
        }
        if let Some(answer) = self.discovery.serve(sources.catalog, parts) {
            return answer;
        }
        let query = parts.uri.query().unwrap_or_default();
        if let Some(answer) = self.health.serve(path, query).await {
            return Ok(answer);
        }
        let answer = self.open_api.serve(sources.catalog, sources.clock, parts).await;
        Ok(answer.unwrap_or_else(plain_text::not_found))
    }

    /// The paths that are served.
    fn index(&self, catalog: &Arc<Catalog>) -> Response<Body> {
        let mut paths = self.discovery.paths(catalog);
        paths.extend(self.health.paths());
        paths.extend(
            ["/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"]
                .map(str::to_owned),
        );
        paths.sort();
        let index = orlop_machinery::Value::from([("paths", paths)]);
        json_text(indent(&json::to_vec(&index)))
    }
}

fn json_text(text: impl Into<bytes::Bytes>) -> Response<Body> {
    typed("application/json", text)
}

fn typed(content_type: &'static str, text: impl Into<bytes::Bytes>) -> Response<Body> {
    let mut answer = Response::new(Body::Whole(text.into()));
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}
