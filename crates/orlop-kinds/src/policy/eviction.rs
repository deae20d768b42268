//! Whether a pod may be evicted now.
//!
//! After `EvictionREST` in `pkg/registry/core/pod/storage/eviction.go`, of which this is the part
//! that only thinks: the server brings the pod and the budgets of its namespace, and does what is
//! decided, again if somebody was faster. What an Eviction may say is checked where the pod has its
//! endpoint.

use orlop_machinery::group_version::GroupResource;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::meta::{self, Meta};
use orlop_machinery::status::{Cause, Reason, Status};
use orlop_machinery::{Map, Value};

/// What to do with a pod that shall be evicted.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Delete it.
    Delete,
    /// Delete it if it is still as it was looked at: it might have become healthy since.
    DeleteUnchanged,
    /// Write this budget, from which the eviction is taken, then delete the pod.
    Spend(Value),
    /// Answer this. The pod stays.
    Refuse(Status),
}

/// So many pods of a budget can be on their way out.
const DISRUPTED_PODS_MAX: usize = 2000;

const VIOLATES: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const BUDGET_CAUSE: &str = "DisruptionBudget";
const ALLOWED_CONDITION: &str = "DisruptionAllowed";

/// Decides about a pod. Of the budgets those of its namespace that select it count; `now` is the
/// time to note in them.
#[must_use]
pub fn decide(pod: &Value, budgets: &[Value], now: &str) -> Verdict {
    let is_deleting = Meta::of(pod).deletion_timestamp().is_some();
    match pod.path(&["status", "phase"]).str() {
        _ if is_deleting => return Verdict::Delete,
        "Succeeded" | "Failed" => return Verdict::Delete,
        "Pending" => return Verdict::DeleteUnchanged,
        _ => {}
    }
    let mut selecting = budgets.iter().filter(|budget| selects(budget, pod));
    let (budget, more) = (selecting.next(), selecting.next());
    if more.is_some() {
        let message = "This pod has more than one PodDisruptionBudget, which the eviction \
                       subresource does not support.";
        return Verdict::Refuse(Status::failure(500, Reason::Unknown, message));
    }
    match budget {
        None => Verdict::Delete,
        Some(budget) if is_expendable(pod, budget) => Verdict::DeleteUnchanged,
        Some(budget) => spend(budget, Meta::of(pod).name(), now),
    }
}

/// The options with which the pod is deleted: those of the Eviction, which a dry run must agree
/// with.
///
/// # Errors
///
/// When one of them is a dry run of another kind than the other.
pub fn delete_options(eviction: &Value, create_options: &Value) -> Result<Value, Status> {
    let mut options = match eviction.at("deleteOptions") {
        Value::Null => Value::Map(Map::new()),
        options => options.clone(),
    };
    let (asked, given) = (create_options.at("dryRun"), options.at("dryRun"));
    if !asked.is_empty() && given.is_empty() {
        let asked = asked.clone();
        options.set("dryRun", asked);
    } else if !asked.is_empty() && asked != given {
        let list = |value: &Value| {
            let words: Vec<&str> = value.list().iter().map(Value::str).collect();
            format!("[{}]", words.join(" "))
        };
        let message = format!(
            "Non-matching dry-run options in request and content: {} and {}",
            list(asked),
            list(given)
        );
        return Err(Status::failure(500, Reason::Unknown, message));
    }
    Ok(options)
}

fn selects(budget: &Value, pod: &Value) -> bool {
    let (budget_meta, pod_meta) = (Meta::of(budget), Meta::of(pod));
    let selector = LabelSelector::from_value(budget.path(&["spec", "selector"]));
    budget_meta.namespace() == pod_meta.namespace()
        && selector.is_ok_and(|selector| selector.matches(pod_meta.labels()))
}

/// Whether the pod does not count for its budget: it is not healthy, and the budget does not mind.
fn is_expendable(pod: &Value, budget: &Value) -> bool {
    if meta::is_condition(pod.path(&["status", "conditions"]), "Ready", "True") {
        return false;
    }
    let status = budget.at("status");
    let (current, desired) = (status.at("currentHealthy").int(), status.at("desiredHealthy").int());
    let always = budget.path(&["spec", "unhealthyPodEvictionPolicy"]).str() == "AlwaysAllow";
    always || (current >= desired && desired > 0)
}

/// Takes one eviction from the budget, if it has one.
fn spend(budget: &Value, pod_name: &str, now: &str) -> Verdict {
    let (known, status) = (Meta::of(budget), budget.at("status"));
    let name = known.name();
    if status.at("observedGeneration").int() < known.generation() {
        let message =
            format!("The disruption budget {name} is still being processed by the server.");
        return Verdict::Refuse(too_many_requests(10, message));
    }
    let forbidden = |why: &str| {
        let resource = GroupResource::new("policy", "poddisruptionbudget");
        Verdict::Refuse(Status::forbidden(&resource, name, why))
    };
    let allowed = status.at("disruptionsAllowed").int();
    if allowed < 0 {
        return forbidden("pdb disruptions allowed is negative");
    }
    if status.at("disruptedPods").map().len() > DISRUPTED_PODS_MAX {
        return forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        );
    }
    if allowed == 0 {
        return Verdict::Refuse(too_many_requests(0, why_none_is_allowed(name, status)));
    }
    let mut budget = budget.clone();
    let status = budget.entry("status");
    status.set("disruptionsAllowed", allowed - 1);
    if allowed == 1 {
        let mut condition = Value::from([
            ("type", ALLOWED_CONDITION),
            ("status", "False"),
            ("reason", "InsufficientPods"),
            ("message", ""),
        ]);
        match status.at("observedGeneration").int() {
            0 => {}
            generation => condition.set("observedGeneration", generation),
        }
        meta::set_condition(status.entry("conditions"), condition, now);
    }
    status.entry("disruptedPods").set(pod_name, now);
    Verdict::Spend(budget)
}

fn too_many_requests(retry_after_seconds: i32, why: String) -> Status {
    let mut status = Status::too_many_requests(VIOLATES, retry_after_seconds);
    status.details_mut().causes.push(Cause::new(BUDGET_CAUSE, why, ""));
    status
}

fn why_none_is_allowed(name: &str, status: &Value) -> String {
    let refusal = meta::find_condition(status.at("conditions"), ALLOWED_CONDITION)
        .filter(|found| found.at("status").str() == "False" && !found.at("message").is_empty());
    let (current, desired) = (status.at("currentHealthy").int(), status.at("desiredHealthy").int());
    match refusal.map(|found| (found.at("reason").str(), found.at("message").str())) {
        Some(("SyncFailed", message)) => format!(
            "The disruption budget {name} does not allow evicting pods currently because it \
             failed sync: {message}"
        ),
        _ if current <= desired => format!(
            "The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        ),
        Some((reason, message)) => format!(
            "The disruption budget {name} does not allow evicting pods currently ({reason}): \
             {message}"
        ),
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;

    const NOW: &str = "2026-01-01T00:00:00Z";

    fn parse(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    fn pod(status: &str) -> Value {
        let metadata = r#"{"name": "p", "namespace": "a", "labels": {"app": "web"}}"#;
        parse(&format!(r#"{{"metadata": {metadata}, "status": {status}}}"#))
    }

    fn budget(namespace: &str, more: &str, status: &str) -> Value {
        parse(&format!(
            r#"{{"metadata": {{"name": "b", "namespace": "{namespace}", "generation": 2}},
                "spec": {{"selector": {{"matchLabels": {{"app": "web"}}}}{more}}},
                "status": {status}}}"#
        ))
    }

    /// What is decided in short: the message of a refusal with its causes, or what the budget says.
    fn check(pod: &Value, budgets: &[Value], expect: &str) {
        let seen = match decide(pod, budgets, NOW) {
            Verdict::Delete => "delete".to_owned(),
            Verdict::DeleteUnchanged => "delete unchanged".to_owned(),
            Verdict::Spend(budget) => json::to_string(budget.at("status")),
            Verdict::Refuse(status) => {
                let object = status.to_value();
                let causes = object.path(&["details", "causes"]).list();
                let cause = causes.first().map_or("", |cause| cause.at("message").str());
                format!("{} {} {cause}", status.code(), object.at("message").str())
            }
        };
        assert_eq!(seen.trim_end(), expect);
    }

    const READY: &str =
        r#"{"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}"#;
    const UNREADY: &str = r#"{"phase": "Running"}"#;

    #[test]
    fn pods_that_do_no_work_may_go() {
        let strict = budget("a", "", r#"{"observedGeneration": 2}"#);
        for (status, expect) in [
            (r#"{"phase": "Succeeded"}"#, "delete"),
            (r#"{"phase": "Failed"}"#, "delete"),
            (r#"{"phase": "Pending"}"#, "delete unchanged"),
        ] {
            check(&pod(status), std::slice::from_ref(&strict), expect);
        }
        let mut deleting = pod(READY);
        deleting.entry("metadata").set("deletionTimestamp", NOW);
        check(&deleting, &[strict], "delete");
    }

    #[test]
    fn budgets_of_others_do_not_count() {
        let elsewhere = budget("b", "", r#"{"observedGeneration": 2}"#);
        let mut bad = budget("a", "", "{}");
        bad.entry("spec").entry("selector").entry("matchLabels").set("-", "x");
        check(&pod(READY), &[elsewhere, bad], "delete");
    }

    #[test]
    fn two_budgets_are_one_too_many() {
        let budget = budget("a", "", r#"{"observedGeneration": 2, "disruptionsAllowed": 1}"#);
        check(
            &pod(READY),
            &[budget.clone(), budget],
            "500 This pod has more than one PodDisruptionBudget, which the eviction subresource \
             does not support.",
        );
    }

    #[test]
    fn an_unhealthy_pod_may_go_if_its_budget_does_not_mind() {
        let always = r#", "unhealthyPodEvictionPolicy": "AlwaysAllow""#;
        check(&pod(UNREADY), &[budget("a", always, "{}")], "delete unchanged");
        let healthy = r#"{"observedGeneration": 2, "currentHealthy": 3, "desiredHealthy": 3}"#;
        check(&pod(UNREADY), &[budget("a", "", healthy)], "delete unchanged");
        check(
            &pod(READY),
            &[budget("a", "", healthy)],
            "429 Cannot evict pod as it would violate the pod's disruption budget. The disruption \
             budget b needs 3 healthy pods and has 3 currently",
        );
    }

    #[test]
    fn an_eviction_is_taken_from_the_budget() {
        check(
            &pod(READY),
            &[budget("a", "", r#"{"observedGeneration": 2, "disruptionsAllowed": 2}"#)],
            concat!(
                r#"{"disruptedPods":{"p":"2026-01-01T00:00:00Z"},"disruptionsAllowed":1,"#,
                r#""observedGeneration":2}"#
            ),
        );
        check(
            &pod(READY),
            &[budget("a", "", r#"{"observedGeneration": 2, "disruptionsAllowed": 1}"#)],
            concat!(
                r#"{"conditions":[{"lastTransitionTime":"2026-01-01T00:00:00Z","message":"","#,
                r#""observedGeneration":2,"reason":"InsufficientPods","status":"False","#,
                r#""type":"DisruptionAllowed"}],"disruptedPods":{"p":"2026-01-01T00:00:00Z"},"#,
                r#""disruptionsAllowed":0,"observedGeneration":2}"#
            ),
        );
    }

    #[test]
    fn a_budget_says_why_it_refuses() {
        let violates = |why: &str| {
            format!(
                "429 Cannot evict pod as it would violate the pod's disruption budget. The \
                 disruption budget b {why}"
            )
        };
        let refuses = |status: &str, expect: &str| {
            check(&pod(READY), &[budget("a", "", status)], expect);
        };
        refuses("{}", &violates("is still being processed by the server."));
        let none = |condition: &str| {
            format!(
                r#"{{"observedGeneration": 2, "currentHealthy": 3, "desiredHealthy": 2,
                    "conditions": [{condition}]}}"#
            )
        };
        let condition = |reason: &str| {
            format!(
                r#"{{"type": "DisruptionAllowed", "status": "False", "reason": "{reason}",
                    "message": "oh"}}"#
            )
        };
        refuses(&none(""), &violates("does not allow evicting pods currently"));
        refuses(
            &none(&condition("Other")),
            &violates("does not allow evicting pods currently (Other): oh"),
        );
        refuses(
            &none(&condition("SyncFailed")),
            &violates("does not allow evicting pods currently because it failed sync: oh"),
        );
        refuses(
            r#"{"observedGeneration": 2, "disruptionsAllowed": -1}"#,
            "403 poddisruptionbudget.policy \"b\" is forbidden: pdb disruptions allowed is \
             negative",
        );
    }

    #[test]
    fn dry_runs_agree() {
        let check = |eviction: &str, options: &str, expect: &str| {
            let seen = match delete_options(&parse(eviction), &parse(options)) {
                Ok(options) => json::to_string(&options),
                Err(status) => status.to_value().at("message").str().to_owned(),
            };
            assert_eq!(seen, expect, "{eviction} {options}");
        };
        check("{}", "{}", "{}");
        check("{}", r#"{"dryRun": ["All"]}"#, r#"{"dryRun":["All"]}"#);
        let grace = r#"{"deleteOptions": {"gracePeriodSeconds": 1, "dryRun": ["All"]}}"#;
        check(grace, "{}", r#"{"dryRun":["All"],"gracePeriodSeconds":1}"#);
        check(
            grace,
            r#"{"dryRun": ["Some"]}"#,
            "Non-matching dry-run options in request and content: [Some] and [All]",
        );
    }
}
