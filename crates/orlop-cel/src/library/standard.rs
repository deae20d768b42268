//! The functions that the language itself has.
//!
//! After `common/stdlib/standard.go` of cel-go, which has the overloads and their ids.

use crate::function::Library;

/// The standard library, without its macros.
pub static STANDARD: Library =
    Library { name: "cel.lib.std", functions: &[], constants: &[], macros: &[] };
