//! What can be done with a resource: one verb, one file.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod delete_collection;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod patch;
pub(crate) mod update;
pub(crate) mod watch;

use std::sync::Arc;

use http::{Response, StatusCode};
use orlop_machinery::status::{Reason, Status};

use crate::body::Body;
use crate::call::Call;
use crate::object::Object;
use crate::options::{GetOptions, ListOptions};
use crate::render::{Renderer, Source};
use crate::server::Inner;
use crate::{discovery, review, subresource};

/// Does what a request asks for.
pub(crate) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    if !call.info.subresource.is_empty() {
        return subresource::serve(server, call).await;
    }
    if !call.definition.kind.is_stored() {
        return review::serve(server, call).await;
    }
    match call.info.verb {
        "create" => create::create(server, call).await,
        "delete" => delete::delete(server, call).await,
        "deletecollection" => delete_collection::delete_collection(server, call).await,
        "get" => get::get(&server.reads, call, &GetOptions::parse(call.query())?).await,
        "list" => list::list(&server.reads, call, &list_options(call)?).await,
        "patch" => patch::patch(server, call).await,
        "update" => update::update(server, call).await,
        "watch" => watch::watch(&server.reads, call, &list_options(call)?).await,
        _ => Err(method_not_allowed()),
    }
}

/// An answer that is one object, as it is kept.
pub(crate) fn respond_with(
    server: &Inner,
    call: &Call,
    code: StatusCode,
    object: &Object,
) -> Result<Response<Body>, Status> {
    let renderer = Renderer::new(call.definition.clone(), call.output, server.clock.clone());
    let bytes = renderer.object(Source::Kept(object, object.revision()))?;
    let mut response = list::answer(call.output, Body::from(bytes));
    *response.status_mut() = code;
    Ok(response)
}

fn list_options(call: &Call) -> Result<ListOptions, Status> {
    ListOptions::parse(call.query(), &call.info, &call.definition)
}

/// That a path is not there.
pub(crate) fn not_served() -> Status {
    discovery::resource_not_found()
}

/// That a path is there, but not for this method.
pub(crate) fn method_not_allowed() -> Status {
    let message = "the server does not allow this method on the requested resource";
    Status::failure(405, Reason::MethodNotAllowed, message)
}
