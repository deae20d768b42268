//! What a claim asks for: the same in claims and in templates of claims.
//!
//! After `validateDeviceClaim` in `pkg/apis/resource/validation/validation.go`, and
//! `SetDefaults_ExactDeviceRequest` and `SetDefaults_DeviceSubRequest` in
//! `pkg/apis/resource/v1/defaults.go`. Everything that `pkg/api/resourceclaimspec` can drop is on.
//! Whether a namespace allows access as an administrator is not asked here: that is no property of
//! the claim.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;
use orlop_machinery::{Str, Value, names};

use super::collection::{validate_list, validate_set};
use super::configuration::{validate_configuration, validate_selectors};
use super::device_identity::{validate_fully_qualified_name, validate_label};
use super::device_taint::validate_toleration;
use crate::rules::scalar::{validate_positive, validate_required_text};

/// How many requests there may be, in a claim or in a list of some of them.
pub(super) const REQUESTS_MAX: usize = 32;
/// How many configurations there may be, in a claim or in a class.
pub(super) const CONFIGURATIONS_MAX: usize = 32;
const CONSTRAINTS_MAX: usize = 32;
const SUB_REQUESTS_MAX: usize = 8;

/// Which requests a claim has, and which alternatives each of them.
pub(super) struct RequestNames {
    names: BTreeMap<Str, BTreeSet<Str>>,
}

impl RequestNames {
    /// Of the spec of a claim.
    pub(super) fn of(spec: &Value) -> RequestNames {
        let name_of = |request: &Value| Str::new(request.at("name").str());
        let requests = spec.path(&["devices", "requests"]).list().iter();
        let names = requests.map(|request| {
            let alternatives = request.at("firstAvailable").list().iter().map(name_of);
            (name_of(request), alternatives.collect())
        });
        RequestNames { names: names.collect() }
    }

    /// Whether there is a `request`, or a `request/alternative`.
    fn has(&self, name: &str) -> bool {
        match name.split_once('/') {
            None => self.names.contains_key(name),
            Some((request, alternative)) => {
                self.names.get(request).is_some_and(|known| known.contains(alternative))
            }
        }
    }

    /// A list of names of requests.
    pub(super) fn validate_set(&self, names: &Node<'_>, errors: &mut Errors) {
        let validate_name = &mut |name: &Node<'_>, errors: &mut Errors| self.validate(name, errors);
        validate_set(names, REQUESTS_MAX, "", validate_name, errors);
    }

    /// The name of a request of this claim.
    pub(super) fn validate(&self, name: &Node<'_>, errors: &mut Errors) {
        let detail = "must be the name of a request in the claim or the name of a request and a \
                      subrequest separated by '/'";
        if name.str().split('/').nth(2).is_some() {
            errors.invalid(name, detail);
            return;
        }
        for segment in name.str().split('/') {
            for message in names::dns_label(segment) {
                errors.invalid_value(name, segment, message);
            }
        }
        if !self.has(name.str()) {
            errors.invalid(name, detail);
        }
    }
}

/// Asks for one device where nothing else is said.
pub(super) fn default_request(request: &mut Value) {
    if request.at("allocationMode").is_empty() {
        request.set("allocationMode", "ExactCount");
    }
    if request.at("allocationMode").str() == "ExactCount" && request.at("count").int() == 0 {
        request.set("count", 1);
    }
}

/// Reports all that is wrong with the spec of a claim.
pub(super) fn validate_claim_spec(spec: &Node<'_>, errors: &mut Errors) {
    let devices = spec.at("devices");
    let known = RequestNames::of(spec.value());
    let requests = devices.at("requests");
    validate_set(&requests, REQUESTS_MAX, "name", &mut validate_request, errors);
    let validate_constraint = &mut |constraint: &Node<'_>, errors: &mut Errors| {
        validate_constraint(constraint, &known, errors);
    };
    let constraints = devices.at("constraints");
    validate_list(&constraints, CONSTRAINTS_MAX, validate_constraint, errors);
    let validate_config = &mut |config: &Node<'_>, errors: &mut Errors| {
        known.validate_set(&config.at("requests"), errors);
        validate_configuration(config, false, errors);
    };
    validate_list(&devices.at("config"), CONFIGURATIONS_MAX, validate_config, errors);
}

fn validate_request(request: &Node<'_>, errors: &mut Errors) {
    validate_label(&request.at("name"), errors);
    let (exactly, alternatives) = (request.at("exactly"), request.at("firstAvailable"));
    let one = "exactly one of `exactly` or `firstAvailable` is required";
    match (exactly.is_set(), !alternatives.is_empty()) {
        (false, false) => errors.required(request, one),
        (true, true) => {
            let detail = format!("{one}, but multiple fields are set");
            errors.invalid_value(request, Value::Null, detail);
        }
        (true, false) => validate_wish(&exactly, errors),
        (false, true) => {
            let validate_alternative = &mut |alternative: &Node<'_>, errors: &mut Errors| {
                validate_label(&alternative.at("name"), errors);
                validate_wish(alternative, errors);
            };
            validate_set(&alternatives, SUB_REQUESTS_MAX, "name", validate_alternative, errors);
        }
    }
}

/// What requests and their alternatives have in common.
fn validate_wish(wish: &Node<'_>, errors: &mut Errors) {
    validate_required_text(&wish.at("deviceClassName"), names::dns_subdomain, errors);
    validate_selectors(&wish.at("selectors"), errors);
    let (mode, count) = (wish.at("allocationMode"), wish.at("count"));
    match mode.str() {
        "All" if count.int() != 0 => {
            errors.invalid(&count, "must not be specified when allocationMode is 'All'");
        }
        "All" => {}
        "ExactCount" => validate_positive(&count, errors),
        _ => errors.not_supported(&mode, &["All", "ExactCount"]),
    }
    for toleration in wish.at("tolerations").items() {
        validate_toleration(&toleration, errors);
    }
}

fn validate_constraint(constraint: &Node<'_>, known: &RequestNames, errors: &mut Errors) {
    known.validate_set(&constraint.at("requests"), errors);
    let same = constraint.at("matchAttribute");
    let distinct = constraint.at("distinctAttribute");
    if same.is_set() {
        validate_fully_qualified_name(&same, errors);
    } else if distinct.is_set() {
        validate_fully_qualified_name(&distinct, errors);
    } else {
        // Upstream says so, though none is set.
        let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but \
                      multiple fields are set";
        errors.required(constraint, detail);
    }
}
