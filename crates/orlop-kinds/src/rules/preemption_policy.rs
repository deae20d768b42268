//! Whether a pod may push others out: of pods and of priority classes.

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

/// Checks a policy that is set.
pub(crate) fn validate_preemption_policy(policy: &Node<'_>, errors: &mut Errors) {
    if !policy.is_set() {
        return;
    }
    match policy.str() {
        "PreemptLowerPriority" | "Never" => {}
        "" => errors.required(policy, ""),
        _ => errors.not_supported(policy, &["PreemptLowerPriority", "Never"]),
    }
}
