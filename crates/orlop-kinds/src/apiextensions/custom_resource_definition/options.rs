//! Which rules look away, because a definition broke them before.
//!
//! After `validationOptions` and the functions that fill it in
//! `pkg/apis/apiextensions/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::field::Errors;
use orlop_machinery::meta;
use orlop_machinery::node::Node;
use orlop_machinery::{Str, Value};

use super::conversion::{has_known_review_version, what_is_wrong_with_bundle};
use super::defaults::has_unpruned_defaults;
use super::lifted::{Lifted, schemas};
use super::open_api_schema::{TYPES, has_granular_set_items, validate_list_keys};
use super::schema_tree::has;
use super::structural::is_structural;
use super::validations::CostLimit;
use super::version::SELECTABLE_FIELDS_MAX;

/// The default is for new definitions: nearly nothing looks away.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is about another rule")]
pub(super) struct Options {
    /// Objects of the kind may exist.
    pub(super) is_established: bool,
    /// Versions may be without a schema.
    pub(super) allows_missing_schema: bool,
    /// Types in schemas may be any text.
    pub(super) allows_unknown_types: bool,
    /// Schemas need not be structural.
    pub(super) allows_non_structural: bool,
    /// Default values may have fields that their schema does not know.
    pub(super) allows_unpruned_defaults: bool,
    /// Items of sets may change in part.
    pub(super) allows_granular_set_items: bool,
    /// Keys of items of a list may be missing or null.
    pub(super) allows_optional_list_keys: bool,
    /// The server need not know a version of the review that the webhook speaks.
    pub(super) allows_unknown_review_versions: bool,
    /// The certificates of the webhook may be anything.
    pub(super) allows_bad_ca_bundle: bool,
    /// Versions that may have too many selectable fields; the empty name is for common ones.
    pub(super) many_selectable_fields: BTreeSet<Str>,
    /// Versions whose schema did not change: single rules may cost more than they may now.
    pub(super) unchanged_schemas: BTreeSet<Str>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            is_established: false,
            allows_missing_schema: false,
            allows_unknown_types: false,
            allows_non_structural: false,
            allows_unpruned_defaults: false,
            allows_granular_set_items: false,
            allows_optional_list_keys: false,
            allows_unknown_review_versions: false,
            // Nobody needs the webhook before there are objects.
            allows_bad_ca_bundle: true,
            many_selectable_fields: BTreeSet::new(),
            unchanged_schemas: BTreeSet::new(),
        }
    }
}

impl Options {
    /// What an update may keep.
    pub(super) fn for_update(new: &Value, old: &Value) -> Options {
        let old_schemas = schemas(old);
        let any =
            |holds: &dyn Fn(&Value) -> bool| old_schemas.iter().any(|schema| has(schema, holds));
        let is_established =
            meta::is_condition(old.path(&["status", "conditions"]), "Established", "True");
        let webhook = old.path(&["spec", "conversion", "webhook"]);
        let bundle = webhook.path(&["clientConfig", "caBundle"]);
        let versions = old.path(&["spec", "versions"]).list();
        Options {
            is_established,
            allows_missing_schema: versions
                .iter()
                .any(|version| version.path(&["schema", "openAPIV3Schema"]).is_null()),
            allows_unknown_types: any(&|schema| {
                let ty = schema.at("type").str();
                !ty.is_empty() && !TYPES.contains(&ty)
            }),
            allows_non_structural: old_schemas.iter().any(|schema| !is_structural(schema)),
            allows_unpruned_defaults: old_schemas
                .iter()
                .any(|schema| has_unpruned_defaults(schema)),
            allows_granular_set_items: any(&has_granular_set_items),
            allows_optional_list_keys: any(&|schema| {
                let mut errors = Errors::new();
                validate_list_keys(&Node::root(schema), &mut errors);
                !errors.is_empty()
            }),
            allows_unknown_review_versions: !has_known_review_version(
                webhook.at("conversionReviewVersions"),
            ),
            allows_bad_ca_bundle: !is_established
                || (!bundle.is_empty() && what_is_wrong_with_bundle(bundle).is_some()),
            many_selectable_fields: many_selectable_fields(new, old),
            unchanged_schemas: unchanged_schemas(new, old),
        }
    }

    /// Whether the rules of a version have a limit each.
    pub(super) fn cost_limit(&self, version: &str) -> CostLimit {
        if self.unchanged_schemas.contains(version) {
            CostLimit::Total
        } else {
            CostLimit::PerRule
        }
    }
}

/// Versions that have the schema that they had.
fn unchanged_schemas(new: &Value, old: &Value) -> BTreeSet<Str> {
    let old = old.path(&["spec", "versions"]).list();
    let is_unchanged = |version: &&Value| {
        let before = old.iter().find(|other| other.at("name") == version.at("name"));
        before.is_some_and(|before| before.at("schema") == version.at("schema"))
    };
    let unchanged = new.path(&["spec", "versions"]).list().iter().filter(is_unchanged);
    unchanged.map(|version| Str::new(version.at("name").str())).collect()
}

/// Those that were too many before, and are the same.
fn many_selectable_fields(new: &Value, old: &Value) -> BTreeSet<Str> {
    let sets = |object: &Value| {
        let spec = object.at("spec");
        let lifted = Lifted::of(spec);
        let mut sets = BTreeMap::from([(Str::default(), lifted.selectable_fields.clone())]);
        if !lifted.are_selectable_fields_common {
            for version in spec.at("versions").list() {
                let name = Str::new(version.at("name").str());
                sets.insert(name, version.at("selectableFields").clone());
            }
        }
        sets
    };
    let new = sets(new);
    let many = sets(old).into_iter().filter(|(name, fields)| {
        fields.list().len() > SELECTABLE_FIELDS_MAX && new.get(name) == Some(fields)
    });
    many.map(|(name, _)| name).collect()
}
