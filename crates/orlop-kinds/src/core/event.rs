//! Event: what happened to an object. One hour to live.
//!
//! The same object is served by `events.k8s.io/v1` with other names for some of its fields; it is
//! kept in the form of this version. After `pkg/registry/core/event` and
//! `pkg/apis/core/validation/events.go`.

use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::kind::{
    Column, Context, GarbageCollection, Kind, Resource, Row, Rules, Selectable,
};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;
use orlop_machinery::value::Str;

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: Event = Event;

/// The kind.
pub(crate) struct Event;

const TEXT_MAX: usize = 128;
const MESSAGE_MAX: usize = 1024;

pub(crate) static COLUMNS: &[Column] = &[
    Column::text("Last Seen"),
    Column::text("Type"),
    Column::text("Reason"),
    Column::text("Object"),
    Column::text("Subobject").wide(),
    Column::text("Source").wide(),
    Column::text("Message"),
    Column::text("First Seen").wide(),
    Column::text("Count").wide(),
    Column { name: "Name", ty: "string", format: "name", priority: 1 },
];

impl Kind for Event {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Event", "events", PACKAGE).short(&["ev"])
    }

    fn expires(&self) -> bool {
        true
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_path_segment
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
        COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        row(context, object)
    }
}

impl Rules for Event {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate(object, "reportingComponent", errors);
    }
}

const SELECTABLE: [Selectable; 11] = [
    Selectable { name: "involvedObject.kind", get: |event| involved(event, "kind") },
    Selectable { name: "involvedObject.namespace", get: |event| involved(event, "namespace") },
    Selectable { name: "involvedObject.name", get: |event| involved(event, "name") },
    Selectable { name: "involvedObject.uid", get: |event| involved(event, "uid") },
    Selectable { name: "involvedObject.apiVersion", get: |event| involved(event, "apiVersion") },
    Selectable {
        name: "involvedObject.resourceVersion",
        get: |event| involved(event, "resourceVersion"),
    },
    Selectable { name: "involvedObject.fieldPath", get: |event| involved(event, "fieldPath") },
    Selectable { name: "reason", get: |event| Str::new(event.at("reason").str()) },
    Selectable {
        name: "reportingComponent",
        get: |event| Str::new(event.at("reportingComponent").str()),
    },
    Selectable { name: "source", get: source },
    Selectable { name: "type", get: |event| Str::new(event.at("type").str()) },
];

fn involved(event: &Value, field: &str) -> Str {
    Str::new(event.at("involvedObject").at(field).str())
}

fn source(event: &Value) -> Str {
    let component = event.path(&["source", "component"]).str();
    Str::new(first_of(component, event.at("reportingComponent").str()))
}

fn first_of<'a>(first: &'a str, second: &'a str) -> &'a str {
    if first.is_empty() { second } else { first }
}

/// The rules of an event in the form of this version. `controller` is what the version of the
/// request calls the field with the reporting controller.
pub(crate) fn validate(event: &Node<'_>, controller: &'static str, errors: &mut Errors) {
    let namespace = event.value().path(&["metadata", "namespace"]).str();
    let involved = event.at("involvedObject");
    let involved = involved.at("namespace");
    let is_old = !event.at("eventTime").is_set();
    let is_matching = match (involved.str(), is_old) {
        ("", true) => matches!(namespace, "" | "default"),
        ("", false) => matches!(namespace, "default" | "kube-system"),
        (involved, true) => involved == namespace,
        (_, false) => true,
    };
    if !is_matching {
        errors.invalid(&involved, "does not match event.namespace");
    }
    if !is_old {
        validate_reporting(event, controller, errors);
    }
    for message in names::dns_subdomain(namespace) {
        errors.invalid_value(&Path::field("namespace"), namespace, message);
    }
}

/// Events with a time of their own say who reports, and what was done.
fn validate_reporting(event: &Node<'_>, controller: &'static str, errors: &mut Errors) {
    let name = event.at("reportingComponent");
    let at = Path::field(controller);
    if name.is_empty() {
        errors.required(&at, "");
    }
    for message in names::qualified_name(name.str()) {
        errors.invalid_value(&at, name.str(), message);
    }
    for field in ["reportingInstance", "action", "reason"] {
        if event.at(field).is_empty() {
            errors.required(&event.at(field), "");
        }
        validate_length(&event.at(field), TEXT_MAX, errors);
    }
    validate_length(&event.at("message"), MESSAGE_MAX, errors);
}

fn validate_length(text: &Node<'_>, max: usize, errors: &mut Errors) {
    if text.str().len() > max {
        errors.invalid_value(text, "", format!("can have at most {max} characters"));
    }
}

/// The cells of an event in the form of this version.
pub(crate) fn row(context: &Context<'_>, event: &Value) -> Row {
    let first = match event.at("firstTimestamp") {
        Value::Null => context.since(event.at("eventTime")),
        first => context.since(first),
    };
    let series = event.at("series");
    let (last, count) = match (series, event.at("lastTimestamp")) {
        (Value::Null, Value::Null) => (first.clone(), event.at("count").int().max(1)),
        (Value::Null, last) => (context.since(last), event.at("count").int().max(1)),
        (series, _) => (context.since(series.at("lastObservedTime")), series.at("count").int()),
    };
    let involved = event.at("involvedObject");
    let kind = involved.at("kind").str().to_lowercase();
    let target = match involved.at("name").str() {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let instance =
        first_of(event.path(&["source", "host"]).str(), event.at("reportingInstance").str());
    let source = match (source(event), instance) {
        (source, "") => source.to_string(),
        (source, instance) => format!("{source}, {instance}"),
    };
    Row::new(vec![
        last.into(),
        event.at("type").str().into(),
        event.at("reason").str().into(),
        target.into(),
        involved.at("fieldPath").str().into(),
        source.into(),
        event.at("message").str().trim().into(),
        first.into(),
        count.into(),
        event.path(&["metadata", "name"]).clone(),
    ])
}
