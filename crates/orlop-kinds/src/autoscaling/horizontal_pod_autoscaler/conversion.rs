//! HorizontalPodAutoscaler from `v1` to `v2` and back.
//!
//! After `pkg/apis/autoscaling/v1/conversion.go`. `v1` has a field for one metric, the use of
//! processors; other metrics, the behavior and most of the status go into annotations. As upstream,
//! `v1` cannot say everything: the metric with the field becomes the last one, a second such metric
//! is lost, and the type of a target follows from its values.

use orlop_machinery::{Map, Value};

use super::annotations::{self, BEHAVIOR, CONDITIONS, CURRENT_METRICS, METRICS};
use super::defaults;

/// Fields of a metric in `v2`, and what they are called in an annotation.
type Names = &'static [(&'static str, &'static str)];

/// The sources of metrics, with their names in a spec.
const SPEC_SOURCES: [(&str, Names); 5] = [
    (
        "object",
        &[
            ("describedObject", "target"),
            ("metric.name", "metricName"),
            ("metric.selector", "selector"),
            ("target.value", "targetValue"),
            ("target.averageValue", "averageValue"),
        ],
    ),
    (
        "pods",
        &[
            ("metric.name", "metricName"),
            ("metric.selector", "selector"),
            ("target.averageValue", "targetAverageValue"),
        ],
    ),
    (
        "resource",
        &[
            ("name", "name"),
            ("target.averageUtilization", "targetAverageUtilization"),
            ("target.averageValue", "targetAverageValue"),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", "name"),
            ("container", "container"),
            ("target.averageUtilization", "targetAverageUtilization"),
            ("target.averageValue", "targetAverageValue"),
        ],
    ),
    (
        "external",
        &[
            ("metric.name", "metricName"),
            ("metric.selector", "metricSelector"),
            ("target.value", "targetValue"),
            ("target.averageValue", "targetAverageValue"),
        ],
    ),
];

/// The same in a status.
const STATUS_SOURCES: [(&str, Names); 5] = [
    (
        "object",
        &[
            ("describedObject", "target"),
            ("metric.name", "metricName"),
            ("metric.selector", "selector"),
            ("current.value", "currentValue"),
            ("current.averageValue", "averageValue"),
        ],
    ),
    (
        "pods",
        &[
            ("metric.name", "metricName"),
            ("metric.selector", "selector"),
            ("current.averageValue", "currentAverageValue"),
        ],
    ),
    (
        "resource",
        &[
            ("name", "name"),
            ("current.averageUtilization", "currentAverageUtilization"),
            ("current.averageValue", "currentAverageValue"),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", "name"),
            ("container", "container"),
            ("current.averageUtilization", "currentAverageUtilization"),
            ("current.averageValue", "currentAverageValue"),
        ],
    ),
    (
        "external",
        &[
            ("metric.name", "metricName"),
            ("metric.selector", "metricSelector"),
            ("current.value", "currentValue"),
            ("current.averageValue", "currentAverageValue"),
        ],
    ),
];

const VERSION_1: &str = "autoscaling/v1";
const VERSION_2: &str = "autoscaling/v2";

/// Whether an object is in `v2` already.
pub(super) fn is_v2(object: &Value) -> bool {
    object.at("apiVersion").str() == VERSION_2
}

/// Turns an object of `v1` into `v2`.
pub(super) fn to_v2(object: &mut Value) {
    let annotation =
        |name: &str| object.path(&["metadata", "annotations"]).get(name).map(Value::str);
    let others = annotation(METRICS).and_then(|text| annotations::read_list("Metric", text));
    let behavior = annotation(BEHAVIOR).and_then(|text| annotations::read("Behavior", text));
    let current =
        annotation(CURRENT_METRICS).and_then(|text| annotations::read_list("MetricStatus", text));
    let conditions =
        annotation(CONDITIONS).and_then(|text| annotations::read_list("Condition", text));
    annotations::remove(object);
    object.set("apiVersion", VERSION_2);

    let spec = object.entry("spec");
    let cpu = spec.remove("targetCPUUtilizationPercentage").and_then(|target| target.as_int());
    let metrics = others.into_iter().flatten().map(|metric| metric_to_v2(&metric));
    let metrics: Vec<Value> = metrics.chain(cpu.map(defaults::cpu_metric)).collect();
    spec.set("metrics", metrics);
    defaults::set_metrics(spec);
    // One without rules is none.
    if let Some(behavior) =
        behavior.filter(|rules| rules.map().values().any(|rule| !rule.is_null()))
    {
        spec.set("behavior", in_small_letters(behavior));
    }
    let status = object.entry("status");
    status_to_v2(status, current, conditions);
}

/// Turns an object of `v2` into `v1`.
pub(super) fn to_v1(object: &mut Value) {
    annotations::remove(object);
    object.set("apiVersion", VERSION_1);
    let mut written = Vec::new();

    let spec = object.entry("spec");
    let metrics = spec.remove("metrics").unwrap_or_default();
    let cpu = metrics.list().iter().find_map(cpu_utilization);
    if let Some(cpu) = cpu {
        spec.set("targetCPUUtilizationPercentage", cpu);
    }
    let others = metrics.list().iter().filter(|metric| cpu_utilization(metric).is_none());
    let others: Vec<Value> = others.map(|metric| to_annotation(metric, &SPEC_SOURCES)).collect();
    if !others.is_empty() {
        written.push((METRICS, annotations::write_list("Metric", others)));
    }
    if let Some(behavior) = spec.remove("behavior").filter(|behavior| !behavior.is_null()) {
        written.push((BEHAVIOR, annotations::write("Behavior", behavior)));
    }
    status_to_v1(object.entry("status"), &mut written);
    for (name, text) in written {
        object.entry("metadata").entry("annotations").set(name, text);
    }
}

fn status_to_v2(status: &mut Value, current: Option<Vec<Value>>, conditions: Option<Vec<Value>>) {
    let cpu = status.remove("currentCPUUtilizationPercentage").and_then(|found| found.as_int());
    // An annotation knows more than the field.
    let metrics = match (current, cpu) {
        (Some(current), _) => {
            current.iter().map(|metric| from_annotation(metric, &STATUS_SOURCES)).collect()
        }
        (None, Some(cpu)) => vec![cpu_status(cpu)],
        (None, None) => Vec::new(),
    };
    // This field is always written, even if there is nothing in it.
    status.set("currentMetrics", Some(metrics).filter(|metrics| !metrics.is_empty()));
    if let Some(conditions) = conditions.filter(|conditions| !conditions.is_empty()) {
        status.set("conditions", conditions);
    }
    if status.at("currentReplicas").is_empty() {
        status.remove("currentReplicas");
    }
}

fn status_to_v1(status: &mut Value, written: &mut Vec<(&'static str, String)>) {
    let metrics = status.remove("currentMetrics").unwrap_or_default();
    // Of several the last one counts.
    let used =
        metrics.list().iter().rev().filter(|metric| is_cpu(metric)).find_map(|metric| {
            metric.path(&["resource", "current", "averageUtilization"]).as_int()
        });
    if let Some(used) = used {
        status.set("currentCPUUtilizationPercentage", used);
    }
    if !metrics.is_empty() {
        let metrics = metrics.list().iter();
        let metrics = metrics.map(|metric| to_annotation(metric, &STATUS_SOURCES)).collect();
        written.push((CURRENT_METRICS, annotations::write_list("MetricStatus", metrics)));
    }
    if let Some(Value::List(conditions)) = status.remove("conditions")
        && !conditions.is_empty()
    {
        written.push((CONDITIONS, annotations::write_list("Condition", conditions)));
    }
    for field in ["currentReplicas", "desiredReplicas"] {
        status.set_default(field, 0);
    }
}

/// Whether a metric is about processors.
fn is_cpu(metric: &Value) -> bool {
    metric.at("type").str() == "Resource" && metric.path(&["resource", "name"]).str() == "cpu"
}

/// The use of processors that a metric aims at, if it is one that `v1` has a field for.
fn cpu_utilization(metric: &Value) -> Option<i64> {
    let target = metric.path(&["resource", "target", "averageUtilization"]);
    target.as_int().filter(|_| is_cpu(metric))
}

fn cpu_status(utilization: i64) -> Value {
    let current = Value::from([("averageUtilization", utilization)]);
    let resource = Value::from([("name", Value::from("cpu")), ("current", current)]);
    Value::from([("type", Value::from("Resource")), ("resource", resource)])
}

fn to_annotation(metric: &Value, sources: &[(&str, Names)]) -> Value {
    let mut out = Value::from([("type", metric.at("type").clone())]);
    for (source, names) in sources {
        let known = metric.at(source);
        if known.is_null() {
            continue;
        }
        let into = out.entry(source);
        *into = Value::Map(Map::new());
        for (ours, theirs) in *names {
            let value = ours.split('.').fold(known, Value::at);
            if !value.is_null() {
                into.set(theirs, value.clone());
            }
        }
    }
    out
}

fn from_annotation(metric: &Value, sources: &[(&str, Names)]) -> Value {
    let mut out = Value::from([("type", metric.at("type").clone())]);
    for (source, names) in sources {
        let known = metric.at(source);
        if known.is_null() {
            continue;
        }
        let into = out.entry(source);
        for (ours, theirs) in *names {
            let value = known.at(theirs);
            if !value.is_null() {
                *ours.split('.').fold(&mut *into, Value::entry) = value.clone();
            }
        }
    }
    out
}

fn metric_to_v2(metric: &Value) -> Value {
    let mut metric = from_annotation(metric, &SPEC_SOURCES);
    for (source, _) in SPEC_SOURCES {
        let Some(source_value) = metric.get_mut(source) else { continue };
        let target = source_value.entry("target");
        let is_set = |field: &str| !target.at(field).is_null();
        let kind = match source {
            "object" if is_set("averageValue") => "AverageValue",
            "object" => "Value",
            "external" if is_set("value") => "Value",
            "resource" | "containerResource" if is_set("averageUtilization") => "Utilization",
            _ => "AverageValue",
        };
        target.set("type", kind);
        // The annotation cannot leave this out, and nobody aims at nothing.
        if source == "object" && kind == "AverageValue" && target.at("value").str() == "0" {
            target.remove("value");
        }
    }
    metric
}

/// Keys start with a small letter in `v2`. What is not there is not written.
fn in_small_letters(value: Value) -> Value {
    match value {
        Value::Map(map) => {
            let set = map.into_iter().filter(|(_, value)| !value.is_null());
            let entries = set.map(|(mut key, value)| {
                key[..1].make_ascii_lowercase();
                (key, in_small_letters(value))
            });
            Value::Map(entries.filter(|(_, value)| *value != Value::List(Vec::new())).collect())
        }
        Value::List(items) => Value::List(items.into_iter().map(in_small_letters).collect()),
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::{decode, json};
    use proptest::prelude::*;
    use proptest::strategy::Union;

    use super::*;
    use crate::schema;

    fn parse(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    /// In normal form.
    fn normal(version: &str, object: Value) -> Value {
        let name = format!("io.k8s.api.autoscaling.{version}.HorizontalPodAutoscaler");
        let id = schema().find(&name).unwrap();
        let decoded = decode::decode(schema(), id, object).unwrap();
        assert!(decoded.unknown.is_empty(), "{:?}", decoded.unknown);
        decoded.object
    }

    fn check_v2(object: &Value) {
        let mut converted = object.clone();
        to_v1(&mut converted);
        assert_eq!(converted, normal("v1", converted.clone()), "v1 is in normal form");
        to_v2(&mut converted);
        assert_eq!(&converted, object);
    }

    fn quantity() -> impl Strategy<Value = Value> {
        prop_oneof![Just("1"), Just("500m"), Just("2k"), Just("3Gi")].prop_map(Value::from)
    }

    fn name() -> impl Strategy<Value = Value> {
        "[a-z]{1,5}".prop_map(Value::from)
    }

    /// Fields that are there or are not.
    fn structure<const N: usize>(
        fields: [(&'static str, Option<BoxedStrategy<Value>>); N],
    ) -> BoxedStrategy<Value> {
        let parts: Vec<_> = fields
            .into_iter()
            .filter_map(|(key, value)| Some(value?.prop_map(move |value| (key, value))))
            .collect();
        let build = |parts: Vec<(&str, Value)>| {
            Value::Map(parts.into_iter().map(|(key, value)| (key.into(), value)).collect())
        };
        parts.prop_map(build).boxed()
    }

    fn text(value: &'static str) -> Option<BoxedStrategy<Value>> {
        Some(Just(Value::from(value)).boxed())
    }

    fn number() -> Option<BoxedStrategy<Value>> {
        Some((1i64..100).prop_map(Value::from).boxed())
    }

    fn amount() -> Option<BoxedStrategy<Value>> {
        Some(quantity().boxed())
    }

    fn word() -> Option<BoxedStrategy<Value>> {
        Some(name().boxed())
    }

    fn metric_name() -> Option<BoxedStrategy<Value>> {
        let expression = structure([("key", word()), ("operator", text("Exists"))]);
        let expressions = expression.prop_map(|expression| Value::from(vec![expression])).boxed();
        let selector = structure([("matchExpressions", Some(expressions))]);
        let with = structure([("name", word()), ("selector", Some(selector))]);
        Some(Union::new([structure([("name", word())]), with]).boxed())
    }

    fn reference() -> Option<BoxedStrategy<Value>> {
        Some(structure([("kind", word()), ("name", word()), ("apiVersion", text("a/v1"))]))
    }

    /// A metric, or what was measured of it: a type, its field, and what is in that.
    fn metric(
        kind: &'static str,
        field: &'static str,
        source: BoxedStrategy<Value>,
    ) -> BoxedStrategy<Value> {
        structure([("type", text(kind)), (field, Some(source))])
    }

    fn target(kind: &'static str, field: &'static str) -> Option<BoxedStrategy<Value>> {
        let value = if field == "averageUtilization" { number() } else { amount() };
        Some(structure([("type", text(kind)), (field, value)]))
    }

    fn metrics() -> impl Strategy<Value = Vec<Value>> {
        let mut kinds = Vec::new();
        for target_of in [target("Value", "value"), target("AverageValue", "averageValue")] {
            let object = [("describedObject", reference()), ("metric", metric_name())];
            let [described, named] = object;
            let source = structure([described, named, ("target", target_of.clone())]);
            kinds.push(metric("Object", "object", source));
            let source = structure([("metric", metric_name()), ("target", target_of)]);
            kinds.push(metric("External", "external", source));
        }
        for target_of in
            [target("Utilization", "averageUtilization"), target("AverageValue", "averageValue")]
        {
            let source = structure([("name", text("memory")), ("target", target_of.clone())]);
            kinds.push(metric("Resource", "resource", source));
            let source = [("name", text("cpu")), ("container", word()), ("target", target_of)];
            kinds.push(metric("ContainerResource", "containerResource", structure(source)));
        }
        let average = target("AverageValue", "averageValue");
        let source = structure([("metric", metric_name()), ("target", average)]);
        kinds.push(metric("Pods", "pods", source));
        let others = proptest::collection::vec(Union::new(kinds), 0..4);
        (others, proptest::option::of(1i64..100)).prop_map(|(mut others, cpu)| {
            others.extend(cpu.map(defaults::cpu_metric));
            if others.is_empty() {
                others.push(defaults::cpu_metric(80));
            }
            others
        })
    }

    fn statuses() -> impl Strategy<Value = Vec<Value>> {
        let current = |field| Some(structure([(field, amount())]));
        let used = structure([("averageValue", amount()), ("averageUtilization", number())]);
        let kinds = [
            metric(
                "Object",
                "object",
                structure([
                    ("describedObject", reference()),
                    ("metric", metric_name()),
                    ("current", current("value")),
                ]),
            ),
            metric(
                "External",
                "external",
                structure([("metric", metric_name()), ("current", current("value"))]),
            ),
            metric(
                "Pods",
                "pods",
                structure([("metric", metric_name()), ("current", current("averageValue"))]),
            ),
            metric(
                "Resource",
                "resource",
                structure([("name", text("cpu")), ("current", Some(used))]),
            ),
        ];
        proptest::collection::vec(Union::new(kinds), 0..3)
    }

    fn rules() -> BoxedStrategy<Value> {
        let policy = [("type", text("Pods")), ("value", number()), ("periodSeconds", number())];
        let policies = proptest::collection::vec(structure(policy), 1..3);
        let policies = policies.prop_map(Value::from).boxed();
        let full = structure([
            ("stabilizationWindowSeconds", number()),
            ("selectPolicy", text("Min")),
            ("policies", Some(policies)),
            ("tolerance", amount()),
        ]);
        Union::new([full, structure([("selectPolicy", text("Max"))])]).boxed()
    }

    fn object_of_v2() -> impl Strategy<Value = Value> {
        let down = structure([("scaleDown", Some(rules()))]);
        let both = structure([("scaleUp", Some(rules())), ("scaleDown", Some(rules()))]);
        let behavior = proptest::option::of(Union::new([down, both]));
        let condition =
            [("type", word()), ("status", text("True")), ("message", text("a <b> & \"c\""))];
        let conditions = proptest::collection::vec(structure(condition), 0..3);
        let parts = (metrics(), behavior, statuses(), conditions, 0i64..3, any::<bool>());
        parts.prop_map(|(metrics, behavior, statuses, conditions, replicas, has_annotation)| {
            let mut object = parse(
                r#"{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
                    "metadata": {"name": "a"}, "spec": {"minReplicas": 1, "maxReplicas": 3,
                    "scaleTargetRef": {"kind": "Deployment", "name": "b"}}}"#,
            );
            if has_annotation {
                object.entry("metadata").entry("annotations").set("a", "b");
            }
            let spec = object.entry("spec");
            spec.set("metrics", metrics);
            spec.set("behavior", behavior);
            let status = object.entry("status");
            status.set("currentMetrics", Some(statuses).filter(|list| !list.is_empty()));
            status.set("conditions", conditions);
            status.set("currentReplicas", replicas);
            normal("v2", object)
        })
    }

    proptest! {
        #[test]
        fn nothing_of_v2_is_lost_in_v1(object in object_of_v2()) {
            check_v2(&object);
        }

        #[test]
        fn nothing_of_v1_is_lost_in_v2(
            target in 1i64..100,
            used in proptest::option::of(0i64..100),
            annotation in proptest::option::of("[a-z]{3}"),
        ) {
            let mut object = parse(
                r#"{"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
                    "metadata": {"name": "a"}, "spec": {"minReplicas": 1, "maxReplicas": 3,
                    "scaleTargetRef": {"kind": "Deployment", "name": "b"}}}"#,
            );
            object.entry("spec").set("targetCPUUtilizationPercentage", target);
            object.entry("status").set("currentCPUUtilizationPercentage", used);
            if let Some(annotation) = annotation {
                object.entry("metadata").entry("annotations").set(&annotation, "value");
            }
            let object = normal("v1", object);
            let mut converted = object.clone();
            to_v2(&mut converted);
            prop_assert_eq!(&converted, &normal("v2", converted.clone()));
            let as_v2 = converted.clone();
            to_v1(&mut converted);
            // What was measured is now in an annotation too.
            let mut without = converted.clone();
            annotations::remove(&mut without);
            prop_assert_eq!(&without, &object);
            // And from then on nothing changes but that nothing is now a number.
            let again = converted.clone();
            to_v2(&mut converted);
            if used.is_none() {
                prop_assert_eq!(&converted, &as_v2);
            }
            to_v1(&mut converted);
            prop_assert_eq!(converted, again);
        }
    }

    #[test]
    fn annotations_are_those_of_upstream() {
        let mut object = parse(
            r#"{"apiVersion": "autoscaling/v2", "metadata": {"annotations": {"a": "b",
                "autoscaling.alpha.kubernetes.io/conditions": "old"}}, "spec": {"metrics": [
                {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization",
                    "averageUtilization": 50}}},
                {"type": "Pods", "pods": {"metric": {"name": "requests"}, "target":
                    {"type": "AverageValue", "averageValue": "100"}}}],
                "behavior": {"scaleDown": {"selectPolicy": "Disabled"}}}}"#,
        );
        to_v1(&mut object);
        let annotations = object.path(&["metadata", "annotations"]);
        let keys: Vec<&str> = annotations.map().keys().collect();
        assert_eq!(keys, ["a", BEHAVIOR, METRICS]);
        let behavior = concat!(
            r#"{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"#,
            r#""SelectPolicy":"Disabled","Policies":null,"Tolerance":null}}"#
        );
        assert_eq!(annotations.at(BEHAVIOR).str(), behavior);
        let metrics = concat!(
            r#"[{"type":"Pods","pods":{"metricName":"requests","#,
            r#""targetAverageValue":"100"}}]"#
        );
        assert_eq!(annotations.at(METRICS).str(), metrics);
        object.remove("metadata");
        let expect = parse(
            r#"{"apiVersion": "autoscaling/v1", "spec": {"targetCPUUtilizationPercentage": 50},
                "status": {"currentReplicas": 0, "desiredReplicas": 0}}"#,
        );
        assert_eq!(object, expect);
    }

    #[test]
    fn annotations_that_cannot_be_read_count_as_none() {
        let mut object = parse(
            r#"{"apiVersion": "autoscaling/v1", "metadata": {"annotations": {
                "autoscaling.alpha.kubernetes.io/metrics": "[",
                "autoscaling.alpha.kubernetes.io/behavior": "{}",
                "autoscaling.alpha.kubernetes.io/conditions": "1",
                "autoscaling.alpha.kubernetes.io/current-metrics": "{}"}}}"#,
        );
        to_v2(&mut object);
        let expect = parse(
            r#"{"apiVersion": "autoscaling/v2", "metadata": {}, "spec": {"metrics": [
                {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization",
                    "averageUtilization": 80}}}]}, "status": {"currentMetrics": null}}"#,
        );
        assert_eq!(object, expect);
    }
}
