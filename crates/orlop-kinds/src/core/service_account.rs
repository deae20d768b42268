//! ServiceAccount: who a pod is.
//!
//! After `pkg/registry/core/serviceaccount`. Tokens are asked for at the subresource `token`.

use orlop_machinery::shared::Shared;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules, Subresource, Verb};
use orlop_machinery::node::Node;
use orlop_machinery::{Map, Value};

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: ServiceAccount = ServiceAccount;
static TOKEN: TokenRequest = TokenRequest;

/// The kind.
pub(crate) struct ServiceAccount;

/// What is asked of the subresource `token`.
struct TokenRequest;

const MOUNTABLE_ANNOTATION: &str = "kubernetes.io/enforce-mountable-secrets";
const TOKEN_SECONDS_MIN: i64 = 600;
const TOKEN_SECONDS_MAX: i64 = 1 << 32;

impl Kind for ServiceAccount {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "ServiceAccount", "serviceaccounts", PACKAGE)
            .short(&["sa"])
            .returns_deleted()
            .subresource(Subresource {
                name: "token",
                kind: Some(("authentication.k8s.io", "v1", "TokenRequest")),
                verbs: &[Verb::Create],
                rules: Some(Shared::Static(&TOKEN)),
            })
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let name = object.path(&["metadata", "name"]).clone();
        Row::new(vec![name, context.age(object).into()])
    }
}

impl Rules for ServiceAccount {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        clean_secret_references(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, _old: &Value) {
        clean_secret_references(new);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        if has_mountable_annotation(object) {
            warnings.push(format!(
                "metadata.annotations[{MOUNTABLE_ANNOTATION}]: deprecated in v1.32+; prefer \
                 separate namespaces to isolate access to mounted secrets"
            ));
        }
    }

    fn warn_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        if !has_mountable_annotation(old) {
            self.warn(context, new, warnings);
        }
    }
}

impl Rules for TokenRequest {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        let seconds = spec.at("expirationSeconds");
        if seconds.int() < TOKEN_SECONDS_MIN {
            errors.invalid(&seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds.int() > TOKEN_SECONDS_MAX {
            errors.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
        }
    }
}

/// Only the name of a secret is kept.
fn clean_secret_references(account: &mut Value) {
    let Some(secrets) = account.get_mut("secrets") else { return };
    for secret in secrets.list_mut() {
        let name = secret.remove("name");
        *secret = Value::Map(Map::new());
        if let Some(name) = name {
            secret.set("name", name);
        }
    }
}

fn has_mountable_annotation(account: &Node<'_>) -> bool {
    account.value().path(&["metadata", "annotations"]).map().contains_key(MOUNTABLE_ANNOTATION)
}
