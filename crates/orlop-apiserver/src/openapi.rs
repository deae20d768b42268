//! `/openapi/v2` and `/openapi/v3`: the schemas and the paths of the API.
//!
//! After `vendor/k8s.io/kube-openapi/pkg/handler` and `.../pkg/handler3`. The documents are those
//! of [`orlop_machinery::openapi`]. They are large and seldom asked for: each is made on the first
//! request, on a thread that may block. Those of built-in kinds are kept as gzip and nothing else;
//! those of custom resources are made for each request, and what tells of all of them when the
//! catalog is another one.
//!
//! Where this differs from upstream: version 3 is compressed for clients that accept it, the index
//! has a media type and an entity tag, and there is no `Last-Modified` and no `Range`.
//! Not here: version 3 in protobuf, which only client-go 0.24 and 0.25 ask for, and no kubectl.

mod build;
mod http_date;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use flate2::read::GzDecoder;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use orlop_storage::Clock;
use tokio::sync::OnceCell;

use crate::accept;
use crate::body::Body;
use crate::catalog::Catalog;

/// For how long a document under its hash may be kept.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

const JSON: &str = "application/json";
const PROTOBUF_V2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// What clients up to 1.26 ask for.
const OLD_PROTOBUF_V2: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// Serves the OpenAPI documents.
#[derive(Default)]
pub struct OpenApi {
    built_in: Arc<OnceCell<Version3>>,
    built: ArcSwapOption<Built>,
}

/// What was made of one catalog.
struct Built {
    catalog: Arc<Catalog>,
    /// The documents of built-in kinds, which are the same for every catalog.
    built_in: Arc<OnceCell<Version3>>,
    index: OnceCell<Document>,
    version_2: OnceCell<Version2>,
}

/// The document of version 2 in both forms: whoever makes one has most of the other.
struct Version2 {
    json: Document,
    protobuf: Document,
}

/// The documents of version 3.
struct Version3 {
    /// By name: `apis/apps/v1`.
    documents: BTreeMap<String, Document>,
}

/// A document as gzip.
#[derive(Clone)]
struct Document {
    compressed: Bytes,
    /// How long it is when it is not compressed.
    len: usize,
    /// The SHA-512 of its JSON, in upper-case hexadecimal.
    hash: Arc<str>,
}

impl OpenApi {
    /// Answers a request; none if the path is another.
    pub async fn serve(
        &self,
        catalog: &Arc<Catalog>,
        clock: &dyn Clock,
        parts: &Parts,
    ) -> Option<Response<Body>> {
        let path = parts.uri.path();
        let below = path.strip_prefix("/openapi/v")?;
        let built = self.built(catalog);
        match below {
            "2" => Some(built.serve_version_2(parts).await),
            "3" => Some(match built.index().await {
                Ok(index) => index.serve(parts, JSON).await,
                Err(failed) => failed,
            }),
            _ => {
                let name = below.strip_prefix("3/")?;
                Some(built.serve_version_3(name, clock, parts).await)
            }
        }
    }

    fn built(&self, catalog: &Arc<Catalog>) -> Arc<Built> {
        if let Some(built) = &*self.built.load()
            && Arc::ptr_eq(&built.catalog, catalog)
        {
            return built.clone();
        }
        let built = Arc::new(Built {
            catalog: catalog.clone(),
            built_in: self.built_in.clone(),
            index: OnceCell::new(),
            version_2: OnceCell::new(),
        });
        self.built.store(Some(built.clone()));
        built
    }
}

impl Built {
    async fn version_3(&self) -> Result<&Version3, Response<Body>> {
        let catalog = self.catalog.clone();
        self.built_in.get_or_try_init(|| blocking(move || build::version_3(&catalog))).await
    }

    /// What tells of all documents of version 3.
    async fn index(&self) -> Result<&Document, Response<Body>> {
        self.version_3().await?;
        let (catalog, built_in) = (self.catalog.clone(), self.built_in.clone());
        let make = move || build::index(built_in.get().map(|all| &all.documents), &catalog);
        self.index.get_or_try_init(|| blocking(make)).await
    }

    /// The document of this name; none if there is none.
    async fn document(&self, name: &str) -> Result<Option<Document>, Response<Body>> {
        if let Some(document) = self.version_3().await?.documents.get(name) {
            return Ok(Some(document.clone()));
        }
        let (catalog, name) = (self.catalog.clone(), name.to_owned());
        blocking(move || build::custom(&catalog, &name)).await
    }

    async fn version_2(&self) -> Result<&Version2, Response<Body>> {
        let catalog = self.catalog.clone();
        self.version_2.get_or_try_init(|| blocking(move || build::version_2(&catalog))).await
    }

    async fn serve_version_2(&self, parts: &Parts) -> Response<Body> {
        let Some(media_type) = choose(parts, &[JSON, OLD_PROTOBUF_V2, PROTOBUF_V2]) else {
            return not_acceptable();
        };
        match self.version_2().await {
            Ok(version_2) if media_type == JSON => version_2.json.serve(parts, JSON).await,
            Ok(version_2) => version_2.protobuf.serve(parts, PROTOBUF_V2).await,
            Err(failed) => failed,
        }
    }

    async fn serve_version_3(
        &self,
        name: &str,
        clock: &dyn Clock,
        parts: &Parts,
    ) -> Response<Body> {
        let document = match self.document(name).await {
            Ok(Some(document)) => document,
            Ok(None) => return empty(StatusCode::NOT_FOUND),
            Err(failed) => return failed,
        };
        if choose(parts, &[JSON]).is_none() {
            return not_acceptable();
        }
        let query = parts.uri.query().unwrap_or_default();
        let mut parameters = form_urlencoded::parse(query.as_bytes());
        let wanted = parameters.find(|(name, value)| name == "hash" && !value.is_empty());
        let Some((_, wanted)) = wanted else {
            return document.serve(parts, JSON).await;
        };
        if *wanted != *document.hash {
            return document.redirect(name);
        }
        let mut answer = document.serve(parts, JSON).await;
        let headers = answer.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        headers.insert(header::EXPIRES, http_date::header_value(clock.now() + YEAR));
        answer
    }
}

impl Document {
    /// The document, or that the client has it already.
    async fn serve(&self, parts: &Parts, content_type: &'static str) -> Response<Body> {
        let mut answer = empty(StatusCode::OK);
        self.set_headers(answer.headers_mut());
        if is_known(&parts.headers, &self.hash) {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
            return answer;
        }
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        if accepts_gzip(&parts.headers) {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            *answer.body_mut() = Body::Whole(self.compressed.clone());
            return answer;
        }
        let document = self.clone();
        match blocking(move || document.unpack()).await {
            Ok(bytes) => {
                *answer.body_mut() = Body::from(bytes);
                answer
            }
            Err(failed) => failed,
        }
    }

    /// To where the document stands under its hash.
    fn redirect(&self, name: &str) -> Response<Body> {
        let mut answer = empty(StatusCode::MOVED_PERMANENTLY);
        let headers = answer.headers_mut();
        self.set_headers(headers);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        if let Ok(location) = HeaderValue::try_from(build::location(name, &self.hash)) {
            headers.insert(header::LOCATION, location);
        }
        answer
    }

    fn set_headers(&self, headers: &mut HeaderMap) {
        if let Ok(entity_tag) = HeaderValue::try_from(format!("\"{}\"", self.hash)) {
            headers.insert(header::ETAG, entity_tag);
        }
        set_vary(headers);
    }

    fn unpack(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len);
        let read = GzDecoder::new(&*self.compressed).read_to_end(&mut bytes);
        read.expect("the bytes were compressed here");
        bytes
    }
}

/// The first media type that the client wants.
fn choose(parts: &Parts, offered: &[&'static str]) -> Option<&'static str> {
    let header = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let clauses = accept::clauses(header.filter(|text| !text.is_empty()).unwrap_or("*/*"));
    clauses.iter().find_map(|clause| offered.iter().copied().find(|known| clause.matches(known)))
}

/// Whether the client has the document of this hash.
fn is_known(headers: &HeaderMap, hash: &str) -> bool {
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|tag| {
        let tag = tag.trim();
        let strong = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || strong.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(hash)
    })
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lists =
        headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = parameters.trim().strip_prefix("q=").map(str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && !matches!(quality, Some(Ok(0.0)))
    })
}

fn set_vary(headers: &mut HeaderMap) {
    headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    headers.append(header::VARY, HeaderValue::from_static("Accept"));
}

fn not_acceptable() -> Response<Body> {
    let mut answer = empty(StatusCode::NOT_ACCEPTABLE);
    set_vary(answer.headers_mut());
    answer
}

fn empty(code: StatusCode) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = code;
    answer
}

/// Does work that takes long where it holds nobody up.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response<Body>> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "an OpenAPI document could not be made");
        empty(StatusCode::SERVICE_UNAVAILABLE)
    })
}
