//! LimitRange: what single objects of a namespace may use, and what they get when they do not say.
//!
//! After `pkg/registry/core/limitrange` and `ValidateLimitRange` in
//! `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeSet, HashSet};

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::kind::{Context, Defaulter, Kind, Resource, Rules};
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::quantity::Quantity;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::resource_list::quantity;
use crate::rules::resource_name::{
    is_overcommit_allowed, validate_container_resource_name, validate_resource_name,
};

pub(crate) static KIND: LimitRange = LimitRange;

/// The kind.
pub(crate) struct LimitRange;

const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];
/// Beyond this, thousandths do not fit into 64 bits.
const MILLI_VALUE_MAX: i64 = i64::MAX / 1000;

impl Kind for LimitRange {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "LimitRange", "limitranges", PACKAGE).short(&["limits"])
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.core.v1.LimitRangeItem", set_defaults)]
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }
}

impl Rules for LimitRange {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let mut seen = HashSet::new();
        let spec = object.at("spec");
        for limit in spec.at("limits").items() {
            let ty = limit.at("type");
            validate_type(&ty, errors);
            if !seen.insert(limit.value().at("type").str().to_owned()) {
                errors.duplicate(&ty);
            }
            validate_limit(&limit, errors);
        }
    }
}

/// The maximum is the limit that is given, a limit the request, and else the minimum the request.
fn set_defaults(item: &mut Value) {
    if item.at("type").str() != "Container" {
        return;
    }
    for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")]
    {
        let given = item.at(from).clone();
        for (name, amount) in given.map().iter() {
            item.entry(to).set_default(name, amount.clone());
        }
    }
}

fn validate_type(ty: &Node<'_>, errors: &mut Errors) {
    let messages = names::qualified_name(ty.str());
    if messages.is_empty() && !ty.str().contains('/') && !TYPES.contains(&ty.str()) {
        errors.invalid(ty, "must be a standard limit type or fully qualified");
    }
    for message in messages {
        errors.invalid(ty, message);
    }
}

fn validate_limit(limit: &Node<'_>, errors: &mut Errors) {
    let ty = limit.at("type").str();
    validate_names(&limit.at("max"), ty, errors);
    validate_names(&limit.at("min"), ty, errors);
    for field in ["default", "defaultRequest"] {
        let given = limit.at(field);
        if ty != "Pod" {
            validate_names(&given, ty, errors);
        } else if !given.is_empty() {
            errors.forbidden(&given, "may not be specified when `type` is 'Pod'");
        }
    }
    let has_storage = |field| limit.value().at(field).map().contains_key("storage");
    if ty == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
        let detail =
            "either minimum or maximum storage value is required, but neither was provided";
        errors.required(&limit.path().child("limits"), detail);
    }
    validate_names(&limit.at("maxLimitRequestRatio"), ty, errors);
    let fields = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];
    let is_pod = ty == "Pod";
    let counted = fields.iter().filter(|field| !is_pod || !field.starts_with("default"));
    let names: BTreeSet<&str> =
        counted.flat_map(|field| limit.value().at(field).map().keys()).collect();
    for name in names {
        validate_amounts(limit, name, errors);
    }
}

fn validate_names(amounts: &Node<'_>, ty: &str, errors: &mut Errors) {
    for (name, amount) in amounts.entries() {
        if matches!(ty, "Pod" | "Container") {
            validate_container_resource_name(name, amount.path(), errors);
        } else {
            validate_resource_name(name, amount.path(), errors);
        }
    }
}

/// The amounts of one resource agree with each other.
fn validate_amounts(limit: &Node<'_>, name: &str, errors: &mut Errors) {
    let is_pod = limit.at("type").str() == "Pod";
    let amount = |field: &'static str| -> Option<Quantity> {
        let found = limit.value().at(field).at(name);
        let is_ignored = is_pod && field.starts_with("default");
        let is_there = !found.is_null() && !is_ignored;
        is_there.then(|| quantity(found))
    };
    let (min, max) = (amount("min"), amount("max"));
    let (default, request) = (amount("default"), amount("defaultRequest"));
    let mut order = |(low, low_name): (Option<Quantity>, &str),
                     (high, high_name): (Option<Quantity>, &str),
                     (field, shown): (&str, Option<Quantity>)| {
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            let detail = format!("{low_name} value {low} is greater than {high_name} value {high}");
            let at = limit.at(field);
            errors.invalid_value(&at.key(name), shown.unwrap_or(low).to_string(), detail);
        }
    };
    order((min, "min"), (max, "max"), ("min", min));
    order((min, "min"), (request, "default request"), ("defaultRequest", request));
    order((request, "default request"), (max, "max"), ("defaultRequest", request));
    order((request, "default request"), (default, "default limit"), ("defaultRequest", request));
    order((min, "min"), (default, "default"), ("default", min));
    order((default, "default"), (max, "max"), ("default", max));
    validate_ratio(limit, name, (min, max), errors);
    if let (Some(default), Some(request)) = (default, request)
        && !is_overcommit_allowed(name)
        && default != request
    {
        let detail = format!(
            "default value {default} must equal to defaultRequest value {request} in {name}"
        );
        let at = limit.at("defaultRequest");
        errors.invalid_value(&at.key(name), request.to_string(), detail);
    }
}

fn validate_ratio(
    limit: &Node<'_>,
    name: &str,
    (min, max): (Option<Quantity>, Option<Quantity>),
    errors: &mut Errors,
) {
    let ratios = limit.at("maxLimitRequestRatio");
    let ratio = ratios.key(name);
    if !ratio.is_set() {
        return;
    }
    let asked = quantity(ratio.value());
    if asked.cmp_i64(1).is_lt() {
        errors.invalid_value(&ratio, asked.to_string(), format!("ratio {asked} is less than 1"));
    }
    let (Some(min), Some(max)) = (min, max) else { return };
    let fits = [asked, min, max].iter().all(|amount| amount.value() < MILLI_VALUE_MAX);
    #[allow(clippy::cast_precision_loss, reason = "as upstream divides")]
    let (value, possible) = if fits {
        (asked.milli_value() as f64 / 1000.0, max.milli_value() as f64 / min.milli_value() as f64)
    } else {
        (asked.value() as f64, max.value() as f64 / min.value() as f64)
    };
    if value > possible {
        let detail = format!("ratio {asked} is greater than max/min = {possible:.6}");
        errors.invalid_value(&ratio, asked.to_string(), detail);
    }
}
