//! Errors about fields of an object, in upstream's words, and the paths that they name.
//!
//! Text after `staging/src/k8s.io/apimachinery/pkg/util/validation/field`. Validation never stops
//! at the first error: it goes on and [`Errors`] keeps all of them, in the order of the rules.

mod errors;
mod path;

pub use errors::{ErrorKind, Errors, FieldError};
pub use path::{At, Path};
