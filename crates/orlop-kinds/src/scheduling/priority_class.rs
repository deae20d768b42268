//! PriorityClass: a name for how important a pod is.
//!
//! After `pkg/registry/scheduling/priorityclass`, `pkg/apis/scheduling/validation` and
//! `pkg/apis/scheduling/v1`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::meta;
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::generation;
use crate::rules::preemption_policy::validate_preemption_policy;

pub(crate) static KIND: PriorityClass = PriorityClass;

/// The kind.
pub(crate) struct PriorityClass;

const USER_VALUE_MAX: i64 = 1_000_000_000;
const SYSTEM_PREFIX: &str = "system-";
/// The classes that may have the prefix, with the only value that each may have.
const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

impl Kind for PriorityClass {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "PriorityClass", "priorityclasses", PACKAGE).short(&["pc"])
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.scheduling.v1.PriorityClass", |class| {
            class.set_default("preemptionPolicy", "PreemptLowerPriority");
        })]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::integer("Value"),
                Column::boolean("Global-Default"),
                Column::AGE,
                Column::text("PreemptionPolicy"),
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.at("value").int().into(),
            object.at("globalDefault").bool().into(),
            context.age(object).into(),
            object.at("preemptionPolicy").str().into(),
        ])
    }
}

impl Rules for PriorityClass {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let metadata = object.at("metadata");
        let (name, value) = (metadata.at("name"), object.at("value"));
        if name.str().starts_with(SYSTEM_PREFIX) {
            let wrong = what_is_wrong_with_system_class(
                name.str(),
                value.int(),
                object.at("globalDefault").bool(),
            );
            if let Some(wrong) = wrong {
                let detail = format!(
                    "priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system \
                     use only. error: {wrong}"
                );
                errors.forbidden(&name, detail);
            }
        } else if value.int() > USER_VALUE_MAX {
            let detail =
                format!("maximum allowed value of a user defined priority is {USER_VALUE_MAX}");
            errors.forbidden(&value, detail);
        }
        validate_preemption_policy(&object.at("preemptionPolicy"), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        if new.at("value").int() != old.at("value").int() {
            errors.forbidden(&new.at("value"), "may not be changed in an update.");
        }
        meta::validate_immutable(&new.at("preemptionPolicy"), &old.at("preemptionPolicy"), errors);
    }
}

fn what_is_wrong_with_system_class(name: &str, value: i64, is_default: bool) -> Option<String> {
    let Some((_, expected)) = SYSTEM_CLASSES.iter().find(|(known, _)| *known == name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if value != *expected {
        return Some(format!("value of {name} PriorityClass must be {expected}"));
    }
    is_default.then(|| format!("globalDefault of {name} PriorityClass must be false"))
}
