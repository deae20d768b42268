//! Event: the object of core/v1 under newer names, with stricter rules.
//!
//! After `pkg/apis/events/v1/conversion.go` and `pkg/apis/core/validation/events.go`. Errors name
//! fields as core/v1 does, because upstream checks that form.

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::kind::{
    Column, Context, GarbageCollection, Kind, Resource, Row, Rules, Selectable,
};
use orlop_machinery::meta;
use orlop_machinery::node::Node;
use orlop_machinery::value::Str;
use orlop_machinery::{Map, Value};

use super::{GROUP_VERSION, PACKAGE};
use crate::core::event as core_event;

pub(crate) static KIND: Event = Event;

/// The kind.
pub(crate) struct Event;

/// Fields that have another name than in core/v1: here, there.
const RENAMED: [(&str, &str); 7] = [
    ("deprecatedCount", "count"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedSource", "source"),
    ("note", "message"),
    ("regarding", "involvedObject"),
    ("reportingController", "reportingComponent"),
];

/// What an update cannot change, by the names of core/v1; `reason` is reported twice upstream too.
const IMMUTABLE: [&str; 14] = [
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingController",
    "reportingInstance",
];

impl Kind for Event {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Event", "events", PACKAGE).short(&["ev"])
    }

    fn expires(&self) -> bool {
        true
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    fn garbage_collection(&self) -> GarbageCollection {
        GarbageCollection::Unsupported
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        const { &SELECTABLE }
    }

    fn columns(&self) -> &'static [Column] {
        core_event::COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        core_event::row(context, &as_core(object))
    }

    fn to_storage(&self, object: &mut Value) {
        rename(object, RENAMED.iter().copied());
        object.set("apiVersion", "v1");
        // core/v1 writes these whether they are set or not.
        for field in ["involvedObject", "source"] {
            object.set_default(field, Map::new());
        }
        for field in ["reportingComponent", "reportingInstance"] {
            object.set_default(field, "");
        }
    }

    fn from_storage(&self, object: &mut Value) {
        rename(object, RENAMED.iter().map(|&(here, there)| (there, here)));
        object.set("apiVersion", "events.k8s.io/v1");
        for field in ["reportingController", "reportingInstance"] {
            if object.at(field).is_empty() {
                object.remove(field);
            }
        }
    }
}

impl Rules for Event {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let core = as_core(object.value());
        let event = Node::root(&core);
        core_event::validate(&event, "reportingController", errors);
        validate_series(&event, errors);
        if !event.at("eventTime").is_set() {
            errors.required(&event.at("eventTime"), "");
        }
        let ty = event.at("type");
        if !matches!(ty.str(), "Normal" | "Warning") {
            errors.invalid_value(&ty, "", format!("has invalid value: {}", ty.str()));
        }
        for field in ["firstTimestamp", "lastTimestamp", "count"] {
            if !event.at(field).is_empty() {
                errors.invalid_value(&event.at(field), "", "needs to be unset");
            }
        }
        let source = event.at("source");
        if !source.at("component").is_empty() || !source.at("host").is_empty() {
            errors.invalid_value(&source, "", "needs to be unset");
        }
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (new, old) = (as_core(new.value()), as_core(old.value()));
        let (new, old) = (Node::root(&new), Node::root(&old));
        core_event::validate(&new, "reportingController", errors);
        if new.at("series").value() != old.at("series").value() {
            validate_series(&new, errors);
        }
        for field in IMMUTABLE {
            let kept = if field == "reportingController" { "reportingComponent" } else { field };
            let at = Path::field(field);
            let new = Node::new(new.value().at(kept), at);
            let old = Node::new(old.value().at(kept), at);
            meta::validate_immutable(&new, &old, errors);
        }
    }
}

const SELECTABLE: [Selectable; 10] = [
    Selectable { name: "reason", get: |event| Str::new(event.at("reason").str()) },
    Selectable { name: "regarding.kind", get: |event| regarding(event, "kind") },
    Selectable { name: "regarding.namespace", get: |event| regarding(event, "namespace") },
    Selectable { name: "regarding.name", get: |event| regarding(event, "name") },
    Selectable { name: "regarding.uid", get: |event| regarding(event, "uid") },
    Selectable { name: "regarding.apiVersion", get: |event| regarding(event, "apiVersion") },
    Selectable {
        name: "regarding.resourceVersion",
        get: |event| regarding(event, "resourceVersion"),
    },
    Selectable { name: "regarding.fieldPath", get: |event| regarding(event, "fieldPath") },
    Selectable {
        name: "reportingController",
        get: |event| Str::new(event.at("reportingController").str()),
    },
    Selectable { name: "type", get: |event| Str::new(event.at("type").str()) },
];

fn regarding(event: &Value, field: &str) -> Str {
    Str::new(event.at("regarding").at(field).str())
}

fn as_core(event: &Value) -> Value {
    let mut core = event.clone();
    KIND.to_storage(&mut core);
    core
}

fn rename<'a>(object: &mut Value, names: impl Iterator<Item = (&'a str, &'a str)>) {
    for (from, to) in names {
        if let Some(value) = object.remove(from) {
            object.set(to, value);
        }
    }
}

fn validate_series(event: &Node<'_>, errors: &mut Errors) {
    let series = event.at("series");
    if !series.is_set() {
        return;
    }
    if series.at("count").int() < 2 {
        errors.invalid_value(&series.at("count"), "", "should be at least 2");
    }
    if !series.at("lastObservedTime").is_set() {
        errors.required(&series.at("lastObservedTime"), "");
    }
}
