//! The object that is measured, and what a server does with it.

#![allow(dead_code, reason = "two programs use this, each its part")]

use orlop_kinds::catalog::{Entry, catalog};
use orlop_kinds::schema;
use orlop_machinery::apply::{FieldManager, Typing};
use orlop_machinery::field::Errors;
use orlop_machinery::kind::Context;
use orlop_machinery::time::Time;
use orlop_machinery::{Value, decode, encode, json, meta};

pub(crate) const POD: &str = include_str!("pod.json");
/// What somebody applies on top of the Pod.
pub(crate) const APPLIED: &str = r#"{"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "checkout-6d8f7c9b5d-x7k2p", "namespace": "shop",
        "labels": {"tier": "backend"}},
    "spec": {"containers": [
            {"name": "checkout", "image": "registry.example.com/shop/checkout:v42"}],
        "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "shop",
            "effect": "NoSchedule"}]}}"#;
pub(crate) const PATCH: &str = r#"{"metadata": {"labels": {"tier": "backend"}},
    "spec": {"containers": [
        {"name": "checkout", "image": "registry.example.com/shop/checkout:v42",
        "env": [{"name": "LOG_LEVEL", "value": "debug"}]}]}}"#;
pub(crate) const NOW: Time = Time::from_unix(1_767_225_600);

pub(crate) fn pod_kind() -> &'static Entry {
    catalog().find_kind("v1", "Pod").expect("there are pods")
}

pub(crate) fn manager(entry: &Entry) -> FieldManager<'static> {
    let typing = Typing::Struct(schema(), entry.id);
    FieldManager::new(typing, &entry.resource.api_version(), &entry.resource.kind)
}

pub(crate) fn decoded(entry: &Entry, text: &str) -> Value {
    let value = json::parse(text.as_bytes()).expect("it is JSON");
    decode::decode(schema(), entry.id, value).expect("it is a Pod").object
}

pub(crate) fn defaulted(entry: &Entry, text: &str) -> Value {
    let mut pod = decoded(entry, text);
    catalog().set_defaults(entry, &mut pod);
    pod
}

pub(crate) fn validate(entry: &Entry, object: &Value) -> Errors {
    let mut errors = Errors::new();
    let node = entry.node(object);
    let name_rule = entry.kind.name_rule();
    meta::validate_object_meta(&node.at("metadata"), entry.resource.scope, name_rule, &mut errors);
    entry.kind.validate(&Context::default(), &node, &mut errors);
    assert!(errors.is_empty(), "the Pod is valid: {errors}");
    errors
}

/// What the server does with a new object, without admission and the store.
pub(crate) fn create(entry: &Entry, manager: &FieldManager<'_>, text: &str) -> Vec<u8> {
    let mut pod = decoded(entry, text);
    catalog().set_defaults(entry, &mut pod);
    entry.kind.prepare_create(&Context::default(), &mut pod);
    drop(validate(entry, &pod));
    let pod = manager.update(&Value::Null, pod, "kubectl", NOW);
    encode::to_vec(schema(), entry.id, &pod)
}
