//! PATCH of an object, in each of the four ways.
//!
//! After `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go`.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode, header};
use orlop_machinery::apply::OnConflict;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::group_version::GroupKind;
use orlop_machinery::kind::Rules;
use orlop_machinery::meta::{Meta, create as rules};
use orlop_machinery::patch::{Refusal, json::JsonPatch, merge, strategic};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::strict::FieldValidation;
use orlop_machinery::{Value, decode, go_text, json, yaml};

use crate::body::Body;
use crate::call::{Call, Warnings};
use crate::decode_body::{self, BODY_LENGTH_MAX, Target, json_type};
use crate::definition::Definition;
use crate::options::{WriteOptions, WriteVerb};
use crate::registry::{self, Change, Manager};
use crate::request::RequestInfo;
use crate::server::Inner;

use super::respond_with;
use super::update::check_name;

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchType {
    /// A list of operations.
    Json,
    /// An object with what changes, where null takes away.
    Merge,
    /// The same, with lists whose items have identities.
    Strategic,
    /// What somebody wants to be so, with its owner.
    Apply,
}

impl PatchType {
    const ALL: [(PatchType, &'static str); 4] = [
        (PatchType::Json, "application/json-patch+json"),
        (PatchType::Merge, "application/merge-patch+json"),
        (PatchType::Strategic, "application/strategic-merge-patch+json"),
        (PatchType::Apply, "application/apply-patch+yaml"),
    ];

    /// What the `Content-Type` says.
    pub(crate) fn of(call: &Call) -> Result<PatchType, Status> {
        let header = call.parts.headers.get(header::CONTENT_TYPE);
        let text = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = text.split(';').next().unwrap_or_default();
        let has_strategies = call.definition.kind.has_merge_strategies();
        let is_known = |known: &&(PatchType, _)| known.0 != PatchType::Strategic || has_strategies;
        let mut known = PatchType::ALL.iter().filter(is_known);
        let found = known.clone().find(|(_, name)| *name == media_type);
        found.map(|(patch_type, _)| *patch_type).ok_or_else(|| {
            let names: Vec<&str> = known.by_ref().map(|(_, name)| *name).collect();
            Status::unsupported_media_type(&names)
        })
    }
}

/// Changes the object.
pub(crate) async fn patch(server: &Arc<Inner>, call: &mut Call) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    patch_at(server, call, definition.rules()).await
}

/// The same at an endpoint with rules of its own.
pub(crate) async fn patch_at(
    server: &Arc<Inner>,
    call: &mut Call,
    rules_of_endpoint: &dyn Rules,
) -> Result<Response<Body>, Status> {
    let definition = call.definition.clone();
    let patch = Patch::read(call).await?;
    let write = call.write(&definition, rules_of_endpoint, patch.options.dry_run);
    let name = call.manager_name(&patch.options.field_manager);
    let manager = server.manager(&write, &name);
    let (info, warnings) = (&call.info, &*call.warnings);
    let mut change =
        PatchChange { info, warnings, definition: &definition, patch: &patch, manager };
    let updated = registry::update(server, &write, &call.info.name, &mut change).await?;
    let code = if updated.is_created { StatusCode::CREATED } else { StatusCode::OK };
    respond_with(server, call, code, &updated.object)
}

/// A patch as it came.
pub(crate) struct Patch {
    /// How it is written.
    pub patch_type: PatchType,
    /// The text.
    pub body: Bytes,
    /// What the query says.
    pub options: WriteOptions,
}

struct PatchChange<'a> {
    info: &'a RequestInfo,
    warnings: &'a Warnings,
    definition: &'a Definition,
    patch: &'a Patch,
    manager: Manager<'a>,
}

impl Change for PatchChange<'_> {
    fn make(&mut self, live: &Value) -> Result<Value, Status> {
        let definition = self.definition;
        let is_apply = self.patch.patch_type == PatchType::Apply;
        if live.is_null() && !is_apply {
            let name = &self.info.name;
            return Err(Status::not_found(&definition.group_resource(), name));
        }
        let mut object = if is_apply {
            self.patch.apply_to(live, &self.manager, self.warnings)?
        } else {
            let patched = self.patch.patched(definition, live, self.warnings)?;
            self.manager.update(live, patched)
        };
        let uid = Meta::of(&object).uid();
        if live.is_null() && !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object \
                 was found"
            );
            let name = &self.info.name;
            return Err(Status::conflict(&definition.group_resource(), name, why));
        }
        let namespace = &self.info.namespace;
        rules::match_namespace(&mut object, namespace, definition.resource.scope)?;
        check_name(self.info, definition, &object)?;
        Ok(object)
    }

    fn allows_create(&self) -> bool {
        self.patch.patch_type == PatchType::Apply
    }
}

impl Patch {
    /// The patch in the body of a request.
    pub(crate) async fn read(call: &mut Call) -> Result<Patch, Status> {
        let patch_type = PatchType::of(call)?;
        let body = decode_body::read_bytes(call, BODY_LENGTH_MAX).await?;
        let verb = if patch_type == PatchType::Apply { WriteVerb::Apply } else { WriteVerb::Patch };
        let options = WriteOptions::parse(call.query(), verb)?;
        Ok(Patch { patch_type, body, options })
    }

    /// The live object, or null, with what is applied on top.
    pub(crate) fn apply_to(
        &self,
        live: &Value,
        manager: &Manager<'_>,
        warnings: &Warnings,
    ) -> Result<Value, Status> {
        let (applied, duplicates) = yaml::parse_with_duplicates(&self.body)
            .map_err(|error| undecodable(&format!("error converting YAML to JSON: {error}")))?;
        if !matches!(applied, Value::Map(_) | Value::Null) {
            let found = json_type(&applied);
            return Err(undecodable(&format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} \
                 into Go value of type map[string]interface {{}}"
            )));
        }
        let on_conflict =
            if self.options.force == Some(true) { OnConflict::Force } else { OnConflict::Fail };
        let object = manager.apply(live, &applied, on_conflict)?;
        if !duplicates.is_empty() {
            match self.options.field_validation {
                FieldValidation::Ignore => {}
                FieldValidation::Warn => duplicates.into_iter().for_each(|line| warnings.add(line)),
                FieldValidation::Strict => {
                    let error = yaml::describe_duplicates(&duplicates);
                    let message = format!("error strict decoding YAML: {error}");
                    return Err(Status::bad_request(message));
                }
            }
        }
        Ok(object)
    }

    /// The live object after a patch of one of the three other types, in normal form and with
    /// defaults.
    pub(crate) fn patched(
        &self,
        definition: &Definition,
        live: &Value,
        warnings: &Warnings,
    ) -> Result<Value, Status> {
        let validation = self.options.field_validation;
        let (patched, mut findings) = self.merge(definition, live)?;
        let shown = || self.shown(&patched);
        // Strategic patches cannot reach kind and version.
        if self.patch_type != PatchType::Strategic {
            let target = Target::of(definition);
            decode_body::check_kind(&target, &patched)
                .map_err(|why| invalid_patch(&shown(), &why))?;
        }
        let decoded = decode::decode(&definition.schema, definition.id, patched.clone());
        let decoded = decoded.map_err(|error| {
            let why = self.converter_says(definition, &patched);
            invalid_patch(&shown(), &why.unwrap_or_else(|| error.to_string()))
        })?;
        let mut object = decoded.object;
        let pruned = definition.kind.prune(&mut object);
        let pruned = pruned.map_err(|why| invalid_patch(&shown(), &why))?;
        if validation != FieldValidation::Ignore {
            let unknown = decoded.unknown.iter().chain(&pruned);
            findings.extend(unknown.map(|path| format!("unknown field \"{path}\"")));
        }
        match validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => findings.into_iter().for_each(|text| warnings.add(text)),
            FieldValidation::Strict if findings.is_empty() => {}
            FieldValidation::Strict => {
                let why = format!("strict decoding error: {}", findings.join(", "));
                return Err(invalid_patch(&shown(), &why));
            }
        }
        object.set("apiVersion", &*definition.api_version);
        object.set("kind", definition.resource.kind.as_str());
        definition.set_defaults(&mut object);
        Ok(object)
    }

    /// The live object after the patch, as it comes, and what is dubious about the patch.
    fn merge(&self, definition: &Definition, live: &Value) -> Result<(Value, Vec<String>), Status> {
        let validation = self.options.field_validation;
        match self.patch_type {
            PatchType::Json => {
                let parsed = match validation {
                    FieldValidation::Ignore => JsonPatch::parse(&self.body).map(unfound),
                    _ => JsonPatch::parse_strict(&self.body),
                };
                let (patch, findings) = parsed.map_err(|error| refuse(error.refusal(), &error))?;
                let patched =
                    patch.apply(live.clone()).map_err(|error| refuse(error.refusal(), &error))?;
                Ok((patched, findings))
            }
            PatchType::Merge => {
                let parsed = match validation {
                    FieldValidation::Ignore => merge::parse(&self.body).map(unfound),
                    _ => merge::parse_strict(&self.body),
                };
                let (patch, findings) = parsed.map_err(|error| refuse(error.refusal(), &error))?;
                let patched = merge::apply(live.clone(), patch)
                    .map_err(|error| refuse(error.refusal(), &error))?;
                Ok((patched, findings))
            }
            PatchType::Strategic | PatchType::Apply => {
                let (patch, findings) = strategic::parse(&self.body)
                    .map_err(|error| refuse(error.refusal(), &error))?;
                let (schema, id) = (&definition.schema, definition.id);
                let patched = strategic::strategic_merge(schema, id, live.clone(), patch)
                    .map_err(|error| refuse(error.refusal(), &error))?;
                Ok((patched, findings))
            }
        }
    }

    /// What a message shows of a patch that does not fit. Upstream shows the result as text, but
    /// has no such text of a strategic merge patch: there it shows the patch, as Go prints it.
    fn shown(&self, patched: &Value) -> String {
        match (self.patch_type, strategic::parse(&self.body)) {
            (PatchType::Strategic, Ok((patch, _))) => go_text::show(&patch),
            _ => json::to_string(patched),
        }
    }

    /// The words for a result that is no object, where upstream converts instead of decoding.
    fn converter_says(&self, definition: &Definition, patched: &Value) -> Option<String> {
        let is_converted = self.patch_type == PatchType::Strategic;
        let error = || decode::conversion_error(&definition.schema, definition.id, patched);
        is_converted.then(error).flatten()
    }
}

/// What was read without looking for what is dubious.
fn unfound<T>(patch: T) -> (T, Vec<String>) {
    (patch, Vec::new())
}

fn undecodable(why: &str) -> Status {
    Status::bad_request(format!("error decoding YAML: {why}"))
}

/// What a client is told whose patch cannot be used.
fn refuse(refusal: Refusal, error: &dyn std::fmt::Display) -> Status {
    match refusal.code() {
        400 => Status::bad_request(error.to_string()),
        413 => Status::request_entity_too_large(&error.to_string()),
        // Upstream keeps what is wrong to itself.
        422 => {
            let message = "the server rejected our request due to an error in our request";
            let mut status = Status::failure(422, Reason::Invalid, message);
            status.details_mut();
            status
        }
        // Upstream passes such errors on as they are.
        _ => Status::failure(500, Reason::Unknown, error.to_string()),
    }
}

/// What a client is told whose patch makes something else of the object.
fn invalid_patch(patched: &str, why: &str) -> Status {
    let mut errors = Errors::new();
    errors.invalid_value(&Path::field("patch"), patched, why);
    Status::invalid(&GroupKind::new("", ""), "", &errors)
}
