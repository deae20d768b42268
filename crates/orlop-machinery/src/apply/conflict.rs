//! Fields that an applier wants and somebody else manages, and why else an apply can fail.
//!
//! Messages after `apimachinery/pkg/util/managedfields/internal` (`conflict.go`,
//! `structuredmerge.go`, `versioncheck.go`).

use std::fmt;

use super::field_path::{PathElement, path_text};
use super::field_set::FieldSet;
use super::managers::{ManagedFieldsError, ManagerId, Operation};
use crate::text::quote;

/// Why an object cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// What was applied is not what the endpoint takes.
    #[error("{0}")]
    BadRequest(String),
    /// Others manage fields that it would change.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The managed fields of the live object cannot be understood.
    #[error("failed to decode managed fields: {0}")]
    ManagedFields(#[from] ManagedFieldsError),
    /// The object does not fit its schema, or cannot be converted.
    #[error("{0}")]
    Internal(String),
}

/// A field that somebody else manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who manages it.
    pub manager: ManagerId,
    /// The field.
    pub path: Vec<PathElement>,
}

/// All fields that an applier wants and others manage, by manager.
///
/// Prints as the message of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    /// At least one. Sorted by the key of the manager.
    list: Vec<Conflict>,
}

impl Conflicts {
    /// Of the fields of each manager; none when there are no fields.
    pub(super) fn of(mut by_manager: Vec<(ManagerId, FieldSet)>) -> Option<Conflicts> {
        by_manager.sort_by_cached_key(|(manager, _)| manager.key());
        let mut list = Vec::new();
        for (manager, fields) in by_manager {
            fields.for_each(|path| {
                list.push(Conflict { manager: manager.clone(), path: path.to_vec() });
            });
        }
        (!list.is_empty()).then_some(Conflicts { list })
    }

    /// Those that are not about these fields; none when all are.
    pub(super) fn without(&self, fields: &FieldSet) -> Option<Conflicts> {
        let mut list = self.list.clone();
        list.retain(|conflict| !fields.contains(&conflict.path));
        (!list.is_empty()).then_some(Conflicts { list })
    }

    /// All of them.
    #[must_use]
    pub fn list(&self) -> &[Conflict] {
        &self.list
    }

    /// Field and message of each: the causes (`FieldManagerConflict`) of the answer.
    pub fn causes(&self) -> impl Iterator<Item = (String, String)> {
        self.list.iter().map(|conflict| {
            let message = format!("conflict with {}", show(&conflict.manager));
            (path_text(&conflict.path), message)
        })
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.list.as_slice() {
            let (manager, path) = (show(&only.manager), path_text(&only.path));
            return write!(out, "Apply failed with 1 conflict: conflict with {manager}: {path}");
        }
        write!(out, "Apply failed with {} conflicts: ", self.list.len())?;
        let mut before = None;
        for conflict in &self.list {
            if before.is_some() {
                out.write_str("\n")?;
            }
            if before != Some(&conflict.manager) {
                writeln!(out, "conflicts with {}:", show(&conflict.manager))?;
            }
            write!(out, "- {}", path_text(&conflict.path))?;
            before = Some(&conflict.manager);
        }
        Ok(())
    }
}

/// A manager for people.
fn show(manager: &ManagerId) -> String {
    let mut text = quote(&manager.manager);
    if !manager.subresource.is_empty() {
        text += &format!(" with subresource {}", quote(&manager.subresource));
    }
    if manager.operation == Operation::Update {
        text += &format!(" using {}", manager.api_version);
    }
    text
}
