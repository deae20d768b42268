//! Rules of owner references, and what is done with those that stand twice.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go` and
//! `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/rest.go`. Errors point at the list, not at
//! its items, as upstream's do.

use std::collections::HashSet;

use super::MetaMut;
use crate::field::{At, Errors, Path};
use crate::group_version::GroupVersionKind;
use crate::json;
use crate::node::Node;
use crate::owner_reference::OwnerReference;
use crate::value::{Str, Value};

/// Each error about one controller too many shows the whole list: of many, some are enough.
const CONTROLLERS_TOLD_MAX: usize = 32;

/// Owner references are well-formed and at most one owner controls the object.
pub fn validate_owner_references(references: &Node<'_>, errors: &mut Errors) {
    let mut first_controller = None;
    let mut controllers_told = 0;
    for item in references.list() {
        let reference = OwnerReference::of(item);
        validate_owner_reference(references.path(), item, &reference, errors);
        if !reference.is_controller() {
            continue;
        }
        let current = format!("{}/{}", reference.kind, reference.name);
        match &first_controller {
            None => first_controller = Some(current),
            Some(_) if controllers_told == CONTROLLERS_TOLD_MAX => {}
            Some(first) => {
                controllers_told += 1;
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in \
                     references for {first} and {current}"
                );
                errors.invalid_json(references, &list_as_json(references.list()), &detail);
            }
        }
    }
}

/// Takes out references that stand there already; returns the uids of those taken out.
///
/// Upstream warns of them.
pub fn drop_duplicate_owners(object: &mut Value) -> Vec<Str> {
    let mut meta = MetaMut::of(object);
    let Some(list) = meta.list_mut("ownerReferences") else { return Vec::new() };
    let mut duplicates = Vec::new();
    let mut seen = HashSet::new();
    list.retain(|item| {
        let is_new = seen.insert(fingerprint(item));
        if !is_new {
            duplicates.push(Str::new(item.at("uid").str()));
        }
        is_new
    });
    duplicates
}

fn validate_owner_reference(
    at: &Path<'_>,
    item: &Value,
    reference: &OwnerReference<'_>,
    errors: &mut Errors,
) {
    let kind = reference.group_version_kind();
    if kind.version.is_empty() {
        let api_version: &str = &reference.api_version;
        errors.invalid_value(&at.child("apiVersion"), api_version, "version must not be empty");
    }
    let texts = [("kind", reference.kind), ("name", reference.name), ("uid", reference.uid)];
    for (field, _) in texts.into_iter().filter(|(_, text)| text.is_empty()) {
        errors.invalid_value(&at.child(field), "", "must not be empty");
    }
    if is_banned(&kind) {
        let detail = format!("{kind} is disallowed from being an owner");
        errors.invalid_json(at, &as_json(item), &detail);
    }
}

/// Events come and go by themselves: they own nothing.
fn is_banned(kind: &GroupVersionKind) -> bool {
    kind.group.is_empty() && kind.version == "v1" && kind.kind == "Event"
}

fn list_as_json(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(as_json).collect();
    format!("[{}]", items.join(","))
}

/// With the fields in the order in which upstream declares them.
fn as_json(item: &Value) -> String {
    let texts = ["apiVersion", "kind", "name", "uid"].into_iter().map(|field| (field, true));
    let flags = ["controller", "blockOwnerDeletion"].into_iter().map(|field| (field, false));
    let fields =
        texts.chain(flags).filter(|(field, is_text)| *is_text || !item.at(field).is_null());
    let fields = fields.map(|(field, is_text)| {
        let value = item.at(field);
        let value = if is_text { Value::from(value.str()) } else { value.clone() };
        format!("\"{field}\":{}", json::to_string(&value))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// Equal for references that are.
fn fingerprint(item: &Value) -> (String, Option<bool>, Option<bool>) {
    let reference = OwnerReference::of(item);
    let texts = [&reference.api_version, reference.kind, reference.name, reference.uid];
    (texts.join("\0"), reference.controller, reference.block_owner_deletion)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let value = json::parse(text.as_bytes()).unwrap();
        let mut errors = Errors::new();
        validate_owner_references(&Node::new(&value, Path::field("f")), &mut errors);
        assert_eq!(errors.to_string().lines().collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn an_owner_is_named_completely() {
        check(r#"[{"apiVersion": "apps/v1", "kind": "A", "name": "a", "uid": "1"}]"#, &[]);
        let expect = [
            "f.apiVersion: Invalid value: \"apps/\": version must not be empty",
            "f.kind: Invalid value: \"\": must not be empty",
            "f.name: Invalid value: \"\": must not be empty",
            "f.uid: Invalid value: \"\": must not be empty",
        ];
        check(r#"[{"apiVersion": "apps/"}]"#, &expect);
    }

    #[test]
    fn an_event_owns_nothing() {
        let reference = r#"{"apiVersion":"v1","kind":"Event","name":"a","uid":"1"}"#;
        let expect = format!(
            "f: Invalid value: {reference}: /v1, Kind=Event is disallowed from being an owner"
        );
        check(&format!("[{reference}]"), &[&expect]);
    }

    #[test]
    fn one_owner_controls() {
        let reference = |name: &str, controller: bool| {
            let start = r#"{"apiVersion":"v1","kind":"A""#;
            format!(r#"{start},"name":"{name}","uid":"1","controller":{controller}}}"#)
        };
        let list = [reference("a", true), reference("b", false), reference("c", true)].join(",");
        let expect = format!(
            "f: Invalid value: [{list}]: Only one reference can have Controller set to true. \
             Found \"true\" in references for A/a and A/c"
        );
        check(&format!("[{list}]"), &[&expect]);
    }

    #[test]
    fn many_controllers_do_not_make_a_message_without_end() {
        let fields = [("kind", "A"), ("name", "a"), ("uid", "1"), ("apiVersion", "v1")];
        let mut item = Value::from(fields);
        item.set("controller", true);
        let list = Value::List(vec![item; 100]);
        let mut errors = Errors::new();
        validate_owner_references(&Node::new(&list, Path::field("f")), &mut errors);
        assert_eq!(errors.len(), CONTROLLERS_TOLD_MAX);
    }

    #[test]
    fn the_same_reference_stands_once() {
        let text = br#"{"metadata": {"ownerReferences": [
            {"uid": "1", "name": "a"}, {"uid": "1", "name": "b"}, {"uid": "2"},
            {"uid": "1", "name": "a"}, {"uid": "2"}, {"uid": "2", "controller": false}]}}"#;
        let mut object = json::parse(text).unwrap();
        assert_eq!(drop_duplicate_owners(&mut object), ["1", "2"]);
        assert_eq!(object.path(&["metadata", "ownerReferences"]).list().len(), 4);
        assert!(drop_duplicate_owners(&mut object).is_empty());
    }
}
