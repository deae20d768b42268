//! What the status of a definition should say and does not say yet.
//!
//! A decision that is in the status already is not made again: several servers may decide, and the
//! first to write has decided for all.

use orlop_kinds::custom_resource_definition_conditions::{
    Condition, ESTABLISHED, NAMES_ACCEPTED, NON_STRUCTURAL_SCHEMA, find,
};
use orlop_machinery::{Value, meta};

use super::established::established;
use super::facts::Facts;
use super::names::Names;

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    /// The names that it has from now on.
    accepted: Names,
    /// The conditions that change.
    conditions: Vec<Condition>,
    /// Whether its schemas are structural now and were not before.
    loses_non_structural: bool,
}

/// Decides about a definition: `names` are those that it gets, and the condition about them.
/// Conditions of its own are left alone if `is_settled`: this server has written them for the same
/// spec and annotations, and who has written others since may know better.
pub(super) fn want(
    facts: &Facts,
    (accepted, has_names): (Names, Condition),
    is_settled: bool,
) -> Option<Wanted> {
    let stored = |kind: &str| find(&facts.conditions, kind);
    let is_told = accepted == facts.accepted && has_names.is_true();
    let names = stored(NAMES_ACCEPTED).filter(|stored| is_told && stored.is_true()).cloned();
    let names = names.unwrap_or(has_names);
    let established = established(stored(ESTABLISHED), names.is_true(), facts.has_valid_ca_bundle);
    let mut conditions = vec![names, established];
    if !is_settled {
        conditions.extend(facts.own_conditions.iter().cloned());
    }
    conditions.retain(|condition| stored(&condition.kind) != Some(condition));
    let loses_non_structural = !is_settled
        && stored(NON_STRUCTURAL_SCHEMA).is_some()
        && find(&facts.own_conditions, NON_STRUCTURAL_SCHEMA).is_none();
    let is_nothing = accepted == facts.accepted && conditions.is_empty() && !loses_non_structural;
    (!is_nothing).then_some(Wanted { accepted, conditions, loses_non_structural })
}

impl Wanted {
    /// Says it in an object.
    pub(super) fn apply(&self, object: &mut Value, now: &str) {
        let status = object.entry("status");
        status.set("acceptedNames", self.accepted.to_value());
        if self.loses_non_structural {
            meta::remove_condition(status.entry("conditions"), NON_STRUCTURAL_SCHEMA);
        }
        for condition in &self.conditions {
            condition.set(object, now);
        }
    }

    /// Whether a condition holds once this is said, which was as given before.
    pub(super) fn is_true(&self, kind: &str, before: bool) -> bool {
        find(&self.conditions, kind).map_or(before, Condition::is_true)
    }

    /// The names that it has.
    pub(super) fn accepted(&self) -> &Names {
        &self.accepted
    }
}

#[cfg(test)]
mod tests {
    use orlop_kinds::custom_resource_definition_conditions::API_APPROVAL;
    use orlop_machinery::{Str, json};

    use super::*;

    const NOW: &str = "2026-01-01T00:00:00Z";

    fn names(plural: &str) -> Names {
        Names { plural: Str::new(plural), ..Names::default() }
    }

    fn condition(text: &str) -> Condition {
        let [kind, status, reason] = *text.split(' ').collect::<Vec<&str>>() else {
            panic!("three words: {text}")
        };
        Condition::new(kind, status, reason, "")
    }

    fn conditions(text: &str) -> Vec<Condition> {
        text.split(", ").filter(|it| !it.is_empty()).map(condition).collect()
    }

    struct Case {
        stored: &'static str,
        own: &'static str,
        names: &'static str,
        is_settled: bool,
    }

    /// What is changed in the status of a definition that has its plural if it has conditions.
    fn check(case: &Case, expect: &str) {
        let accepted = if case.stored.is_empty() { Names::default() } else { names("a") };
        let facts = Facts {
            requested: names("a"),
            accepted,
            conditions: conditions(case.stored),
            own_conditions: conditions(case.own),
            has_valid_ca_bundle: true,
            ..Facts::default()
        };
        let wanted = want(&facts, (names("a"), condition(case.names)), case.is_settled);
        let found = wanted.map_or_else(
            || "nothing".to_owned(),
            |wanted| {
                let mut object = json::parse(br#"{"status":{"conditions":[]}}"#).unwrap();
                for condition in &facts.conditions {
                    condition.set(&mut object, NOW);
                }
                wanted.apply(&mut object, NOW);
                assert_eq!(object.path(&["status", "acceptedNames", "plural"]).str(), "a");
                let all = Condition::all(&object);
                let shown = all.iter().map(|it| format!("{} {} {}", it.kind, it.status, it.reason));
                shown.collect::<Vec<String>>().join(", ")
            },
        );
        assert_eq!(found, expect, "{}", case.stored);
    }

    const ACCEPTED: &str = "NamesAccepted True NoConflicts";
    const REFUSED: &str = "NamesAccepted False KindConflict";
    const BOTH: &str = "NamesAccepted True NoConflicts, Established True InitialNamesAccepted";
    const PLAIN: Case = Case { stored: "", own: "", names: ACCEPTED, is_settled: false };

    #[test]
    fn a_new_definition_is_accepted_and_established_at_once() {
        check(&PLAIN, BOTH);
        let refused = "NamesAccepted False KindConflict, Established False NotAccepted";
        check(&Case { names: REFUSED, ..PLAIN }, refused);
        check(&Case { stored: refused, ..PLAIN }, BOTH);
    }

    #[test]
    fn what_is_decided_is_not_decided_again() {
        check(&Case { stored: BOTH, ..PLAIN }, "nothing");
        let theirs = "NamesAccepted True Theirs, Established True Theirs";
        check(&Case { stored: theirs, ..PLAIN }, "nothing");
    }

    #[test]
    fn a_definition_whose_names_fit_again_says_so() {
        let stored = "NamesAccepted False KindConflict, Established True InitialNamesAccepted";
        check(&Case { stored, ..PLAIN }, BOTH);
    }

    #[test]
    fn what_the_definition_alone_tells_is_told_once_for_each_edition() {
        let own = "KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation";
        assert!(own.starts_with(API_APPROVAL));
        check(&Case { own, ..PLAIN }, &format!("{BOTH}, {own}"));
        check(&Case { own, stored: BOTH, is_settled: true, ..PLAIN }, "nothing");
        let wrong: String = format!("{BOTH}, NonStructuralSchema True Violations");
        let stored: &'static str = wrong.leak();
        check(&Case { stored, ..PLAIN }, BOTH);
        check(&Case { stored, is_settled: true, ..PLAIN }, "nothing");
    }
}
