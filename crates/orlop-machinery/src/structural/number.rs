//! Bounds of numbers.
//!
//! After `numberValidator` in `kube-openapi/pkg/validation/validate/validator.go`, the comparisons
//! in `values.go` there, and `IsFloat64AJSONInteger` of `go-openapi/swag`. A bound must itself be
//! of the type of the number; upstream says so with every value.

use super::format::Format;
use super::{Shape, Structural, ValueRules};
use crate::value::Value;

/// What is wrong with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumberFault {
    /// What is called so (the value or a bound) does not fit into the type.
    Range(&'static str),
    /// It is no multiple of a number.
    Multiple(Number),
    /// The multiple itself makes no sense.
    BadMultiple(Number),
    /// It is below a bound, or at one that is out.
    Below(Number, bool),
    /// It is above a bound, or at one that is out.
    Above(Number, bool),
}

/// A number as it was compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int { limit: i64, value: i64 },
    Float { limit: f64, value: f64 },
}

/// Whether anything is wrong with a number.
pub(super) fn has_number_fault(schema: &Structural, rules: &ValueRules, value: &Value) -> bool {
    let mut is_wrong = false;
    number_faults(schema, rules, value, &mut |_| is_wrong = true);
    is_wrong
}

/// Tells all that is wrong with a number, in upstream's order.
pub(super) fn number_faults(
    schema: &Structural,
    rules: &ValueRules,
    value: &Value,
    tell: &mut dyn FnMut(NumberFault),
) {
    let fits = |number: &Value| fits_type(schema, rules, number);
    if !fits(value) {
        tell(NumberFault::Range("Checked"));
    }
    // Compared as whole numbers only when the bound is of the type of the number.
    let compare = |limit: f64, name, tell: &mut dyn FnMut(NumberFault)| {
        let is_native = fits(&Value::Float(limit));
        if !is_native {
            tell(NumberFault::Range(name));
        }
        match value {
            Value::Int(value) if is_native => Number::Int { limit: to_int(limit), value: *value },
            value => Number::Float { limit, value: value.as_float().unwrap_or_default() },
        }
    };
    if let Some(factor) = rules.multiple_of {
        let pair = compare(factor, "MultipleOf", tell);
        multiple_fault(pair).into_iter().for_each(&mut *tell);
    }
    if let Some((limit, is_out)) = rules.minimum {
        let pair = compare(limit, "Minimum boundary", tell);
        if is_beyond(pair, is_out, std::cmp::Ordering::Less) {
            tell(NumberFault::Below(pair, is_out));
        }
    }
    if let Some((limit, is_out)) = rules.maximum {
        let pair = compare(limit, "Maximum boundary", tell);
        if is_beyond(pair, is_out, std::cmp::Ordering::Greater) {
            tell(NumberFault::Above(pair, is_out));
        }
    }
}

fn is_beyond(pair: Number, is_out: bool, side: std::cmp::Ordering) -> bool {
    let order = match pair {
        Number::Int { limit, value } => Some(value.cmp(&limit)),
        Number::Float { limit, value } => value.partial_cmp(&limit),
    };
    order == Some(side) || (is_out && order == Some(std::cmp::Ordering::Equal))
}

fn multiple_fault(pair: Number) -> Option<NumberFault> {
    match pair {
        Number::Int { limit, .. } if limit <= 0 => Some(NumberFault::BadMultiple(pair)),
        Number::Int { limit, value } => (value % limit != 0).then_some(NumberFault::Multiple(pair)),
        Number::Float { limit, .. } if limit <= 0.0 => Some(NumberFault::BadMultiple(pair)),
        Number::Float { limit, value } => {
            let times = if limit < 1.0 { 1.0 / limit * value } else { value / limit };
            (!is_json_integer(times)).then_some(NumberFault::Multiple(pair))
        }
    }
}

/// Whether a number is one of the type and format of a schema.
fn fits_type(schema: &Structural, rules: &ValueRules, number: &Value) -> bool {
    match (&schema.shape, number) {
        (Some(Shape::Integer), Value::Int(number)) => {
            !matches!(rules.known_format, Some(Format::Int32)) || i32::try_from(*number).is_ok()
        }
        (Some(Shape::Integer), Value::Float(number)) => {
            let limit = match rules.known_format {
                Some(Format::Int32) => f64::from(i32::MAX) + 1.0,
                // As text with as few digits as can be, the smallest whole number does not fit.
                _ => 9_223_372_036_854_775_808.0,
            };
            let is_smallest = *number == f64::from(i32::MIN) && limit < 1e12;
            number.fract() == 0.0 && (number.abs() < limit || is_smallest)
        }
        (Some(Shape::Number), Value::Float(number)) => {
            #[allow(clippy::cast_possible_truncation, reason = "that is the question")]
            let small = *number as f32;
            !matches!(rules.known_format, Some(Format::Float)) || small.is_finite()
        }
        _ => true,
    }
}

/// The largest number up to which all whole ones are different.
const SAFE_MAX: f64 = 9_007_199_254_740_991.0;
/// How far a number may be from a whole one, in relation to its size.
const EPSILON: f64 = 1e-9;

/// Whether a number is a whole one, or nearly.
pub(super) fn is_json_integer(number: f64) -> bool {
    if number.is_nan() || number.abs() > SAFE_MAX {
        return false;
    }
    let whole = number.trunc();
    whole == number || (number >= 1.0 && (number - whole) / (number + whole) < EPSILON)
}

/// As Go converts on common machines: towards zero, and to the smallest number what does not fit.
pub(super) fn to_int(number: f64) -> i64 {
    let fits = number > -9_223_372_036_854_775_808.0 && number < 9_223_372_036_854_775_808.0;
    #[allow(clippy::cast_possible_truncation, reason = "it was looked at just now")]
    let whole = number as i64;
    if fits { whole } else { i64::MIN }
}
