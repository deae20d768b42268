//! Numbers: extremes, rounding, signs, bits.
//!
//! After `ext/math.go` of cel-go, version 2. Kubernetes does not have it; expressions of our own
//! do. `math.least` and `math.greatest` are macros that become calls of `math.@min` and
//! `math.@max`.

mod macros;

use std::cmp::Ordering;

use crate::error::EvalError;
use crate::function::{CallFn, Context, Function, Library, Overload, T};
use crate::value::{List, Value};

use super::argument::{double, exactly, int, list};

/// The library of numbers.
pub static MATH: Library = Library {
    name: "cel.lib.ext.math",
    functions: &[
        Function { name: "math.@min", overloads: MIN },
        Function { name: "math.@max", overloads: MAX },
        function("math.ceil", &[double_to("math_ceil_double", T::Double, ceil)]),
        function("math.floor", &[double_to("math_floor_double", T::Double, floor)]),
        function("math.round", &[double_to("math_round_double", T::Double, round)]),
        function("math.trunc", &[double_to("math_trunc_double", T::Double, trunc)]),
        function("math.isInf", &[double_to("math_isInf_double", T::Bool, is_inf)]),
        function("math.isNaN", &[double_to("math_isNaN_double", T::Bool, is_nan)]),
        function("math.isFinite", &[double_to("math_isFinite_double", T::Bool, is_finite)]),
        Function { name: "math.abs", overloads: ABS },
        Function { name: "math.sign", overloads: SIGN },
        Function { name: "math.sqrt", overloads: SQRT },
        Function { name: "math.bitAnd", overloads: BIT_AND },
        Function { name: "math.bitOr", overloads: BIT_OR },
        Function { name: "math.bitXor", overloads: BIT_XOR },
        Function { name: "math.bitNot", overloads: BIT_NOT },
        Function { name: "math.bitShiftLeft", overloads: SHIFT_LEFT },
        Function { name: "math.bitShiftRight", overloads: SHIFT_RIGHT },
    ],
    constants: &[],
    macros: macros::MACROS,
};

const MIN: &[Overload] = &[
    Overload::global("math_@min_double", &[T::Double], T::Double, same),
    Overload::global("math_@min_int", &[T::Int], T::Int, same),
    Overload::global("math_@min_uint", &[T::Uint], T::Uint, same),
    Overload::global("math_@min_double_double", &[T::Double, T::Double], T::Double, min_pair),
    Overload::global("math_@min_int_int", &[T::Int, T::Int], T::Int, min_pair),
    Overload::global("math_@min_uint_uint", &[T::Uint, T::Uint], T::Uint, min_pair),
    Overload::global("math_@min_int_uint", &[T::Int, T::Uint], T::Dyn, min_pair),
    Overload::global("math_@min_int_double", &[T::Int, T::Double], T::Dyn, min_pair),
    Overload::global("math_@min_double_int", &[T::Double, T::Int], T::Dyn, min_pair),
    Overload::global("math_@min_double_uint", &[T::Double, T::Uint], T::Dyn, min_pair),
    Overload::global("math_@min_uint_int", &[T::Uint, T::Int], T::Dyn, min_pair),
    Overload::global("math_@min_uint_double", &[T::Uint, T::Double], T::Dyn, min_pair),
    Overload::global("math_@min_list_double", &[T::List(&T::Double)], T::Double, min_list),
    Overload::global("math_@min_list_int", &[T::List(&T::Int)], T::Int, min_list),
    Overload::global("math_@min_list_uint", &[T::List(&T::Uint)], T::Uint, min_list),
];

const MAX: &[Overload] = &[
    Overload::global("math_@max_double", &[T::Double], T::Double, same),
    Overload::global("math_@max_int", &[T::Int], T::Int, same),
    Overload::global("math_@max_uint", &[T::Uint], T::Uint, same),
    Overload::global("math_@max_double_double", &[T::Double, T::Double], T::Double, max_pair),
    Overload::global("math_@max_int_int", &[T::Int, T::Int], T::Int, max_pair),
    Overload::global("math_@max_uint_uint", &[T::Uint, T::Uint], T::Uint, max_pair),
    Overload::global("math_@max_int_uint", &[T::Int, T::Uint], T::Dyn, max_pair),
    Overload::global("math_@max_int_double", &[T::Int, T::Double], T::Dyn, max_pair),
    Overload::global("math_@max_double_int", &[T::Double, T::Int], T::Dyn, max_pair),
    Overload::global("math_@max_double_uint", &[T::Double, T::Uint], T::Dyn, max_pair),
    Overload::global("math_@max_uint_int", &[T::Uint, T::Int], T::Dyn, max_pair),
    Overload::global("math_@max_uint_double", &[T::Uint, T::Double], T::Dyn, max_pair),
    Overload::global("math_@max_list_double", &[T::List(&T::Double)], T::Double, max_list),
    Overload::global("math_@max_list_int", &[T::List(&T::Int)], T::Int, max_list),
    Overload::global("math_@max_list_uint", &[T::List(&T::Uint)], T::Uint, max_list),
];

const ABS: &[Overload] = &[
    double_to("math_abs_double", T::Double, abs_double),
    Overload::global("math_abs_int", &[T::Int], T::Int, abs_int),
    Overload::global("math_abs_uint", &[T::Uint], T::Uint, same),
];

const SIGN: &[Overload] = &[
    double_to("math_sign_double", T::Double, sign),
    Overload::global("math_sign_int", &[T::Int], T::Int, sign),
    Overload::global("math_sign_uint", &[T::Uint], T::Uint, sign),
];

const SQRT: &[Overload] = &[
    double_to("math_sqrt_double", T::Double, sqrt),
    Overload::global("math_sqrt_int", &[T::Int], T::Double, sqrt),
    Overload::global("math_sqrt_uint", &[T::Uint], T::Double, sqrt),
];

const BIT_AND: &[Overload] = &[
    Overload::global("math_bitAnd_int_int", &[T::Int, T::Int], T::Int, bit_and),
    Overload::global("math_bitAnd_uint_uint", &[T::Uint, T::Uint], T::Uint, bit_and),
];

const BIT_OR: &[Overload] = &[
    Overload::global("math_bitOr_int_int", &[T::Int, T::Int], T::Int, bit_or),
    Overload::global("math_bitOr_uint_uint", &[T::Uint, T::Uint], T::Uint, bit_or),
];

const BIT_XOR: &[Overload] = &[
    Overload::global("math_bitXor_int_int", &[T::Int, T::Int], T::Int, bit_xor),
    Overload::global("math_bitXor_uint_uint", &[T::Uint, T::Uint], T::Uint, bit_xor),
];

const BIT_NOT: &[Overload] = &[
    Overload::global("math_bitNot_int_int", &[T::Int], T::Int, bit_not),
    Overload::global("math_bitNot_uint_uint", &[T::Uint], T::Uint, bit_not),
];

const SHIFT_LEFT: &[Overload] = &[
    Overload::global("math_bitShiftLeft_int_int", &[T::Int, T::Int], T::Int, shift_left),
    Overload::global("math_bitShiftLeft_uint_int", &[T::Uint, T::Int], T::Uint, shift_left),
];

const SHIFT_RIGHT: &[Overload] = &[
    Overload::global("math_bitShiftRight_int_int", &[T::Int, T::Int], T::Int, shift_right),
    Overload::global("math_bitShiftRight_uint_int", &[T::Uint, T::Int], T::Uint, shift_right),
];

const fn function(name: &'static str, overloads: &'static [Overload]) -> Function {
    Function { name, overloads }
}

const fn double_to(id: &'static str, result: T, call: CallFn) -> Overload {
    Overload::global(id, &[T::Double], result, call)
}

fn same<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [number] = exactly(args)?;
    Ok(number.clone())
}

fn min_pair<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [a, b] = exactly(args)?;
    better(a, b, Ordering::Greater, "math.@min")
}

fn max_pair<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [a, b] = exactly(args)?;
    better(a, b, Ordering::Less, "math.@max")
}

fn min_list<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [numbers] = exactly(args)?;
    best_of(list(numbers)?, Ordering::Greater, "math.@min")
}

fn max_list<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [numbers] = exactly(args)?;
    best_of(list(numbers)?, Ordering::Less, "math.@max")
}

/// The first, unless it compares so with the second.
fn better<'a>(
    a: &Value<'a>,
    b: &Value<'a>,
    worse: Ordering,
    name: &str,
) -> Result<Value<'a>, EvalError> {
    match a.compare(b) {
        Ok(order) if order == worse => Ok(b.clone()),
        Ok(_) => Ok(a.clone()),
        Err(error) => Err(EvalError::new(format!("{error}: {name}"))),
    }
}

fn best_of<'a>(numbers: &List<'a>, worse: Ordering, name: &str) -> Result<Value<'a>, EvalError> {
    let mut best: Option<Value<'a>> = None;
    for number in numbers.iter() {
        let number = number?;
        best = Some(match &best {
            None => number,
            Some(best) => better(best, &number, worse, name)?,
        });
    }
    match best {
        Some(Value::Int(_) | Value::Uint(_) | Value::Double(_)) => Ok(best.unwrap_or_default()),
        Some(_) => Err(EvalError::new(format!("no such overload: {name}"))),
        None => Err(EvalError::new(format!("{name}(list) argument must not be empty"))),
    }
}

fn ceil<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Double(number.ceil()))
}

fn floor<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Double(number.floor()))
}

fn round<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Double(number.round()))
}

fn trunc<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Double(number.trunc()))
}

fn is_inf<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Bool(number.is_infinite()))
}

fn is_nan<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Bool(number.is_nan()))
}

fn is_finite<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Bool(number.is_finite()))
}

fn abs_double<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    number(args).map(|number| Value::Double(number.abs()))
}

fn number(args: &[Value<'_>]) -> Result<f64, EvalError> {
    let [number] = exactly(args)?;
    double(number)
}

fn abs_int<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [number] = exactly(args)?;
    let absolute = int(number)?.checked_abs();
    absolute.map(Value::Int).ok_or(EvalError::fixed("integer overflow"))
}

fn sign<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [number] = exactly(args)?;
    match number {
        Value::Double(number) if number.is_nan() => Ok(Value::Double(*number)),
        Value::Double(number) => {
            let sign = match number.partial_cmp(&0.0) {
                Some(Ordering::Greater) => 1.0,
                Some(Ordering::Less) => -1.0,
                _ => 0.0,
            };
            Ok(Value::Double(sign))
        }
        Value::Int(number) => Ok(Value::Int(number.signum())),
        Value::Uint(number) => Ok(Value::Uint((*number).min(1))),
        _ => Err(EvalError::NoSuchOverload),
    }
}

#[allow(clippy::cast_precision_loss, reason = "as Go converts")]
fn sqrt<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [number] = exactly(args)?;
    let number = match number {
        Value::Double(number) => *number,
        Value::Int(number) => *number as f64,
        Value::Uint(number) => *number as f64,
        _ => return Err(EvalError::fixed("no such overload: sqrt")),
    };
    Ok(Value::Double(number.sqrt()))
}

fn bit_and<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    bitwise(args, |a, b| a & b)
}

fn bit_or<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    bitwise(args, |a, b| a | b)
}

fn bit_xor<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    bitwise(args, |a, b| a ^ b)
}

fn bit_not<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [number] = exactly(args)?;
    of_bits(number, !bits(number)?)
}

/// What comes out is of the type of the first.
fn bitwise<'a>(args: &[Value<'a>], operator: fn(u64, u64) -> u64) -> Result<Value<'a>, EvalError> {
    let [a, b] = exactly(args)?;
    of_bits(a, operator(bits(a)?, bits(b)?))
}

fn shift_left<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    shift(args, u64::checked_shl, "math.bitShiftLeft")
}

/// The sign moves like any other bit.
fn shift_right<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    shift(args, u64::checked_shr, "math.bitShiftRight")
}

fn shift<'a>(
    args: &[Value<'a>],
    operator: fn(u64, u32) -> Option<u64>,
    name: &str,
) -> Result<Value<'a>, EvalError> {
    let [number, by] = exactly(args)?;
    let by = int(by)?;
    if by < 0 {
        return Err(EvalError::new(format!("{name}() negative offset: {by}")));
    }
    let shifted = u32::try_from(by).ok().and_then(|by| operator(bits(number).ok()?, by));
    of_bits(number, shifted.unwrap_or(0))
}

fn bits(number: &Value<'_>) -> Result<u64, EvalError> {
    match number {
        Value::Int(number) => Ok(number.cast_unsigned()),
        Value::Uint(number) => Ok(*number),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn of_bits<'a>(like: &Value<'a>, bits: u64) -> Result<Value<'a>, EvalError> {
    match like {
        Value::Int(_) => Ok(Value::Int(bits.cast_signed())),
        Value::Uint(_) => Ok(Value::Uint(bits)),
        _ => Err(EvalError::NoSuchOverload),
    }
}
