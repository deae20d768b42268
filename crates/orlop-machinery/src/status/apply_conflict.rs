//! The error about an apply that would take fields from their managers.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go`.

use std::collections::BTreeMap;
use std::fmt;

use super::{Cause, Reason, Status, cause_reason};
use crate::text::quote;
use crate::value::Value;

/// A field that another manager has.
#[derive(Clone, Debug)]
pub struct ApplyConflict<'a> {
    /// The identity of the manager, as text: managers are listed in its order.
    pub manager_key: &'a str,
    /// The manager's entry in `managedFields`.
    pub manager: &'a Value,
    /// The path of the field, as paths of field sets print: `.spec.replicas`.
    pub path: String,
}

impl Status {
    /// An apply would take these fields from their managers.
    #[must_use]
    pub fn apply_conflict(conflicts: &[ApplyConflict<'_>]) -> Status {
        let reason = cause_reason::FIELD_MANAGER_CONFLICT;
        let causes = conflicts.iter().map(|conflict| {
            let message = format!("conflict with {}", ManagerText(conflict.manager));
            Cause::new(reason, message, conflict.path.as_str())
        });
        let mut status = Status::failure(409, Reason::Conflict, message(conflicts));
        status.details_mut().causes = causes.collect();
        status
    }
}

fn message(conflicts: &[ApplyConflict<'_>]) -> String {
    if let [only] = conflicts {
        let manager = ManagerText(only.manager);
        let path = &only.path;
        return format!("Apply failed with 1 conflict: conflict with {manager}: {path}");
    }
    let mut by_manager: BTreeMap<&str, Vec<&ApplyConflict<'_>>> = BTreeMap::new();
    for conflict in conflicts {
        by_manager.entry(conflict.manager_key).or_default().push(conflict);
    }
    let mut lines = Vec::new();
    for conflicts in by_manager.values() {
        for (at, conflict) in conflicts.iter().enumerate() {
            if at == 0 {
                lines.push(format!("conflicts with {}:", ManagerText(conflict.manager)));
            }
            lines.push(format!("- {}", conflict.path));
        }
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

/// A manager for people.
struct ManagerText<'a>(&'a Value);

impl fmt::Display for ManagerText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |field: &str| self.0.at(field).str();
        out.write_str(&quote(text("manager")))?;
        if !text("subresource").is_empty() {
            write!(out, " with subresource {}", quote(text("subresource")))?;
        }
        if text("operation") == "Update" {
            write!(out, " using {}", text("apiVersion"))?;
            if !text("time").is_empty() {
                write!(out, " at {}", text("time"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn check(conflicts: &[(&str, &str)], message: &str, causes: &[&str]) {
        let managers: Vec<Value> =
            conflicts.iter().map(|(text, _)| json::parse(text.as_bytes()).unwrap()).collect();
        let conflicts: Vec<ApplyConflict<'_>> = conflicts
            .iter()
            .zip(&managers)
            .map(|((key, path), manager)| ApplyConflict {
                manager_key: key,
                manager,
                path: (*path).to_owned(),
            })
            .collect();
        let status = Status::apply_conflict(&conflicts);
        assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
        assert_eq!(status.message, message);
        let seen: Vec<String> = status
            .details
            .unwrap()
            .causes
            .iter()
            .map(|cause| format!("{} {} {}", cause.reason, cause.field, cause.message))
            .collect();
        assert_eq!(seen, causes);
    }

    const APPLY: &str = r#"{"manager":"b","operation":"Apply"}"#;
    const UPDATE: &str = r#"{"apiVersion":"v1","manager":"a","operation":"Update",
        "subresource":"status","time":"2026-01-01T00:00:00Z"}"#;

    #[test]
    fn one_conflict_stands_on_one_line() {
        check(
            &[(APPLY, ".spec.a")],
            "Apply failed with 1 conflict: conflict with \"b\": .spec.a",
            &["FieldManagerConflict .spec.a conflict with \"b\""],
        );
    }

    #[test]
    fn several_conflicts_stand_by_manager() {
        let update = "\"a\" with subresource \"status\" using v1 at 2026-01-01T00:00:00Z";
        let expect = format!(
            "Apply failed with 3 conflicts: conflicts with {update}:\n- .b\nconflicts with \"b\":\n\
             - .a\n- .c"
        );
        check(
            &[(APPLY, ".a"), (UPDATE, ".b"), (APPLY, ".c")],
            &expect,
            &[
                "FieldManagerConflict .a conflict with \"b\"",
                &format!("FieldManagerConflict .b conflict with {update}"),
                "FieldManagerConflict .c conflict with \"b\"",
            ],
        );
    }
}
