//! Kinds that are answered and not kept.
//!
//! After `pkg/registry/authentication` and `pkg/registry/authorization`. One kind is one file and
//! one word in [`serve`].

mod access_review;
mod component_status;
mod self_subject_review;
mod self_subject_rules_review;
mod token_review;

use std::sync::Arc;

use http::{Response, StatusCode};
use orlop_machinery::meta::{Meta, create as rules};
use orlop_machinery::status::Status;
use orlop_machinery::{Value, decode};

use crate::body::Body;
use crate::call::Call;
use crate::decode_body;
use crate::options::{WriteOptions, WriteVerb};
use crate::registry;
use crate::server::Inner;
use crate::subresource::create_binding;
use crate::verb::{method_not_allowed, not_served, respond_with_value};

/// Answers a request for such a kind.
pub(crate) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let resource = call.definition.resource.clone();
    if resource.plural == "componentstatuses" && resource.group.is_empty() {
        return component_status::serve(server, call).await;
    }
    if call.info.verb != "create" {
        return Err(method_not_allowed());
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "bindings") => create_binding(server, call).await,
        ("authentication.k8s.io", "selfsubjectreviews") => {
            self_subject_review::create(server, call).await
        }
        ("authentication.k8s.io", "tokenreviews") => token_review::create(server, call).await,
        ("authorization.k8s.io", "selfsubjectrulesreviews") => {
            self_subject_rules_review::create(server, call).await
        }
        ("authorization.k8s.io", _) => access_review::create(server, call).await,
        _ => Err(not_served()),
    }
}

/// The review in the body of a request, with who manages what.
async fn read(server: &Arc<Inner>, call: &mut Call) -> Result<Value, Status> {
    let definition = call.definition.clone();
    let options = WriteOptions::parse(call.query(), WriteVerb::Create)?;
    let mut review = decode_body::read_object(call, &definition, options.field_validation).await?;
    rules::wipe_system_fields(&mut review);
    rules::match_namespace(&mut review, &call.info.namespace, definition.resource.scope)?;
    let write = call.write(&definition, definition.rules(), options.dry_run);
    let name = Meta::of(&review).name().to_owned();
    registry::admit_create(server, &write, &name, &mut review).await?;
    let manager = call.manager_name(&options.field_manager);
    Ok(server.manager(&write, &manager).update(&Value::Null, review))
}

/// Answers with a review.
fn answer(server: &Inner, call: &Call, review: Value) -> Result<Response<Body>, Status> {
    let definition = &call.definition;
    let review = decode::decode(&definition.schema, definition.id, review);
    let review = review.map_err(Status::internal_error)?.object;
    respond_with_value(server, call, definition, StatusCode::CREATED, &review)
}

/// Who somebody is, as reviews tell it.
fn user_info(user: &crate::user::User) -> Value {
    let mut info = Value::from([("username", user.name.clone())]);
    if !user.uid.is_empty() {
        info.set("uid", user.uid.clone());
    }
    if !user.groups.is_empty() {
        let groups = user.groups.iter().map(|group| Value::from(group.clone())).collect();
        info.set("groups", Value::List(groups));
    }
    if !user.extra.is_empty() {
        info.set("extra", user.extra.clone());
    }
    info
}
