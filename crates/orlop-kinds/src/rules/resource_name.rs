//! The names of resources such as `cpu` and `example.com/gpu`: what they tell, and who may use
//! which.
//!
//! After `pkg/apis/core/helper/helpers.go`, `validateResourceName` and its like in
//! `pkg/apis/core/validation/validation.go`, and `staging/src/k8s.io/component-helpers/resource`.

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::names;
use orlop_machinery::quantity::Quantity;

/// Every resource that the system counts by a name without a domain, but huge pages.
const STANDARD: &[&str] = &[
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    STORAGE,
];

/// Objects and ports, of which there are no fractions.
const COUNTED: &[&str] = &[
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];

/// The only standard resource that a quota cannot have: it has `requests.storage`.
const STORAGE: &str = "storage";

const HUGE_PAGES_PREFIX: &str = "hugepages-";
const REQUESTS_HUGE_PAGES_PREFIX: &str = "requests.hugepages-";
const REQUESTS_PREFIX: &str = "requests.";
const NATIVE_DOMAIN: &str = "kubernetes.io/";

/// What the resources of a pod as a whole may name, as an error lists it.
const POD_LEVEL: &[&str] = &["cpu", HUGE_PAGES_PREFIX, "memory"];

/// A rule about a name, which an error shows at the place of its value.
pub(crate) type ResourceNameRule = fn(name: &str, at: &Path<'_>, errors: &mut Errors);

/// Whether it names huge pages of some size.
pub(crate) fn is_huge_page(name: &str) -> bool {
    name.starts_with(HUGE_PAGES_PREFIX)
}

/// The size of the huge pages that it names.
pub(crate) fn huge_page_size(name: &str) -> Option<Quantity> {
    name.strip_prefix(HUGE_PAGES_PREFIX)?.parse().ok()
}

/// Whether the amount is whole pages of the size that the name tells.
pub(crate) fn is_divisible_into_huge_pages(name: &str, amount: Quantity) -> bool {
    match huge_page_size(name) {
        Some(size) if size.sign() > 0 && size.milli_value() % 1000 == 0 => {
            amount.value() % size.value() == 0
        }
        _ => false,
    }
}

/// Whether the system knows it by this name, without a domain.
pub(crate) fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || is_huge_page_in_quota(name)
}

/// Whether a quota may have it by this name, without a domain.
pub(crate) fn is_standard_in_quota(name: &str) -> bool {
    is_standard(name) && name != STORAGE
}

/// Whether a container may ask for it by this name, without a domain.
pub(crate) fn is_standard_in_container(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name)
}

/// Whether a pod as a whole may ask for it.
pub(crate) fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_page(name)
}

/// Whether it is a resource of Kubernetes itself: without a domain, or in `kubernetes.io`.
pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains(NATIVE_DOMAIN)
}

/// Whether it is a resource that somebody else brings: with a domain of theirs.
pub(crate) fn is_extended(name: &str) -> bool {
    // A quota names it with this prefix, and that must be a name too.
    !is_native(name)
        && !name.starts_with(REQUESTS_PREFIX)
        && names::qualified_name(&format!("{REQUESTS_PREFIX}{name}")).is_empty()
}

/// Whether more of it may be promised than there is.
pub(crate) fn is_overcommit_allowed(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

/// Whether there are no fractions of it.
pub(crate) fn is_integer(name: &str) -> bool {
    COUNTED.contains(&name) || is_extended(name)
}

/// The name of some resource.
pub(crate) fn validate_resource_name(name: &str, at: &Path<'_>, errors: &mut Errors) {
    let messages = names::qualified_name(name);
    if messages.is_empty() && !name.contains('/') && !is_standard(name) {
        errors.invalid_value(at, name, "must be a standard resource type or fully qualified");
    }
    for message in messages {
        errors.invalid_value(at, name, message);
    }
}

/// The name of a resource of a container.
pub(crate) fn validate_container_resource_name(name: &str, at: &Path<'_>, errors: &mut Errors) {
    validate_resource_name(name, at, errors);
    if !name.contains('/') {
        if !is_standard_in_container(name) {
            errors.invalid_value(at, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.invalid_value(at, name, "doesn't follow extended resource name standard");
    }
}

/// The name of a resource of a pod as a whole.
pub(crate) fn validate_pod_resource_name(name: &str, at: &Path<'_>, errors: &mut Errors) {
    let before = errors.len();
    validate_resource_name(name, at, errors);
    if errors.len() == before && !is_pod_level(name) {
        errors.not_supported_value(at, name, POD_LEVEL);
    }
}

/// The name of a resource in a quota.
pub(crate) fn validate_quota_resource_name(name: &str, at: &Path<'_>, errors: &mut Errors) {
    validate_resource_name(name, at, errors);
    if !name.contains('/') && !is_standard_in_quota(name) {
        errors.invalid_value(at, name, "must be a standard resource for quota");
    }
}

fn is_huge_page_in_quota(name: &str) -> bool {
    is_huge_page(name) || name.starts_with(REQUESTS_HUGE_PAGES_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: ResourceNameRule, name: &str, expect: &[&str]) {
        let mut errors = Errors::new();
        rule(name, &Path::field("x"), &mut errors);
        let found: Vec<&str> = errors.list().iter().map(|error| error.detail.as_str()).collect();
        assert_eq!(found, expect, "{name}");
    }

    const NOT_STANDARD: &str = "must be a standard resource type or fully qualified";

    #[test]
    fn a_name_is_standard_or_has_a_domain() {
        let rule: ResourceNameRule = validate_resource_name;
        for name in ["cpu", "storage", "hugepages-2Mi", "requests.hugepages-2Mi", "a.b/c"] {
            check(rule, name, &[]);
        }
        check(rule, "gpu", &[NOT_STANDARD]);
    }

    #[test]
    fn a_container_asks_for_fewer_standard_resources() {
        let rule: ResourceNameRule = validate_container_resource_name;
        for name in ["cpu", "memory", "ephemeral-storage", "hugepages-1Gi", "a.b/c"] {
            check(rule, name, &[]);
        }
        check(rule, "kubernetes.io/something", &[]);
        let not_for_containers = "must be a standard resource for containers";
        check(rule, "pods", &[not_for_containers]);
        check(rule, "gpu", &[NOT_STANDARD, not_for_containers]);
        let not_extended = "doesn't follow extended resource name standard";
        check(rule, "requests.example.com/gpu", &[not_extended]);
    }

    #[test]
    fn a_pod_as_a_whole_asks_for_processors_memory_and_huge_pages() {
        let rule: ResourceNameRule = validate_pod_resource_name;
        for name in ["cpu", "memory", "hugepages-1Gi"] {
            check(rule, name, &[]);
        }
        let supported = r#"supported values: "cpu", "hugepages-", "memory""#;
        check(rule, "ephemeral-storage", &[supported]);
        check(rule, "a.b/c", &[supported]);
        check(rule, "gpu", &[NOT_STANDARD]);
    }

    #[test]
    fn a_quota_has_no_plain_storage() {
        let rule: ResourceNameRule = validate_quota_resource_name;
        for name in ["cpu", "requests.storage", "requests.hugepages-2Mi", "count/jobs.batch"] {
            check(rule, name, &[]);
        }
        check(rule, "storage", &["must be a standard resource for quota"]);
    }

    #[test]
    fn amounts_of_huge_pages_are_whole_pages() {
        let check = |name: &str, amount: &str, expect: bool| {
            let amount = amount.parse().expect("a quantity");
            assert_eq!(is_divisible_into_huge_pages(name, amount), expect, "{name} {amount}");
        };
        check("hugepages-2Mi", "4Mi", true);
        check("hugepages-2Mi", "0", true);
        check("hugepages-2Mi", "3Mi", false);
        check("hugepages-500m", "4Mi", false);
        check("hugepages-0", "4Mi", false);
        check("hugepages--2Mi", "4Mi", false);
        check("hugepages-many", "4Mi", false);
    }

    #[test]
    fn fractions_of_objects_and_of_extended_resources_do_not_exist() {
        for name in ["pods", "services.nodeports", "example.com/gpu"] {
            assert!(is_integer(name), "{name}");
        }
        for name in ["cpu", "memory", "requests.example.com/gpu", "kubernetes.io/x"] {
            assert!(!is_integer(name), "{name}");
        }
    }
}
