//! What is said about a body that is something else.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/runtime/error.go`, `.../pkg/conversion/converter.go`
//! and the handlers of `staging/src/k8s.io/apiserver/pkg/endpoints/handlers`.

use orlop_machinery::Value;
use orlop_machinery::group_version::GroupVersion;
use orlop_machinery::status::Status;
use orlop_machinery::text::quote;

use super::{Target, cannot_be_handled};

/// Where upstream knows its kinds; clients see it in errors.
const SCHEME: &str = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30";

/// A body of one kind where another is wanted.
pub(super) fn refuse(version: &GroupVersion, kind: &str, target: &Target<'_>) -> Status {
    let api_version = version.to_string();
    let is_known = orlop_kinds::catalog().find_kind(&api_version, kind).is_some();
    if is_known && kind == target.kind {
        let expected = target.api_version;
        return Status::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({expected})"
        ));
    }
    cannot_be_handled(kind, version, target, &explain(version, kind, target))
}

/// Why a value of one kind cannot be read as another.
pub(super) fn explain(version: &GroupVersion, kind: &str, target: &Target<'_>) -> String {
    let api_version = version.to_string();
    if orlop_kinds::catalog().find_kind(&api_version, kind).is_none() {
        return not_registered(&api_version, kind);
    }
    let wanted = GroupVersion::parse(target.api_version).unwrap_or_default();
    let package = match wanted.group.split('.').next() {
        None | Some("") => "core",
        Some(package) => package,
    };
    let (from, to) = (format!("{}.{kind}", version.version), format!("{package}.{}", target.kind));
    format!("converting ({from}) to ({to}): unknown conversion")
}

/// There is no such kind.
pub(super) fn not_registered(api_version: &str, kind: &str) -> String {
    let (kind, version, scheme) = (quote(kind), quote(api_version), quote(SCHEME));
    format!("no kind {kind} is registered for version {version} in scheme {scheme}")
}

/// What is wrong with the kind and version of a value, if they are not text or it is no object.
pub(super) fn describe_type_meta(value: &Value) -> Option<String> {
    let map = match value {
        Value::Map(map) => map,
        Value::Null => return None,
        other => {
            let found = json_type(other);
            let wanted = concat!(
                r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; "#,
                r#"Kind string "json:\"kind,omitempty\"" }"#,
            );
            return Some(format!("json: cannot unmarshal {found} into Go value of type {wanted}"));
        }
    };
    ["apiVersion", "kind"].iter().find_map(|field| match map.get(field) {
        None | Some(Value::Null | Value::String(_)) => None,
        Some(other) => {
            let found = json_type(other);
            Some(format!(
                "json: cannot unmarshal {found} into Go struct field .{field} of type string"
            ))
        }
    })
}

/// What Go calls a value in errors.
pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}
