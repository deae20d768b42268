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
use orlop_machinery::Value;
use orlop_machinery::status::{ServerAnswer, Status};

use crate::body::Body;
use crate::call::Call;
use crate::definition::Definition;
use crate::object::Object;
use crate::options::{GetOptions, ListOptions};
use crate::render::{ListHead, Renderer, Source};
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

/// An answer that is one object of a definition, as somebody has made it.
pub(crate) fn respond_with_value(
    server: &Inner,
    call: &Call,
    definition: &Arc<Definition>,
    code: StatusCode,
    object: &Value,
) -> Result<Response<Body>, Status> {
    let renderer = Renderer::new(definition.clone(), call.output, server.clock.clone());
    let bytes = renderer.object(Source::Value(object))?;
    let mut response = list::answer(call.output, Body::from(bytes));
    *response.status_mut() = code;
    Ok(response)
}

/// An answer that is a short list of objects which are not kept.
pub(crate) fn respond_with_values(
    server: &Inner,
    call: &Call,
    objects: &[Value],
) -> Result<Response<Body>, Status> {
    let renderer = Renderer::new(call.definition.clone(), call.output, server.clock.clone());
    let objects: Vec<Source<'_>> = objects.iter().map(Source::Value).collect();
    Ok(list::answer(call.output, renderer.list_of(&objects, &ListHead::default())?))
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
    ServerAnswer { code: 405, ..ServerAnswer::default() }.to_status()
}
