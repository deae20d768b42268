//! ResourceQuota: how much a namespace may use.
//!
//! After `pkg/registry/core/resourcequota` and `ValidateResourceQuota` in
//! `pkg/apis/core/validation/validation.go`. Counting is the business of an admission plugin and a
//! controller.

use std::collections::BTreeSet;
use std::fmt::Write;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors, Path};
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::resource_list::quantity;
use crate::rules::resource_name::{is_standard_in_quota, validate_quota_resource_name};
use crate::rules::resource_requirements::validate_resource_quantity_value;
use crate::rules::status;

pub(crate) static KIND: ResourceQuota = ResourceQuota;
static STATUS: ResourceQuotaStatus = ResourceQuotaStatus;

/// The kind.
pub(crate) struct ResourceQuota;

/// Its status.
struct ResourceQuotaStatus;

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];
/// Scopes that a selector can only ask to exist.
const SCOPES_WITHOUT_VALUES: [&str; 5] =
    ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];
/// Scopes that no object has both of.
const OPPOSITES: [[&str; 2]; 2] =
    [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
const COMPUTE: [&str; 6] =
    ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];

impl Kind for ResourceQuota {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "ResourceQuota", "resourcequotas", PACKAGE)
            .short(&["quota"])
            .returns_deleted()
            .status(&STATUS)
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Request"), Column::text("Limit"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let (hard, used) = (object.path(&["status", "hard"]), object.path(&["status", "used"]));
        let (mut requests, mut limits) = (String::new(), String::new());
        for (name, amount) in hard.map().iter() {
            let out = if name.starts_with("limits.") { &mut limits } else { &mut requests };
            let separator = if out.is_empty() { "" } else { ", " };
            let used = match used.at(name) {
                Value::Null => "0",
                used => used.str(),
            };
            write!(out, "{separator}{name}: {used}/{}", amount.str()).expect("a string grows");
        }
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            requests.into(),
            limits.into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for ResourceQuota {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), errors);
        validate_status(&object.at("status"), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let spec = new.at("spec");
        validate_spec(&spec, errors);
        let set = |scopes: &Node<'_>| -> BTreeSet<String> {
            scopes.list().iter().map(|scope| scope.str().to_owned()).collect()
        };
        let scopes = spec.at("scopes");
        if set(&scopes) != set(&old.at("spec").at("scopes")) {
            errors.invalid(&scopes, "field is immutable");
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let hard = object.value().path(&["spec", "hard"]);
        for name in ["cpu", "memory", "storage", "ephemeral-storage"] {
            let mut request = format!("requests.{name}");
            if hard.at(&request).is_null() && matches!(name, "cpu" | "memory") {
                request = name.to_owned();
            }
            let limit = format!("limits.{name}");
            let (asked, allowed) = (hard.at(&request), hard.at(&limit));
            let is_known = !asked.is_null() && !allowed.is_null();
            if is_known && quantity(asked) > quantity(allowed) {
                warnings.push(format!(
                    "ResourceQuota {request} ({}) should be less than {limit} ({})",
                    asked.str(),
                    allowed.str()
                ));
            }
        }
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        _new: &Node<'_>,
        _old: &Node<'_>,
        _warnings: &mut Vec<String>,
    ) {
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for ResourceQuotaStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        if object.at("metadata").at("resourceVersion").is_empty() {
            errors.required(&Path::field("resourceVersion"), "");
        }
        validate_status(&object.at("status"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec"]
    }
}

fn validate_status(status: &Node<'_>, errors: &mut Errors) {
    validate_amounts(&status.at("hard"), errors);
    validate_amounts(&status.at("used"), errors);
}

fn validate_amounts(amounts: &Node<'_>, errors: &mut Errors) {
    for (name, amount) in amounts.entries() {
        validate_quota_resource_name(name, amount.path(), errors);
        validate_resource_quantity_value(name, &amount, errors);
    }
}

fn validate_spec(spec: &Node<'_>, errors: &mut Errors) {
    let hard = spec.at("hard");
    validate_amounts(&hard, errors);
    validate_scopes(&spec.at("scopes"), &hard, errors);
    let selector = spec.at("scopeSelector");
    if selector.is_set() {
        validate_scope_selector(&selector, &hard, errors);
    }
}

fn validate_scopes(scopes: &Node<'_>, hard: &Node<'_>, errors: &mut Errors) {
    for scope in scopes.list() {
        if !SCOPES.contains(&scope.str()) {
            errors.invalid(scopes, "unsupported scope");
        }
        for _ in resources_outside(scope.str(), hard) {
            errors.invalid(scopes, "unsupported scope applied to resource");
        }
    }
    let has = |wanted: &str| scopes.list().iter().any(|scope| scope.str() == wanted);
    for [one, other] in OPPOSITES {
        if has(one) && has(other) {
            errors.invalid(scopes, "conflicting scopes");
        }
    }
}

fn validate_scope_selector(selector: &Node<'_>, hard: &Node<'_>, errors: &mut Errors) {
    let expressions = selector.at("matchExpressions");
    // Upstream leaves the index out of these paths.
    let (name_at, operator_at, values_at) = (
        expressions.path().child("scopeName"),
        expressions.path().child("operator"),
        expressions.path().child("values"),
    );
    for expression in expressions.list() {
        let (scope, operator) = (expression.at("scopeName").str(), expression.at("operator").str());
        if !SCOPES.contains(&scope) {
            errors.invalid_value(&name_at, scope, "unsupported scope");
        }
        for _ in resources_outside(scope, hard) {
            let detail = "unsupported scope applied to resource";
            errors.invalid_value(&expressions, selector.value().clone(), detail);
        }
        if SCOPES_WITHOUT_VALUES.contains(&scope) && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or \
                          ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.invalid_value(&operator_at, operator, detail);
        }
        let values = expression.at("values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for \
                              scope selector";
                errors.required(&values_at, detail);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for \
                              scope selector";
                errors.invalid_value(&values_at, values.clone(), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.invalid_value(&operator_at, operator, "not a valid selector operator"),
        }
    }
    let has = |wanted: &str| {
        expressions.list().iter().any(|expression| expression.at("scopeName").str() == wanted)
    };
    for [one, other] in OPPOSITES {
        if has(one) && has(other) {
            errors.invalid_value(&expressions, Value::Null, "conflicting scopes");
        }
    }
}

/// The resources of a quota that cannot be counted in a scope.
fn resources_outside<'a>(scope: &'a str, hard: &Node<'a>) -> impl Iterator<Item = &'a str> {
    let names = hard.map().keys();
    names.filter(move |name| is_standard_in_quota(name) && !is_countable(scope, name))
}

fn is_countable(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => resource == "pods" || COMPUTE.contains(&resource),
        _ => true,
    }
}
