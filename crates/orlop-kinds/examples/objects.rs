//! Reads, checks, changes and chooses an object: the program of `docs/guides/objects.md`.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;

use orlop_kinds::{catalog, schema};
use orlop_machinery::apply::{ApplyOptions, FieldManager, OnConflict, Typing};
use orlop_machinery::field::Errors;
use orlop_machinery::kind::Context;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::patch::{json::JsonPatch, merge, strategic};
use orlop_machinery::time::Time;
use orlop_machinery::{decode, encode, json, protobuf, yaml};

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
";

fn main() -> Result<(), Box<dyn Error>> {
    // Read one.
    let value = yaml::parse(DEPLOYMENT.as_bytes())?;
    let kind = catalog()
        .find_kind(value.at("apiVersion").str(), value.at("kind").str())
        .ok_or("no such kind")?;
    let decoded = decode::decode(schema(), kind.id, value)?;
    println!("unknown fields: {:?}", decoded.unknown);
    let mut object = decoded.object;

    // Check one.
    catalog().set_defaults(kind, &mut object);
    let context = Context::default();
    kind.kind.prepare_create(&context, &mut object);
    let mut errors = Errors::new();
    kind.kind.validate(&context, &kind.node(&object), &mut errors);
    println!("errors: {}", errors.len());

    // Change one.
    let replicas = br#"[{"op": "replace", "path": "/spec/replicas", "value": 3}]"#;
    let object = JsonPatch::parse(replicas)?.apply(object)?;
    let labels = json::parse(br#"{"metadata": {"labels": {"tier": "front"}}}"#)?;
    let object = merge::apply(object, labels)?;
    let image = br#"{"spec": {"template": {"spec": {"containers": [
        {"name": "web", "image": "nginx:2"}]}}}}"#;
    let object = strategic::strategic_merge(schema(), kind.id, object, json::parse(image)?)?;

    // Apply on top of it.
    let manager = FieldManager::new(Typing::Struct(schema(), kind.id), "apps/v1", "Deployment");
    let now = Time::from_unix(1_767_225_600);
    let options = ApplyOptions { on_conflict: OnConflict::Force, now };
    let applied = br#"{"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web"}, "spec": {"replicas": 5}}"#;
    let outcome = manager.apply(&object, &json::parse(applied)?, "my-operator", &options)?;
    println!("changed: {}", outcome.is_changed);

    // Choose it.
    let selector: LabelSelector = "app=web,tier in (front,back),!canary".parse()?;
    let is_chosen = selector.matches(outcome.object.path(&["metadata", "labels"]).map());
    println!("chosen: {is_chosen}");

    // Write it.
    println!("{}", String::from_utf8(encode::to_vec(schema(), kind.id, &outcome.object))?);
    println!("{} bytes", protobuf::encode_sealed(schema(), kind.id, &outcome.object).len());
    Ok(())
}
