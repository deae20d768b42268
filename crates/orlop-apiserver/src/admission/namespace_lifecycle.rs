//! NamespaceLifecycle: nothing is put into a namespace that does not exist or is about to go.
//!
//! After `staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go`.
//! Upstream asks a cache that may be behind and waits a little before it believes it; here the
//! store is asked, so the answer is that of the moment. A namespace may still begin to end between
//! the answer and the write: whoever empties it looks again.

use std::sync::Arc;

use async_trait::async_trait;
use orlop_machinery::group_version::GroupResource;
use orlop_machinery::meta::Meta;
use orlop_machinery::status::{Cause, Status};
use orlop_machinery::{Str, Value, json};
use orlop_storage::{At, Record, Store};

use super::{Attributes, Operation, Step};
use crate::definition::{Definition, REGISTRY};
use crate::store_failure::store_failure;

/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];
/// Reviews answer the same for a namespace that does not exist: who asks might not be allowed to
/// know.
const ANSWERED_ANYWHERE: (&str, &str) = ("authorization.k8s.io", "localsubjectaccessreviews");
/// How a namespace that is about to go is stored; others may have these bytes elsewhere.
const TERMINATING: &[u8] = br#""phase":"Terminating""#;

/// The step.
pub(crate) struct NamespaceLifecycle {
    store: Arc<dyn Store>,
}

impl NamespaceLifecycle {
    /// Asks this store.
    pub(crate) fn new(store: Arc<dyn Store>) -> NamespaceLifecycle {
        NamespaceLifecycle { store }
    }

    async fn find(&self, namespace: &str) -> Result<Record, Status> {
        let key = format!("{REGISTRY}namespaces/{namespace}");
        let found = self.store.get(key.as_bytes(), At::Latest).await.map_err(store_failure)?;
        found.record.ok_or_else(|| Status::not_found(&namespaces(), namespace))
    }
}

#[async_trait]
impl Step for NamespaceLifecycle {
    async fn mutate(
        &self,
        attributes: &Attributes<'_>,
        object: Option<&mut Value>,
    ) -> Result<(), Status> {
        let Attributes { operation, definition, namespace, name, .. } = *attributes;
        if is_namespace(definition) {
            if operation == Operation::Delete && IMMORTAL.contains(&name) {
                let why = "this namespace may not be deleted";
                return Err(Status::forbidden(&namespaces(), name, why));
            }
            return Ok(());
        }
        let is_writing = matches!(operation, Operation::Create | Operation::Update);
        if !is_writing || namespace.is_empty() || is_answered_anywhere(definition) {
            return Ok(());
        }
        let record = self.find(namespace).await?;
        if operation == Operation::Create && is_terminating(&record)? {
            let name = name_of(name, object.as_deref());
            return Err(refuse(&definition.group_resource(), name, namespace));
        }
        Ok(())
    }
}

fn is_namespace(definition: &Definition) -> bool {
    definition.resource.group.is_empty() && definition.resource.kind == "Namespace"
}

fn is_answered_anywhere(definition: &Definition) -> bool {
    (definition.resource.group.as_str(), definition.resource.plural.as_str()) == ANSWERED_ANYWHERE
}

/// Most namespaces are not, which their bytes tell without being parsed.
fn is_terminating(record: &Record) -> Result<bool, Status> {
    let bytes = record.value();
    if !bytes.windows(TERMINATING.len()).any(|window| window == TERMINATING) {
        return Ok(false);
    }
    let namespace = json::parse(bytes).map_err(Status::internal_error)?;
    Ok(namespace.path(&["status", "phase"]).str() == "Terminating")
}

fn name_of<'a>(name: &'a str, object: Option<&'a Value>) -> &'a str {
    let meta = object.map(Meta::of);
    let given = meta.map(|meta| [meta.name(), meta.generate_name()]).unwrap_or_default();
    let mut names = [name].into_iter().chain(given);
    names.find(|name| !name.is_empty()).unwrap_or("Unknown")
}

fn refuse(resource: &GroupResource, name: &str, namespace: &str) -> Status {
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let mut status = Status::forbidden(resource, name, why);
    let message = format!("namespace {namespace} is being terminated");
    let cause = Cause::new("NamespaceTerminating", message, "metadata.namespace");
    status.details_mut().causes.push(cause);
    status
}

fn namespaces() -> GroupResource {
    GroupResource { group: Str::const_new(""), resource: Str::const_new("namespaces") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_storage::{Expect, Memory};

    use super::*;
    use crate::catalog::Catalog;

    async fn store() -> Arc<Memory> {
        let store = Memory::new();
        let active =
            r#"{"metadata":{"labels":{"phase":"Terminating"}},"status":{"phase":"Active"}}"#;
        let ending = r#"{"status":{"phase":"Terminating"}}"#;
        for (name, value) in [("active", active), ("ending", ending)] {
            let key = format!("/registry/namespaces/{name}");
            store.put(key.into(), value.into(), Expect::Absent).await.unwrap();
        }
        Arc::new(store)
    }

    async fn check(
        operation: Operation,
        resource: (&str, &str),
        place: (&str, &str),
        expect: &str,
    ) {
        let catalog = Catalog::built_in();
        let attributes = Attributes {
            operation,
            definition: catalog.find(resource.0, "v1", resource.1).unwrap(),
            namespace: place.0,
            name: place.1,
        };
        let step = NamespaceLifecycle::new(store().await);
        let mut object = Value::from([("metadata", Value::from([("generateName", "a-")]))]);
        let answer = step.mutate(&attributes, Some(&mut object)).await;
        let seen =
            answer.map_or_else(|status| format!("{} {status}", status.code()), |()| "ok".into());
        assert_eq!(seen, expect, "{operation:?} {resource:?} {place:?}");
    }

    #[tokio::test]
    async fn nothing_is_put_into_a_namespace_that_is_not_there_or_ends() {
        use Operation::{Create, Delete, Update};
        let pods = ("", "pods");
        check(Create, pods, ("active", "a"), "ok").await;
        check(Create, pods, ("none", "a"), r#"404 namespaces "none" not found"#).await;
        check(Update, pods, ("none", "a"), r#"404 namespaces "none" not found"#).await;
        check(Delete, pods, ("none", "a"), "ok").await;
        check(Update, pods, ("ending", "a"), "ok").await;
        check(
            Create,
            ("apps", "deployments"),
            ("ending", ""),
            "403 deployments.apps \"a-\" is forbidden: unable to create new content in namespace \
             ending because it is being terminated",
        )
        .await;
        let review = ("authorization.k8s.io", "localsubjectaccessreviews");
        check(Create, review, ("none", ""), "ok").await;
        check(Create, ("", "nodes"), ("", "a"), "ok").await;
    }

    #[tokio::test]
    async fn some_namespaces_cannot_be_deleted() {
        let namespaces = ("", "namespaces");
        for name in ["default", "kube-system", "kube-public"] {
            let text = format!(
                r#"403 namespaces "{name}" is forbidden: this namespace may not be deleted"#
            );
            check(Operation::Delete, namespaces, ("", name), &text).await;
        }
        check(Operation::Delete, namespaces, ("", "kube-node-lease"), "ok").await;
        check(Operation::Update, namespaces, ("", "default"), "ok").await;
    }

    #[test]
    fn the_cause_is_said_for_programs() {
        let resource = GroupResource { group: "".into(), resource: "pods".into() };
        let status = refuse(&resource, "a", "ending");
        let cause = status.cause("NamespaceTerminating").unwrap();
        assert_eq!(cause.field, "metadata.namespace");
        assert_eq!(cause.message, "namespace ending is being terminated");
    }
}
