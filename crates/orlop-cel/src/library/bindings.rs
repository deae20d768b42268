//! `cel.bind`: a value under a name.
//!
//! After `ext/bindings.go` of cel-go, version 0. Kubernetes has it only in selectors of devices;
//! expressions of our own have it too.

use crate::function::Library;
use crate::macros;

/// The library of bindings, which is a macro.
pub static BINDINGS: Library = Library {
    name: "cel.lib.ext.cel.bindings",
    functions: &[],
    constants: &[],
    macros: macros::BINDINGS,
};
