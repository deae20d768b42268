//! What can be done with one object under a name of its own: one subresource, one file.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/installer.go`. Which subresources a resource
//! has, and which verbs they take, says its kind. Those that are a part of the object, written with
//! rules of their own (`status`, `approval`, `finalize`, `resize`, ...), are all served by
//! [`change`]; the others have nothing in common and are found by name in [`serve`].

mod attach;
mod binding;
mod change;
mod connection;
mod eviction;
mod exec;
mod log;
mod payload;
mod portforward;
mod proxy;
mod scale;

use std::sync::Arc;

use http::{Method, Response};
use orlop_machinery::kind::{Subresource, Verb};
use orlop_machinery::status::Status;

use crate::body::Body;
use crate::call::Call;
use crate::respond;
use crate::server::Inner;
use crate::verb::{method_not_allowed, not_served};

pub(crate) use binding::create_binding;

/// Serves a request for a subresource.
pub(crate) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let Some(subresource) = definition.subresource(&call.info.subresource) else {
        return Err(not_served());
    };
    // Only what is passed on has paths of its own.
    if subresource.name != "proxy" && !call.info.rest.is_empty() {
        return Err(not_served());
    }
    if !allows(subresource, &call.parts.method) {
        return Err(method_not_allowed());
    }
    match (subresource.name, subresource.rules.as_deref()) {
        ("attach", _) => attach::serve(server, call).await,
        ("binding", _) => binding::serve(server, call).await,
        ("eviction", _) => eviction::serve(server, call).await,
        ("exec", _) => exec::serve(server, call).await,
        ("log", _) => log::serve(server, call).await,
        ("portforward", _) => portforward::serve(server, call).await,
        ("proxy", _) => proxy::serve(server, call).await,
        ("scale", _) => scale::serve(server, call).await,
        // Tokens need a key to sign them with. Upstream has no such endpoint without one either.
        ("token", _) | (_, None) => Err(not_served()),
        (_, Some(rules)) => change::serve(server, call, rules).await,
    }
}

/// Whether a subresource takes requests with a method.
fn allows(subresource: &Subresource, method: &Method) -> bool {
    let verb = match *method {
        Method::GET => Verb::Get,
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE => Verb::Delete,
        Method::HEAD | Method::OPTIONS => return subresource.name == "proxy",
        _ => return false,
    };
    subresource.verbs.contains(&verb)
}

/// That something was done which leaves no object to show.
fn created(call: &Call) -> Response<Body> {
    let status = Status { code: 201, ..Status::success() };
    respond::status(&status, &call.parts.headers, call.query())
}
