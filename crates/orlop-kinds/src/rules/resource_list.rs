//! Amounts of resources by name: what `limits`, `requests`, `capacity` and their like hold.
//!
//! After `SetDefaults_ResourceList` in `pkg/apis/core/v1/defaults.go` and the sums in
//! `staging/src/k8s.io/component-helpers/resource/helpers.go`.

use std::collections::BTreeMap;

use orlop_machinery::Value;
use orlop_machinery::quantity::{MILLI, Quantity};
use orlop_machinery::value::Str;

/// Amounts by name.
pub(crate) type Amounts<'a> = BTreeMap<&'a str, Quantity>;

/// Rounds the amounts in fields of a struct up to thousandths, as upstream sets the defaults of
/// every such list.
pub(crate) fn round_up_fields(value: &mut Value, fields: &[&str]) {
    for field in fields {
        if let Some(Value::Map(amounts)) = value.get_mut(field) {
            amounts.iter_mut().for_each(|(_, amount)| round_up(amount));
        }
    }
}

/// An amount of an object, which was checked when the object was read.
pub(crate) fn quantity(value: &Value) -> Quantity {
    Quantity::from_value(value).unwrap_or_default()
}

/// An amount as an object holds it.
pub(crate) fn text(amount: Quantity) -> Value {
    Value::String(Str::from(amount.to_string()))
}

/// What the containers of a pod need together of what stands in `field` (`requests` or `limits`)
/// of their resources: all that run at the same time, or a single init container if that is more.
///
/// An init container runs along with the sidecars that were started before it. Each amount is
/// looked at once, however many containers there are.
pub(crate) fn sum_of_containers<'a>(spec: &'a Value, field: &str) -> Amounts<'a> {
    let of = |container: &'a Value| {
        let amounts = container.path(&["resources", field]).map().iter();
        amounts.map(|(name, amount)| (name, quantity(amount)))
    };
    let mut sum = Amounts::new();
    for (name, amount) in spec.at("containers").list().iter().flat_map(of) {
        add(&mut sum, name, amount);
    }
    let mut sidecars = Amounts::new();
    let mut greatest = Amounts::new();
    for container in spec.at("initContainers").list() {
        let is_sidecar = container.at("restartPolicy").str() == "Always";
        for (name, amount) in of(container) {
            let mut together = amount;
            if is_sidecar {
                add(&mut sum, name, amount);
                together = add(&mut sidecars, name, amount);
            } else if let Some(beside) = sidecars.get(name) {
                together.add(*beside);
            }
            take_greater(&mut greatest, name, together);
        }
    }
    for (name, amount) in greatest {
        take_greater(&mut sum, name, amount);
    }
    sum
}

fn add<'a>(sums: &mut Amounts<'a>, name: &'a str, amount: Quantity) -> Quantity {
    let sum = sums.entry(name).and_modify(|sum| sum.add(amount)).or_insert(amount);
    *sum
}

fn take_greater<'a>(amounts: &mut Amounts<'a>, name: &'a str, other: Quantity) {
    let amount = amounts.entry(name).or_insert(other);
    if other > *amount {
        *amount = other;
    }
}

fn round_up(amount: &mut Value) {
    let mut rounded = quantity(amount);
    // What needs no rounding keeps the text that it has.
    if !rounded.round_up(MILLI) {
        *amount = text(rounded);
    }
}

#[cfg(test)]
mod tests {
    use orlop_machinery::json;

    use super::*;

    #[test]
    fn amounts_are_rounded_up_to_thousandths() {
        let mut value: Value = [("cpu", "1.0001"), ("memory", "1Gi"), ("tiny", "-1u")].into();
        value = [("limits", value)].into();
        round_up_fields(&mut value, &["limits", "requests"]);
        let expect = r#"{"limits":{"cpu":"1001m","memory":"1Gi","tiny":"-1m"}}"#;
        assert_eq!(json::to_string(&value), expect);
    }

    fn check(spec: &str, expect: &str) {
        let spec = json::parse(spec.as_bytes()).expect("JSON");
        let sum = sum_of_containers(&spec, "requests");
        let sum: Vec<String> = sum.iter().map(|(name, sum)| format!("{name}={sum}")).collect();
        assert_eq!(sum.join(" "), expect);
    }

    #[test]
    fn containers_run_together_and_init_containers_one_by_one() {
        let container = |cpu: &str| format!(r#"{{"resources":{{"requests":{{"cpu":"{cpu}"}}}}}}"#);
        let sidecar = container("2").replacen('{', r#"{"restartPolicy":"Always","#, 1);
        let (one, three, nine) = (container("1"), container("3"), container("9"));
        check(&format!(r#"{{"containers":[{one},{three}]}}"#), "cpu=4");
        let with_init =
            |init: &str| format!(r#"{{"containers":[{one},{three}],"initContainers":[{init}]}}"#);
        check(&with_init(&three), "cpu=4");
        check(&with_init(&nine), "cpu=9");
        check(&with_init(&sidecar), "cpu=6");
        check(&with_init(&format!("{sidecar},{nine}")), "cpu=11");
        check(&with_init(&format!("{nine},{sidecar}")), "cpu=9");
    }
}
