//! Field sets that were written before the schema changed.
//!
//! Where somebody owns parts of what is now atomic, they own all of it. The other way needs
//! nothing: whoever owns something that is no longer atomic owns it until it is next written.
//! Behaviour after `structured-merge-diff/typed` (`reconcile_schema.go`).

use super::field_set::{Branch, FieldSet};
use super::typing::Shape;

/// Brings a set in line with the schema.
pub(super) fn reconcile(set: &mut FieldSet, shape: &Shape<'_>) {
    if is_atomic(shape) {
        return;
    }
    let mut cursor = shape.cursor();
    for node in set.nodes_mut() {
        if let Some(below) = cursor.below(&node.element) {
            reconcile_branch(&mut node.branch, &below.shape);
        }
    }
}

fn reconcile_branch(branch: &mut Branch, shape: &Shape<'_>) {
    if branch.children.is_empty() || matches!(shape, Shape::Scalar(_)) || shape.is_open_map() {
        return;
    }
    if is_atomic(shape) {
        *branch = Branch::leaf();
        return;
    }
    reconcile(&mut branch.children, shape);
}

/// A place for several kinds of values counts as a map.
fn is_atomic(shape: &Shape<'_>) -> bool {
    match shape {
        Shape::List(..) => shape.is_list_atomic(),
        shape => shape.is_map_atomic(),
    }
}
