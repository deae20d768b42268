//! The spec of a job, but for its selector: the same in the template of a CronJob.
//!
//! After `validateJobSpec` in `pkg/apis/batch/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::{
    COMPLETIONS_SOFT_MAX, INDEXED, PARALLELISM_SOFT_MAX, pod_failure_policy, success_policy,
};
use crate::rules::pod_spec::{PodOptions, validate_pod_template_spec};
use crate::rules::scalar::validate_non_negative;

/// Indexed jobs list what completed and what failed, and the lists must not become too long.
const PARALLELISM_INDEXED_MAX: i64 = 100_000;
const FAILED_INDEXES_MAX: i64 = 100_000;
const FAILED_INDEXES_SOFT_MAX: i64 = 10_000;

const MANAGED_BY_MAX: usize = 63;

/// Numbers that are not negative, in the order of the errors.
const NUMBERS: [&str; 7] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
];

const NON_INDEXED: &str = "NonIndexed";
const NEEDS_INDEXED: &str = "requires indexed completion mode";

/// Reports all that is wrong with the spec of a job, whatever its selector is.
pub(in crate::batch) fn validate_job_spec(
    spec: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    for number in NUMBERS {
        validate_non_negative(&spec.at(number), errors);
    }
    if spec.at("maxFailedIndexes").is_set() && !spec.at("backoffLimitPerIndex").is_set() {
        errors.required(&spec.at("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    let managed_by = spec.at("managedBy");
    if managed_by.is_set() {
        names::domain_prefixed_path(&managed_by, managed_by.str(), errors);
        if managed_by.str().len() > MANAGED_BY_MAX {
            errors.too_long(&managed_by, MANAGED_BY_MAX);
        }
    }
    validate_completion_mode(spec, errors);
    let failure_policy = spec.at("podFailurePolicy");
    if failure_policy.is_set() {
        pod_failure_policy::validate(&failure_policy, spec.value(), errors);
    }
    let success_policy = spec.at("successPolicy");
    if success_policy.is_set() {
        if spec.at("completionMode").str() == INDEXED {
            let completions = spec.value().at("completions").as_int();
            success_policy::validate(&success_policy, completions, errors);
        } else {
            errors.invalid(&success_policy, NEEDS_INDEXED);
        }
    }
    validate_replacement_policy(spec, errors);
    let template = spec.at("template");
    validate_pod_template_spec(&template, options, errors);
    let pod = template.at("spec");
    validate_restart_policy(&pod.at("restartPolicy"), failure_policy.is_set(), errors);
}

fn validate_completion_mode(spec: &Node<'_>, errors: &mut Errors) {
    let mode = spec.at("completionMode");
    match mode.str() {
        INDEXED => validate_indexed(spec, errors),
        other if other == NON_INDEXED || !mode.is_set() => {
            for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                if spec.at(field).is_set() {
                    errors.invalid(&spec.at(field), NEEDS_INDEXED);
                }
            }
        }
        _ => errors.not_supported(&mode, &[NON_INDEXED, INDEXED]),
    }
}

fn validate_indexed(spec: &Node<'_>, errors: &mut Errors) {
    let (completions, parallelism) = (spec.at("completions"), spec.at("parallelism"));
    let failed_max = spec.at("maxFailedIndexes");
    if !completions.is_set() {
        errors.required(&completions, "when completion mode is Indexed");
    }
    if parallelism.int() > PARALLELISM_INDEXED_MAX {
        let detail = format!(
            "must be less than or equal to {PARALLELISM_INDEXED_MAX} when completion mode is \
             Indexed"
        );
        errors.invalid(&parallelism, detail);
    }
    if completions.is_set() && failed_max.is_set() && failed_max.int() > completions.int() {
        errors.invalid(&failed_max, "must be less than or equal to completions");
    }
    if failed_max.int() > FAILED_INDEXES_MAX {
        let detail = format!("must be less than or equal to {FAILED_INDEXES_MAX}");
        errors.invalid(&failed_max, detail);
    }
    if completions.int() > COMPLETIONS_SOFT_MAX && spec.at("backoffLimitPerIndex").is_set() {
        if !failed_max.is_set() {
            let detail =
                format!("must be specified when completions is above {COMPLETIONS_SOFT_MAX}");
            errors.required(&failed_max, detail);
        }
        let limits = [(&parallelism, PARALLELISM_SOFT_MAX), (&failed_max, FAILED_INDEXES_SOFT_MAX)];
        for (number, max) in limits {
            if number.int() > max {
                let detail = format!(
                    "must be less than or equal to {max} when completions are above \
                     {COMPLETIONS_SOFT_MAX} and used with backoff limit per index"
                );
                errors.invalid(number, detail);
            }
        }
    }
}

/// Who judges failed pods waits until they have failed.
fn validate_replacement_policy(spec: &Node<'_>, errors: &mut Errors) {
    let policy = spec.at("podReplacementPolicy");
    let allowed: &[&str] = match spec.at("podFailurePolicy").is_set() {
        true => &["Failed"],
        false => &["Failed", "TerminatingOrFailed"],
    };
    if policy.is_set() && !allowed.contains(&policy.str()) {
        errors.not_supported(&policy, allowed);
    }
}

/// `Always` is what a template means that says nothing.
fn validate_restart_policy(policy: &Node<'_>, has_failure_policy: bool, errors: &mut Errors) {
    match policy.str() {
        "" | "Always" => errors.required(policy, "valid values: \"OnFailure\", \"Never\""),
        "Never" => {}
        "OnFailure" if has_failure_policy => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.invalid(policy, detail);
        }
        "OnFailure" => {}
        _ => errors.not_supported(policy, &["OnFailure", "Never"]),
    }
}
