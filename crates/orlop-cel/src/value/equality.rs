//! When two values are equal.
//!
//! Numbers of different types are equal when they are the same number; values of other different
//! types are not. After `common/types` of cel-go and, for lists whose items are told apart and for
//! objects, `valuesunstructured.go` of upstream: those cannot be compared with something else.

use std::collections::HashMap;

use orlop_machinery::Map as JsonMap;

use crate::decl_type::{DeclType, ListIdentity, ObjectType, Shape};
use crate::error::EvalError;

use super::list::Identity;
use super::order::compare_numbers;
use super::{Json, List, Map, Value, Work};

/// Bytes of text that count as one value that is looked at.
const WORD: usize = 64;

impl Value<'_> {
    /// Whether both are equal.
    ///
    /// # Errors
    ///
    /// When they cannot be compared, or comparing them is too much work.
    pub fn equals(&self, other: &Value<'_>, work: &mut Work) -> Result<bool, EvalError> {
        work.look(1)?;
        Ok(match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Null, _) | (_, Value::Null) => false,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::String(a), Value::String(b)) => {
                work.look(a.len().min(b.len()) / WORD)?;
                **a == **b
            }
            (Value::Bytes(a), Value::Bytes(b)) => {
                work.look(a.len().min(b.len()) / WORD)?;
                **a == **b
            }
            (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::List(a), Value::List(b)) => return lists_equal(a, b, work),
            (Value::List(List::Json { decl, .. }), _) if is_declared(decl) => {
                return Err(EvalError::NoSuchOverload);
            }
            (Value::Map(a), Value::Map(b)) => return maps_equal(a, b, work),
            (Value::Map(Map::Json { decl, .. }), _) if is_declared(decl) => {
                return Err(EvalError::NoSuchOverload);
            }
            (Value::Optional(None), Value::Optional(None)) => true,
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => return a.equals(b, work),
            (Value::Type(a), Value::Type(b)) => a.name() == b.name(),
            (Value::Opaque(a), Value::Opaque(b)) => {
                return a.equals(&**b).ok_or(EvalError::NoSuchOverload);
            }
            (Value::Opaque(_), _) => return Err(EvalError::NoSuchOverload),
            (Value::Preserved(a), Value::Preserved(b)) => a == b,
            _ => compare_numbers(self, other).is_some_and(|ordering| ordering == Some(EQUAL)),
        })
    }
}

const EQUAL: std::cmp::Ordering = std::cmp::Ordering::Equal;

fn lists_equal(a: &List<'_>, b: &List<'_>, work: &mut Work) -> Result<bool, EvalError> {
    if a.len() != b.len() {
        return Ok(false);
    }
    if *a.identity() != ListIdentity::Atomic {
        return unordered_equal(a, b, work);
    }
    for (a, b) in a.iter().zip(b.iter()) {
        if !a?.equals(&b?, work)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Items are told apart by what the first list says, in any order.
fn unordered_equal(a: &List<'_>, b: &List<'_>, work: &mut Work) -> Result<bool, EvalError> {
    let identity = a.identity();
    let mut by_key = HashMap::with_capacity(a.len());
    for (at, item) in a.iter().enumerate() {
        work.look(1)?;
        by_key.insert(Identity::of(&item?, identity), at);
    }
    for item in b.iter() {
        let item = item?;
        work.look(1)?;
        let Some(at) = by_key.get(&Identity::of(&item, identity)) else { return Ok(false) };
        if let (ListIdentity::Map(_), Some(other)) = (identity, a.get(*at))
            && !other?.equals(&item, work)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps_equal(a: &Map<'_>, b: &Map<'_>, work: &mut Work) -> Result<bool, EvalError> {
    if a.len() != b.len() {
        return Ok(false);
    }
    match (a, b) {
        (Map::Json { entries, decl }, _) if decl.as_object().is_some() => {
            let object = decl.as_object().expect("it was asked for just now");
            return objects_equal(a, (entries, object), b, work);
        }
        (Map::Object(a), Map::Object(b)) if a.decl.name() != b.decl.name() => return Ok(false),
        _ => {}
    }
    for (key, value) in a.iter() {
        let Some(other) = b.get(&key)? else { return Ok(false) };
        if !value?.equals(&other, work)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Fields that the schema does not know are compared as the JSON that they are.
fn objects_equal(
    a: &Map<'_>,
    (entries, object): (&JsonMap, &ObjectType),
    b: &Map<'_>,
    work: &mut Work,
) -> Result<bool, EvalError> {
    for (json_name, json) in entries.iter() {
        let Some(field) = object.json_field(json_name) else {
            let others = match b {
                Map::Json { entries, decl } if is_declared(decl) => entries,
                _ => return Err(EvalError::NoSuchOverload),
            };
            work.look(count(json))?;
            if others.get(json_name).is_some_and(|other| other != json) {
                return Ok(false);
            }
            continue;
        };
        let name = match b {
            Map::Json { decl, .. } if is_declared(decl) => &field.name,
            _ => &field.json_name,
        };
        match (a.get_str(&field.name)?, b.get_str(name)?) {
            (Some(value), Some(other)) => {
                if !value.equals(&other, work)? {
                    return Ok(false);
                }
            }
            (None, None) => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Whether a schema says what the data is. What is compared with such data must be such data.
fn is_declared(decl: &DeclType) -> bool {
    !matches!(decl.shape(), Shape::Dyn)
}

/// How many values there are in some JSON, as far as its first level.
fn count(json: &Json) -> usize {
    1 + json.list().len() + json.map().len()
}
