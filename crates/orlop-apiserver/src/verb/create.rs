//! POST of a collection: makes an object.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/create.go`.

use std::sync::Arc;

use http::{Response, StatusCode};
use orlop_machinery::Value;
use orlop_machinery::meta::create as rules;
use orlop_machinery::status::Status;

use crate::body::Body;
use crate::call::Call;
use crate::decode_body;
use crate::options::{WriteOptions, WriteVerb};
use crate::registry;
use crate::server::Inner;

use super::respond_with;

/// Makes the object in the body.
pub(crate) async fn create(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let options = WriteOptions::parse(call.query(), WriteVerb::Create)?;
    let mut object = decode_body::read_object(call, &definition, options.field_validation).await?;
    rules::wipe_system_fields(&mut object);
    rules::match_namespace(&mut object, &call.info.namespace, definition.resource.scope)?;
    registry::dedup_owner_references(&mut object, &call.warnings);
    let write = call.write(&definition, definition.rules(), options.dry_run);
    let name = call.manager_name(&options.field_manager);
    let object = server.manager(&write, &name).update(&Value::Null, object);
    let object = registry::create(server, &write, object).await?;
    respond_with(server, call, StatusCode::CREATED, &object)
}
