//! ClusterRole: what one may do anywhere.
//!
//! After `pkg/registry/rbac/clusterrole` and `pkg/apis/rbac/validation`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Kind, Resource, Rules, Scope};
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;

use super::policy_rule::validate_rules;
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: ClusterRole = ClusterRole;

/// The kind.
pub(crate) struct ClusterRole;

impl Kind for ClusterRole {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "ClusterRole", "clusterroles", PACKAGE)
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_path_segment
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }
}

impl Rules for ClusterRole {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate(object, SelectorOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let mut wrong_before = Errors::new();
        for selector in old.at("aggregationRule").at("clusterRoleSelectors").items() {
            meta::validate_label_selector(&selector, SelectorOptions::default(), &mut wrong_before);
        }
        let allows_invalid_values = !wrong_before.is_empty();
        let options = SelectorOptions { allows_invalid_values, ..SelectorOptions::default() };
        validate(new, options, errors);
    }
}

fn validate(object: &Node<'_>, options: SelectorOptions, errors: &mut Errors) {
    validate_rules(&object.at("rules"), Scope::Cluster, errors);
    let aggregation = object.at("aggregationRule");
    if !aggregation.is_set() {
        return;
    }
    let selectors = aggregation.at("clusterRoleSelectors");
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.required(&selectors, detail);
    }
    for selector in selectors.items() {
        meta::validate_label_selector(&selector, options, errors);
        if LabelSelector::from_value(selector.value()).is_err() {
            errors.invalid(&selector, "invalid label selector.");
        }
    }
}
