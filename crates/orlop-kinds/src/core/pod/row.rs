//! What `kubectl get pods` shows.
//!
//! After `printPod` in `pkg/printers/internalversion/printers.go`: the status is the phase, or the
//! most telling reason that is found in conditions and containers.

use std::collections::BTreeMap;

use orlop_machinery::Value;
use orlop_machinery::kind::{Column, Context, Row};
use orlop_machinery::meta::find_condition;
use orlop_machinery::time::Time;

use super::{first_ip, is_ended};
use crate::rules::pod_spec::visit::is_sidecar;

pub(super) const COLUMNS: &[Column] = &[
    Column::NAME,
    Column::text("Ready"),
    Column::text("Status"),
    Column::text("Restarts"),
    Column::AGE,
    Column::text("IP").wide(),
    Column::text("Node").wide(),
    Column::text("Nominated Node").wide(),
    Column::text("Readiness Gates").wide(),
];

/// The reason in the status of a pod whose node does not answer.
const NODE_LOST: &str = "NodeLost";

/// What is found out by going through the containers.
#[derive(Default)]
struct Summary {
    reason: String,
    ready: usize,
    restarts: Restarts,
}

/// What is found out by going through the init containers.
struct Initialization {
    goes_on: bool,
    restarts_of_sidecars: Restarts,
}

/// How often containers restarted, and when the last of them ended before that.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<Time>,
}

/// The cells of a pod.
pub(super) fn row(context: &Context<'_>, pod: &Value) -> Row {
    let (spec, status) = (pod.at("spec"), pod.at("status"));
    let mut summary = Summary { reason: reason_of_pod(status), ..Summary::default() };
    let initialization = summary.go_through_init_containers(spec, status);
    if !initialization.goes_on || is_first_true(status, "Initialized") {
        summary.restarts = initialization.restarts_of_sidecars;
        summary.go_through_containers(status);
    }
    let is_deleted = !pod.path(&["metadata", "deletionTimestamp"]).is_null();
    if is_deleted && status.at("reason").str() == NODE_LOST {
        summary.reason = "Unknown".into();
    } else if is_deleted && !is_ended(status.at("phase").str()) {
        summary.reason = "Terminating".into();
    }
    let sidecars = spec.at("initContainers").list().iter().filter(|found| is_sidecar(found));
    let total = spec.at("containers").list().len() + sidecars.count();
    let cells = vec![
        pod.path(&["metadata", "name"]).clone(),
        format!("{}/{total}", summary.ready).into(),
        summary.reason.into(),
        summary.restarts.text(context).into(),
        context.age(pod).into(),
        or_none(first_ip(pod)),
        or_none(spec.at("nodeName").str()),
        or_none(status.at("nominatedNodeName").str()),
        readiness_gates(spec, status),
    ];
    Row { cells, conditions: conditions(status.at("phase").str()) }
}

impl Summary {
    /// Stops at the first init container that is not done.
    fn go_through_init_containers(&mut self, spec: &Value, status: &Value) -> Initialization {
        let containers = spec.at("initContainers").list();
        let is_sidecar_by_name: BTreeMap<&str, bool> =
            containers.iter().map(|found| (found.at("name").str(), is_sidecar(found))).collect();
        let mut restarts_of_sidecars = Restarts::default();
        for (index, found) in status.at("initContainerStatuses").list().iter().enumerate() {
            self.restarts.add(found);
            let name = found.at("name").str();
            let is_sidecar = is_sidecar_by_name.get(name).copied().unwrap_or_default();
            if is_sidecar {
                restarts_of_sidecars.add(found);
            }
            let (terminated, waiting) = parts_of_state(found);
            if terminated.is_some_and(|end| end.at("exitCode").int() == 0) {
                continue;
            }
            if is_sidecar && found.at("started").bool() {
                self.ready += usize::from(found.at("ready").bool());
                continue;
            }
            self.reason = match (terminated, waiting) {
                (Some(end), _) => format!("Init:{}", reason_of_end(end)),
                (None, Some(reason)) if reason != "PodInitializing" => format!("Init:{reason}"),
                _ => format!("Init:{index}/{}", containers.len()),
            };
            return Initialization { goes_on: true, restarts_of_sidecars };
        }
        Initialization { goes_on: false, restarts_of_sidecars }
    }

    /// The first container with something to tell is the last to be looked at.
    fn go_through_containers(&mut self, status: &Value) {
        let mut has_running = false;
        let mut reason_of_error = None;
        for found in status.at("containerStatuses").list().iter().rev() {
            self.restarts.add(found);
            let (terminated, waiting) = parts_of_state(found);
            if let Some(reason) = waiting {
                self.reason = reason.to_owned();
            } else if let Some(end) = terminated {
                self.reason = reason_of_end(end);
                if end.at("exitCode").int() != 0 {
                    reason_of_error = Some(self.reason.clone());
                }
            } else if found.at("ready").bool() && !found.path(&["state", "running"]).is_null() {
                has_running = true;
                self.ready += 1;
            }
        }
        // Some have completed; what the pod is depends on the others.
        if self.reason == "Completed" {
            if has_running && is_any_true(status, "Ready") {
                self.reason = "Running".into();
            } else if let Some(reason) = reason_of_error {
                self.reason = reason;
            } else if has_running {
                self.reason = "NotReady".into();
            }
        }
    }
}

impl Restarts {
    fn add(&mut self, container_status: &Value) {
        self.count = self.count.saturating_add(container_status.at("restartCount").int());
        let finished = container_status.path(&["lastState", "terminated", "finishedAt"]);
        self.last = self.last.max(finished.str().parse().ok());
    }

    fn text(self, context: &Context<'_>) -> String {
        match self.last {
            Some(last) if self.count != 0 => {
                let ago = context.since(&Value::from(last.to_string()));
                format!("{} ({ago} ago)", self.count)
            }
            _ => self.count.to_string(),
        }
    }
}

/// What the pod says itself.
fn reason_of_pod(status: &Value) -> String {
    let is_gated = status.at("conditions").list().iter().any(|condition| {
        condition.at("type").str() == "PodScheduled"
            && condition.at("reason").str() == "SchedulingGated"
    });
    let reason = match status.at("reason").str() {
        _ if is_gated => "SchedulingGated",
        "" => status.at("phase").str(),
        reason => reason,
    };
    reason.to_owned()
}

/// How a container ended, if it did, and why it waits, if that is known.
fn parts_of_state(container_status: &Value) -> (Option<&Value>, Option<&str>) {
    let state = container_status.at("state");
    let waiting = state.path(&["waiting", "reason"]).str();
    (state.get("terminated"), Some(waiting).filter(|reason| !reason.is_empty()))
}

fn reason_of_end(end: &Value) -> String {
    match (end.at("reason").str(), end.at("signal").int()) {
        ("", 0) => format!("ExitCode:{}", end.at("exitCode").int()),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// Whether the first condition of a type holds.
fn is_first_true(status: &Value, kind: &str) -> bool {
    find_condition(status.at("conditions"), kind)
        .is_some_and(|condition| condition.at("status").str() == "True")
}

fn is_any_true(status: &Value, kind: &str) -> bool {
    let mut conditions = status.at("conditions").list().iter();
    conditions.any(|found| found.at("type").str() == kind && found.at("status").str() == "True")
}

/// How many of the conditions hold that the pod waits for besides its containers.
fn readiness_gates(spec: &Value, status: &Value) -> Value {
    let gates = spec.at("readinessGates").list();
    if gates.is_empty() {
        return or_none("");
    }
    let mut first: BTreeMap<&str, bool> = BTreeMap::new();
    for condition in status.at("conditions").list() {
        let is_true = condition.at("status").str() == "True";
        first.entry(condition.at("type").str()).or_insert(is_true);
    }
    let holds = |gate: &&Value| first.get(gate.at("conditionType").str()) == Some(&true);
    format!("{}/{}", gates.iter().filter(holds).count(), gates.len()).into()
}

/// Clients that watch need not look at a pod that has ended any more.
fn conditions(phase: &str) -> Vec<Value> {
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return Vec::new(),
    };
    vec![Value::from([
        ("type", "Completed"),
        ("status", "True"),
        ("reason", phase),
        ("message", message),
    ])]
}

fn or_none(text: &str) -> Value {
    Value::from(if text.is_empty() { "<none>" } else { text })
}
