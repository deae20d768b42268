//! When an indexed job has succeeded before all its indexes have.
//!
//! After `validateSuccessPolicy` in `pkg/apis/batch/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

use super::indexes;
use crate::rules::scalar::validate_non_negative;

const RULES_MAX: usize = 20;
const INDEXES_TEXT_MAX: usize = 64 * 1024;

/// Reports all that is wrong with the policy. Without a number of completions, which is an error of
/// its own, there is nothing to compare with.
pub(super) fn validate(policy: &Node<'_>, completions: Option<i64>, errors: &mut Errors) {
    let rules = policy.at("rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.required(&rules, detail);
    }
    if rules.len() > RULES_MAX {
        errors.too_many(&rules, rules.len(), RULES_MAX);
    }
    for rule in rules.items() {
        validate_rule(&rule, completions, errors);
    }
}

fn validate_rule(rule: &Node<'_>, completions: Option<i64>, errors: &mut Errors) {
    let (count, indexes) = (rule.at("succeededCount"), rule.at("succeededIndexes"));
    if !count.is_set() && !indexes.is_set() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.required(rule, detail);
    }
    if indexes.str().len() > INDEXES_TEXT_MAX {
        errors.too_long(&indexes, INDEXES_TEXT_MAX);
    }
    let Some(completions) = completions else { return };
    let mut total = 0;
    if indexes.is_set() {
        match indexes::count(indexes.str(), completions) {
            Ok(count) => total = count,
            Err(error) => {
                errors.invalid(&indexes, format!("error parsing succeededIndexes: {error}"));
            }
        }
    }
    if count.is_set() {
        validate_non_negative(&count, errors);
        let mut check = |max: i64, what: &str| {
            if count.int() > max {
                errors.invalid(&count, format!("must be less than or equal to {max} ({what})"));
            }
        };
        check(completions, "the number of specified completions");
        if indexes.is_set() {
            check(total, "the number of indexes in the specified succeededIndexes field");
        }
    }
}
