//! How the status of a job may change.
//!
//! After `getStatusValidationOptions` in `pkg/registry/batch/job/strategy.go` and
//! `ValidateJobStatusUpdate` in `pkg/apis/batch/validation/validation.go`. Controllers that are not
//! part of Kubernetes may manage jobs, so much is checked here. Most rules look only at what
//! changes: what was let in before does not stand in the way of the next change.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;
use orlop_machinery::time::Time;

use super::{INDEXED, indexes};
use crate::rules::scalar::validate_non_negative;

/// Conditions that stay once they are true, besides that enough succeeded.
const TERMINAL: [&str; 3] = ["Failed", "Complete", "FailureTarget"];

/// The two ends of a change.
struct Change<'a> {
    new: &'a Value,
    old: &'a Value,
}

/// Which conditions are true.
struct Conditions {
    complete: bool,
    failed: bool,
    failure_target: bool,
    success_criteria_met: bool,
}

/// Reports all that is wrong with a new status.
pub(super) fn validate(job: &Node<'_>, old: &Value, errors: &mut Errors) {
    let status = job.at("status");
    let change = Change { new: status.value(), old: old.at("status") };
    let spec = job.value().at("spec");
    for count in ["active", "succeeded", "failed", "ready", "terminating"] {
        validate_non_negative(&status.at(count), errors);
    }
    validate_uncounted_pods(&status.at("uncountedTerminatedPods"), errors);
    validate_completion(&status, &change, errors);
    validate_finished(&status, spec, &change, errors);
    validate_indexes(&status, spec, &change, errors);
    validate_running(&status, &change, errors);
    validate_success(&status, spec, errors);
    validate_transition(&status, spec, &change, errors);
}

/// Whether a condition is there with a status.
pub(super) fn has_condition(status: &Value, kind: &str, wanted: &str) -> bool {
    let mut conditions = status.at("conditions").list().iter();
    conditions.any(|found| found.at("type").str() == kind && found.at("status").str() == wanted)
}

impl Conditions {
    fn of(status: &Value) -> Conditions {
        let is_true = |kind: &str| has_condition(status, kind, "True");
        Conditions {
            complete: is_true("Complete"),
            failed: is_true("Failed"),
            failure_target: is_true("FailureTarget"),
            success_criteria_met: is_true("SuccessCriteriaMet"),
        }
    }

    fn finished(&self) -> bool {
        self.complete || self.failed
    }
}

impl Change<'_> {
    /// Whether one of these fields is not what it was.
    fn of_field(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| self.new.at(field) != self.old.at(field))
    }

    /// Whether the answer to a question about the conditions is not what it was.
    fn of_condition(&self, question: fn(&Conditions) -> bool) -> bool {
        question(&Conditions::of(self.new)) != question(&Conditions::of(self.old))
    }
}

fn validate_uncounted_pods(pods: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    let (succeeded, failed) = (pods.at("succeeded"), pods.at("failed"));
    for list in [&succeeded, &failed] {
        for uid in list.items() {
            if uid.is_empty() {
                errors.invalid(&uid, "must not be empty");
            } else if !known.insert(uid.str()) {
                errors.duplicate(&uid);
            }
        }
    }
}

/// What must hold when a job becomes complete, or gets a time of completion.
fn validate_completion(status: &Node<'_>, change: &Change<'_>, errors: &mut Errors) {
    let conditions = Conditions::of(change.new);
    let (is_complete, is_failed) = (conditions.complete, conditions.failed);
    let at = status.at("conditions");
    let complete_changed = change.of_condition(|known| known.complete);
    let failed_changed = change.of_condition(|known| known.failed);
    if (complete_changed || failed_changed) && is_complete && is_failed {
        let detail = "cannot set Complete=True and Failed=true conditions";
        errors.invalid_without_value(&at, detail);
    }
    let target_changed = change.of_condition(|known| known.failure_target);
    if (complete_changed || target_changed) && is_complete && conditions.failure_target {
        let detail = "cannot set Complete=True and FailureTarget=true conditions";
        errors.invalid_without_value(&at, detail);
    }
    let completion = status.at("completionTime");
    if complete_changed || change.of_field(&["completionTime"]) {
        if completion.is_set() && !is_complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            errors.invalid(&completion, detail);
        }
        if !completion.is_set() && is_complete {
            errors.required(&completion, "completionTime is required for Complete jobs");
        }
    }
    if change.of_field(&["startTime", "completionTime"])
        && let (Some(start), Some(end)) = (time(&status.at("startTime")), time(&completion))
        && end < start
    {
        errors.invalid(&completion, "must be equal to or after `startTime`");
    }
    if (failed_changed || change.of_field(&["failedIndexes"]))
        && is_failed
        && !conditions.failure_target
    {
        let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
        errors.invalid_without_value(&at, detail);
    }
    if (complete_changed || change.of_condition(|known| known.success_criteria_met))
        && is_complete
        && !conditions.success_criteria_met
    {
        let detail =
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        errors.invalid_without_value(&at, detail);
    }
}

/// What a job cannot have once it is finished.
fn validate_finished(status: &Node<'_>, spec: &Value, change: &Change<'_>, errors: &mut Errors) {
    if !Conditions::of(change.new).finished() {
        return;
    }
    let changed =
        |field: &str| change.of_condition(Conditions::finished) || change.of_field(&[field]);
    let active = status.at("active");
    if changed("active") && active.int() > 0 {
        errors.invalid(&active, "active>0 is invalid for finished job");
    }
    // A suspended job that needs nothing is complete before it starts.
    let needs_no_start = spec.at("suspend").bool() && spec.at("completions").as_int() == Some(0);
    let start = status.at("startTime");
    if changed("startTime") && !needs_no_start && !start.is_set() {
        errors.required(&start, "startTime is required for finished job");
    }
    let uncounted = status.at("uncountedTerminatedPods");
    if changed("uncountedTerminatedPods")
        && ["failed", "succeeded"].iter().any(|list| !uncounted.at(list).is_empty())
    {
        errors.invalid(&uncounted, "must be empty for finished job");
    }
}

fn validate_indexes(status: &Node<'_>, spec: &Value, change: &Change<'_>, errors: &mut Errors) {
    let (completed, failed) = (status.at("completedIndexes"), status.at("failedIndexes"));
    let completed_changed = change.of_field(&["completedIndexes"]);
    let failed_changed = change.of_field(&["failedIndexes"]);
    let completions = spec.at("completions").as_int();
    let has_limit_per_index = !spec.at("backoffLimitPerIndex").is_null();
    if completed_changed
        && let Some(completions) = completions
        && let Err(error) = indexes::count(completed.str(), completions)
    {
        errors.invalid(&completed, format!("error parsing completedIndexes: {error}"));
    }
    if failed_changed
        && has_limit_per_index
        && let Some(completions) = completions
        && let Err(error) = indexes::count(failed.str(), completions)
    {
        errors.invalid(&failed, format!("error parsing failedIndexes: {error}"));
    }
    let is_indexed = spec.at("completionMode").str() == INDEXED;
    if completed_changed && !completed.is_empty() && !is_indexed {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.invalid(&completed, detail);
    }
    if failed_changed && failed.is_set() && !has_limit_per_index {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.invalid(&failed, detail);
    }
    if (completed_changed || failed_changed)
        && let Some(completions) = completions
        && let Some(index) = indexes::first_in_both(completed.str(), failed.str(), completions)
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.invalid(&failed, detail);
    }
}

fn validate_running(status: &Node<'_>, change: &Change<'_>, errors: &mut Errors) {
    let terminating = status.at("terminating");
    if (change.of_condition(Conditions::finished) || change.of_field(&["terminating"]))
        && Conditions::of(change.new).finished()
        && terminating.int() > 0
    {
        errors.invalid(&terminating, "terminating>0 is invalid for finished job");
    }
    let ready = status.at("ready");
    if change.of_field(&["ready", "active"])
        && ready.is_set()
        && ready.int() > status.at("active").int()
    {
        errors.invalid(&ready, "cannot set more ready pods than active");
    }
}

/// What goes with the condition that enough succeeded. This is looked at even if nothing changed.
fn validate_success(status: &Node<'_>, spec: &Value, errors: &mut Errors) {
    let conditions = Conditions::of(status.value());
    let at = status.at("conditions");
    let mut refuse = |detail: &str| errors.invalid_without_value(&at, detail);
    if conditions.success_criteria_met && conditions.failed {
        refuse("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if conditions.success_criteria_met && conditions.failure_target {
        refuse("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    }
    let has_policy = !spec.at("successPolicy").is_null();
    if has_policy && conditions.complete && !conditions.success_criteria_met {
        refuse(
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        );
    }
}

/// What cannot be taken back.
fn validate_transition(status: &Node<'_>, spec: &Value, change: &Change<'_>, errors: &mut Errors) {
    let at = status.at("conditions");
    for kind in TERMINAL {
        if has_condition(change.old, kind, "True") && !has_condition(change.new, kind, "True") {
            let detail = format!("cannot disable the terminal {kind}=True condition");
            errors.invalid_without_value(&at, detail);
        }
    }
    // An indexed job that runs all its indexes at once can be made smaller.
    let can_shrink = spec.at("completionMode").str() == INDEXED
        && spec.at("completions") == spec.at("parallelism");
    for (count, is_fixed) in [("failed", true), ("succeeded", !can_shrink)] {
        let node = status.at(count);
        if is_fixed && node.int() < change.old.at(count).int() {
            errors.invalid(&node, format!("cannot decrease the {count} counter"));
        }
    }
    let is_replaced = |field: &str| {
        let (new, old) = (change.new.at(field), change.old.at(field));
        !old.is_null() && new != old
    };
    let completion = status.at("completionTime");
    if completion.is_set() && is_replaced("completionTime") {
        errors.invalid(&completion, "field is immutable");
    }
    let is_resuming = has_condition(change.old, "Suspended", "True")
        && has_condition(change.new, "Suspended", "False");
    if is_replaced("startTime") && !is_resuming && !spec.at("suspend").bool() {
        let start = status.at("startTime");
        errors.invalid(&start, "field is immutable for unsuspended job once set");
    }
    let (new, old) = (Conditions::of(change.new), Conditions::of(change.old));
    if old.success_criteria_met && !new.success_criteria_met {
        let detail = "cannot disable the SuccessCriteriaMet=True condition";
        errors.invalid_without_value(&at, detail);
    }
    if old.complete && !old.success_criteria_met && new.success_criteria_met {
        let detail =
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.invalid_without_value(&at, detail);
    }
}

fn time(node: &Node<'_>) -> Option<i64> {
    node.str().parse::<Time>().ok().map(Time::unix_seconds)
}
