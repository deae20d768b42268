//! One request's way, from its head to its answer. The order of the steps stands here and nowhere
//! else.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use orlop_machinery::kind::{Scope, Verb};
use orlop_machinery::status::Status;

use crate::body::{Body, Pieces, RequestBody};
use crate::call::{Call, Unread, Warnings};
use crate::definition::Definition;
use crate::flow::Place;
use crate::metrics::{InFlight, RequestKind};
use crate::non_resource::Sources;
use crate::query::has_whole_escapes;
use crate::request::RequestInfo;
use crate::serve::Peer;
use crate::server::Inner;
use crate::{
    authn, authz, deadline, deprecation, impersonation, negotiate, panic_guard, plain_text,
    respond, verb,
};

/// Answers a request.
pub(crate) async fn serve(
    server: &Arc<Inner>,
    request: Request<RequestBody>,
    peer: &Peer,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let info = RequestInfo::parse(&parts.method, &parts.uri);
    let catalog = server.catalog();
    let definition = catalog.find(&info.group, &info.version, &info.resource).cloned();
    let in_flight = server.metrics.request(&info, &parts, definition.as_deref());
    let arrival = Arrival {
        parts: Arc::new(parts),
        warnings: Arc::new(Warnings::default()),
        is_long_running: info.is_long_running(),
    };
    let steps = steps(server, &arrival, (info, definition, body), peer);
    let answer = match panic_guard::catch(steps).await {
        Ok(answer) => answer,
        Err(panic) => {
            server.metrics.panics.increment();
            tracing::error!(message = panic.message, uri = %arrival.parts.uri, "panic");
            Ok(Answer::from(respond::panicked()))
        }
    };
    finish(server, arrival, answer, in_flight).await
}

/// What is known of a request whatever becomes of it.
struct Arrival {
    parts: Arc<Parts>,
    warnings: Arc<Warnings>,
    is_long_running: bool,
}

impl Arrival {
    fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }

    /// Whether the request is answered although the end has begun: watches end by themselves, and
    /// somebody may want to know how the end goes. After
    /// `staging/src/k8s.io/apiserver/pkg/server/filters/{waitgroup,with_retry_after}.go`.
    fn may_come_late(&self, info: &RequestInfo) -> bool {
        let observed = ["/readyz", "/livez", "/healthz", "/metrics"];
        let is_observer = observed.iter().any(|path| info.path.starts_with(path));
        self.is_long_running || is_observer
    }
}

/// An answer, and the place among the requests under way that it takes until it is sent.
struct Answer {
    response: Response<Body>,
    place: Place,
}

impl From<Response<Body>> for Answer {
    fn from(response: Response<Body>) -> Answer {
        Answer { response, place: Place::default() }
    }
}

/// The steps in their order: is it too late, who asks, is there room, may they, what is it, in
/// which form, do it.
async fn steps(
    server: &Arc<Inner>,
    arrival: &Arrival,
    (info, definition, body): (RequestInfo, Option<Arc<Definition>>, RequestBody),
    peer: &Peer,
) -> Result<Answer, Status> {
    let parts = &arrival.parts;
    if server.options.shutting_down.is_begun() && !arrival.may_come_late(&info) {
        return Ok(respond::shutting_down().into());
    }
    if !has_whole_escapes(parts.uri.path()) {
        return Ok(plain_text::answer(StatusCode::BAD_REQUEST, "400 Bad Request\n").into());
    }
    let time = deadline::deadline(&info, arrival.query(), server.options.request_timeout)?;
    let now = server.clock.now();
    let known = authn::user_of(peer, now)?;
    let user = authn::authenticate(known, &parts.headers)?;
    let user = impersonation::impersonate(user, &parts.headers)?;
    let Ok(place) = server.flow.enter(&user, &info) else {
        return Ok(respond::too_many_requests().into());
    };
    let _executing = (!arrival.is_long_running).then(|| server.metrics.execute(kind_of(&info)));
    let authorized = authz::authorize(&user, &info)?;
    if !info.is_resource {
        let response = deadline::within(time, non_resource(server, parts)).await?;
        return Ok(Answer { response, place });
    }
    let definition = match definition {
        None => server.find_late(&info).await,
        known => known,
    };
    let Some(definition) = definition else {
        let response = server.non_resource.discovery.not_found(&server.catalog(), &info.path)?;
        return Ok(Answer { response, place });
    };
    check_route(&parts.method, &info, &definition)?;
    info.check_names()?;
    deprecation::warn(server, &definition, &info, &arrival.warnings);
    let output = negotiate::negotiate(&parts.headers, arrival.query(), &info, &definition)?;
    let mut call = Call {
        info,
        parts: parts.clone(),
        body: Unread::new(body),
        user,
        authorized,
        definition,
        output,
        warnings: arrival.warnings.clone(),
    };
    let response = deadline::within(time, verb::serve(server, &mut call)).await?;
    Ok(Answer { response, place })
}

async fn non_resource(server: &Arc<Inner>, parts: &Parts) -> Result<Response<Body>, Status> {
    let sources = Sources {
        catalog: &server.catalog(),
        clock: &*server.clock,
        metrics: &server.metrics,
        snapshot: &|| Box::pin(server.measure()),
    };
    server.non_resource.serve(&sources, parts).await
}

fn kind_of(info: &RequestInfo) -> RequestKind {
    match info.verb {
        "get" | "list" | "watch" | "head" | "options" => RequestKind::ReadOnly,
        _ => RequestKind::Mutating,
    }
}

/// The path and the method are ones that the resource has.
fn check_route(method: &Method, info: &RequestInfo, definition: &Definition) -> Result<(), Status> {
    let resource = &definition.resource;
    let is_there = match resource.scope {
        Scope::Cluster => !info.is_in_namespace,
        Scope::Namespaced => info.is_in_namespace || !info.is_named_in_path,
    };
    // Upstream knows such paths, but serves none.
    if !is_there || info.verb == "proxy" {
        return Err(verb::not_served());
    }
    let is_everywhere = resource.scope == Scope::Namespaced && info.namespace.is_empty();
    if is_everywhere && info.is_named_in_path {
        return Err(Status::bad_request("Namespace parameter required."));
    }
    if !info.subresource.is_empty() {
        let known = definition.subresource(&info.subresource);
        return known.map(|_| ()).ok_or_else(verb::not_served);
    }
    let wanted = Verb::ALL.into_iter().find(|verb| verb.name() == info.verb);
    let is_known = wanted.is_some_and(|verb| resource.verbs.contains(&verb));
    let names_one = info.is_named_in_path;
    let fits = match info.verb {
        "get" | "update" | "patch" | "delete" => names_one,
        "create" => !names_one,
        "watch" => method == Method::GET,
        _ => true,
    };
    // Upstream has no HEAD of objects. Only reads go over all namespaces.
    let writes_everywhere = is_everywhere && !matches!(info.verb, "list" | "watch");
    if !is_known || !fits || writes_everywhere || method == Method::HEAD {
        return Err(verb::method_not_allowed());
    }
    Ok(())
}

/// Puts on what every answer has, and counts it.
async fn finish(
    server: &Inner,
    arrival: Arrival,
    answer: Result<Answer, Status>,
    mut in_flight: InFlight,
) -> Response<Body> {
    let headers = &arrival.parts.headers;
    let Answer { response, place } =
        answer.unwrap_or_else(|status| respond::status(&status, headers, arrival.query()).into());
    let mut response =
        if arrival.is_long_running { response } else { respond::compress(headers, response).await };
    respond::add_warnings(response.headers_mut(), &arrival.warnings.take());
    let audit_id = respond::audit_id(headers, server.random());
    respond::set_headers(&mut response, audit_id);
    in_flight.answer(response.status().as_u16());
    response.map(|body| match body {
        Body::Stream(pieces) => Body::stream(Counted { pieces, in_flight, _place: place }),
        body => {
            in_flight.add_bytes(http_body::Body::size_hint(&body).lower());
            body
        }
    })
}

/// A body that counts what was sent of it, and keeps its place until then.
struct Counted {
    pieces: Box<dyn Pieces>,
    in_flight: InFlight,
    _place: Place,
}

impl Pieces for Counted {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let polled = self.pieces.poll_piece(context);
        if let Poll::Ready(Some(piece)) = &polled {
            self.in_flight.add_bytes(piece.len() as u64);
        }
        polled
    }
}
