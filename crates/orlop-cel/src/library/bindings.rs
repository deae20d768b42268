//! `cel.bind`: a name for a value inside an expression.
//!
//! After `ext/bindings.go` of cel-go. Not in the environment that Kubernetes gives to expressions.

use crate::function::Library;
use crate::macros;

/// `cel.bind`
pub static BINDINGS: Library = Library {
    name: "cel.lib.ext.cel.bindings",
    functions: &[],
    constants: &[],
    macros: macros::BINDINGS,
};
