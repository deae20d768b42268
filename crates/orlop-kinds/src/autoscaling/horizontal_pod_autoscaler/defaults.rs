//! What a HorizontalPodAutoscaler means in `v2` where it says nothing.
//!
//! After `pkg/apis/autoscaling/v2/{defaults,conversion}.go`.

use orlop_machinery::{Map, Value};

use super::annotations;

/// How much of the processors that it asked for a pod uses, in percent, when no metric is given.
const CPU_UTILIZATION: i64 = 80;

/// Sets the defaults of an object. What `v1` writes into annotations has fields here.
pub(super) fn set_defaults(object: &mut Value) {
    annotations::remove(object);
    let spec = object.entry("spec");
    spec.set_default("minReplicas", 1);
    set_metrics(spec);
    let Some(behavior) = spec.get_mut("behavior") else { return };
    let pods = policy("Pods", 4);
    let percent = policy("Percent", 100);
    let rules = behavior.entry("scaleUp");
    rules.set_default("stabilizationWindowSeconds", 0);
    set_rules(rules, vec![pods, percent.clone()]);
    // How long to wait before going down is an option of the controller.
    set_rules(behavior.entry("scaleDown"), vec![percent]);
}

/// The metric that counts when there is no other.
pub(super) fn set_metrics(spec: &mut Value) {
    if spec.at("metrics").is_empty() {
        spec.set("metrics", vec![cpu_metric(CPU_UTILIZATION)]);
    }
}

/// The metric that `v1` has a field for.
pub(super) fn cpu_metric(utilization: i64) -> Value {
    let mut target = Value::Map(Map::new());
    target.set("type", "Utilization");
    target.set("averageUtilization", utilization);
    let resource = Value::from([("name", Value::from("cpu")), ("target", target)]);
    Value::from([("type", Value::from("Resource")), ("resource", resource)])
}

fn set_rules(rules: &mut Value, policies: Vec<Value>) {
    rules.set_default("selectPolicy", "Max");
    if rules.at("policies").is_null() {
        rules.set("policies", policies);
    }
}

fn policy(kind: &str, value: i64) -> Value {
    let mut policy = Value::from([("periodSeconds", 15), ("value", value)]);
    policy.set("type", kind);
    policy
}
