//! What a pod needs as a whole, and which claims it has.
//!
//! After `validatePodResources`, `validatePodResourceConsistency` and `validatePodResourceClaims`
//! in `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::annotations::MIRROR_POD;
use super::containers::Pod;
use crate::rules::resource_list::{quantity, sum_of_containers};
use crate::rules::resource_name::{is_huge_page, validate_pod_resource_name};
use crate::rules::resource_requirements::Requirements;
use crate::rules::scalar::validate_text;

/// The names of the pod's claims.
pub(super) fn claim_names(spec: &Value) -> BTreeSet<&str> {
    let names = spec.at("resourceClaims").list().iter().map(|claim| claim.at("name").str());
    names.filter(|name| !name.is_empty()).collect()
}

/// The claims of a pod.
pub(super) fn validate_claims(claims: &Node<'_>, metadata: &Node<'_>, errors: &mut Errors) {
    let is_mirror = !metadata.value().path(&["annotations", MIRROR_POD]).is_null();
    let mut known = BTreeSet::new();
    for claim in claims.items() {
        if is_mirror {
            // Upstream says it of no field at all.
            let at = Path::root();
            errors.forbidden(&at.key(""), "static pods do not support resource claims");
            continue;
        }
        let name = claim.at("name");
        if name.is_empty() {
            errors.required(&name, "");
        } else if known.insert(claim.value().at("name").str()) {
            validate_text(&name, names::dns_label, errors);
        } else {
            errors.duplicate(&name);
        }
        let sources = [claim.at("resourceClaimName"), claim.at("resourceClaimTemplateName")];
        match sources.map(|source| source.is_set()) {
            [true, true] => {
                let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` \
                              may be specified";
                errors.invalid(&claim, detail);
            }
            [false, false] => {
                let detail =
                    "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
                errors.invalid(&claim, detail);
            }
            _ => {}
        }
        for source in sources.iter().filter(|source| source.is_set()) {
            validate_text(source, names::dns_subdomain, errors);
        }
    }
}

/// What the pod needs as a whole: not less than its containers together.
pub(super) fn validate_pod_resources(spec: &Node<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    let resources = spec.at("resources");
    if !resources.is_set() {
        return;
    }
    if pod.os == Some("windows") {
        errors.forbidden(&resources, "may not be set for a windows pod");
        return;
    }
    let claims = resources.at("claims");
    if claims.is_set() {
        errors.forbidden(&claims, "claims may not be set for Resources at pod-level");
    }
    let requirements = Requirements {
        name_rule: validate_pod_resource_name,
        claim_names: &pod.claim_names,
        allow_indivisible_huge_pages: pod.options.allow_indivisible_huge_pages_values,
    };
    requirements.validate(&resources, errors);
    validate_sums(spec, "requests", |_| true, errors);
    validate_sums(spec, "limits", is_huge_page, errors);
    validate_container_limits(spec, errors);
}

/// The pod asks for at least what its containers ask for together.
fn validate_sums(spec: &Node<'_>, field: &str, is_compared: fn(&str) -> bool, errors: &mut Errors) {
    let resources = spec.at("resources");
    let of_pod = resources.at(field);
    for (name, sum) in sum_of_containers(spec.value(), field) {
        if !of_pod.map().contains_key(name) || !is_compared(name) {
            continue;
        }
        let amount = of_pod.key(name);
        if sum > quantity(amount.value()) {
            let detail =
                format!("must be greater than or equal to aggregate container {field} of {sum}");
            errors.invalid(&amount, detail);
        }
    }
}

/// No container may use more than the pod may.
fn validate_container_limits(spec: &Node<'_>, errors: &mut Errors) {
    let resources = spec.at("resources");
    let of_pod = resources.value().at("limits").map();
    let containers = resources.path().child("containers");
    for (index, container) in spec.value().at("containers").list().iter().enumerate() {
        for (name, limit) in container.path(&["resources", "limits"]).map().iter() {
            let Some(of_pod) = of_pod.get(name) else { continue };
            if quantity(limit) > quantity(of_pod) {
                let detail =
                    format!("must be less than or equal to pod limits of {}", of_pod.str());
                let at = containers.index(index);
                let at = at.key(name);
                errors.invalid_value(&at.child("limits"), limit.str(), detail);
            }
        }
    }
}
