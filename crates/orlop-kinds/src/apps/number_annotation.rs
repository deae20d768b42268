//! Numbers that were fields in older versions of the API and are annotations now.
//!
//! After `pkg/apis/apps/v1/conversion.go`. Upstream refuses to read an object whose annotation is
//! no number; here that is an error about the annotation.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

/// The number; none when the annotation is missing or is no number.
pub(super) fn read(object: &Value, key: &str) -> Option<i64> {
    object.path(&["metadata", "annotations", key]).str().parse().ok()
}

/// Writes the number.
pub(super) fn write(object: &mut Value, key: &str, number: i64) {
    object.entry("metadata").entry("annotations").set(key, number.to_string());
}

/// Takes the annotation out.
pub(super) fn remove(object: &mut Value, key: &str) {
    let Some(metadata) = object.get_mut("metadata") else { return };
    let Some(annotations) = metadata.get_mut("annotations") else { return };
    annotations.remove(key);
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Puts the annotation back as it was: it belongs to the spec.
pub(super) fn keep(new: &mut Value, old: &Value, key: &str) {
    match read(old, key) {
        Some(number) => write(new, key, number),
        None => remove(new, key),
    }
}

/// Whether the annotation is there and is no number.
pub(super) fn is_malformed(object: &Value, key: &str) -> bool {
    let is_set = object.path(&["metadata", "annotations"]).get(key).is_some();
    is_set && read(object, key).is_none()
}

/// The annotation is a number, if it is there.
pub(super) fn validate(object: &Node<'_>, key: &str, errors: &mut Errors) {
    if !is_malformed(object.value(), key) {
        return;
    }
    let metadata = object.at("metadata");
    let annotations = metadata.at("annotations");
    let annotation = annotations.key(key);
    let text = annotation.str();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let reason = if is_number { "value out of range" } else { "invalid syntax" };
    let detail = format!("strconv.ParseInt: parsing {}: {reason}", quote(text));
    errors.invalid(&annotation, detail);
}
