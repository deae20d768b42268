//! Scale: how many replicas an object has, whatever its kind is.
//!
//! After `ValidateScale` in `pkg/apis/autoscaling/validation/validation.go` and `printScale` in
//! `pkg/printers/internalversion/printers.go`. Where an object keeps its number of replicas says
//! its kind ([`orlop_machinery::kind::ScalePaths`]). That the UID of a scale, if it has one, is
//! that of the object is checked by the server: the answer is a conflict, not an error of a field.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Row, ScalePaths, ScaleSelector};
use orlop_machinery::meta::{self, Scope};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::scalar::validate_non_negative;

/// Where the kinds of Kubernetes that have a label selector keep what their scale shows.
pub(crate) const BY_LABEL_SELECTOR: ScalePaths<'static> = ScalePaths {
    replicas: "spec.replicas",
    status_replicas: "status.replicas",
    selector: ScaleSelector::LabelSelector("spec.selector"),
};

/// The same where the selector is a set of labels.
pub(crate) const BY_LABELS: ScalePaths<'static> =
    ScalePaths { selector: ScaleSelector::Labels("spec.selector"), ..BY_LABEL_SELECTOR };

/// What `kubectl get` shows of a scale.
pub const COLUMNS: &[Column] =
    &[Column::text("Name"), Column::integer("Desired"), Column::integer("Available"), Column::AGE];

/// The name of the struct in the schema.
pub const SCHEMA_NAME: &str = "io.k8s.api.autoscaling.v1.Scale";

/// Reports all that is wrong with a scale that was written, its metadata included.
pub fn validate_scale(scale: &Node<'_>, errors: &mut Errors) {
    let metadata = scale.at("metadata");
    meta::validate_kube_object_meta(
        &metadata,
        Scope::Namespaced,
        names::name_is_dns_subdomain,
        errors,
    );
    validate_non_negative(&scale.at("spec").at("replicas"), errors);
}

/// The cells of a scale, one for each of the [`COLUMNS`].
#[must_use]
pub fn row(context: &Context<'_>, scale: &Value) -> Row {
    Row::new(vec![
        scale.path(&["metadata", "name"]).str().into(),
        scale.path(&["spec", "replicas"]).int().into(),
        scale.path(&["status", "replicas"]).int().into(),
        context.age(scale).into(),
    ])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;
    use crate::{catalog, schema};

    fn check(text: &str, expect: &str) {
        let scale = json::parse(text.as_bytes()).unwrap();
        let mut errors = Errors::new();
        let id = schema().find(SCHEMA_NAME).unwrap();
        validate_scale(&Node::of(&scale, schema(), id), &mut errors);
        assert_eq!(errors.to_string().trim_end(), expect, "{text}");
    }

    #[test]
    fn a_scale_has_a_name_and_no_negative_number() {
        let metadata = r#""metadata": {"name": "a", "namespace": "b"}"#;
        check(&format!("{{{metadata}}}"), "");
        check(&format!(r#"{{{metadata}, "spec": {{"replicas": 3}}}}"#), "");
        check(
            &format!(r#"{{{metadata}, "spec": {{"replicas": -1}}}}"#),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        );
        check(r#"{"metadata": {"name": "a"}}"#, "metadata.namespace: Required value");
    }

    #[test]
    fn kinds_with_a_scale_say_where_it_is() {
        let mut seen = Vec::new();
        for entry in catalog().iter() {
            let has_scale = entry.resource.subresources.iter().any(|known| known.name == "scale");
            assert_eq!(has_scale, entry.kind.scale_paths().is_some(), "{}", entry.resource.kind);
            if has_scale {
                seen.push(entry.resource.kind.as_str());
            }
        }
        seen.sort_unstable();
        let expect = ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"];
        assert_eq!(seen, expect);
    }

    #[test]
    fn the_scale_of_a_kind_has_its_selector_as_text() {
        let check = |api_version: &str, kind: &str, selector: &str| {
            let text = format!(r#"{{"spec": {{"replicas": 2, "selector": {selector}}}}}"#);
            let object = json::parse(text.as_bytes()).unwrap();
            let entry = catalog().find_kind(api_version, kind).unwrap();
            let scale = entry.kind.scale_paths().unwrap().read(&object).unwrap();
            assert_eq!(scale.path(&["spec", "replicas"]).int(), 2);
            assert_eq!(scale.path(&["status", "selector"]).str(), "a=b");
        };
        check("apps/v1", "Deployment", r#"{"matchLabels": {"a": "b"}}"#);
        check("v1", "ReplicationController", r#"{"a": "b"}"#);
    }

    #[test]
    fn a_row_shows_what_is_wanted_and_what_there_is() {
        let scale = json::parse(
            br#"{"metadata": {"name": "a", "creationTimestamp": "1970-01-01T00:00:00Z"},
                "spec": {"replicas": 3}, "status": {"replicas": 2}}"#,
        );
        let context = Context { now_seconds: 60, ..Context::default() };
        let cells = row(&context, &scale.unwrap()).cells;
        assert_eq!(cells, ["a".into(), 3.into(), 2.into(), Value::from("60s")]);
        assert_eq!(cells.len(), COLUMNS.len());
    }
}
