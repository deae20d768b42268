//! Metadata of custom resources and of the resources that are embedded in them.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta`. Metadata is
//! decoded into its struct, as that of built-in kinds, and what comes out replaces it.

use super::{Position, Structural};
use crate::decode::{DecodeError, Decoded, decode};
use crate::field::{ErrorKind, Errors, FieldError, Path};
use crate::group_version::GroupVersion;
use crate::meta::{Scope, validate_object_meta};
use crate::names::{dns1035_label, name_is_path_segment};
use crate::node::Node;
use crate::schema::{Schema, StructId};
use crate::value::{Map, Value};

/// The struct of metadata.
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a> {
    /// The schema that has it.
    pub schema: &'a Schema,
    /// `ObjectMeta`.
    pub id: StructId,
}

/// What to do with metadata that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It is an error: for what is sent.
    Refused,
    /// Fields that cannot be read are left out: for what is stored.
    Dropped,
}

/// Brings the metadata of an object into normal form; the paths of the fields that it does not
/// have, such as `metadata.foo`.
///
/// # Errors
///
/// When it cannot be decoded and may not be dropped.
pub fn coerce_metadata(
    object: &mut Value,
    metadata: Metadata<'_>,
    malformed: Malformed,
) -> Result<Vec<String>, DecodeError> {
    let Value::Map(map) = object else { return Ok(Vec::new()) };
    coerce(map, metadata, malformed)
}

impl Structural {
    /// Does the same for every embedded resource, and checks that kind and version are text. The
    /// object itself is left alone.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, if malformed things are refused.
    pub fn coerce_embedded(
        &self,
        value: &mut Value,
        metadata: Metadata<'_>,
        malformed: Malformed,
    ) -> Result<Vec<String>, Box<FieldError>> {
        self.coerce(value, (metadata, malformed), Position::Inside)
    }

    /// The same from a position on.
    pub(super) fn coerce(
        &self,
        value: &mut Value,
        (metadata, malformed): (Metadata<'_>, Malformed),
        position: Position,
    ) -> Result<Vec<String>, Box<FieldError>> {
        let mut coercer = Coercer { metadata, malformed, unknown: Vec::new() };
        let has_metadata = position == Position::Root || self.is_embedded_resource;
        coercer.value(value, (self, has_metadata), &Path::root())?;
        coercer.unknown.sort_unstable();
        Ok(coercer.unknown)
    }

    /// Reports what is wrong with embedded resources; at the root, with the object itself.
    pub fn validate_embedded(
        &self,
        value: &Value,
        metadata: Metadata<'_>,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        self.validate_resources(value, metadata, path, errors);
    }

    fn validate_resources(
        &self,
        value: &Value,
        metadata: Metadata<'_>,
        path: &Path<'_>,
        errors: &mut Errors,
    ) {
        match value {
            Value::Map(map) => {
                if self.is_embedded_resource {
                    validate_resource(map, metadata, path, errors);
                }
                let is_map = matches!(self.object_shape(), Some(super::Shape::Map { .. }));
                for (name, value) in map.iter() {
                    if let Some(schema) = self.field(name) {
                        let at = if is_map { path.key(name) } else { path.child(name) };
                        schema.validate_resources(value, metadata, &at, errors);
                    }
                }
            }
            Value::List(list) => {
                let Some(items) = self.items() else { return };
                for (at, item) in list.iter().enumerate() {
                    items.validate_resources(item, metadata, &path.index(at), errors);
                }
            }
            _ => {}
        }
    }
}

/// Reports what is wrong with kind, version and metadata of an object.
pub(super) fn validate_resource(
    object: &Map,
    metadata: Metadata<'_>,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    for field in ["apiVersion", "kind"] {
        if !object.contains_key(field) {
            errors.required(&path.child(field), "");
        }
    }
    for field in ["apiVersion", "kind"] {
        let wrong = match object.get(field) {
            None => continue,
            Some(Value::String(text)) if text.is_empty() => Some("must not be empty".to_owned()),
            Some(Value::String(text)) if field == "kind" => wrong_kind(text),
            Some(Value::String(text)) => wrong_version(text),
            Some(_) => Some("must be a string".to_owned()),
        };
        if let Some(wrong) = wrong {
            let shown = object.get(field).cloned().unwrap_or_default();
            errors.invalid_value(&path.child(field), shown, wrong);
        }
    }
    let Some(value) = object.get("metadata") else { return };
    match decode(metadata.schema, metadata.id, value.clone()) {
        Ok(mut decoded) => {
            if decoded.object.at("name").is_empty() {
                // Something must stand there for the other rules to be looked at.
                decoded.object.set("name", "fakename");
            }
            let is_cluster = decoded.object.at("namespace").is_empty();
            let scope = if is_cluster { Scope::Cluster } else { Scope::Namespaced };
            let node = Node::new(&decoded.object, path.child("metadata"));
            validate_object_meta(&node, scope, name_is_path_segment, errors);
        }
        Err(error) => {
            errors.invalid_value(&path.child("metadata"), value.clone(), error.to_string());
        }
    }
}

fn wrong_version(text: &str) -> Option<String> {
    GroupVersion::parse(text).err().map(|error| error.to_string())
}

fn wrong_kind(text: &str) -> Option<String> {
    let wrong = dns1035_label(&text.to_lowercase());
    (!wrong.is_empty())
        .then(|| format!("may have mixed case, but should otherwise match: {}", wrong.join(",")))
}

struct Coercer<'a> {
    metadata: Metadata<'a>,
    malformed: Malformed,
    unknown: Vec<String>,
}

impl Coercer<'_> {
    /// Walks a value with its schema, and whether it has metadata.
    fn value(
        &mut self,
        value: &mut Value,
        (schema, has_metadata): (&Structural, bool),
        path: &Path<'_>,
    ) -> Result<(), Box<FieldError>> {
        match value {
            Value::Map(map) => {
                if has_metadata {
                    self.resource(map, path)?;
                }
                let is_map = matches!(schema.object_shape(), Some(super::Shape::Map { .. }));
                for (name, value) in map.iter_mut() {
                    if let Some(field) = schema.field(name) {
                        let at = if is_map { path.key(name) } else { path.child(name) };
                        self.value(value, (field, field.is_embedded_resource), &at)?;
                    }
                }
            }
            Value::List(list) => {
                let Some(items) = schema.items() else { return Ok(()) };
                for (at, item) in list.iter_mut().enumerate() {
                    self.value(item, (items, items.is_embedded_resource), &path.index(at))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn resource(&mut self, map: &mut Map, path: &Path<'_>) -> Result<(), Box<FieldError>> {
        for field in ["apiVersion", "kind"] {
            match map.get(field) {
                None | Some(Value::String(_)) => {}
                Some(_) if self.malformed == Malformed::Dropped => {
                    map.remove(field);
                }
                Some(value) => return Err(invalid(&path.child(field), value, "must be a string")),
            }
        }
        // Shown if it is refused.
        let before = map.get("metadata").cloned().unwrap_or_default();
        match coerce(map, self.metadata, self.malformed) {
            Ok(unknown) => {
                let parent = path.to_string();
                let dot = if parent.is_empty() { "" } else { "." };
                let full = unknown.into_iter().map(|field| format!("{parent}{dot}{field}"));
                self.unknown.extend(full);
            }
            // What is no object at all cannot be read field by field: it stays.
            Err(_) if self.malformed == Malformed::Dropped => {}
            Err(error) => {
                return Err(invalid(&path.child("metadata"), &before, &error.to_string()));
            }
        }
        Ok(())
    }
}

fn invalid(path: &Path<'_>, value: &Value, detail: &str) -> Box<FieldError> {
    Box::new(FieldError {
        kind: ErrorKind::Invalid,
        field: path.to_string(),
        bad_value: Some(value.clone()),
        detail: detail.to_owned(),
    })
}

/// Brings the metadata in an object into normal form; the paths of unknown fields.
fn coerce(
    object: &mut Map,
    metadata: Metadata<'_>,
    malformed: Malformed,
) -> Result<Vec<String>, DecodeError> {
    let Some(value) = object.get_mut("metadata") else { return Ok(Vec::new()) };
    if malformed == Malformed::Refused {
        let read = decode(metadata.schema, metadata.id, value.take())?;
        return Ok(replace(value, read));
    }
    let read = match decode(metadata.schema, metadata.id, value.clone()) {
        Ok(decoded) => decoded,
        Err(error) => {
            let Value::Map(fields) = value else { return Err(error) };
            // Field by field, so that one that cannot be read does not spoil the others.
            fields.retain(|name, field| {
                let alone = Value::from([(name, field.clone())]);
                decode(metadata.schema, metadata.id, alone).is_ok()
            });
            decode(metadata.schema, metadata.id, value.take())?
        }
    };
    Ok(replace(value, read))
}

fn replace(value: &mut Value, read: Decoded) -> Vec<String> {
    *value = read.object;
    if value.get("creationTimestamp").is_some_and(Value::is_null) {
        value.remove("creationTimestamp");
    }
    read.unknown.into_iter().map(|field| format!("metadata.{field}")).collect()
}
