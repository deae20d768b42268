//! What a container, or a pod as a whole, needs: requests, limits and claims.
//!
//! After `validateResourceRequirements` and what it calls in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, ErrorKind, Errors, FieldError, Path};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::resource_list::quantity;
use super::resource_name::{self, ResourceNameRule};
use super::scalar::validate_text;

/// The resources of a struct with `limits`, `requests` and `claims`.
pub(crate) struct Requirements<'a> {
    /// Which resources there may be.
    pub(crate) name_rule: ResourceNameRule,
    /// The names of the pod's claims.
    pub(crate) claim_names: &'a BTreeSet<&'a str>,
    /// Whether huge pages may be asked for in parts of a page.
    pub(crate) allow_indivisible_huge_pages: bool,
}

/// More names would make the text of all errors grow with the square of what was sent.
const NAMES_SHOWN_MAX: usize = 100;

/// What a list of amounts has in it.
#[derive(Default)]
struct Seen {
    huge_pages: bool,
    cpu_or_memory: bool,
}

/// An amount of a resource: not negative, and whole where the resource is counted.
pub(crate) fn validate_resource_quantity_value(name: &str, value: &Node<'_>, errors: &mut Errors) {
    validate_non_negative_quantity(value, errors);
    if resource_name::is_integer(name) && quantity(value.value()).milli_value() % 1000 != 0 {
        errors.invalid(value, "must be an integer");
    }
}

/// An amount that is not negative.
pub(crate) fn validate_non_negative_quantity(value: &Node<'_>, errors: &mut Errors) {
    if quantity(value.value()).sign() < 0 {
        errors.invalid(value, "must be greater than or equal to 0");
    }
}

/// An amount that is more than nothing.
pub(crate) fn validate_positive_quantity(value: &Node<'_>, errors: &mut Errors) {
    if quantity(value.value()).sign() <= 0 {
        errors.invalid(value, "must be greater than zero");
    }
}

/// An amount that is not negative, in the words of volumes.
pub(crate) fn validate_basic_resource(value: &Node<'_>, errors: &mut Errors) {
    let amount = quantity(value.value()).value();
    if amount < 0 {
        errors.invalid_value(value, amount, "must be a valid resource quantity");
    }
}

/// What a pod costs besides its containers: amounts of resources that containers can have. As
/// upstream, errors speak of the limits of what `overhead` stands at.
pub(crate) fn validate_overhead(
    overhead: &Node<'_>,
    at: &Path<'_>,
    allow_indivisible_huge_pages: bool,
    errors: &mut Errors,
) {
    let requirements = Requirements {
        name_rule: resource_name::validate_container_resource_name,
        claim_names: &BTreeSet::new(),
        allow_indivisible_huge_pages,
    };
    let limits = Node::new(overhead.value(), at.child("limits"));
    let mut seen = Seen::default();
    requirements.validate_limits(&limits, &mut seen, errors);
    seen.validate(at, errors);
}

impl Requirements<'_> {
    /// Reports all that is wrong with the limits, requests and claims of a struct.
    pub(crate) fn validate(&self, resources: &Node<'_>, errors: &mut Errors) {
        let (limits, requests) = (resources.at("limits"), resources.at("requests"));
        let mut seen = Seen::default();
        self.validate_limits(&limits, &mut seen, errors);
        for (name, request) in requests.entries() {
            self.validate_amount(name, &request, errors);
            validate_request_against_limit(name, &request, (&requests, &limits), errors);
            self.validate_huge_pages(name, &request, errors);
            seen.note(name);
        }
        seen.validate(resources.path(), errors);
        validate_claims(&resources.at("claims"), self.claim_names, errors);
    }

    fn validate_limits(&self, limits: &Node<'_>, seen: &mut Seen, errors: &mut Errors) {
        for (name, limit) in limits.entries() {
            self.validate_amount(name, &limit, errors);
            self.validate_huge_pages(name, &limit, errors);
            seen.note(name);
        }
    }

    fn validate_amount(&self, name: &str, amount: &Node<'_>, errors: &mut Errors) {
        (self.name_rule)(name, amount.path(), errors);
        validate_resource_quantity_value(name, amount, errors);
    }

    fn validate_huge_pages(&self, name: &str, amount: &Node<'_>, errors: &mut Errors) {
        let is_checked = resource_name::is_huge_page(name) && !self.allow_indivisible_huge_pages;
        let divides = resource_name::is_divisible_into_huge_pages;
        if is_checked && !divides(name, quantity(amount.value())) {
            let text = amount.str();
            errors.invalid(amount, format!("{text} is not positive integer multiple of {name}"));
        }
    }
}

impl Seen {
    fn note(&mut self, name: &str) {
        self.huge_pages |= resource_name::is_huge_page(name);
        self.cpu_or_memory |= matches!(name, "cpu" | "memory");
    }

    fn validate(&self, at: &Path<'_>, errors: &mut Errors) {
        if self.huge_pages && !self.cpu_or_memory {
            errors.forbidden(at, "HugePages require cpu or memory");
        }
    }
}

/// A request is not more than the limit; where nothing can be promised twice it is the same.
fn validate_request_against_limit(
    name: &str,
    request: &Node<'_>,
    (requests, limits): (&Node<'_>, &Node<'_>),
    errors: &mut Errors,
) {
    let is_overcommit_allowed = resource_name::is_overcommit_allowed(name);
    let Some(limit) = limits.map().get(name) else {
        if !is_overcommit_allowed {
            errors.required(limits, "Limit must be set for non overcommitable resources");
        }
        return;
    };
    let (asked, allowed) = (quantity(request.value()), quantity(limit));
    let limit = limit.str();
    if asked != allowed && !is_overcommit_allowed {
        let detail = format!("must be equal to {name} limit of {limit}");
        errors.invalid_value(requests, request.str(), detail);
    } else if asked > allowed {
        let detail = format!("must be less than or equal to {name} limit of {limit}");
        errors.invalid_value(requests, request.str(), detail);
    }
}

/// Each claim is one of the pod's, and no request of a claim is referred to twice.
fn validate_claims(claims: &Node<'_>, pod_claim_names: &BTreeSet<&str>, errors: &mut Errors) {
    // `claim` for what is referred to as a whole, `claim/request` for a part of it.
    let mut known: BTreeSet<String> = BTreeSet::new();
    for claim in claims.items() {
        let (name, request) = (claim.at("name"), claim.at("request"));
        let name = name.str();
        if name.is_empty() {
            errors.required(&claim, "");
            continue;
        }
        if known.contains(name) {
            errors.duplicate_value(&claim, name);
        } else if request.is_empty() {
            let parts = format!("{name}/");
            let of_claim = known.range(parts.clone()..).take_while(|key| key.starts_with(&parts));
            // A name with a slash is said to be wrong elsewhere; it has no parts.
            for _ in of_claim.filter(|_| !name.contains('/')) {
                errors.duplicate_value(&claim, name);
            }
            known.insert(name.to_owned());
        } else {
            validate_text(&request, names::dns_label, errors);
            let key = format!("{name}/{}", request.str());
            if known.contains(&key) {
                errors.duplicate_value(&claim, key);
            } else {
                known.insert(key);
            }
        }
        if !pod_claim_names.contains(name) {
            unknown_claim(&claim, name, pod_claim_names, errors);
        }
    }
}

fn unknown_claim(
    claim: &Node<'_>,
    name: &str,
    pod_claim_names: &BTreeSet<&str>,
    errors: &mut Errors,
) {
    let mut detail = "must be one of the names in pod.spec.resourceClaims".to_owned();
    if pod_claim_names.is_empty() {
        detail += " which is empty";
    } else {
        let names: Vec<&str> = pod_claim_names.iter().copied().take(NAMES_SHOWN_MAX).collect();
        detail += ": ";
        detail += &names.join(", ");
        if pod_claim_names.len() > NAMES_SHOWN_MAX {
            detail += ", ...";
        }
    }
    errors.push(FieldError {
        kind: ErrorKind::NotFound,
        field: claim.path().to_string(),
        bad_value: Some(name.into()),
        detail,
    });
}
