//! Whether two values of a struct mean the same: a quantity may be written in several ways.

use orlop_machinery::Value;
use orlop_machinery::equality::semantically_equal;

use crate::schema;

/// Whether two values of the struct with this name mean the same.
///
/// # Panics
///
/// When the schema has no such struct: a mistake in a kind, which every test of it shows.
pub(crate) fn is_same(struct_name: &str, a: &Value, b: &Value) -> bool {
    let id = schema().find(struct_name).expect("a kind names structs that there are");
    semantically_equal(schema(), id, a, b)
}
