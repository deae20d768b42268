//! What a custom resource must hold where its scale is read.
//!
//! After `ValidateScaleSpec` and `ValidateScaleStatus` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresource/validator.go`.

use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::go_text;

use super::version::Version;

/// The number of replicas that is wanted.
pub(super) fn validate_spec(version: &Version, object: &Value, errors: &mut Errors) {
    if let Some(scale) = &version.scale {
        validate_number(&scale.replicas, object, errors);
    }
}

/// The number that there is, and which pods they are.
pub(super) fn validate_status(version: &Version, object: &Value, errors: &mut Errors) {
    let Some(scale) = &version.scale else { return };
    validate_number(&scale.status_replicas, object, errors);
    if scale.selector.is_empty() {
        return;
    }
    let shown = format!(".{}", scale.selector);
    match find(object, &scale.selector) {
        Ok(None | Some(Value::String(_))) => {}
        Ok(Some(other)) => {
            let why = describe(&shown, other, "string");
            errors.invalid_value(&Path::field(&shown), "", why);
        }
        Err(why) => errors.invalid_value(&Path::field(&shown), "", why),
    }
}

fn validate_number(path: &str, object: &Value, errors: &mut Errors) {
    let shown = format!(".{path}");
    let place = Path::field(&shown);
    match find(object, path) {
        Ok(None) => {}
        Ok(Some(Value::Int(number))) if *number < 0 => {
            errors.invalid_value(&place, *number, "should be a non-negative integer");
        }
        Ok(Some(Value::Int(number))) if *number > i64::from(i32::MAX) => {
            let why = format!("should be less than or equal to {}", i32::MAX);
            errors.invalid_value(&place, *number, why);
        }
        Ok(Some(Value::Int(_))) => {}
        Ok(Some(other)) => errors.invalid_value(&place, 0, describe(&shown, other, "int64")),
        Err(why) => errors.invalid_value(&place, 0, why),
    }
}

/// The value at the end of a path of fields, if every step is there.
fn find<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let mut value = object;
    let mut way = String::new();
    for step in path.split('.') {
        way.push('.');
        way.push_str(step);
        let Value::Map(map) = value else {
            let expected = "map[string]interface{}";
            return Err(describe(&way, value, expected));
        };
        match map.get(step) {
            None => return Ok(None),
            Some(next) => value = next,
        }
    }
    Ok(Some(value))
}

/// After `NestedFieldNoCopy` and its like in `unstructured/helpers.go`.
fn describe(path: &str, value: &Value, expected: &str) -> String {
    let ty = match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::List(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    };
    let shown = go_text::show(value);
    format!("{path} accessor error: {shown} is of the type {ty}, expected {expected}")
}
