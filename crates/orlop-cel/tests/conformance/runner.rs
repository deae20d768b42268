//! Evaluates cases, and says where what comes of them is something else than what they want.

use std::sync::Arc;

use orlop_cel::environment::Functions;
use orlop_cel::function::{Context, Function, Library, Overload, T};
use orlop_cel::parser::FieldNames;
use orlop_cel::value::{OwnedMap, Value};
use orlop_cel::{Bindings, Environment, EvalError, Type};
use orlop_machinery::Str;
use orlop_machinery::duration::Duration;

use super::case::{Case, Datum, Expect, Kind, Signature};

/// What the evaluation of one case may cost.
const BUDGET: u64 = 10_000_000;

/// Evaluates a case.
///
/// Kubernetes evaluates nothing unchecked, and neither does the crate: a case that is not to be
/// checked is, and where it wants an error the checker may be the one to find it.
///
/// # Errors
///
/// What is not as the case wants it.
pub(crate) fn run(case: &Case, libraries: &[&'static Library]) -> Result<(), String> {
    let environment = environment(case, libraries)?;
    let checked = match environment.check(&case.expression) {
        Ok(checked) => checked,
        Err(_) if is_for_checker(case) && case.expect == Expect::Error => return Ok(()),
        Err(issues) => return Err(format!("is refused: {issues}")),
    };
    if let Expect::Typed(_, kind) = &case.expect {
        let found = checked.result_type();
        if *found != ty(kind)? {
            return Err(format!("is of type {found}, not {kind:?}"));
        }
    }
    if case.is_check_only {
        return Ok(());
    }
    // What is wrong with a constant is found before anything is evaluated.
    let program = match environment.plan(&checked) {
        Ok(program) => program,
        Err(_) if case.expect == Expect::Error => return Ok(()),
        Err(issues) => return Err(format!("is refused: {issues}")),
    };
    let mut bindings = Bindings::new();
    for (name, datum) in &case.bindings {
        let (id, _) = environment.variable(name).expect("what is bound was declared");
        bindings.set(id, value(datum)?);
    }
    let result = program.evaluate(&bindings, BUDGET).result;
    match (&case.expect, result) {
        (Expect::Error, Err(error)) if error.is_absorbable() => Ok(()),
        (Expect::Error, found) => Err(format!("is {found:?}, not an error")),
        (_, Err(error)) => Err(format!("fails: {error}")),
        (Expect::Value(datum) | Expect::Typed(Some(datum), _), Ok(found)) => {
            match is_same(&found, datum) {
                true => Ok(()),
                false => Err(format!("is {found:?}, not {datum:?}")),
            }
        }
        (Expect::Typed(None, _), Ok(_)) => Ok(()),
    }
}

/// Whether the checker may be the one to find the error.
fn is_for_checker(case: &Case) -> bool {
    case.is_unchecked || case.name.ends_with("compile_error")
}

fn environment(case: &Case, libraries: &[&'static Library]) -> Result<Environment, String> {
    let mut libraries = libraries.to_vec();
    for (name, signature) in &case.functions {
        libraries.push(library(name, signature)?);
    }
    let mut environment = Environment::new(Arc::new(Functions::new(&libraries)));
    environment.set_container(case.container.as_str());
    environment.set_field_names(FieldNames::Quoted);
    for (name, kind) in &case.variables {
        environment.declare(name.as_str(), ty(kind)?);
    }
    for (name, _) in &case.bindings {
        if environment.variable(name).is_none() {
            environment.declare(name.as_str(), Type::Dyn);
        }
    }
    Ok(environment)
}

/// A function that can be checked, but not called. Tables are for ever, and so is this one.
fn library(name: &str, signature: &Signature) -> Result<&'static Library, String> {
    fn refuse<'a>(_: &mut Context<'_>, _: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
        Err(EvalError::NoSuchOverload)
    }
    let params: Result<Vec<T>, String> = signature.parameters.iter().map(table_type).collect();
    let params: &'static [T] = Vec::leak(params?);
    let (id, result) = (leak(&signature.overload), table_type(&signature.result)?);
    let overload = if signature.is_member {
        Overload::member(id, params, result, refuse)
    } else {
        Overload::global(id, params, result, refuse)
    };
    let function = Function { name: leak(name), overloads: Vec::leak(vec![overload]) };
    let functions: &'static [Function] = Vec::leak(vec![function]);
    Ok(Box::leak(Box::new(Library { name: "test", functions, constants: &[], macros: &[] })))
}

fn leak(text: &str) -> &'static str {
    String::leak(text.to_owned())
}

/// A type as tables have it.
fn table_type(kind: &Kind) -> Result<T, String> {
    let inner = |kind: &Kind| -> Result<&'static T, String> {
        let ty: &'static T = Box::leak(Box::new(table_type(kind)?));
        Ok(ty)
    };
    Ok(match kind {
        Kind::Dyn => T::Dyn,
        Kind::Plain("bool") => T::Bool,
        Kind::Plain("int") => T::Int,
        Kind::Plain("uint") => T::Uint,
        Kind::Plain("double") => T::Double,
        Kind::Plain("string") => T::String,
        Kind::Plain("bytes") => T::Bytes,
        Kind::Plain("null_type") => T::Null,
        Kind::List(item) => T::List(inner(item)?),
        Kind::Map(key, value) => T::Map(inner(key)?, inner(value)?),
        Kind::Parameter(name) => T::Param(leak(name)),
        _ => return Err(format!("{kind:?} is not a type here")),
    })
}

/// A type as the checker has it.
fn ty(kind: &Kind) -> Result<Type, String> {
    Ok(match kind {
        Kind::Dyn => Type::Dyn,
        Kind::Plain("bool") => Type::Bool,
        Kind::Plain("int") => Type::Int,
        Kind::Plain("uint") => Type::Uint,
        Kind::Plain("double") => Type::Double,
        Kind::Plain("string") => Type::String,
        Kind::Plain("bytes") => Type::Bytes,
        Kind::Plain("null_type") => Type::Null,
        Kind::Plain("google.protobuf.Duration") => Type::Duration,
        Kind::Message(name) if name == "google.protobuf.Duration" => Type::Duration,
        Kind::Message(name) if name == "google.protobuf.Timestamp" => Type::Timestamp,
        Kind::Plain("google.protobuf.Timestamp") => Type::Timestamp,
        Kind::List(item) => Type::list(ty(item)?),
        Kind::Map(key, value) => Type::map(ty(key)?, ty(value)?),
        Kind::Parameter(name) => Type::Parameter(Str::new(name)),
        Kind::Type(of) => Type::type_of(ty(of)?),
        Kind::Abstract(name, of) if name == "optional_type" && of.len() == 1 => {
            Type::optional(ty(&of[0])?)
        }
        _ => return Err(format!("{kind:?} is not a type here")),
    })
}

fn value(datum: &Datum) -> Result<Value<'static>, String> {
    Ok(match datum {
        Datum::Null => Value::Null,
        Datum::Bool(truth) => Value::Bool(*truth),
        Datum::Int(number) => Value::Int(*number),
        Datum::Uint(number) => Value::Uint(*number),
        Datum::Double(number) => Value::Double(*number),
        Datum::String(text) => Value::string(text.as_str()),
        Datum::Bytes(bytes) => Value::bytes(bytes.as_slice()),
        Datum::List(items) => {
            let items: Result<Vec<Value<'static>>, String> = items.iter().map(value).collect();
            Value::list(items?)
        }
        Datum::Map(entries) => {
            let mut map = OwnedMap::with_capacity(entries.len());
            for (key, of) in entries {
                map.insert(value(key)?, value(of)?).map_err(|error| error.to_string())?;
            }
            Value::from(map)
        }
        Datum::Duration(seconds, nanos) => {
            Value::Duration(Duration::from_nanos(seconds * 1_000_000_000 + nanos))
        }
        _ => return Err(format!("{datum:?} is not a value here")),
    })
}

/// Whether a value is what a case wants. Numbers of different types are different.
fn is_same(found: &Value<'_>, wanted: &Datum) -> bool {
    match (found, wanted) {
        (Value::Null, Datum::Null) => true,
        (Value::Bool(a), Datum::Bool(b)) => a == b,
        (Value::Int(a), Datum::Int(b)) => a == b,
        (Value::Uint(a), Datum::Uint(b)) => a == b,
        (Value::Double(a), Datum::Double(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Value::String(a), Datum::String(b)) => **a == **b,
        (Value::Bytes(a), Datum::Bytes(b)) => **a == **b,
        (Value::Type(a), Datum::Type(b)) => a.name() == b,
        (Value::Duration(a), Datum::Duration(seconds, nanos)) => {
            a.as_nanos() == seconds * 1_000_000_000 + nanos
        }
        (Value::Timestamp(a), Datum::Timestamp(seconds, nanos)) => {
            a.seconds() == *seconds && i64::from(a.nanos()) == *nanos
        }
        (Value::List(a), Datum::List(b)) => {
            let is_item = |(found, wanted): (Result<Value<'_>, EvalError>, &Datum)| {
                found.is_ok_and(|found| is_same(&found, wanted))
            };
            a.len() == b.len() && a.iter().zip(b).all(is_item)
        }
        (Value::Map(a), Datum::Map(b)) => {
            let entries: Vec<_> = a.iter().collect();
            a.len() == b.len()
                && b.iter().all(|(key, wanted)| {
                    entries.iter().any(|(found_key, found)| {
                        is_same(found_key, key)
                            && found.as_ref().is_ok_and(|found| is_same(found, wanted))
                    })
                })
        }
        _ => false,
    }
}
