//! The endpoint at which a pod is asked to leave its node.
//!
//! After `EvictionREST` in `pkg/registry/core/pod/storage/eviction.go`. Whether the pod may leave
//! now is a question about budgets, which are other objects; it is not answered here.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Rules};
use orlop_machinery::node::Node;

pub(super) static RULES: Eviction = Eviction;

/// The subresource: it takes a `policy/v1` Eviction.
pub(super) struct Eviction;

impl Rules for Eviction {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let options = object.at("deleteOptions");
        let ignore = options.at("ignoreStoreReadErrorWithClusterBreakingPotential");
        if ignore.bool() {
            let detail = "can not be set for pod eviction, try after removing the option";
            errors.invalid(&ignore, detail);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;
    use crate::schema;

    fn check(options: &str, expect: &str) {
        let text = format!(r#"{{"deleteOptions":{options}}}"#);
        let eviction = json::parse(text.as_bytes()).unwrap();
        let id = schema().find("io.k8s.api.policy.v1.Eviction").unwrap();
        let mut errors = Errors::new();
        RULES.validate(&Context::default(), &Node::of(&eviction, schema(), id), &mut errors);
        assert_eq!(errors.to_string().trim_end(), expect);
    }

    #[test]
    fn an_eviction_does_not_delete_what_cannot_be_read() {
        check(r#"{"gracePeriodSeconds":0}"#, "");
        check(r#"{"ignoreStoreReadErrorWithClusterBreakingPotential":false}"#, "");
        check(
            r#"{"ignoreStoreReadErrorWithClusterBreakingPotential":true}"#,
            "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: \
             can not be set for pod eviction, try after removing the option",
        );
    }
}
