//! Annotations that mean something to a node, from before there were fields.
//!
//! After `ValidateNodeSpecificAnnotations` in `pkg/apis/core/validation/validation.go`. What is
//! wrong with text that is no JSON is said in our own words, where upstream shows those of Go.

use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, decode, json};

use super::taint;
use crate::schema;

const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOID_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
const TAINT_STRUCT: &str = "io.k8s.api.core.v1.Taint";

/// The annotations of a node.
pub(super) fn validate(node: &Node<'_>, errors: &mut Errors) {
    let annotations = node.value().path(&["metadata", "annotations"]);
    // What is inside a text has no place in the schema.
    let at = Path::field("metadata");
    let at = at.child("annotations");
    if !annotations.at(TAINTS).is_empty() {
        match read_taints(annotations.at(TAINTS).str()) {
            Ok(taints) => taint::validate_list(&Node::new(&taints, at.child(TAINTS)), errors),
            Err(problem) => errors.invalid_value(&at, TAINTS, problem),
        }
    }
    if !annotations.at(AVOID_PODS).is_empty() {
        match json::parse(annotations.at(AVOID_PODS).str().as_bytes()) {
            Ok(avoid) => {
                let list = avoid.at("preferAvoidPods");
                validate_avoided(&Node::new(list, at.child(AVOID_PODS)), errors);
            }
            Err(problem) => {
                errors.invalid_value(&at.child("AvoidPods"), AVOID_PODS, problem.to_string());
            }
        }
    }
}

fn read_taints(text: &str) -> Result<Value, String> {
    let id = schema().find(TAINT_STRUCT).expect("taints are in the schema");
    let items = match json::parse(text.as_bytes()).map_err(|error| error.to_string())? {
        Value::Null => Vec::new(),
        Value::List(items) => items,
        _ => return Err("taints must be a list".into()),
    };
    let read = |item: Value| match decode::decode(schema(), id, item) {
        Ok(decoded) => Ok(decoded.object),
        Err(error) => Err(error.to_string()),
    };
    items.into_iter().map(read).collect::<Result<Vec<Value>, String>>().map(Value::List)
}

/// Controllers whose pods are better put elsewhere.
fn validate_avoided(entries: &Node<'_>, errors: &mut Errors) {
    for entry in entries.items() {
        let signature = entry.path().child("PodSignature");
        let controller = entry.value().path(&["podSignature", "podController"]);
        if controller.is_null() {
            errors.required(&signature, "");
        } else if !controller.at("controller").bool() {
            let at = signature.child("PodController");
            errors.invalid_value(&at.child("Controller"), false, "must point to a controller");
        }
    }
}
