//! What the server tells about its API: versions, groups, resources, verbs.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/discovery` and its folder `aggregated`, and
//! after the handlers of `staging/src/k8s.io/kube-aggregator/pkg/apiserver` for `/apis`. All of it
//! comes from the catalog. A document is made when somebody asks for it and kept, in the form in
//! which it was asked for, until the catalog is another one.
//!
//! Beta and alpha forms of aggregated discovery are not served; neither does upstream.

mod documents;
mod groups;
mod negotiation;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Response, header};
use orlop_machinery::Str;
use orlop_machinery::status::{Reason, Status};
use sha2::{Digest as _, Sha512};

use crate::body::Body;
use crate::catalog::Catalog;
use crate::output::Format;
use crate::plain_text;

use documents::Document;
use groups::Groups;
use negotiation::{Form, Restriction, negotiate};

/// What follows the media type of an aggregated document.
const AGGREGATED: &str = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Serves the discovery documents.
pub struct Discovery {
    /// Where clients reach the server: `host:port`.
    address: String,
    built: ArcSwapOption<Built>,
}

/// What was made of one catalog.
struct Built {
    catalog: Arc<Catalog>,
    groups: Groups,
    /// There are not more of them than documents times forms.
    kept: Mutex<HashMap<(Document, Format), Kept>>,
}

/// A document in one form.
#[derive(Clone)]
struct Kept {
    bytes: Bytes,
    /// The quoted entity tag, for aggregated documents.
    entity_tag: Option<HeaderValue>,
}

impl Discovery {
    /// Discovery of a server that clients reach at this address, `host:port`.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Discovery {
        Discovery { address: address.into(), built: ArcSwapOption::empty() }
    }

    /// Answers a request for a path at or below `/api` and `/apis` that names no resource; none if
    /// the path is another.
    ///
    /// # Errors
    ///
    /// When the client accepts no form there is, or asks for something that is not there.
    pub fn serve(&self, catalog: &Arc<Catalog>, parts: &Parts) -> Option<Answer> {
        let path = parts.uri.path();
        let mut segments = path.strip_prefix('/')?.split('/');
        let root = segments.next().filter(|root| ["api", "apis"].contains(root))?;
        let below: Vec<&str> = segments.collect();
        let built = self.built(catalog);
        Some(match (root, below.as_slice()) {
            ("api", [] | [""]) => self.serve_root(&built, parts, Root::Core),
            ("api", [version] | [version, ""]) => self.serve_version(&built, parts, ("", version)),
            ("apis", []) => self.serve_root(&built, parts, Root::Groups),
            ("apis", [""]) => self.answer(&built, parts, Document::Groups),
            ("apis", [group] | [group, ""]) if built.groups.has(group) => {
                self.answer(&built, parts, Document::Group(Str::new(group)))
            }
            ("apis", [group, version] | [group, version, ""]) if built.groups.has(group) => {
                self.serve_version(&built, parts, (group, version))
            }
            _ => not_found(&built.groups, path),
        })
    }

    /// What a path at or below `/api` and `/apis` gets that nobody serves.
    ///
    /// # Errors
    ///
    /// Always, if the group is known; if it is not, the answer is not of the API but plain text.
    pub fn not_found(&self, catalog: &Arc<Catalog>, path: &str) -> Answer {
        not_found(&self.built(catalog).groups, path)
    }

    /// The paths of all documents, sorted.
    pub(crate) fn paths(&self, catalog: &Arc<Catalog>) -> Vec<String> {
        self.built(catalog).groups.paths()
    }

    /// What was made of this catalog, or a place to put it.
    fn built(&self, catalog: &Arc<Catalog>) -> Arc<Built> {
        if let Some(built) = &*self.built.load()
            && Arc::ptr_eq(&built.catalog, catalog)
        {
            return built.clone();
        }
        let built = Arc::new(Built {
            catalog: catalog.clone(),
            groups: Groups::new(catalog),
            kept: Mutex::default(),
        });
        self.built.store(Some(built.clone()));
        built
    }

    /// `/api` and `/apis`, which have an aggregated form.
    fn serve_root(&self, built: &Built, parts: &Parts, root: Root) -> Answer {
        if let Ok(form) = negotiate(parts, Restriction::Aggregated)
            && form.is_aggregated
        {
            return Ok(self.aggregated(built, parts, form, root));
        }
        match root {
            Root::Groups => self.answer(built, parts, Document::Groups),
            Root::Core => {
                check_route(parts, &negotiation::ACCEPTED)?;
                self.answer(built, parts, Document::Versions)
            }
        }
    }

    fn serve_version(&self, built: &Built, parts: &Parts, version: (&str, &str)) -> Answer {
        let (group, version) = version;
        if !built.groups.has_version(group, version) {
            return not_found(&built.groups, parts.uri.path());
        }
        check_route(parts, &negotiation::ACCEPTED)?;
        self.answer(built, parts, Document::Resources(Str::new(group), Str::new(version)))
    }

    fn answer(&self, built: &Built, parts: &Parts, document: Document) -> Answer {
        let form = negotiate(parts, Restriction::Plain)?;
        let kept = self.document(built, document, form.format);
        let content_type = HeaderValue::from_static(form.format.content_type());
        Ok(with_headers(Body::Whole(kept.bytes), [(header::CONTENT_TYPE, content_type)]))
    }

    fn aggregated(&self, built: &Built, parts: &Parts, form: Form, root: Root) -> Response<Body> {
        let document = match root {
            Root::Core => Document::AggregatedCore,
            Root::Groups => Document::AggregatedGroups,
        };
        let kept = self.document(built, document, form.format);
        let entity_tag = kept.entity_tag.unwrap_or_else(|| HeaderValue::from_static("\"\""));
        let content_type = format!("{}{AGGREGATED}", form.format.content_type());
        let is_known = parts.headers.get(header::IF_NONE_MATCH) == Some(&entity_tag);
        let body = if is_known { Body::empty() } else { Body::Whole(kept.bytes) };
        let mut answer = with_headers(
            body,
            [
                (header::ETAG, entity_tag),
                (header::VARY, HeaderValue::from_static("Accept")),
                (header::CACHE_CONTROL, HeaderValue::from_static("public")),
            ],
        );
        if is_known {
            *answer.status_mut() = http::StatusCode::NOT_MODIFIED;
        } else if let Ok(content_type) = HeaderValue::try_from(content_type) {
            answer.headers_mut().insert(header::CONTENT_TYPE, content_type);
        }
        answer
    }

    /// A document in one form, made now if nobody asked for it before.
    fn document(&self, built: &Built, document: Document, format: Format) -> Kept {
        let place = (document, format);
        let mut all = built.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = all.get(&place) {
            return kept.clone();
        }
        let text = place.0.text(&built.groups, &self.address);
        let entity_tag = place.0.is_aggregated().then(|| entity_tag(text.json()));
        let kept = Kept { bytes: text.into_bytes(format), entity_tag };
        all.insert(place, kept.clone());
        kept
    }
}

/// What comes of a request: an answer, or why there is none.
pub type Answer = Result<Response<Body>, Status>;

/// The two roots of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Core,
    Groups,
}

/// The quoted entity tag of a document: what upstream makes of its JSON, whatever the form.
pub(crate) fn entity_tag(json: &[u8]) -> HeaderValue {
    let hash = hash(json);
    HeaderValue::try_from(format!("\"{hash}\"")).expect("a hash has only digits and letters")
}

/// The SHA-512 of a document, in upper-case hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|byte| format!("{byte:02X}")).collect()
}

/// What go-restful checks before a route is taken: the method, and whether the client accepts one
/// of the media types. Stars in the place of the subtype are not known to it.
///
/// # Errors
///
/// When the route cannot be taken.
pub(crate) fn check_route(parts: &Parts, produced: &[&str]) -> Result<(), Status> {
    if parts.method != Method::GET {
        let message = "the server does not allow this method on the requested resource";
        return Err(generic(405, Reason::MethodNotAllowed, message));
    }
    let accept = negotiation::accept(parts);
    let is_accepted = |clause: &str| {
        let media_type = clause.split(';').next().unwrap_or_default().trim();
        media_type == "*/*" || produced.contains(&media_type)
    };
    if accept.is_empty() || accept.split(',').any(is_accepted) {
        return Ok(());
    }
    let message =
        format!("406: Not Acceptable\n\nAvailable representations: {}", produced.join(", "));
    Err(generic(406, Reason::NotAcceptable, &message))
}

/// A failure of the routes and not of a resource: its details are there and empty.
fn generic(code: u16, reason: Reason, message: &str) -> Status {
    let mut status = Status::failure(code, reason, message);
    status.details_mut();
    status
}

/// That a group that is known has no such version, or a version no such resource.
pub(crate) fn resource_not_found() -> Status {
    generic(404, Reason::NotFound, "the server could not find the requested resource")
}

fn not_found(groups: &Groups, path: &str) -> Answer {
    let mut segments = path.trim_start_matches('/').split('/');
    match (segments.next(), segments.next()) {
        (Some("api"), Some(_)) => Err(resource_not_found()),
        // Behind the groups of custom resources nobody is left to say more.
        (Some("apis"), Some(group)) if groups.has_built_in(group) => Err(resource_not_found()),
        _ => Ok(plain_text::not_found()),
    }
}

fn with_headers<const N: usize>(
    body: Body,
    headers: [(HeaderName, HeaderValue); N],
) -> Response<Body> {
    let mut answer = Response::new(body);
    answer.headers_mut().extend(headers);
    answer
}
