//! Rules of the options of requests.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go` and
//! `.../pkg/apis/meta/internalversion/validation/validation.go`. Options are objects here, whether
//! they came as a body or as query parameters. The feature gate WatchList is on.

use super::validate_field_manager;
use crate::field::Errors;
use crate::node::Node;

/// Options of a create are well-formed.
pub fn validate_create_options(options: &Node<'_>, errors: &mut Errors) {
    validate_write_options(options, errors);
}

/// Options of an update are well-formed.
pub fn validate_update_options(options: &Node<'_>, errors: &mut Errors) {
    validate_write_options(options, errors);
}

/// Options of a patch that is not an apply are well-formed.
pub fn validate_patch_options(options: &Node<'_>, errors: &mut Errors) {
    let force = options.at("force");
    if force.is_set() {
        errors.forbidden(&force, "may not be specified for non-apply patch");
    }
    validate_write_options(options, errors);
}

/// Options of an apply are well-formed.
pub fn validate_apply_options(options: &Node<'_>, errors: &mut Errors) {
    let manager = options.at("fieldManager");
    if manager.is_empty() {
        errors.required(&manager, "is required for apply patch");
    }
    validate_write_options(options, errors);
}

/// Options of a delete are well-formed.
pub fn validate_delete_options(options: &Node<'_>, errors: &mut Errors) {
    let policy = options.at("propagationPolicy");
    if policy.is_set() && options.at("orphanDependents").is_set() {
        errors.invalid(&policy, "orphanDependents and deletionPropagation cannot be both set");
    }
    if policy.is_set() && !matches!(policy.str(), "Foreground" | "Background" | "Orphan") {
        errors.not_supported(&policy, &["Foreground", "Background", "Orphan", "nil"]);
    }
    validate_dry_run(&options.at("dryRun"), errors);
    let ignore = options.at("ignoreStoreReadErrorWithClusterBreakingPotential");
    if !ignore.bool() {
        return;
    }
    if !options.at("dryRun").is_empty() {
        errors.invalid(&ignore, "cannot be set together with .dryRun");
    }
    for field in ["propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions"] {
        if options.at(field).is_set() {
            errors.invalid(&ignore, format!("cannot be set together with .{field}"));
        }
    }
}

/// Options of a list or watch are well-formed.
pub fn validate_list_options(options: &Node<'_>, errors: &mut Errors) {
    if options.at("watch").bool() {
        return validate_watch_options(options, errors);
    }
    let version_match = options.at("resourceVersionMatch");
    if !version_match.is_empty() {
        let version = options.at("resourceVersion");
        if version.is_empty() {
            let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            errors.forbidden(&version_match, detail);
        }
        refuse_continue(options, &version_match, errors);
        if !matches!(version_match.str(), EXACT | NOT_OLDER_THAN) {
            errors.not_supported(&version_match, &[EXACT, NOT_OLDER_THAN, ""]);
        }
        if version_match.str() == EXACT && version.str() == "0" {
            let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.forbidden(&version_match, detail);
        }
    }
    let initial = options.at("sendInitialEvents");
    if initial.is_set() {
        errors.forbidden(&initial, "sendInitialEvents is forbidden for list");
    }
}

/// Options of a table are well-formed.
pub fn validate_table_options(options: &Node<'_>, errors: &mut Errors) {
    let include = options.at("includeObject");
    if !matches!(include.str(), "" | "Metadata" | "None" | "Object") {
        errors.invalid(&include, "must be 'Metadata', 'Object', 'None', or empty");
    }
}

/// Nothing but `All` is asked for.
pub fn validate_dry_run(dry_run: &Node<'_>, errors: &mut Errors) {
    if dry_run.list().iter().any(|stage| stage.str() != "All") {
        errors.not_supported(dry_run, &["All"]);
    }
}

/// How unknown fields are treated is one of the known ways.
pub fn validate_field_validation(validation: &Node<'_>, errors: &mut Errors) {
    if !matches!(validation.str(), "" | "Ignore" | "Strict" | "Warn") {
        errors.not_supported(validation, &["", "Ignore", "Strict", "Warn"]);
    }
}

const EXACT: &str = "Exact";
const NOT_OLDER_THAN: &str = "NotOlderThan";

fn validate_write_options(options: &Node<'_>, errors: &mut Errors) {
    let manager = options.at("fieldManager");
    validate_field_manager(&manager, manager.str(), errors);
    validate_dry_run(&options.at("dryRun"), errors);
    validate_field_validation(&options.at("fieldValidation"), errors);
}

fn validate_watch_options(options: &Node<'_>, errors: &mut Errors) {
    let version_match = options.at("resourceVersionMatch");
    let sends_initial_events = options.at("sendInitialEvents").is_set();
    if sends_initial_events && version_match.str() != NOT_OLDER_THAN {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.forbidden(&version_match, detail);
    }
    if version_match.is_empty() {
        return;
    }
    if !sends_initial_events {
        let detail =
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        errors.forbidden(&version_match, detail);
    }
    if version_match.str() != NOT_OLDER_THAN {
        errors.not_supported(&version_match, &[NOT_OLDER_THAN]);
    }
    refuse_continue(options, &version_match, errors);
}

fn refuse_continue(options: &Node<'_>, version_match: &Node<'_>, errors: &mut Errors) {
    if !options.at("continue").is_empty() {
        let detail = "resourceVersionMatch is forbidden when continue is provided";
        errors.forbidden(version_match, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    type Rule = fn(&Node<'_>, &mut Errors);

    fn check(rule: Rule, text: &str, expect: &[&str]) {
        let value = json::parse(text.as_bytes()).unwrap();
        let mut errors = Errors::new();
        rule(&Node::root(&value), &mut errors);
        assert_eq!(errors.to_string().lines().collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn writes_share_their_options() {
        let rules: [Rule; 3] =
            [validate_create_options, validate_update_options, validate_patch_options];
        let bad = r#"{"fieldManager": "a\n", "dryRun": ["All", "Some"], "fieldValidation": "X"}"#;
        let expect = [
            "fieldManager: Invalid value: \"a\\n\": invalid character U+000A (at position 1)",
            "dryRun: Unsupported value: [\"All\",\"Some\"]: supported values: \"All\"",
            "fieldValidation: Unsupported value: \"X\": supported values: \"\", \"Ignore\", \
             \"Strict\", \"Warn\"",
        ];
        for rule in rules {
            check(rule, "{}", &[]);
            let fine = r#"{"fieldManager": "a", "dryRun": ["All"], "fieldValidation": "Warn"}"#;
            check(rule, fine, &[]);
            check(rule, bad, &expect);
        }
    }

    #[test]
    fn only_an_apply_is_forced_and_it_has_a_manager() {
        check(validate_apply_options, r#"{"fieldManager": "a", "force": true}"#, &[]);
        let required = "fieldManager: Required value: is required for apply patch";
        check(validate_apply_options, "{}", &[required]);
        let forbidden = "force: Forbidden: may not be specified for non-apply patch";
        check(validate_patch_options, r#"{"force": false}"#, &[forbidden]);
    }

    #[test]
    fn a_delete_propagates_in_one_way() {
        let rule = validate_delete_options;
        for policy in ["Foreground", "Background", "Orphan"] {
            check(rule, &format!(r#"{{"propagationPolicy": "{policy}"}}"#), &[]);
        }
        check(rule, r#"{"orphanDependents": true}"#, &[]);
        let both = "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and \
                    deletionPropagation cannot be both set";
        check(rule, r#"{"propagationPolicy": "Orphan", "orphanDependents": false}"#, &[both]);
        let unknown = "propagationPolicy: Unsupported value: \"X\": supported values: \
                       \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
        check(rule, r#"{"propagationPolicy": "X"}"#, &[unknown]);
        check(
            rule,
            r#"{"dryRun": ["x"]}"#,
            &["dryRun: Unsupported value: [\"x\"]: supported values: \"All\""],
        );
    }

    #[test]
    fn a_delete_of_what_cannot_be_read_takes_no_other_option() {
        let ignore = "ignoreStoreReadErrorWithClusterBreakingPotential";
        let rule = validate_delete_options;
        check(rule, &format!(r#"{{"{ignore}": true}}"#), &[]);
        let all = r#""dryRun": ["All"], "propagationPolicy": "Orphan", "gracePeriodSeconds": 0,
            "preconditions": {}"#;
        check(rule, &format!(r#"{{"{ignore}": false, {all}}}"#), &[]);
        let expect: Vec<String> =
            ["dryRun", "propagationPolicy", "gracePeriodSeconds", "preconditions"]
                .iter()
                .map(|field| {
                    format!("{ignore}: Invalid value: true: cannot be set together with .{field}")
                })
                .collect();
        let expect: Vec<&str> = expect.iter().map(String::as_str).collect();
        check(rule, &format!(r#"{{"{ignore}": true, {all}}}"#), &expect);
    }

    #[test]
    fn a_list_matches_a_version_that_is_given() {
        let rule = validate_list_options;
        for options in [
            "{}",
            r#"{"resourceVersion": "5", "resourceVersionMatch": "Exact"}"#,
            r#"{"resourceVersion": "0", "resourceVersionMatch": "NotOlderThan"}"#,
        ] {
            check(rule, options, &[]);
        }
        let at = "resourceVersionMatch";
        let text = format!(r#"{{"{at}": "X", "continue": "c", "sendInitialEvents": false}}"#);
        check(
            rule,
            &text,
            &[
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless \
                 resourceVersion is provided",
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when \
                 continue is provided",
                "resourceVersionMatch: Unsupported value: \"X\": supported values: \"Exact\", \
             \"NotOlderThan\", \"\"",
                "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
            ],
        );
        check(
            rule,
            &format!(r#"{{"resourceVersion": "0", "{at}": "Exact"}}"#),
            &["resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for \
             resourceVersion \"0\""],
        );
    }

    #[test]
    fn a_watch_matches_a_version_when_it_starts_with_what_is_there() {
        let rule = validate_list_options;
        check(rule, r#"{"watch": true}"#, &[]);
        let fine = r#"{"watch": true, "sendInitialEvents": true,
            "resourceVersionMatch": "NotOlderThan"}"#;
        check(rule, fine, &[]);
        let needs = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
                     resourceVersionMatch to NotOlderThan";
        check(rule, r#"{"watch": true, "sendInitialEvents": false}"#, &[needs]);
        let text = r#"{"watch": true, "resourceVersionMatch": "Exact", "continue": "c"}"#;
        check(
            rule,
            text,
            &[
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch \
                 unless sendInitialEvents is provided",
                "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \
             \"NotOlderThan\"",
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when \
                 continue is provided",
            ],
        );
    }

    #[test]
    fn a_table_includes_one_of_three_things() {
        for include in ["", "Metadata", "None", "Object"] {
            check(validate_table_options, &format!(r#"{{"includeObject": "{include}"}}"#), &[]);
        }
        let expect = "includeObject: Invalid value: \"X\": must be 'Metadata', 'Object', 'None', \
                      or empty";
        check(validate_table_options, r#"{"includeObject": "X"}"#, &[expect]);
    }
}
