//! Macros with two variables, over indices and items or keys and values, and the function that they
//! add entries to maps with.
//!
//! After `ext/comprehensions.go` of cel-go.

use std::sync::Arc;

use crate::error::EvalError;
use crate::function::{Context, Function, Library, Overload, T};
use crate::macros;
use crate::value::{Map, OwnedMap, Value, Work};

/// `all`, `exists`, `existsOne`, `transformList`, `transformMap`, `transformMapEntry`.
pub static TWO_VARIABLE_COMPREHENSIONS: Library = Library {
    name: "cel.lib.ext.comprev2",
    functions: FUNCTIONS,
    constants: &[],
    macros: macros::TWO_VARIABLES,
};

const K: T = T::Param("K");
const V: T = T::Param("V");
const MAP: T = T::Map(&K, &V);

static FUNCTIONS: &[Function] = &[Function {
    name: macros::MAP_INSERT,
    overloads: &[
        Overload::global("@mapInsert_map_key_value", &[MAP, K, V], MAP, insert),
        Overload::global("@mapInsert_map_map", &[MAP, MAP], MAP, insert),
    ],
}];

/// What an entry takes.
const ENTRY_BYTES: usize = 2 * size_of::<Value<'static>>();

fn insert<'a>(context: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::Map(map), key, value] => {
            insert_entry(map.clone(), key.clone(), value.clone(), context.work)
        }
        [Value::Map(map), Value::Map(more)] => insert_entries(map.clone(), more, context.work),
        _ => Err(EvalError::NoSuchOverload),
    }
}

/// A map with one more entry. A map that nobody else has grows in place.
pub(crate) fn insert_entry<'a>(
    map: Map<'a>,
    key: Value<'a>,
    value: Value<'a>,
    work: &mut Work,
) -> Result<Value<'a>, EvalError> {
    let mut map = own(map, work)?;
    add(&mut map, key, value, work)?;
    Ok(map.into())
}

/// A map with all entries of another one.
pub(crate) fn insert_entries<'a>(
    map: Map<'a>,
    more: &Map<'a>,
    work: &mut Work,
) -> Result<Value<'a>, EvalError> {
    let mut map = own(map, work)?;
    for (key, value) in more.iter() {
        add(&mut map, key, value?, work)?;
    }
    Ok(map.into())
}

fn add<'a>(
    map: &mut OwnedMap<'a>,
    key: Value<'a>,
    value: Value<'a>,
    work: &mut Work,
) -> Result<(), EvalError> {
    work.make(ENTRY_BYTES)?;
    if map.get(&key).is_some() {
        return Err(EvalError::new(format!("insert failed: key {key} already exists")));
    }
    map.insert(key, value).map(drop)
}

/// The entries of a map as ones that can be added to.
fn own<'a>(map: Map<'a>, work: &mut Work) -> Result<OwnedMap<'a>, EvalError> {
    let shared = match map {
        Map::Owned(map) => match Arc::try_unwrap(map) {
            Ok(map) => return Ok(map),
            Err(shared) => Map::Owned(shared),
        },
        map => map,
    };
    work.make(shared.len() * ENTRY_BYTES)?;
    let mut map = OwnedMap::with_capacity(shared.len() + 1);
    for (key, value) in shared.iter() {
        map.insert(key, value?)?;
    }
    Ok(map)
}
