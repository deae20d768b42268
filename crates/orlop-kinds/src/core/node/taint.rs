//! What keeps pods away from a node.
//!
//! After `validateNodeTaints` in `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, ErrorKind, Errors, FieldError, Path};
use orlop_machinery::meta;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::tolerations::validate_taint_effect;

/// The taints of a node. As upstream, errors say that they are in the metadata.
pub(super) fn validate_taints(node: &Node<'_>, errors: &mut Errors) {
    let at = Path::field("metadata");
    let taints = node.value().path(&["spec", "taints"]);
    validate_list(&Node::new(taints, at.child("taints")), errors);
}

/// A list of taints, each once by key and effect.
pub(super) fn validate_list(taints: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.at("key"), taint.at("value"), taint.at("effect"));
        meta::validate_label_name(&key, key.str(), errors);
        let messages = names::label_value(value.str());
        if !messages.is_empty() {
            errors.invalid(&value, messages.join(";"));
        }
        validate_taint_effect(&effect, errors);
        let found = taint.value();
        if !known.insert((found.at("effect").str(), found.at("key").str())) {
            errors.push(FieldError {
                kind: ErrorKind::Duplicate,
                field: taint.path().to_string(),
                bad_value: Some(found.clone()),
                detail: "taints must be unique by key and effect pair".into(),
            });
        }
    }
}
