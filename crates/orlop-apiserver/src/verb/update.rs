//! PUT of an object: replaces it.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/update.go`.

use std::sync::Arc;

use http::{Response, StatusCode};
use orlop_machinery::kind::Rules;
use orlop_machinery::meta::{Meta, create as rules};
use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};

use crate::body::Body;
use crate::call::Call;
use crate::decode_body;
use crate::definition::Definition;
use crate::options::{WriteOptions, WriteVerb};
use crate::registry::{self, Change, Manager};
use crate::request::RequestInfo;
use crate::server::Inner;

use super::respond_with;

/// Replaces the object with the one in the body.
pub(crate) async fn update(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    update_at(server, call, definition.rules()).await
}

/// The same at an endpoint with rules of its own.
pub(crate) async fn update_at(
    server: &Arc<Inner>,
    call: &mut Call,
    rules_of_endpoint: &dyn Rules,
) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let options = WriteOptions::parse(call.query(), WriteVerb::Update)?;
    let mut object = decode_body::read_object(call, &definition, options.field_validation).await?;
    rules::match_namespace(&mut object, &call.info.namespace, definition.resource.scope)?;
    check_name(&call.info, &definition, &object)?;
    registry::dedup_owner_references(&mut object, &call.warnings);
    let write = call.write(&definition, rules_of_endpoint, options.dry_run);
    let name = call.manager_name(&options.field_manager);
    let mut change = Replace { object, manager: server.manager(&write, &name) };
    let updated = registry::update(server, &write, &call.info.name, &mut change).await?;
    let code = if updated.is_created { StatusCode::CREATED } else { StatusCode::OK };
    respond_with(server, call, code, &updated.object)
}

/// The object in the body is the one of the path.
pub(crate) fn check_name(
    info: &RequestInfo,
    definition: &Definition,
    object: &Value,
) -> Result<(), Status> {
    let meta = Meta::of(object);
    let (name, namespace) = (meta.name(), meta.namespace());
    if name.is_empty() {
        let wanted = &info.name;
        return Err(Status::bad_request(format!(
            "the name of the object ({wanted} based on URL) was undeterminable: name must be \
             provided"
        )));
    }
    if name != info.name {
        let wanted = &info.name;
        return Err(Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({wanted})"
        )));
    }
    let expected = if definition.is_namespaced() { info.namespace.as_str() } else { "" };
    if !expected.is_empty() && !namespace.is_empty() && namespace != expected {
        return Err(Status::bad_request(format!(
            "the namespace of the object ({namespace}) does not match the namespace on the \
             request ({expected})"
        )));
    }
    Ok(())
}

struct Replace<'a> {
    object: Value,
    manager: Manager<'a>,
}

impl Change for Replace<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        Ok(self.manager.update(live, self.object.clone()))
    }

    fn expected_uid(&self) -> Str {
        Str::new(Meta::of(&self.object).uid())
    }
}
