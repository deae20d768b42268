//! How well a pod is served when its node runs short: guaranteed, burstable, or best effort.
//!
//! After `pkg/apis/core/helper/qos/qos.go`. Only processors and memory count, and amounts of
//! nothing do not.

use std::collections::BTreeMap;

use orlop_machinery::quantity::Quantity;
use orlop_machinery::{Str, Value};

use crate::rules::resource_list::quantity;

const COUNTED: [&str; 2] = ["cpu", "memory"];

/// Sums by name.
type Amounts = BTreeMap<&'static str, Quantity>;

/// The class that the status has, or else the one that the spec makes.
pub(super) fn of_pod(pod: &Value) -> Str {
    match pod.path(&["status", "qosClass"]).str() {
        "" => Str::const_new(of_spec(pod.at("spec"))),
        class => Str::from(class),
    }
}

/// The class that a spec makes. What the pod asks for as a whole counts before what its
/// containers ask for.
pub(super) fn of_spec(spec: &Value) -> &'static str {
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut is_limited = true;
    if let Some(resources) = spec.get("resources") {
        add(&mut requests, resources.at("requests"));
        let counted = add(&mut limits, resources.at("limits"));
        is_limited = resources.at("limits").is_empty() || counted == COUNTED.len();
    } else {
        let containers = spec.at("containers").list().iter();
        for container in containers.chain(spec.at("initContainers").list()) {
            let resources = container.at("resources");
            add(&mut requests, resources.at("requests"));
            is_limited &= add(&mut limits, resources.at("limits")) == COUNTED.len();
        }
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if is_limited && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// How many of the amounts count.
fn add(sums: &mut Amounts, amounts: &Value) -> usize {
    let mut counted = 0;
    for name in COUNTED {
        let amount = quantity(amounts.at(name));
        if amount.sign() > 0 {
            sums.entry(name).and_modify(|sum| sum.add(amount)).or_insert(amount);
            counted += 1;
        }
    }
    counted
}
