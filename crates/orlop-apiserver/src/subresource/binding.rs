//! `binding`: brings a pod to a node.
//!
//! After `BindingREST` and `LegacyBindingREST` in `pkg/registry/core/pod/storage/storage.go`. The
//! pod is changed below its own rules: nobody else may set its node. Who manages which field stays
//! as it was.

use std::sync::Arc;

use http::Response;
use orlop_kinds::bind_pod;
use orlop_machinery::field::Errors;
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::meta::{Meta, create as rules};
use orlop_machinery::status::{Reason, Status, aggregate};
use orlop_machinery::time::Time;
use orlop_machinery::{Str, Value};

use crate::body::Body;
use crate::call::Call;
use crate::decode_body;
use crate::definition::Definition;
use crate::options::{WriteOptions, WriteVerb};
use crate::registry::{self, Change, Write};
use crate::server::Inner;

/// POST of `pods/NAME/binding`.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let (binding, options) = read(server, call).await?;
    let name = call.info.name.clone();
    bind(server, call, &name, binding, &options).await
}

/// POST of `bindings`: the name of the pod is that of the binding.
pub(crate) async fn create_binding(
    server: &Arc<Inner>,
    call: &mut Call,
) -> Result<Response<Body>, Status> {
    let (mut binding, options) = read(server, call).await?;
    // Only the endpoint of the pod takes these for preconditions.
    rules::wipe_system_fields(&mut binding);
    let name = Meta::of(&binding).name().to_owned();
    if name.is_empty() {
        return Err(Status::bad_request("Name parameter required."));
    }
    bind(server, call, &name, binding, &options).await
}

async fn read(server: &Inner, call: &mut Call) -> Result<(Value, WriteOptions), Status> {
    let definition = server.built_in("", "v1", "bindings");
    let options = WriteOptions::parse(call.query(), WriteVerb::Create)?;
    let mut binding = decode_body::read_object(call, definition, options.field_validation).await?;
    rules::match_namespace(&mut binding, &call.info.namespace, definition.resource.scope)?;
    Ok((binding, options))
}

async fn bind(
    server: &Arc<Inner>,
    call: &mut Call,
    name: &str,
    mut binding: Value,
    options: &WriteOptions,
) -> Result<Response<Body>, Status> {
    if Meta::of(&binding).name() != name {
        let message = "name in URL does not match name in Binding object";
        return Err(Status::bad_request(message));
    }
    validate(server.built_in("", "v1", "bindings"), &binding)?;
    let pods = server.built_in("", "v1", "pods");
    let write = Write { subresource: "binding", ..call.write(pods, &AsItIs, options.dry_run) };
    registry::admit_create(server, &write, name, &mut binding).await?;
    let now = Time::from_unix(server.now_seconds()).to_string();
    let mut change = Bind { pods, binding: &binding, now };
    registry::update(server, &write, name, &mut change).await?;
    Ok(super::created(call))
}

/// What is wrong with a binding is told as any other error, not as that of an object.
fn validate(bindings: &Definition, binding: &Value) -> Result<(), Status> {
    let mut errors = Errors::new();
    let node = bindings.node(binding);
    bindings.kind.validate(&Context::default(), &node, &mut errors);
    if errors.is_empty() {
        return Ok(());
    }
    let message = aggregate(errors.list().iter().map(ToString::to_string));
    Err(Status::failure(500, Reason::Unknown, message))
}

/// The rules of a change that is the server's own.
struct AsItIs;

impl Rules for AsItIs {}

struct Bind<'a> {
    pods: &'a Definition,
    binding: &'a Value,
    now: String,
}

impl Change for Bind<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        let (asked, found) = (Meta::of(self.binding), Meta::of(live));
        let (name, version) = (found.name(), asked.resource_version());
        if !version.is_empty() && version != found.resource_version() {
            let key = self.pods.key(found.namespace(), name);
            let current = found.resource_version();
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: \
                 {version}, ResourceVersion in object meta: {current}"
            );
            return Err(Status::conflict(&self.pods.group_resource(), name, why));
        }
        let mut pod = live.clone();
        bind_pod(&mut pod, self.binding, &self.now).map_err(|error| {
            Status::conflict(&GroupResource::new("", "pods/binding"), name, error)
        })?;
        Ok(pod)
    }

    fn expected_uid(&self) -> Str {
        Str::new(Meta::of(self.binding).uid())
    }
}
