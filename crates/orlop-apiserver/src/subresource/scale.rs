//! `scale`: how many replicas an object has, read and written as an `autoscaling/v1` Scale.
//!
//! After `ScaleREST` in `pkg/registry/apps/deployment/storage/storage.go` and its like. An object
//! becomes its scale, the request changes that, and what it says goes back into the object, where
//! the rules of the object itself hold. Who manages the number of replicas is carried over both
//! ways.

use std::sync::Arc;

use http::{Method, Response, StatusCode};
use orlop_machinery::apply::ScaleFields;
use orlop_machinery::field::Errors;
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::kind::ScalePaths;
use orlop_machinery::meta::{Meta, MetaMut, create as rules};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::{Str, Value};

use super::payload::SCALE;
use crate::body::Body;
use crate::call::{Call, Warnings};
use crate::decode_body;
use crate::definition::Definition;
use crate::options::{WriteOptions, WriteVerb};
use crate::registry::{self, Change, Manager};
use crate::request::RequestInfo;
use crate::server::Inner;
use crate::verb::patch::{Patch, PatchType};
use crate::verb::update::check_name;
use crate::verb::{method_not_allowed, not_served, respond_with_value};

/// Reads or changes the number of replicas.
pub(super) async fn serve(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    match call.parts.method {
        Method::GET => get(server, call).await,
        Method::PUT => update(server, call).await,
        Method::PATCH => patch(server, call).await,
        _ => Err(method_not_allowed()),
    }
}

async fn get(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let (namespace, name) = (&call.info.namespace, &call.info.name);
    let stored = registry::read(server, &definition, namespace, name).await?;
    let stored = stored.ok_or_else(|| Status::not_found(&definition.group_resource(), name))?;
    answer(server, call, &stored.object)
}

async fn update(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let options = WriteOptions::parse(call.query(), WriteVerb::Update)?;
    let mut scale = decode_body::read_object(call, &SCALE, options.field_validation).await?;
    rules::match_namespace(&mut scale, &call.info.namespace, SCALE.resource.scope)?;
    check_name(&call.info, &SCALE, &scale)?;
    write(server, call, &Edit::Replace(scale), &options).await
}

async fn patch(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let patch = Patch::read(call).await?;
    let options = patch.options.clone();
    write(server, call, &Edit::Patch(patch), &options).await
}

/// What a request does to a scale.
enum Edit {
    Replace(Value),
    Patch(Patch),
}

async fn write(
    server: &Arc<Inner>,
    call: &mut Call,
    edit: &Edit,
    options: &WriteOptions,
) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let paths = definition.kind.scale_paths().ok_or_else(not_served)?;
    let versions = replicas_paths(server, &definition);
    let versions: Vec<(&str, Option<&str>)> =
        versions.iter().map(|(version, path)| (version.as_str(), path.as_deref())).collect();
    let write = call.write(&definition, definition.rules(), options.dry_run);
    let manager_name = call.manager_name(&options.field_manager);
    let manager = Manager {
        definition: &SCALE,
        rules: SCALE.rules(),
        ..server.manager(&write, &manager_name)
    };
    let fields = ScaleFields { api_version: &definition.api_version, paths: &versions };
    let (info, warnings) = (&call.info, &*call.warnings);
    let mut change =
        ScaleChange { info, warnings, definition: &definition, paths, fields, edit, manager };
    let updated = registry::update(server, &write, &call.info.name, &mut change).await?;
    let object = updated.object.value(&definition, updated.object.revision())?;
    answer(server, call, &object)
}

/// The versions of a kind, and where each keeps the number of replicas.
fn replicas_paths(server: &Inner, definition: &Definition) -> Vec<(Str, Option<String>)> {
    let catalog = server.catalog();
    let same = catalog.versions(definition);
    same.map(|other| {
        let path = other.kind.scale_paths().map(|paths| paths.replicas.to_owned());
        (other.api_version.clone(), path)
    })
    .collect()
}

struct ScaleChange<'a> {
    info: &'a RequestInfo,
    warnings: &'a Warnings,
    definition: &'a Definition,
    paths: ScalePaths<'a>,
    fields: ScaleFields<'a>,
    edit: &'a Edit,
    manager: Manager<'a>,
}

impl Change for ScaleChange<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        let managed = live.path(&["metadata", "managedFields"]);
        let mut old = self.paths.read(live).map_err(unreadable)?;
        let entries = self.fields.to_scale(managed).map_err(unreadable)?;
        MetaMut::of(&mut old).set_managed_fields(entries);
        let new = self.edited(&old)?;
        self.check(&new, live)?;
        let entries = new.path(&["metadata", "managedFields"]);
        let entries = self.fields.to_object(managed, entries).map_err(unreadable)?;
        let mut object = live.clone();
        self.paths.write(&mut object, &new);
        MetaMut::of(&mut object).set_managed_fields(entries);
        Ok(object)
    }

    fn expected_uid(&self) -> Str {
        match self.edit {
            Edit::Replace(scale) => Str::new(Meta::of(scale).uid()),
            Edit::Patch(_) => Str::const_new(""),
        }
    }
}

impl ScaleChange<'_> {
    /// The scale as the request wants it.
    fn edited(&self, old: &Value) -> Result<Value, Status> {
        let warnings = self.warnings;
        let patch = match self.edit {
            Edit::Replace(scale) => return Ok(self.manager.update(old, scale.clone())),
            Edit::Patch(patch) => patch,
        };
        let mut new = if patch.patch_type == PatchType::Apply {
            patch.apply_to(old, &self.manager, warnings)?
        } else {
            self.manager.update(old, patch.patched(&SCALE, old, warnings)?)
        };
        rules::match_namespace(&mut new, &self.info.namespace, SCALE.resource.scope)?;
        check_name(self.info, &SCALE, &new)?;
        Ok(new)
    }

    /// The scale is valid, and is that of the object.
    fn check(&self, scale: &Value, live: &Value) -> Result<(), Status> {
        let name = Meta::of(live).name();
        let mut errors = Errors::new();
        orlop_kinds::scale::validate_scale(&SCALE.node(scale), &mut errors);
        if !errors.is_empty() {
            return Err(Status::invalid(&SCALE.group_kind(), name, &errors));
        }
        let (asked, found) = (Meta::of(scale).uid(), Meta::of(live).uid());
        if asked.is_empty() || asked == found {
            return Ok(());
        }
        let resource = &self.definition.resource;
        let resource = GroupResource::new(&resource.group, &format!("{}/scale", resource.plural));
        let why = format!(
            "Precondition failed: UID in precondition: {asked}, UID in object meta: {found}"
        );
        Err(Status::conflict(&resource, name, why))
    }
}

/// That an object cannot be shown as a scale.
fn unreadable(error: impl std::fmt::Display) -> Status {
    Status::failure(500, Reason::Unknown, error.to_string())
}

/// Answers with the scale of an object.
fn answer(server: &Inner, call: &Call, object: &Value) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let paths = definition.kind.scale_paths().ok_or_else(not_served)?;
    let scale = paths.read(object).map_err(|error| Status::bad_request(error.to_string()))?;
    respond_with_value(server, call, &SCALE, StatusCode::OK, &scale)
}
