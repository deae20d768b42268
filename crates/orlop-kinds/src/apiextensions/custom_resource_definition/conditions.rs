//! What a server says about a CustomResourceDefinition, as far as the object alone tells it.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/apihelpers/helpers.go` (how conditions are
//! set), `pkg/registry/customresourcedefinition/etcd.go` (how the end begins), and the conditions
//! of `pkg/controller/{nonstructuralschema,apiapproval}` there. Which names are accepted depends on
//! other definitions; that is the server's business.

use orlop_machinery::field::Errors;
use orlop_machinery::meta::{self, Meta, MetaMut};
use orlop_machinery::node::Node;
use orlop_machinery::status::aggregate;
use orlop_machinery::{Str, Value};

use super::approval::{self, Approval};
use super::conversion::what_is_wrong_with_bundle;
use super::structural::{conversion_error, validate_structural};

/// Keeps a definition until its objects are gone.
pub const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The type of the condition that all names are the definition's own.
pub const NAMES_ACCEPTED: &str = "NamesAccepted";
/// The type of the condition that objects are served.
pub const ESTABLISHED: &str = "Established";
/// The type of the condition that the definition is being deleted.
pub const TERMINATING: &str = "Terminating";
/// The type of the condition that schemas are not structural.
pub const NON_STRUCTURAL_SCHEMA: &str = "NonStructuralSchema";
/// The type of the condition that a protected group may be used.
pub const API_APPROVAL: &str = "KubernetesAPIApprovalPolicyConformant";

/// A condition without its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The type.
    pub kind: Str,
    /// `True`, `False` or `Unknown`.
    pub status: Str,
    /// Why, in one word.
    pub reason: Str,
    /// Why, for people.
    pub message: Str,
}

impl Condition {
    /// A condition.
    #[must_use]
    pub fn new(kind: &str, status: &str, reason: &str, message: &str) -> Condition {
        let [kind, status, reason, message] = [kind, status, reason, message].map(Str::new);
        Condition { kind, status, reason, message }
    }

    /// The conditions of an object.
    #[must_use]
    pub fn all(object: &Value) -> Vec<Condition> {
        let text = |value: &Value, field: &str| Str::new(value.at(field).str());
        let read = |it: &Value| Condition {
            kind: text(it, "type"),
            status: text(it, "status"),
            reason: text(it, "reason"),
            message: text(it, "message"),
        };
        object.path(&["status", "conditions"]).list().iter().map(read).collect()
    }

    /// Whether it holds.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }

    /// Sets it in an object. Its time changes with its status only.
    pub fn set(&self, object: &mut Value, now: &str) {
        let mut new = Value::from([
            ("type", &*self.kind),
            ("status", &self.status),
            ("reason", &self.reason),
            ("message", &self.message),
        ]);
        let conditions = object.entry("status").entry("conditions");
        // What somebody else has noted about it stays.
        let observed = meta::find_condition(conditions, &self.kind)
            .map(|old| old.at("observedGeneration").clone());
        if let Some(observed) = observed.filter(|observed| !observed.is_null()) {
            new.set("observedGeneration", observed);
        }
        meta::set_condition(conditions, new, now);
    }
}

/// The condition of a type among others.
#[must_use]
pub fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

/// Says in a definition that its end has begun: it stays until its objects are gone.
pub(super) fn start_ending(object: &mut Value, now: &str) {
    let mut finalizers: Vec<Str> = Meta::of(object).finalizers().map(Str::new).collect();
    if !finalizers.iter().any(|name| name == CLEANUP_FINALIZER) {
        finalizers.push(Str::new(CLEANUP_FINALIZER));
        MetaMut::of(object).set_finalizers(finalizers);
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will \
                   begin soon";
    Condition::new(TERMINATING, "True", "InstanceDeletionPending", message).set(object, now);
}

/// Whether a definition is of a group of Kubernetes itself, and was approved; none if it is of
/// another.
#[must_use]
pub fn api_approval(object: &Value) -> Option<Condition> {
    if !approval::is_protected(object.path(&["spec", "group"]).str()) {
        return None;
    }
    let approval = Approval::of(object);
    let (status, reason) = match approval {
        Approval::Invalid => ("False", "InvalidAnnotation"),
        Approval::Missing => ("False", "MissingAnnotation"),
        Approval::Bypassed => ("False", "UnapprovedAnnotation"),
        Approval::Approved => ("True", "ApprovedAnnotation"),
    };
    Some(Condition::new(API_APPROVAL, status, reason, &approval.reason(object)))
}

/// Why the schemas of a definition are not structural; none if they are. Only definitions that
/// were stored before this was a rule have such schemas.
#[must_use]
pub fn non_structural_schema(object: &Node<'_>) -> Option<Condition> {
    let mut errors = Errors::new();
    let spec = object.at("spec");
    let keeps = spec.at("preserveUnknownFields");
    if keeps.bool() {
        errors.invalid(&keeps, "must be false");
    }
    let versions = spec.at("versions");
    for version in versions.items() {
        let schema = version.at("schema");
        let schema = schema.at("openAPIV3Schema");
        if !schema.is_set() {
            continue;
        }
        if let Some(wrong) = conversion_error(schema.value()) {
            let name = version.at("name");
            let message = format!(
                "failed to check validation schema for version {}: {wrong}",
                name.value().str()
            );
            return Some(Condition::new(
                NON_STRUCTURAL_SCHEMA,
                "Unknown",
                "StructuralError",
                &message,
            ));
        }
        validate_structural(&schema, &mut errors);
    }
    if errors.is_empty() {
        return None;
    }
    let message = aggregate(errors.list().iter().map(ToString::to_string));
    Some(Condition::new(NON_STRUCTURAL_SCHEMA, "True", "Violations", &message))
}

/// Whether a conversion webhook can be trusted as the definition says.
#[must_use]
pub fn has_valid_ca_bundle(object: &Value) -> bool {
    let bundle = object.path(&["spec", "conversion", "webhook", "clientConfig", "caBundle"]);
    bundle.is_empty() || what_is_wrong_with_bundle(bundle).is_none()
}

#[cfg(test)]
mod tests {
    use orlop_machinery::json;

    use super::*;

    fn parse(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap()
    }

    fn shown(condition: Option<Condition>) -> String {
        condition.map_or_else(String::new, |it| {
            format!("{} {} {}: {}", it.kind, it.status, it.reason, it.message)
        })
    }

    #[test]
    fn the_time_of_a_condition_changes_with_its_status_only() {
        let mut object = parse(r#"{"status":{"conditions":null}}"#);
        Condition::new("A", "False", "X", "x").set(&mut object, "2026-01-01T00:00:00Z");
        Condition::new("A", "False", "Y", "y").set(&mut object, "2026-01-01T00:00:01Z");
        let time = |object: &Value| {
            object.path(&["status", "conditions"]).list()[0].at("lastTransitionTime").clone()
        };
        assert_eq!(time(&object).str(), "2026-01-01T00:00:00Z");
        assert_eq!(Condition::all(&object), [Condition::new("A", "False", "Y", "y")]);
        object.path_mut(&["status", "conditions"]).unwrap().list_mut()[0]
            .set("observedGeneration", 3);
        Condition::new("A", "True", "Y", "y").set(&mut object, "2026-01-01T00:00:02Z");
        assert_eq!(time(&object).str(), "2026-01-01T00:00:02Z");
        let condition = &object.path(&["status", "conditions"]).list()[0];
        assert_eq!(condition.at("observedGeneration").int(), 3);
    }

    #[test]
    fn the_end_begins_once() {
        let mut object = parse(r#"{"metadata":{"finalizers":["a/b"]},"status":{}}"#);
        start_ending(&mut object, "2026-01-01T00:00:00Z");
        start_ending(&mut object, "2026-01-01T00:00:01Z");
        let finalizers: Vec<&str> = Meta::of(&object).finalizers().collect();
        assert_eq!(finalizers, ["a/b", CLEANUP_FINALIZER]);
        let expect = "Terminating True InstanceDeletionPending: CustomResourceDefinition marked \
                      for deletion; CustomResource deletion will begin soon";
        assert_eq!(shown(Condition::all(&object).pop()), expect);
    }

    #[test]
    fn groups_of_kubernetes_need_approval() {
        let check = |group: &str, annotations: &str, expect: &str| {
            let object = parse(&format!(
                r#"{{"metadata":{{"annotations":{annotations}}},"spec":{{"group":"{group}"}}}}"#
            ));
            assert_eq!(shown(api_approval(&object)), expect, "{group} {annotations}");
        };
        let annotation = |text: &str| format!(r#"{{"api-approved.kubernetes.io":"{text}"}}"#);
        let see = "see https://github.com/kubernetes/enhancements/pull/1111";
        let must = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
        check("example.com", "null", "");
        check("notk8s.io", "null", "");
        check(
            "k8s.io",
            "null",
            &format!("{API_APPROVAL} False MissingAnnotation: {must}, {see}"),
        );
        check(
            "x.k8s.io",
            &annotation("https://github.com/x/y"),
            &format!("{API_APPROVAL} True ApprovedAnnotation: approved in https://github.com/x/y"),
        );
        check(
            "x.kubernetes.io",
            &annotation("unapproved, testing"),
            &format!(
                "{API_APPROVAL} False UnapprovedAnnotation: not approved: \"unapproved, testing\""
            ),
        );
        check(
            "kubernetes.io",
            &annotation("yes"),
            &format!(
                "{API_APPROVAL} False InvalidAnnotation: {must} with either a URL or a reason \
                 starting with \"unapproved\", {see}"
            ),
        );
    }

    #[test]
    fn schemas_from_before_they_had_to_be_structural_are_told() {
        let check = |spec: &str, expect: &str| {
            let object = parse(&format!(r#"{{"spec":{spec}}}"#));
            assert_eq!(shown(non_structural_schema(&Node::root(&object))), expect, "{spec}");
        };
        let version = |schema: &str| {
            format!(r#"{{"versions":[{{"name":"v1","schema":{{"openAPIV3Schema":{schema}}}}}]}}"#)
        };
        check("{}", "");
        check(r#"{"versions":[{"name":"v1"}]}"#, "");
        check(&version(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#), "");
        check(
            r#"{"preserveUnknownFields":true}"#,
            "NonStructuralSchema True Violations: spec.preserveUnknownFields: Invalid value: \
             true: must be false",
        );
        check(
            &version(r#"{"type":"object","properties":{"a":{},"b":{"type":"array"}}}"#),
            "NonStructuralSchema True Violations: [spec.versions[0].schema.openAPIV3Schema.\
             properties[a].type: Required value: must not be empty for specified object fields, \
             spec.versions[0].schema.openAPIV3Schema.properties[b].items: Required value: must be \
             specified]",
        );
        check(
            &version(r##"{"type":"object","properties":{"a":{"$ref":"#/a"}}}"##),
            "NonStructuralSchema Unknown StructuralError: failed to check validation schema for \
             version v1: OpenAPIV3Schema '$ref' is not supported",
        );
    }

    #[test]
    fn no_bundle_is_a_valid_one() {
        let check = |bundle: &str, expect: bool| {
            let config = format!(r#"{{"clientConfig":{{"caBundle":{bundle}}}}}"#);
            let object = parse(&format!(r#"{{"spec":{{"conversion":{{"webhook":{config}}}}}}}"#));
            assert_eq!(has_valid_ca_bundle(&object), expect, "{bundle}");
        };
        check("null", true);
        check(r#""""#, true);
        check(r#""YQ==""#, false);
    }
}
