//! The claim that was made for the extended resources that containers ask for by name.
//!
//! After `validatePodExtendedResourceClaimStatus` in `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::field::{At, Errors};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names};

use crate::rules::scalar::validate_required_text;

/// Reports all that is wrong with the status of the claim, if there is one.
pub(super) fn validate(status: &Node<'_>, spec: &Value, errors: &mut Errors) {
    if !status.is_set() {
        return;
    }
    let lists = ["initContainers", "containers"].into_iter();
    let containers: BTreeMap<&str, &Value> = lists
        .flat_map(|list| spec.at(list).list())
        .map(|container| (container.at("name").str(), container))
        .collect();
    let mappings = status.at("requestMappings");
    if mappings.is_empty() {
        errors.required(&mappings, "at least one request mapping is required");
    }
    let fields = ["containerName", "resourceName", "requestName"];
    let mut known = BTreeSet::new();
    for mapping in mappings.items() {
        validate_is_asked_for(&mapping, &containers, errors);
        let request = mapping.at("requestName");
        for message in names::dns_label(request.str()) {
            // Upstream does not say in which mapping.
            let at = status.path().child("requestName");
            errors.invalid_value(&at, request.str(), message);
        }
        if !known.insert(fields.map(|field| mapping.value().at(field).str())) {
            for field in fields {
                errors.duplicate(&mapping.at(field));
            }
        }
    }
    validate_required_text(&status.at("resourceClaimName"), names::dns_subdomain, errors);
}

fn validate_is_asked_for(
    mapping: &Node<'_>,
    containers: &BTreeMap<&str, &Value>,
    errors: &mut Errors,
) {
    let (name, resource) = (mapping.at("containerName"), mapping.at("resourceName"));
    let Some(container) = containers.get(name.str()) else {
        let detail =
            "must match the name of an entry in spec.initContainers.name or spec.containers.name";
        errors.invalid(&name, detail);
        return;
    };
    if !container.path(&["resources", "requests"]).map().contains_key(resource.str()) {
        let detail = "must match the extended resource name of an entry in \
                      spec.initContainers.resources.requests or spec.containers.resources.requests";
        errors.invalid(&resource, detail);
    }
}
