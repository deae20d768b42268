//! Who may change or refuse a request: `admissionregistration.k8s.io/v1`.
//!
//! What several kinds share stands once: webhooks, rules, match conditions, and what policies and
//! their bindings are made of. Expressions in CEL are checked for everything but whether they
//! compile; each kind of expression has a function that says so. Whether a user may use the
//! parameters that a policy or a binding names is for the authorizer and not asked here.

kinds![
    mutating_admission_policy,
    mutating_admission_policy_binding,
    mutating_webhook_configuration,
    validating_admission_policy,
    validating_admission_policy_binding,
    validating_webhook_configuration,
];

mod match_conditions;
mod match_resources;
mod policy;
mod policy_binding;
mod reserved_name;
mod rule;
mod webhook;

const GROUP_VERSION: (&str, &str) = ("admissionregistration.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.admissionregistration.v1";
const CATEGORIES: &[&str] = &["api-extensions"];

/// What becomes of a request when its hook or policy fails itself.
const FAILURE_POLICIES: &[&str] = &["Fail", "Ignore"];
/// Whether rules are also about other versions of a resource.
const MATCH_POLICIES: &[&str] = &["Equivalent", "Exact"];
/// Whether a change is looked at again after later changes.
const REINVOCATION_POLICIES: &[&str] = &["IfNeeded", "Never"];
