//! Binding: says on which node a pod runs. It is not kept; the pod is changed.
//!
//! After `BindingREST` in `pkg/registry/core/pod/storage/storage.go` and `ValidatePodBinding` in
//! `pkg/apis/core/validation/validation.go`. The same object is sent to the subresource `binding`
//! of a pod.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Kind, Resource, Rules, Verb};
use orlop_machinery::meta::find_condition;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::{Str, Value};

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: Binding = Binding;

/// The kind.
pub(crate) struct Binding;

/// Why a pod cannot be bound to a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// It is being deleted.
    #[error("pod {0} is being deleted, cannot be assigned to a host")]
    Deleted(Str),
    /// It is bound to a node.
    #[error("pod {pod} is already assigned to node {}", quote(.node))]
    Bound {
        /// The name of the pod.
        pod: Str,
        /// The name of the node.
        node: Str,
    },
    /// It waits behind gates.
    #[error("pod {0} has non-empty .spec.schedulingGates")]
    Gated(Str),
}

/// Binds a pod to the node of a binding, and gives it the labels and annotations of the binding.
/// The time is that of now, as objects hold it.
///
/// # Errors
///
/// When the pod cannot be bound any more, or not yet.
pub fn bind_pod(pod: &mut Value, binding: &Value, now: &str) -> Result<(), BindError> {
    let name = || Str::from(pod.path(&["metadata", "name"]).str());
    if !pod.path(&["metadata", "deletionTimestamp"]).is_null() {
        return Err(BindError::Deleted(name()));
    }
    let node = pod.path(&["spec", "nodeName"]).str();
    if !node.is_empty() {
        return Err(BindError::Bound { pod: name(), node: Str::from(node) });
    }
    if !pod.path(&["spec", "schedulingGates"]).is_empty() {
        return Err(BindError::Gated(name()));
    }
    let node = binding.path(&["target", "name"]).clone();
    pod.entry("spec").set("nodeName", node);
    for field in ["annotations", "labels"] {
        for (key, value) in binding.path(&["metadata", field]).map().iter() {
            pod.entry("metadata").entry(field).set(key, value.clone());
        }
    }
    let status = pod.entry("status");
    // Where the pod might have gone is of no interest any more.
    status.remove("nominatedNodeName");
    set_scheduled(status, now);
    Ok(())
}

/// Says that the pod has a node. When it came to it stays as it was.
fn set_scheduled(status: &mut Value, now: &str) {
    const KIND: &str = "PodScheduled";
    let old = find_condition(status.at("conditions"), KIND);
    let since = match old.filter(|old| old.at("status").str() == "True") {
        Some(old) => old.at("lastTransitionTime").clone(),
        None => Value::from(now),
    };
    let mut condition = Value::from([("type", KIND), ("status", "True")]);
    if !since.is_null() {
        condition.set("lastTransitionTime", since);
    }
    let conditions = status.entry("conditions").make_list();
    match conditions.iter_mut().find(|found| found.at("type").str() == KIND) {
        Some(found) => *found = condition,
        None => conditions.push(condition),
    }
}

impl Kind for Binding {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Binding", "bindings", PACKAGE).verbs(&[Verb::Create])
    }

    fn is_stored(&self) -> bool {
        false
    }
}

impl Rules for Binding {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let target = object.at("target");
        let kind = target.at("kind");
        if !matches!(kind.str(), "" | "Node") {
            errors.not_supported(&kind, &["Node", "<empty>"]);
        }
        let name = target.at("name");
        if name.is_empty() {
            errors.required(&name, "");
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;

    const BINDING: &str = r#"{"metadata":{"labels":{"zone":"a"}},"target":{"name":"n1"}}"#;

    fn check(pod: &str, expect: &str) {
        let parse = |text: &str| json::parse(text.as_bytes()).unwrap();
        let mut pod = parse(pod);
        let found = match bind_pod(&mut pod, &parse(BINDING), "2026-01-01T00:00:00Z") {
            Ok(()) => json::to_string(&pod),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expect);
    }

    #[test]
    fn a_pod_comes_to_a_node() {
        check(
            r#"{"metadata":{"name":"app","labels":{"zone":"b","a":"b"}},
                "status":{"nominatedNodeName":"n2"}}"#,
            concat!(
                r#"{"metadata":{"labels":{"a":"b","zone":"a"},"name":"app"},"#,
                r#""spec":{"nodeName":"n1"},"status":{"conditions":[{"lastTransitionTime":"#,
                r#""2026-01-01T00:00:00Z","status":"True","type":"PodScheduled"}]}}"#,
            ),
        );
    }

    #[test]
    fn what_was_said_about_waiting_is_forgotten() {
        check(
            r#"{"status":{"conditions":
                [{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}"#,
            concat!(
                r#"{"metadata":{"labels":{"zone":"a"}},"spec":{"nodeName":"n1"},"#,
                r#""status":{"conditions":[{"lastTransitionTime":"2026-01-01T00:00:00Z","#,
                r#""status":"True","type":"PodScheduled"}]}}"#,
            ),
        );
    }

    #[test]
    fn a_pod_comes_to_one_node_while_it_lives_and_is_let() {
        let metadata = r#""metadata":{"name":"app"}"#;
        check(
            r#"{"metadata":{"name":"app","deletionTimestamp":"2026-01-01T00:00:00Z"}}"#,
            "pod app is being deleted, cannot be assigned to a host",
        );
        check(
            &format!(r#"{{{metadata},"spec":{{"nodeName":"n2"}}}}"#),
            r#"pod app is already assigned to node "n2""#,
        );
        check(
            &format!(r#"{{{metadata},"spec":{{"schedulingGates":[{{"name":"a"}}]}}}}"#),
            "pod app has non-empty .spec.schedulingGates",
        );
    }
}
