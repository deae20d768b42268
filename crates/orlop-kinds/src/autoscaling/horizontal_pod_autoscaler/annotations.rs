//! What `autoscaling/v1` has no fields for, as JSON in annotations.
//!
//! The structs are those of `staging/src/k8s.io/api/autoscaling/v1/types.go` that no field of `v1`
//! has, and, for the behavior, those of `pkg/apis/autoscaling/types.go`, whose names start with a
//! capital. Keys are read in any case, as Go's `encoding/json` does. An annotation that cannot be
//! read counts as if it were not there.

use std::sync::LazyLock;

use orlop_machinery::schema::{Schema, Type, parse};
use orlop_machinery::{Value, decode, encode, json};

/// Metrics that are no use of processors.
pub(super) const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
/// What was measured.
pub(super) const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
/// How fast to scale.
pub(super) const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
/// How it goes.
pub(super) const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

/// All that there are. The last two are of versions that are gone.
const ALL: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    BEHAVIOR,
    CONDITIONS,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// The structs of the annotations, in the form of the texts beside `schema.rs`.
const STRUCTS: &str = "\
package annotation
Metric
 type string -
 object *ObjectMetric - omit
 pods *PodsMetric - omit
 resource *ResourceMetric - omit
 containerResource *ContainerResourceMetric - omit
 external *ExternalMetric - omit
ObjectMetric
 target Reference -
 metricName string -
 targetValue quantity -
 selector *Selector - omit
 averageValue *quantity - omit
PodsMetric
 metricName string -
 targetAverageValue quantity -
 selector *Selector - omit
ResourceMetric
 name string -
 targetAverageUtilization *int32 - omit
 targetAverageValue *quantity - omit
ContainerResourceMetric
 name string -
 targetAverageUtilization *int32 - omit
 targetAverageValue *quantity - omit
 container string -
ExternalMetric
 metricName string -
 metricSelector *Selector - omit
 targetValue *quantity - omit
 targetAverageValue *quantity - omit
MetricStatus
 type string -
 object *ObjectStatus - omit
 pods *PodsStatus - omit
 resource *ResourceStatus - omit
 containerResource *ContainerResourceStatus - omit
 external *ExternalStatus - omit
ObjectStatus
 target Reference -
 metricName string -
 currentValue quantity -
 selector *Selector - omit
 averageValue *quantity - omit
PodsStatus
 metricName string -
 currentAverageValue quantity -
 selector *Selector - omit
ResourceStatus
 name string -
 currentAverageUtilization *int32 - omit
 currentAverageValue quantity -
ContainerResourceStatus
 name string -
 currentAverageUtilization *int32 - omit
 currentAverageValue quantity -
 container string -
ExternalStatus
 metricName string -
 metricSelector *Selector - omit
 currentValue quantity -
 currentAverageValue *quantity - omit
Condition
 type string -
 status string -
 lastTransitionTime time - omit
 reason string - omit
 message string - omit
Behavior
 ScaleUp *Rules -
 ScaleDown *Rules -
Rules
 StabilizationWindowSeconds *int32 -
 SelectPolicy *string -
 Policies [Policy] - list=atomic
 Tolerance *quantity -
Policy
 Type string -
 Value int32 -
 PeriodSeconds int32 -
Reference
 kind string -
 name string -
 apiVersion string - omit
Selector
 matchLabels {string} - omit
 matchExpressions [Requirement] - omit list=atomic
Requirement
 key string -
 operator string -
 values [string] - omit list=atomic
";

/// Takes all of these annotations out.
pub(super) fn remove(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata") else { return };
    let Some(annotations) = metadata.get_mut("annotations") else { return };
    for name in ALL {
        annotations.remove(name);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// The JSON of a struct.
pub(super) fn write(kind: &str, value: Value) -> String {
    let mut out = Vec::new();
    write_struct(kind, value, &mut out);
    String::from_utf8(out).expect("JSON is text")
}

/// The JSON of a list of structs.
pub(super) fn write_list(kind: &str, items: Vec<Value>) -> String {
    let mut out = vec![b'['];
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_struct(kind, item, &mut out);
    }
    out.push(b']');
    String::from_utf8(out).expect("JSON is text")
}

/// A struct in normal form; none when the text is not one.
pub(super) fn read(kind: &str, text: &str) -> Option<Value> {
    read_struct(kind, json::parse(text.as_bytes()).ok()?)
}

/// A list of structs in normal form; none when the text is not one.
pub(super) fn read_list(kind: &str, text: &str) -> Option<Vec<Value>> {
    match json::parse(text.as_bytes()).ok()? {
        Value::Null => Some(Vec::new()),
        Value::List(items) => items.into_iter().map(|item| read_struct(kind, item)).collect(),
        _ => None,
    }
}

fn structs() -> &'static Schema {
    static STRUCTS_READ: LazyLock<Schema> = LazyLock::new(|| {
        parse(&[STRUCTS]).expect("the text is part of the program and was tested")
    });
    &STRUCTS_READ
}

/// Writes what Go would, in its order. What cannot be told in this struct is not.
fn write_struct(kind: &str, value: Value, out: &mut Vec<u8>) {
    let normal = read_struct(kind, value).unwrap_or_default();
    let ty = type_of(kind);
    if let Type::Struct(id) = ty {
        encode::write(structs(), id, &normal, out);
    }
}

fn read_struct(kind: &str, mut value: Value) -> Option<Value> {
    let ty = type_of(kind);
    spell_keys(&ty, &mut value);
    let Type::Struct(id) = ty else { return None };
    decode::decode(structs(), id, value).ok().map(|decoded| decoded.object)
}

fn type_of(kind: &str) -> Type {
    let id = structs().find(&format!("annotation.{kind}"));
    Type::Struct(id.expect("only structs of the text above are asked for"))
}

/// Spells keys as the structs do. The structs are not nested in themselves, so this ends.
fn spell_keys(ty: &Type, value: &mut Value) {
    match (ty, value) {
        (Type::List(list), Value::List(items)) => {
            items.iter_mut().for_each(|item| spell_keys(&list.item, item));
        }
        (Type::Struct(id), Value::Map(map)) => {
            let known = structs().get(*id);
            let given = std::mem::take(map);
            for (key, mut value) in given {
                let field = known.fields.iter().find(|field| field.name.eq_ignore_ascii_case(&key));
                if let Some(field) = field {
                    spell_keys(&field.ty, &mut value);
                    map.insert(field.name.clone(), value);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, text: &str, expect: &str) {
        let seen =
            read_list(kind, text).map_or("nothing".to_owned(), |items| write_list(kind, items));
        assert_eq!(seen, expect, "{text}");
    }

    #[test]
    fn what_go_writes_is_written() {
        check("Metric", "null", "[]");
        check(
            "Metric",
            r#"[{"pods":{"metricName":"requests"},"TYPE":"Pods","more":1}]"#,
            r#"[{"type":"Pods","pods":{"metricName":"requests","targetAverageValue":"0"}}]"#,
        );
        check(
            "Metric",
            r#"[{"object": {"averageValue": 1500, "target": {"name": "a", "kind": "B"}},
                "type": "Object"}]"#,
            concat!(
                r#"[{"type":"Object","object":{"target":{"kind":"B","name":"a"},"metricName":"","#,
                r#""targetValue":"0","averageValue":"1500"}}]"#
            ),
        );
        check(
            "Behavior",
            r#"[{"scaleup":{"policies":[{"value":1}],"tolerance":"0.1"}}]"#,
            concat!(
                r#"[{"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":null,"#,
                r#""Policies":[{"Type":"","Value":1,"PeriodSeconds":0}],"Tolerance":"100m"},"#,
                r#""ScaleDown":null}]"#
            ),
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_there() {
        for text in
            ["", "{}", "[", "1", r#"[{"type":1}]"#, r#"[{"pods":{"targetAverageValue":"x"}}]"#]
        {
            check("Metric", text, "nothing");
        }
    }
}
