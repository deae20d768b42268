//! How two values compare: the order and the equality behind path elements and merges.
//!
//! Unlike `==` on [`Value`], whole numbers and floats compare as numbers: a client may write `3.0`
//! where the store says `3`. The order is total, so it can sort.
//!
//! Behaviour after `structured-merge-diff/value` (`value.go`, `fields.go`), except that whole
//! numbers above 2^53 are compared with floats exactly instead of after rounding.

use std::cmp::Ordering;

use crate::value::{Map, Value};

/// Whether two values are the same; numbers by their amount.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left.iter().zip(right.iter()).all(|((left_key, left), (right_key, right))| {
                    left_key == right_key && equal(left, right)
                })
        }
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (left, right) => compare(left, right) == Ordering::Equal,
    }
}

/// Numbers, then text, truths, lists, maps, and nulls last.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => compare_floats(*left, *right),
        (Value::Int(left), Value::Float(right)) => compare_int_with_float(*left, *right),
        (Value::Float(left), Value::Int(right)) => compare_int_with_float(*right, *left).reverse(),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::List(left), Value::List(right)) => {
            let pairs = left.iter().zip(right).map(|(left, right)| compare(left, right));
            pairs.into_iter().find(|order| order.is_ne()).unwrap_or(left.len().cmp(&right.len()))
        }
        (Value::Map(left), Value::Map(right)) => compare_maps(left, right),
        (left, right) => rank(left).cmp(&rank(right)),
    }
}

/// Entry by entry: the smaller key, then the smaller value, then the shorter map first.
pub(crate) fn compare_maps(left: &Map, right: &Map) -> Ordering {
    for ((left_key, left), (right_key, right)) in left.iter().zip(right.iter()) {
        let order = left_key.cmp(right_key).then_with(|| compare(left, right));
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

/// Numbers as a decoder of JSON or YAML without types gives them: as floats. Messages show them
/// differently. Whole numbers that a float cannot hold stay as they are.
pub(crate) fn with_floats(value: Value) -> Value {
    const EXACT_MAX: i64 = 1 << 53;
    match value {
        #[allow(clippy::cast_precision_loss, reason = "it is exact up to there")]
        Value::Int(number) if (-EXACT_MAX..=EXACT_MAX).contains(&number) => {
            Value::Float(number as f64)
        }
        Value::List(items) => Value::List(items.into_iter().map(with_floats).collect()),
        Value::Map(map) => {
            Value::Map(map.into_iter().map(|(key, value)| (key, with_floats(value))).collect())
        }
        other => other,
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Int(_) | Value::Float(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::List(_) => 3,
        Value::Map(_) => 4,
        Value::Null => 5,
    }
}

/// Minus zero is zero, which `f64::total_cmp` denies.
fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.total_cmp(&right))
}

/// Without rounding the whole number, so that the order stays total.
fn compare_int_with_float(int: i64, float: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float >= LIMIT {
        return Ordering::Less;
    }
    if float < -LIMIT {
        return Ordering::Greater;
    }
    #[allow(clippy::cast_possible_truncation, reason = "whole, and within the limits above")]
    let whole = float.trunc() as i64;
    int.cmp(&whole).then_with(|| compare_floats(0.0, float.fract()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn every_value_is_above_those_before_it() {
        let ascending = [
            "-1.5",
            "-1",
            "0",
            "0.5",
            "1",
            "1.5",
            "9007199254740992",
            "9007199254740993",
            "1e300",
            "\"\"",
            "\"a\"",
            "\"b\"",
            "false",
            "true",
            "[]",
            "[1]",
            "[1,2]",
            "[2]",
            "{}",
            r#"{"a":1}"#,
            r#"{"a":1,"b":1}"#,
            r#"{"a":2}"#,
            r#"{"b":1}"#,
            "null",
        ];
        let values = ascending.map(|text| json::parse(text.as_bytes()).unwrap());
        for (at, left) in values.iter().enumerate() {
            for (other, right) in values.iter().enumerate() {
                assert_eq!(compare(left, right), at.cmp(&other), "{left:?} and {right:?}");
                assert_eq!(equal(left, right), at == other);
            }
        }
    }

    #[test]
    fn numbers_are_equal_by_amount() {
        assert!(equal(&Value::Int(3), &Value::Float(3.0)));
        assert!(equal(&Value::Int(0), &Value::Float(-0.0)));
        assert!(!equal(&Value::Int(i64::MAX), &Value::Float(9_223_372_036_854_775_807.0)));
        let nested = |number| Value::from([("a", Value::List(vec![number]))]);
        assert!(equal(&nested(Value::Int(1)), &nested(Value::Float(1.0))));
    }
}
