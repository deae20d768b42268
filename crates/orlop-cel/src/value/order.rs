//! Which of two values is less.
//!
//! After `common/types/compare.go` of cel-go: numbers of different types are ordered as numbers.

use std::cmp::Ordering;

use crate::error::EvalError;

use super::Value;

impl Value<'_> {
    /// The order of two values.
    ///
    /// # Errors
    ///
    /// When their types have no order among each other, or one is not a number.
    pub fn compare(&self, other: &Value<'_>) -> Result<Ordering, EvalError> {
        Ok(match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::String(a), Value::String(b)) => (**a).cmp(&**b),
            (Value::Bytes(a), Value::Bytes(b)) => (**a).cmp(&**b),
            (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            _ => match compare_numbers(self, other) {
                Some(Some(ordering)) => ordering,
                Some(None) => return Err(EvalError::fixed("NaN values cannot be ordered")),
                None => return Err(EvalError::NoSuchOverload),
            },
        })
    }
}

/// The order of two numbers: none when they are none, and inner none for NaN.
pub(super) fn compare_numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Double(a), Value::Int(b)) => compare_int(*a, *b),
        (Value::Int(a), Value::Double(b)) => compare_int(*b, *a).map(Ordering::reverse),
        (Value::Double(a), Value::Uint(b)) => compare_uint(*a, *b),
        (Value::Uint(a), Value::Double(b)) => compare_uint(*b, *a).map(Ordering::reverse),
        _ => return None,
    })
}

#[allow(clippy::cast_precision_loss, reason = "as Go converts")]
fn compare_int(a: f64, b: i64) -> Option<Ordering> {
    a.partial_cmp(&(b as f64))
}

#[allow(clippy::cast_precision_loss, reason = "as Go converts")]
fn compare_uint(a: f64, b: u64) -> Option<Ordering> {
    a.partial_cmp(&(b as f64))
}
