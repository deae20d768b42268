//! The way from client-side to server-side apply.
//!
//! `kubectl apply` keeps what it last applied in an annotation. The first `kubectl apply
//! --server-side` may take the fields that stand there unchanged, and keeps the annotation up to
//! date, so that the user can go back. Only the manager `kubectl` is treated like this.
//!
//! Behaviour after `apimachinery/pkg/util/managedfields/internal` (`lastapplied.go`,
//! `lastappliedmanager.go`, `lastappliedupdater.go`).

use super::compare::compare;
use super::field_set::FieldSet;
use super::owned_fields::owned_fields;
use super::typing::Shape;
use super::validate::{Duplicates, validate};
use crate::json;
use crate::value::Value;

/// The manager that client-side apply is followed up for.
pub(super) const KUBECTL: &str = "kubectl";

/// Where client-side apply keeps what it applied.
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// All annotations together may have so many bytes.
const ANNOTATIONS_SIZE_MAX: usize = 256 * 1024;

/// The fields that client-side apply set and nobody has changed since: nobody else's claim to them
/// counts. None when there is no such annotation, or it makes no sense.
pub(super) fn settled_fields(
    live: &Value,
    api_version: &str,
    kind: &str,
    shape: &Shape<'_>,
) -> Option<FieldSet> {
    let text = last_applied(live)?;
    let object = json::parse(text.as_bytes()).ok()?;
    if object.at("apiVersion").str() != api_version || object.at("kind").str() != kind {
        return None;
    }
    validate(live, shape, Duplicates::Refused).ok()?;
    validate(&object, shape, Duplicates::Refused).ok()?;
    let mut fields = owned_fields(&object, shape);
    let comparison = compare(&object, live, shape);
    fields.subtract(&comparison.modified);
    fields.subtract(&comparison.added);
    fields.subtract(&comparison.removed);
    Some(fields)
}

/// Writes what was applied into the annotation of an object that has one.
pub(super) fn refresh(object: &mut Value, applied: &Value) {
    if last_applied(object).is_none() {
        return;
    }
    let mut text = json::to_string(&without_annotation(applied));
    text.push('\n');
    let annotations = object.entry("metadata").entry("annotations");
    annotations.set(ANNOTATION, text);
    let size = |(key, value): (&str, &Value)| key.len() + value.str().len();
    if annotations.map().iter().map(size).sum::<usize>() > ANNOTATIONS_SIZE_MAX {
        annotations.remove(ANNOTATION);
    }
}

fn last_applied(object: &Value) -> Option<&str> {
    let text = object.at("metadata").at("annotations").at(ANNOTATION).str();
    (!text.is_empty()).then_some(text)
}

fn without_annotation(applied: &Value) -> Value {
    let mut object = applied.clone();
    if let Some(annotations) = object.path_mut(&["metadata", "annotations"]) {
        annotations.remove(ANNOTATION);
    }
    object
}
