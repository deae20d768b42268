//! The functions that the language itself has.
//!
//! After `common/stdlib/standard.go` of cel-go, which has the overloads and their ids. The logical
//! operators, equality, order and indexing have nodes of their own in plans; their overloads are
//! here for the checker, and do the same when they are called.

mod arithmetic;
mod conversions;
mod relations;
mod strings;
mod times;
mod zones;

use std::sync::Arc;

use crate::error::EvalError;
use crate::function::{Constant, Context, Function, Library, Overload, T};
use crate::macros;
use crate::operator;
use crate::ty::Type;
use crate::value::{Map, Value};

/// The standard library.
pub static STANDARD: Library = Library {
    name: "cel.lib.std",
    functions: FUNCTIONS,
    constants: CONSTANTS,
    macros: macros::STANDARD,
};

/// A type parameter.
const A: T = T::Param("A");
/// Another.
const B: T = T::Param("B");
const LIST_OF_A: T = T::List(&A);
const MAP_OF_A_B: T = T::Map(&A, &B);

static FUNCTIONS: &[Function] = &[
    Function {
        name: operator::CONDITIONAL,
        overloads: &[Overload::global("conditional", &[T::Bool, A, A], A, conditional)],
    },
    Function {
        name: operator::AND,
        overloads: &[Overload::global("logical_and", &[T::Bool, T::Bool], T::Bool, and)],
    },
    Function {
        name: operator::OR,
        overloads: &[Overload::global("logical_or", &[T::Bool, T::Bool], T::Bool, or)],
    },
    Function {
        name: operator::NOT,
        overloads: &[Overload::global("logical_not", &[T::Bool], T::Bool, not)],
    },
    Function {
        name: operator::NOT_STRICTLY_FALSE,
        overloads: &[Overload::global("not_strictly_false", &[T::Bool], T::Bool, identity)],
    },
    relations::EQUALS,
    relations::NOT_EQUALS,
    relations::LESS,
    relations::LESS_EQUALS,
    relations::GREATER,
    relations::GREATER_EQUALS,
    relations::IN,
    arithmetic::ADD,
    arithmetic::SUBTRACT,
    arithmetic::MULTIPLY,
    arithmetic::DIVIDE,
    arithmetic::MODULO,
    arithmetic::NEGATE,
    Function {
        name: operator::INDEX,
        overloads: &[
            Overload::global("index_list", &[LIST_OF_A, T::Int], A, index),
            Overload::global("index_map", &[MAP_OF_A_B, A], B, index),
        ],
    },
    Function {
        name: "size",
        overloads: &[
            Overload::global("size_bytes", &[T::Bytes], T::Int, size),
            Overload::member("bytes_size", &[T::Bytes], T::Int, size),
            Overload::global("size_list", &[LIST_OF_A], T::Int, size),
            Overload::member("list_size", &[LIST_OF_A], T::Int, size),
            Overload::global("size_map", &[MAP_OF_A_B], T::Int, size),
            Overload::member("map_size", &[MAP_OF_A_B], T::Int, size),
            Overload::global("size_string", &[T::String], T::Int, size),
            Overload::member("string_size", &[T::String], T::Int, size),
        ],
    },
    Function { name: "type", overloads: &[Overload::global("type", &[A], T::Type(&A), type_of)] },
    Function { name: "dyn", overloads: &[Overload::global("to_dyn", &[A], T::Dyn, identity)] },
    conversions::BOOL,
    conversions::BYTES,
    conversions::DOUBLE,
    conversions::DURATION,
    conversions::INT,
    conversions::STRING,
    conversions::TIMESTAMP,
    conversions::UINT,
    strings::CONTAINS,
    strings::ENDS_WITH,
    strings::MATCHES,
    strings::STARTS_WITH,
    times::GET_FULL_YEAR,
    times::GET_MONTH,
    times::GET_DAY_OF_YEAR,
    times::GET_DAY_OF_MONTH,
    times::GET_DATE,
    times::GET_DAY_OF_WEEK,
    times::GET_HOURS,
    times::GET_MINUTES,
    times::GET_SECONDS,
    times::GET_MILLISECONDS,
];

/// The names of types.
static CONSTANTS: &[Constant] = &[
    Constant { name: "bool", ty: T::Type(&T::Bool), value: || ty(Type::Bool) },
    Constant { name: "bytes", ty: T::Type(&T::Bytes), value: || ty(Type::Bytes) },
    Constant { name: "double", ty: T::Type(&T::Double), value: || ty(Type::Double) },
    Constant { name: "int", ty: T::Type(&T::Int), value: || ty(Type::Int) },
    Constant { name: "uint", ty: T::Type(&T::Uint), value: || ty(Type::Uint) },
    Constant { name: "string", ty: T::Type(&T::String), value: || ty(Type::String) },
    Constant { name: "null_type", ty: T::Type(&T::Null), value: || ty(Type::Null) },
    Constant { name: "list", ty: T::Type(&T::List(&T::Dyn)), value: || ty(Type::list(Type::Dyn)) },
    Constant {
        name: "map",
        ty: T::Type(&T::Map(&T::Dyn, &T::Dyn)),
        value: || ty(Type::map(Type::Dyn, Type::Dyn)),
    },
    Constant {
        name: "type",
        ty: T::Type(&T::Type(&T::Dyn)),
        value: || ty(Type::type_of(Type::Dyn)),
    },
    Constant {
        name: "google.protobuf.Duration",
        ty: T::Type(&T::Duration),
        value: || ty(Type::Duration),
    },
    Constant {
        name: "google.protobuf.Timestamp",
        ty: T::Type(&T::Timestamp),
        value: || ty(Type::Timestamp),
    },
];

type Called<'a> = Result<Value<'a>, EvalError>;

fn ty(ty: Type) -> Value<'static> {
    Value::Type(Arc::new(ty))
}

fn conditional<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Bool(true), value, _] | [Value::Bool(false), _, value] => Ok(value.clone()),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn and<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Bool(a), Value::Bool(b)] => Ok(Value::Bool(*a && *b)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn or<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Bool(a), Value::Bool(b)] => Ok(Value::Bool(*a || *b)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn not<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::Bool(truth)] => Ok(Value::Bool(!truth)),
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn identity<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    args.first().cloned().ok_or(EvalError::NoSuchOverload)
}

fn index<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    match args {
        [Value::List(list), Value::Int(at)] => usize::try_from(*at)
            .ok()
            .and_then(|at| list.get(at))
            .unwrap_or_else(|| Err(EvalError::new(format!("index out of bounds: {at}")))),
        [Value::Map(map), key] => {
            map.get(key)?.ok_or_else(|| EvalError::new(format!("no such key: {key}")))
        }
        _ => Err(EvalError::NoSuchOverload),
    }
}

fn size<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let size = match args {
        [Value::String(text)] => {
            context.work.look(text.len() / 64)?;
            text.chars().count()
        }
        [Value::Bytes(bytes)] => bytes.len(),
        [Value::List(list)] => list.len(),
        [Value::Map(map)] => map.len(),
        _ => return Err(EvalError::NoSuchOverload),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

/// Objects of a schema are maps when they run, as upstream.
fn type_of<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Called<'a> {
    let [value] = args else { return Err(EvalError::NoSuchOverload) };
    Ok(match value {
        Value::Map(Map::Json { .. }) => ty(Type::map(Type::Dyn, Type::Dyn)),
        value => ty(value.ty()),
    })
}
