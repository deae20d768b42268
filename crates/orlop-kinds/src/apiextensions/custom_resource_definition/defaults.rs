//! Default values in schemas: they are what the schema itself would accept.
//!
//! After `structuraldefaulting.ValidateDefaults` and `requirePrunedDefaults`; the rules themselves
//! stand with structural schemas.

use orlop_cel::rules::{Extent, OBJECT_COST_MAX, Rules, Update};
use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::node::Node;
use orlop_machinery::structural::{DefaultRules, Metadata, Structural};

use super::options::Options;
use super::structural::is_structural;
use crate::schema::schema as built_in;

const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Reports what is wrong with the default values of a structural schema.
pub(super) fn validate_defaults(
    schema: &Node<'_>,
    structural: &Structural,
    options: &Options,
    errors: &mut Errors,
) {
    let mut budget = OBJECT_COST_MAX;
    let mut check_rules = |part: &Structural, value: &Value, at: &Path<'_>, errors: &mut Errors| {
        let is_resource = std::ptr::eq(part, structural) || part.is_embedded_resource;
        let extent = if is_resource { Extent::Resource } else { Extent::Part };
        check(part, extent, (value, at), &mut budget, errors);
    };
    let mut rules = DefaultRules {
        metadata: metadata(),
        allows_unknown_fields: options.allows_unpruned_defaults,
        check_rules: &mut check_rules,
    };
    structural.validate_defaults(&mut rules, schema.path(), errors);
}

/// Evaluates the rules of a schema over its default: as if it had been there before, and, if that
/// is fine, as if it were new.
fn check(
    schema: &Structural,
    extent: Extent,
    (value, at): (&Value, &Path<'_>),
    budget: &mut i64,
    errors: &mut Errors,
) {
    let rules = Rules::compile(schema, extent);
    if rules.is_empty() || *budget < 0 {
        return;
    }
    let (before, budget_before) = (errors.len(), *budget);
    for old in [Some(value), None] {
        if errors.len() > before {
            return;
        }
        let update = Update { schema, new: value, old, is_ratcheting: false };
        let evaluation = rules.validate_at(at, &update, budget_before, errors);
        *budget = evaluation.budget_left.min(*budget);
    }
}

/// Whether a structural schema has default values with fields that it does not know.
pub(super) fn has_unpruned_defaults(schema: &Value) -> bool {
    if schema.is_null() || !is_structural(schema) {
        return false;
    }
    let Ok(read) = Structural::read(schema) else { return false };
    let mut pruned = read.clone();
    pruned.prune_defaults(metadata());
    pruned != read
}

/// The struct of the metadata of every object.
fn metadata() -> Metadata<'static> {
    let id = built_in().find(METADATA).expect("every object has metadata");
    Metadata { schema: built_in(), id }
}
