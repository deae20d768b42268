//! Quantities such as `1.5Gi`.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/quantity.go`. Upstream refuses to compare
//! one on the left with the result of `add` or `sub` on the right; here both are quantities.

use std::any::Any;

use orlop_machinery::quantity::{Format, Quantity};

use crate::error::EvalError;
use crate::function::{CallFn, Context, Function, Library, Overload, T};
use crate::value::{Opaque, Value};

use super::argument::{exactly, int, opaque, text};
use super::price;

/// The library of quantities.
pub static QUANTITY: Library = Library {
    name: "kubernetes.quantity",
    functions: &[
        Function {
            name: "quantity",
            overloads: &[Overload::global("string_to_quantity", &[T::String], SELF, parse)
                .costs(price::traversal, price::traversal_estimate)],
        },
        Function {
            name: "isQuantity",
            overloads: &[Overload::global(
                "is_quantity_string",
                &[T::String],
                T::Bool,
                is_quantity,
            )
            .costs(price::traversal, price::traversal_estimate)],
        },
        // A function and no method, as upstream has it.
        Function {
            name: "sign",
            overloads: &[Overload::global("quantity_sign", ONE, T::Int, sign)
                .costs(price::one, price::one_estimate)],
        },
        Function {
            name: "isGreaterThan",
            overloads: &[member("quantity_is_greater_than", TWO, T::Bool, is_greater_than)],
        },
        Function {
            name: "isLessThan",
            overloads: &[member("quantity_is_less_than", TWO, T::Bool, is_less_than)],
        },
        Function {
            name: "compareTo",
            overloads: &[member("quantity_compare_to", TWO, T::Int, compare_to)],
        },
        Function {
            name: "asApproximateFloat",
            overloads: &[member("quantity_get_float", ONE, T::Double, as_approximate_float)],
        },
        Function {
            name: "asInteger",
            overloads: &[member("quantity_get_int", ONE, T::Int, as_integer)],
        },
        Function {
            name: "isInteger",
            overloads: &[member("quantity_is_integer", ONE, T::Bool, is_integer)],
        },
        Function {
            name: "add",
            overloads: &[
                member("quantity_add", TWO, SELF, add),
                member("quantity_add_int", AND_INT, SELF, add_int),
            ],
        },
        Function {
            name: "sub",
            overloads: &[
                member("quantity_sub", TWO, SELF, sub),
                member("quantity_sub_int", AND_INT, SELF, sub_int),
            ],
        },
    ],
    constants: &[],
    macros: &[],
};

const TYPE: &str = "kubernetes.Quantity";
const SELF: T = T::Opaque(TYPE);
const ONE: &[T] = &[SELF];
const TWO: &[T] = &[SELF, SELF];
const AND_INT: &[T] = &[SELF, T::Int];

const fn member(id: &'static str, params: &'static [T], result: T, call: CallFn) -> Overload {
    Overload::member(id, params, result, call).costs(price::one, price::one_estimate)
}

impl Opaque for Quantity {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equals(&self, other: &dyn Opaque) -> Option<bool> {
        other.as_any().downcast_ref().map(|other| self == other)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn parse<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    let quantity = text(whole)?.parse::<Quantity>();
    quantity.map(Value::opaque).map_err(|wrong| EvalError::new(wrong.to_string()))
}

fn is_quantity<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [whole] = exactly(args)?;
    Ok(Value::Bool(text(whole)?.parse::<Quantity>().is_ok()))
}

fn sign<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    one(args).map(|quantity| Value::Int(quantity.sign().into()))
}

fn is_greater_than<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    two(args).map(|(a, b)| Value::Bool(a > b))
}

fn is_less_than<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    two(args).map(|(a, b)| Value::Bool(a < b))
}

fn compare_to<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    two(args).map(|(a, b)| Value::Int(a.cmp(b) as i64))
}

fn as_approximate_float<'a>(
    _: &mut Context<'_>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    one(args).map(|quantity| Value::Double(quantity.as_f64()))
}

fn as_integer<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let number = one(args)?.as_i64();
    number.map(Value::Int).ok_or(EvalError::fixed("cannot convert value to integer"))
}

fn is_integer<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    one(args).map(|quantity| Value::Bool(quantity.as_i64().is_some()))
}

fn add<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (a, b) = two(args)?;
    let mut sum = *a;
    sum.add(*b);
    Ok(Value::opaque(sum))
}

fn add_int<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (mut sum, number) = with_int(args)?;
    sum.add(number);
    Ok(Value::opaque(sum))
}

fn sub<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (a, b) = two(args)?;
    let mut difference = *a;
    difference.sub(*b);
    Ok(Value::opaque(difference))
}

fn sub_int<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let (mut difference, number) = with_int(args)?;
    difference.sub(number);
    Ok(Value::opaque(difference))
}

fn one<'v>(args: &'v [Value<'_>]) -> Result<&'v Quantity, EvalError> {
    let [quantity] = exactly(args)?;
    opaque(quantity)
}

fn two<'v>(args: &'v [Value<'_>]) -> Result<(&'v Quantity, &'v Quantity), EvalError> {
    let [a, b] = exactly(args)?;
    Ok((opaque(a)?, opaque(b)?))
}

fn with_int(args: &[Value<'_>]) -> Result<(Quantity, Quantity), EvalError> {
    let [quantity, number] = exactly(args)?;
    Ok((*opaque(quantity)?, Quantity::new(int(number)?, Format::DecimalExponent)))
}
