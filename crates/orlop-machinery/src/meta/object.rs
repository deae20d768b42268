//! Rules of the metadata of a new object and of a changed one.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go`. Built-in kinds add a
//! rule about finalizers (`pkg/apis/core/validation/validation.go`): they use the functions with
//! `kube` in their name, custom resources the others.

use super::{
    Scope, validate_annotations, validate_finalizers, validate_kube_finalizers, validate_labels,
    validate_managed_fields, validate_no_new_finalizers, validate_owner_references,
};
use crate::field::Errors;
use crate::names::{NameRule, min_error, name_is_dns_label};
use crate::node::Node;
use crate::text::quote;

/// That a field cannot be changed.
pub const FIELD_IMMUTABLE: &str = "field is immutable";

/// The metadata of an object is well-formed. Its name was generated, if it was to be.
pub fn validate_object_meta(
    metadata: &Node<'_>,
    scope: Scope,
    name_rule: NameRule,
    errors: &mut Errors,
) {
    let prefix = metadata.at("generateName");
    if !prefix.is_empty() {
        for detail in name_rule(prefix.str(), true) {
            errors.invalid(&prefix, detail);
        }
    }
    let check = |name: &Node<'_>, errors: &mut Errors| {
        for detail in name_rule(name.str(), false) {
            errors.invalid(name, detail);
        }
    };
    validate_name(metadata, check, errors);
    validate_rest(metadata, scope, errors);
}

/// The same with a name rule that collects errors itself. What the name was generated from is not
/// looked at.
pub fn validate_object_meta_with(
    metadata: &Node<'_>,
    scope: Scope,
    name_rule: impl FnOnce(&Node<'_>, &mut Errors),
    errors: &mut Errors,
) {
    let (prefix, name) = (metadata.at("generateName"), metadata.at("name"));
    if !prefix.is_empty() && name.is_empty() {
        let prefix = quote(prefix.str());
        let detail = format!("generateName was specified ({prefix}), but no name was generated");
        errors.internal(&name, detail);
    }
    validate_name(metadata, name_rule, errors);
    validate_rest(metadata, scope, errors);
}

/// The metadata of an object of a built-in kind is well-formed.
pub fn validate_kube_object_meta(
    metadata: &Node<'_>,
    scope: Scope,
    name_rule: NameRule,
    errors: &mut Errors,
) {
    validate_object_meta(metadata, scope, name_rule, errors);
    validate_kube_finalizers(&metadata.at("finalizers"), errors);
}

/// Metadata may change like this.
pub fn validate_object_meta_update(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    if old.at("deletionTimestamp").is_set() {
        validate_no_new_finalizers(&new.at("finalizers"), &old.at("finalizers"), errors);
    }
    let version = new.at("resourceVersion");
    if version.is_empty() {
        errors.invalid_value(&version, "", "must be specified for an update");
    }
    let generation = new.at("generation");
    if generation.int() < old.at("generation").int() {
        errors.invalid_value(&generation, generation.int(), "must not be decremented");
    }
    for field in ["name", "namespace", "uid"] {
        let node = new.at(field);
        if node.str() != old.at(field).str() {
            errors.invalid_value(&node, node.str(), FIELD_IMMUTABLE);
        }
    }
    for field in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        validate_immutable(&new.at(field), &old.at(field), errors);
    }
    validate_labels(&new.at("labels"), errors);
    validate_annotations(&new.at("annotations"), errors);
    validate_owner_references(&new.at("ownerReferences"), errors);
    validate_managed_fields(&new.at("managedFields"), errors);
}

/// Metadata of a built-in kind may change like this.
pub fn validate_kube_object_meta_update(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    validate_object_meta_update(new, old, errors);
    validate_kube_finalizers(&new.at("finalizers"), errors);
}

/// A value that cannot be changed was not.
pub fn validate_immutable(new: &Node<'_>, old: &Node<'_>, errors: &mut Errors) {
    if !new.means_same_as(old) {
        errors.invalid(new, FIELD_IMMUTABLE);
    }
}

/// A number is not below 0.
pub fn validate_non_negative(node: &Node<'_>, errors: &mut Errors) {
    if node.int() < 0 {
        errors.invalid(node, min_error(0));
    }
}

fn validate_name(
    metadata: &Node<'_>,
    name_rule: impl FnOnce(&Node<'_>, &mut Errors),
    errors: &mut Errors,
) {
    let name = metadata.at("name");
    if name.is_empty() {
        errors.required(&name, "name or generateName is required");
    } else {
        name_rule(&name, errors);
    }
}

fn validate_rest(metadata: &Node<'_>, scope: Scope, errors: &mut Errors) {
    let namespace = metadata.at("namespace");
    match (scope, namespace.str()) {
        (Scope::Namespaced, "") => errors.required(&namespace, ""),
        (Scope::Namespaced, name) => {
            for detail in name_is_dns_label(name, false) {
                errors.invalid(&namespace, detail);
            }
        }
        (Scope::Cluster, "") => {}
        (Scope::Cluster, _) => errors.forbidden(&namespace, "not allowed on this type"),
    }
    validate_non_negative(&metadata.at("generation"), errors);
    validate_labels(&metadata.at("labels"), errors);
    validate_annotations(&metadata.at("annotations"), errors);
    validate_owner_references(&metadata.at("ownerReferences"), errors);
    validate_finalizers(&metadata.at("finalizers"), errors);
    validate_managed_fields(&metadata.at("managedFields"), errors);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::names::name_is_dns_subdomain;

    fn lines(errors: &Errors) -> Vec<String> {
        let cut = |line: &str| line.split(" (e.g.").next().unwrap().to_owned();
        errors.to_string().lines().map(cut).collect()
    }

    fn check(scope: Scope, text: &str, expect: &[&str]) {
        let value = json::parse(format!(r#"{{"metadata": {text}}}"#).as_bytes()).unwrap();
        let object = Node::root(&value);
        let mut errors = Errors::new();
        let metadata = object.at("metadata");
        validate_kube_object_meta(&metadata, scope, name_is_dns_subdomain, &mut errors);
        assert_eq!(lines(&errors), expect, "{text}");
    }

    fn check_update(new: &str, old: &str, expect: &[&str]) {
        let parse =
            |text: &str| json::parse(format!(r#"{{"metadata": {text}}}"#).as_bytes()).unwrap();
        let (new, old) = (parse(new), parse(old));
        let (new, old) = (Node::root(&new), Node::root(&old));
        let mut errors = Errors::new();
        validate_kube_object_meta_update(&new.at("metadata"), &old.at("metadata"), &mut errors);
        assert_eq!(lines(&errors), expect);
    }

    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
                             alphanumeric characters, '-' or '.', and must start and end with an \
                             alphanumeric character";

    #[test]
    fn a_missing_name_is_required() {
        let required = "metadata.name: Required value: name or generateName is required";
        check(Scope::Cluster, "{}", &[required]);
        check(Scope::Cluster, r#"{"name": "a"}"#, &[]);
        check(Scope::Cluster, r#"{"generateName": "a-"}"#, &[required]);
    }

    #[test]
    fn the_name_and_what_it_was_generated_from_are_checked() {
        let prefix = format!("metadata.generateName: Invalid value: \"AB-\": {SUBDOMAIN}");
        let name = format!("metadata.name: Invalid value: \"AB-x\": {SUBDOMAIN}");
        check(Scope::Cluster, r#"{"generateName": "AB-", "name": "AB-x"}"#, &[&prefix, &name]);
    }

    #[test]
    fn the_namespace_belongs_to_the_scope() {
        let required = "metadata.namespace: Required value";
        check(Scope::Namespaced, r#"{"name": "a"}"#, &[required]);
        check(Scope::Namespaced, r#"{"name": "a", "namespace": "b"}"#, &[]);
        let dots = "metadata.namespace: Invalid value: \"a.b\": must not contain dots";
        check(Scope::Namespaced, r#"{"name": "a", "namespace": "a.b"}"#, &[dots]);
        let forbidden = "metadata.namespace: Forbidden: not allowed on this type";
        check(Scope::Cluster, r#"{"name": "a", "namespace": "b"}"#, &[forbidden]);
    }

    #[test]
    fn all_parts_are_checked_in_order() {
        let text = r#"{"name": "a", "generation": -1, "labels": {"a": "!"}, "annotations":
            {"/": ""}, "ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": "a"}],
            "finalizers": ["plain", "/x"], "managedFields": [{"operation": "X"}]}"#;
        let name = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
                    end with an alphanumeric character";
        let expect = [
            "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
            "metadata.labels: Invalid value: \"!\": a valid label must be an empty string or \
             consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character",
            "metadata.annotations: Invalid value: \"/\": prefix part must be non-empty",
            "metadata.annotations: Invalid value: \"/\": name part must be non-empty",
            &format!("metadata.annotations: Invalid value: \"/\": name part {name}"),
            "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
            "metadata.finalizers: Invalid value: \"/x\": prefix part must be non-empty",
            "metadata.managedFields[0].operation: Invalid value: \"X\": must be `Apply` or \
             `Update`",
            "metadata.finalizers[0]: Invalid value: \"plain\": name is neither a standard \
             finalizer name nor is it fully qualified",
        ];
        check(Scope::Cluster, text, &expect);
    }

    #[test]
    fn a_rule_may_collect_its_errors_itself() {
        let check = |text: &str, expect: &[&str]| {
            let value = json::parse(text.as_bytes()).unwrap();
            let mut errors = Errors::new();
            let rule = |name: &Node<'_>, errors: &mut Errors| errors.forbidden(name, "no");
            let path = crate::field::Path::field("m");
            let metadata = Node::new(&value, path);
            validate_object_meta_with(&metadata, Scope::Cluster, rule, &mut errors);
            assert_eq!(lines(&errors), expect);
        };
        check(r#"{"name": "a", "generateName": "!"}"#, &["m.name: Forbidden: no"]);
        check(
            r#"{"generateName": "a-"}"#,
            &[
                "m.name: Internal error: generateName was specified (\"a-\"), but no name was \
             generated",
                "m.name: Required value: name or generateName is required",
            ],
        );
    }

    #[test]
    fn identity_does_not_change() {
        let old = r#"{"name": "a", "namespace": "n", "uid": "1", "resourceVersion": "5",
            "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"}"#;
        check_update(old, old, &[]);
        let expect = [
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
            "metadata.generation: Invalid value: 0: must not be decremented",
            "metadata.name: Invalid value: \"b\": field is immutable",
            "metadata.namespace: Invalid value: \"\": field is immutable",
            "metadata.uid: Invalid value: \"\": field is immutable",
            "metadata.creationTimestamp: Invalid value: null: field is immutable",
            "metadata.deletionTimestamp: Invalid value: \"2026-01-02T00:00:00Z\": field is \
             immutable",
            "metadata.deletionGracePeriodSeconds: Invalid value: 0: field is immutable",
        ];
        let new = r#"{"name": "b", "deletionTimestamp": "2026-01-02T00:00:00Z",
            "deletionGracePeriodSeconds": 0}"#;
        check_update(new, old, &expect);
    }

    #[test]
    fn what_is_being_deleted_gets_no_more_finalizers() {
        let old = r#"{"name": "a", "resourceVersion": "5", "finalizers": ["x/y"],
            "deletionTimestamp": "2026-01-02T00:00:00Z"}"#;
        let new = old.replace("x/y", "x/z");
        let expect = "metadata.finalizers: Forbidden: no new finalizers can be added if the \
                      object is being deleted, found new finalizers []string{\"x/z\"}";
        check_update(&new, old, &[expect]);
        check_update(&old.replace("\"x/y\"", ""), old, &[]);
        let alive = |text: &str| text.replace("\"deletionTimestamp\"", "\"selfLink\"");
        check_update(&alive(&new), &alive(old), &[]);
    }

    #[test]
    fn what_means_the_same_was_not_changed() {
        let text =
            "package a\nB\n memory quantity 1 omit\n list [string] 2 omit\n pointer *B 3 omit\n";
        let schema = crate::schema::parse(&[text]).unwrap();
        let id = schema.find("a.B").unwrap();
        let check = |field: &str, new: &str, old: &str, expect: &str| {
            let parse = |text: &str| json::parse(text.as_bytes()).unwrap();
            let (new, old) = (parse(new), parse(old));
            let (new, old) = (Node::of(&new, &schema, id), Node::of(&old, &schema, id));
            let mut errors = Errors::new();
            validate_immutable(&new.at(field), &old.at(field), &mut errors);
            assert_eq!(errors.to_string(), expect);
        };
        check("memory", r#"{"memory": "1Gi"}"#, r#"{"memory": "1024Mi"}"#, "");
        check("list", r#"{"list": []}"#, "{}", "");
        check("pointer", r#"{"pointer": {"list": []}}"#, r#"{"pointer": {}}"#, "");
        let expect = "pointer: Invalid value: {}: field is immutable\n";
        check("pointer", r#"{"pointer": {}}"#, "{}", expect);
        let expect = "memory: Invalid value: \"1Gi\": field is immutable\n";
        check("memory", r#"{"memory": "1Gi"}"#, r#"{"memory": "1G"}"#, expect);
    }
}
