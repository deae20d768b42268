//! Whether the objects of a definition are served.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/controller/establish` and the part of
//! `pkg/controller/status` there about this condition. Upstream says first that a definition is
//! `Installing` and a moment later that it is established, so that no client sees the latter before
//! objects are served; here they are served before anything is said. What was established once
//! stays so.

use orlop_kinds::custom_resource_definition_conditions::{Condition, ESTABLISHED};

/// The condition, given what it is now, whether all names are accepted, and whether a conversion
/// webhook could be trusted.
pub(super) fn established(
    current: Option<&Condition>,
    has_names: bool,
    has_valid_ca_bundle: bool,
) -> Condition {
    if let Some(current) = current.filter(|current| current.is_true() || !has_names) {
        return current.clone();
    }
    let (status, reason, message) = match (has_names, has_valid_ca_bundle) {
        (false, _) => ("False", "NotAccepted", "not all names are accepted"),
        (true, false) => ("False", "InvalidCABundle", "The conversion webhook CABundle is invalid"),
        (true, true) => ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    };
    Condition::new(ESTABLISHED, status, reason, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(current: Option<(&str, &str)>, names: bool, bundle: bool, expect: (&str, &str)) {
        let current =
            current.map(|(status, reason)| Condition::new(ESTABLISHED, status, reason, ""));
        let found = established(current.as_ref(), names, bundle);
        assert_eq!((&*found.status, &*found.reason), expect);
    }

    #[test]
    fn a_definition_with_all_its_names_is_established() {
        check(None, true, true, ("True", "InitialNamesAccepted"));
        check(Some(("False", "NotAccepted")), true, true, ("True", "InitialNamesAccepted"));
        check(Some(("False", "Installing")), true, true, ("True", "InitialNamesAccepted"));
        check(Some(("False", "InvalidCABundle")), true, true, ("True", "InitialNamesAccepted"));
    }

    #[test]
    fn one_without_all_its_names_is_not_yet() {
        check(None, false, true, ("False", "NotAccepted"));
        check(Some(("False", "Installing")), false, true, ("False", "Installing"));
    }

    #[test]
    fn one_whose_webhook_cannot_be_trusted_is_not_yet() {
        check(None, true, false, ("False", "InvalidCABundle"));
        check(Some(("False", "NotAccepted")), true, false, ("False", "InvalidCABundle"));
    }

    #[test]
    fn what_was_established_stays_so() {
        check(Some(("True", "Any")), false, true, ("True", "Any"));
        check(Some(("True", "Any")), true, false, ("True", "Any"));
    }
}
