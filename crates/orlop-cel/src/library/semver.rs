//! Versions as semver.org has them.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/semverlib.go`, version 1.

mod version;

use std::any::Any;

pub use version::Version;

use crate::error::EvalError;
use crate::function::{CallFn, Context, Function, Library, Overload, T};
use crate::value::{Opaque, Value};

use super::argument::{exactly, opaque, text};
use super::price;

/// The library of versions.
pub static SEMVER: Library = Library {
    name: "kubernetes.Semver",
    functions: &[
        Function {
            name: "semver",
            overloads: &[
                reading("string_to_semver", &[T::String], SELF, parse),
                reading("string_bool_to_semver", &[T::String, T::Bool], SELF, parse),
            ],
        },
        Function {
            name: "isSemver",
            overloads: &[
                reading("is_semver_string", &[T::String], T::Bool, is_semver),
                reading("is_semver_string_bool", &[T::String, T::Bool], T::Bool, is_semver),
            ],
        },
        Function {
            name: "isGreaterThan",
            overloads: &[member("semver_is_greater_than", TWO, T::Bool, is_greater_than)],
        },
        Function {
            name: "isLessThan",
            overloads: &[member("semver_is_less_than", TWO, T::Bool, is_less_than)],
        },
        Function {
            name: "compareTo",
            overloads: &[member("semver_compare_to", TWO, T::Int, compare_to)],
        },
        Function { name: "major", overloads: &[member("semver_major", ONE, T::Int, major)] },
        Function { name: "minor", overloads: &[member("semver_minor", ONE, T::Int, minor)] },
        Function { name: "patch", overloads: &[member("semver_patch", ONE, T::Int, patch)] },
    ],
    constants: &[],
    macros: &[],
};

const TYPE: &str = "kubernetes.Semver";
const SELF: T = T::Opaque(TYPE);
const ONE: &[T] = &[SELF];
const TWO: &[T] = &[SELF, SELF];

const fn member(id: &'static str, params: &'static [T], result: T, call: CallFn) -> Overload {
    Overload::member(id, params, result, call).costs(price::one, price::one_estimate)
}

const fn reading(id: &'static str, params: &'static [T], result: T, call: CallFn) -> Overload {
    Overload::global(id, params, result, call).costs(price::traversal, price::traversal_estimate)
}

impl Opaque for Version {
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

/// Reads the first argument, by looser rules if the second says so.
fn version_of(args: &[Value<'_>]) -> Result<Result<Version, String>, EvalError> {
    match args {
        [whole] | [whole, Value::Bool(false)] => Ok(Version::parse(text(whole)?)),
        [whole, Value::Bool(true)] => Ok(Version::parse_tolerant(text(whole)?)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn parse<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    context.work.make(args.first().and_then(Value::as_str).map_or(0, str::len))?;
    version_of(args)?.map(Value::opaque).map_err(EvalError::new)
}

fn is_semver<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(version_of(args)?.is_ok()))
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

fn major<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    one(args).map(|version| as_int(version.major))
}

fn minor<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    one(args).map(|version| as_int(version.minor))
}

fn patch<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    one(args).map(|version| as_int(version.patch))
}

/// As upstream, a number that is too large becomes negative.
fn as_int<'a>(number: u64) -> Value<'a> {
    Value::Int(number.cast_signed())
}

fn one<'v>(args: &'v [Value<'_>]) -> Result<&'v Version, EvalError> {
    let [version] = exactly(args)?;
    opaque(version)
}

fn two<'v>(args: &'v [Value<'_>]) -> Result<(&'v Version, &'v Version), EvalError> {
    let [a, b] = exactly(args)?;
    Ok((opaque(a)?, opaque(b)?))
}
