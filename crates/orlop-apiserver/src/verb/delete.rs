//! DELETE of an object.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/delete.go`.

use std::sync::Arc;

use http::{Response, StatusCode};
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};

use crate::body::Body;
use crate::call::Call;
use crate::decode_body;
use crate::registry::{self, Deletion};
use crate::respond;
use crate::server::Inner;

use super::respond_with;

/// Deletes the object.
pub(crate) async fn delete(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let options = decode_body::read_delete_options(call).await?;
    delete_with(server, call, &options).await
}

/// The same with options that are at hand.
pub(crate) async fn delete_with(
    server: &Arc<Inner>,
    call: &Call,
    options: &Value,
) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    warn_of_orphans(call, options);
    let is_dry_run = !options.at("dryRun").is_empty();
    let write = call.write(&definition, definition.rules(), is_dry_run);
    let name = &call.info.name;
    let deletion = registry::delete(server, &write, name, options).await?;
    let wants_cascade = options.at("orphanDependents").as_bool() == Some(false);
    let code = match deletion.is_gone {
        false if wants_cascade => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    };
    if !deletion.is_done || definition.resource.returns_deleted {
        return respond_with(server, call, code, &deletion.object);
    }
    let Deletion { uid, .. } = deletion;
    let mut status = Status::success();
    let details = status.details_mut();
    details.name = name.clone();
    details.group = definition.resource.group.clone();
    details.kind = definition.resource.plural.clone();
    details.uid = Str::from(uid);
    Ok(respond::success(code, &status, &call.parts.headers, call.query()))
}

/// Jobs leave their pods behind unless somebody says what becomes of them.
pub(super) fn warn_of_orphans(call: &Call, options: &Value) {
    let resource = &call.definition.resource;
    let is_job = (resource.group.as_str(), resource.plural.as_str()) == ("batch", "jobs");
    let says_nothing =
        options.at("propagationPolicy").is_null() && options.at("orphanDependents").is_null();
    if is_job && says_nothing {
        call.warnings.add(
            "child pods are preserved by default when jobs are deleted; set \
             propagationPolicy=Background to remove them or set propagationPolicy=Orphan to \
             suppress this warning",
        );
    }
}
