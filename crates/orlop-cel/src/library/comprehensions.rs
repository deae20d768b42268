//! Comprehensions with two variables: macros, and the function that they make maps with.
//!
//! After `ext/comprehensions.go` of cel-go. Where a plan can, it adds entries in place.

use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::macros::{self, MAP_INSERT};
use crate::value::{Map, OwnedMap, Value};

use super::argument::exactly;

/// The library.
pub static TWO_VARIABLE_COMPREHENSIONS: Library = Library {
    name: "cel.lib.ext.comprev2",
    functions: &[Function {
        name: MAP_INSERT,
        overloads: &[
            Overload::global(
                "@mapInsert_map_key_value",
                &[MAP, T::Param("K"), T::Param("V")],
                MAP,
                insert,
            ),
            Overload::global("@mapInsert_map_map", &[MAP, MAP], MAP, insert_all),
        ],
    }],
    constants: &[],
    macros: macros::TWO_VARIABLES,
};

const MAP: T = T::Map(&T::Param("K"), &T::Param("V"));

fn insert<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [map, key, value] = exactly(args)?;
    let mut larger = copy(context, map)?;
    add(&mut larger, key.clone(), value.clone())?;
    Ok(larger.into())
}

fn insert_all<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [map, more] = exactly(args)?;
    let mut larger = copy(context, map)?;
    for (key, value) in map_of(more)?.iter() {
        add(&mut larger, key, value?)?;
    }
    Ok(larger.into())
}

fn copy<'a>(context: &mut Context<'_>, map: &Value<'a>) -> Result<OwnedMap<'a>, EvalError> {
    let map = map_of(map)?;
    context.work.look(map.len() + 1)?;
    let mut copied = OwnedMap::with_capacity(map.len() + 1);
    for (key, value) in map.iter() {
        copied.insert(key, value?)?;
    }
    Ok(copied)
}

fn add<'a>(map: &mut OwnedMap<'a>, key: Value<'a>, value: Value<'a>) -> Result<(), EvalError> {
    let shown = key.to_string();
    match map.insert(key, value)? {
        true => Ok(()),
        false => Err(EvalError::new(format!("insert failed: key {shown} already exists"))),
    }
}

fn map_of<'v, 'a>(value: &'v Value<'a>) -> Result<&'v Map<'a>, EvalError> {
    match value {
        Value::Map(map) => Ok(map),
        _ => Err(EvalError::NoSuchOverload),
    }
}
