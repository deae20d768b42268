//! What `kubectl get` shows of an object, and what field selectors can ask.

use crate::human_duration;
use crate::time::Time;
use crate::value::{Str, Value};

use super::Context;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: &'static str,
    /// The OpenAPI type of its cells.
    pub ty: &'static str,
    /// The OpenAPI format of its cells; `name` marks the name of the object.
    pub format: &'static str,
    /// 0 is always shown, more only with `-o wide`.
    pub priority: i32,
}

/// The cells of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One for each column.
    pub cells: Vec<Value>,
    /// Conditions of the row (pods that ended say `Completed` here), as Table rows carry them.
    pub conditions: Vec<Value>,
}

/// A field that field selectors may name.
#[derive(Clone, Copy, Debug)]
pub struct Selectable {
    /// Such as `spec.nodeName`.
    pub name: &'static str,
    /// Its value as text; empty when it is not set.
    pub get: fn(&Value) -> Str,
}

impl Column {
    /// The first column of almost every kind.
    pub const NAME: Column = Column { name: "Name", ty: "string", format: "name", priority: 0 };
    /// How long ago the object was made.
    pub const AGE: Column = Column::text("Age");

    /// A column of text that is always shown.
    #[must_use]
    pub const fn text(name: &'static str) -> Column {
        Column { name, ty: "string", format: "", priority: 0 }
    }

    /// A column of whole numbers that is always shown.
    #[must_use]
    pub const fn integer(name: &'static str) -> Column {
        Column { name, ty: "integer", format: "", priority: 0 }
    }

    /// A column of truths that is always shown.
    #[must_use]
    pub const fn boolean(name: &'static str) -> Column {
        Column { name, ty: "boolean", format: "", priority: 0 }
    }

    /// The same, shown with `-o wide` only.
    #[must_use]
    pub const fn wide(self) -> Column {
        Column { priority: 1, ..self }
    }
}

impl Row {
    /// Without conditions.
    #[must_use]
    pub fn new(cells: Vec<Value>) -> Row {
        Row { cells, conditions: Vec::new() }
    }
}

/// The columns of a kind that declares none, after
/// `staging/src/k8s.io/apiserver/pkg/registry/rest/table.go`.
pub(super) const DEFAULT: &[Column] =
    &[Column::NAME, Column { name: "Created At", ty: "date", format: "", priority: 0 }];

pub(super) fn default_row(object: &Value) -> Row {
    let metadata = object.at("metadata");
    Row::new(vec![metadata.at("name").clone(), metadata.at("creationTimestamp").clone()])
}

impl Context<'_> {
    /// How long ago the object was made, as columns show it.
    #[must_use]
    pub fn age(&self, object: &Value) -> String {
        self.since(object.path(&["metadata", "creationTimestamp"]))
    }

    /// How long ago a moment was, as columns show it: `3m12s`, or `<unknown>`.
    #[must_use]
    pub fn since(&self, moment: &Value) -> String {
        match moment.str().parse::<Time>() {
            Ok(moment) => human_duration::human_duration(self.now_seconds - moment.unix_seconds()),
            Err(_) => "<unknown>".into(),
        }
    }
}
