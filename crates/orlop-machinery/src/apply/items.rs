//! The items of a list, and what identifies them.
//!
//! An item of a set is identified by itself, an item of a list with keys by some of its fields.
//! What nothing identifies is found by the check against the schema; all other walks run after it
//! and leave such items out.
//!
//! Behaviour and messages after `structured-merge-diff/typed` (`helpers.go`).

use super::field_path::PathElement;
use super::typing::{Relation, Shape};
use crate::schema::{Omit, Type};
use crate::text::quote;
use crate::value::{Map, Str, Value};

/// Items with the same element, in the order of their list.
pub(super) enum Same<'a> {
    One(&'a Value),
    Several(Vec<&'a Value>),
}

/// Every item with its element, in the order of the list.
pub(super) fn listed_items<'a>(
    items: &'a [Value],
    shape: &Shape<'_>,
) -> Vec<(PathElement, &'a Value)> {
    let mut pairs = Vec::with_capacity(items.len());
    for item in items {
        if let Ok(element) = item_element(shape, item) {
            pairs.push((element, item));
        }
    }
    pairs
}

/// Every element once, in the order of elements, with the items that have it.
pub(super) fn sorted_items<'a>(
    items: &'a [Value],
    shape: &Shape<'_>,
) -> impl Iterator<Item = (PathElement, Same<'a>)> {
    let mut pairs = listed_items(items, shape);
    // Stable, so that the first of several comes first.
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    let mut pairs = pairs.into_iter().peekable();
    std::iter::from_fn(move || {
        let (element, first) = pairs.next()?;
        let mut same = Same::One(first);
        while let Some((_, item)) = pairs.next_if(|(next, _)| *next == element) {
            same = match same {
                Same::One(first) => Same::Several(vec![first, item]),
                Same::Several(mut items) => {
                    items.push(item);
                    Same::Several(items)
                }
            };
        }
        Some((element, same))
    })
}

/// Checks that something identifies an item of a list, without saying what.
///
/// # Errors
///
/// As [`item_element`].
pub(super) fn check_item(shape: &Shape<'_>, item: &Value) -> Result<(), String> {
    let is_fine = match (shape.relation(), item) {
        (Relation::Set, Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_)) => {
            true
        }
        (Relation::Keys(keys), Value::Map(map)) => keys.iter().any(|key| map.contains_key(key)),
        _ => false,
    };
    if is_fine { Ok(()) } else { item_element(shape, item).map(|_| ()) }
}

/// What identifies an item of a list.
///
/// # Errors
///
/// In upstream's words, when it cannot be told from others.
pub(super) fn item_element(shape: &Shape<'_>, item: &Value) -> Result<PathElement, String> {
    match shape.relation() {
        Relation::Atomic => Err("invalid indexing of non-associative list".into()),
        Relation::Keys(keys) => keyed_item_element(shape, keys, item),
        Relation::Set => match item {
            Value::Map(_) => Err("associative list without keys has an element that's a map type"),
            Value::List(_) => Err("not supported: associative list with lists as elements"),
            Value::Null => {
                Err("associative list without keys has an element that's an explicit null")
            }
            scalar => return Ok(PathElement::Value(scalar.clone())),
        }
        .map_err(str::to_owned),
    }
}

fn keyed_item_element(
    shape: &Shape<'_>,
    keys: &[Str],
    item: &Value,
) -> Result<PathElement, String> {
    let map = match item {
        Value::Map(map) => map,
        Value::Null => {
            return Err("associative list with keys may not have a null element".into());
        }
        _ => return Err("associative list with keys may not have non-map elements".into()),
    };
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        if let Some(value) = map.get(key) {
            found.push((key.clone(), value.clone()));
        } else if let Some(default) = key_default(&shape.item(), key) {
            found.push((key.clone(), default));
        }
    }
    if found.is_empty() && !keys.is_empty() {
        let quoted: Vec<String> = keys.iter().map(|key| quote(key)).collect();
        let keys = quoted.join(" ");
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{keys}] \
             (and doesn't have default values for any key fields)"
        ));
    }
    Ok(PathElement::Key(Map::from_unsorted(found)))
}

/// What a missing key field means: its declared default, or zero for a field that Go always
/// writes.
fn key_default(item: &Shape<'_>, key: &str) -> Option<Value> {
    let Shape::Struct(_, of, _) = item else { return None };
    let field = of.field(key)?;
    if let Some(default) = field.default() {
        return Some(default.clone());
    }
    let is_always_written = field.omit == Omit::Never && !field.is_pointer;
    match field.ty {
        Type::Bool | Type::Int32 | Type::Int64 | Type::Float64 | Type::String => {
            is_always_written.then(|| field.ty.zero())
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::super::typing::Typing;
    use super::*;
    use crate::json;
    use crate::schema::parse;

    const TEXT: &str = "\
package p
Spec
 list [Item] 9 omit list=map:key,kind
 merged [Item] 10 omit patch=merge key=key
Item
 key string 1
 kind string 2 omit default=\"K\"
 name string 3 omit
";

    #[test]
    fn a_missing_key_field_has_its_default_or_the_zero_that_is_always_written() {
        let schema = parse(&[TEXT]).unwrap();
        let spec = Typing::Struct(&schema, schema.find("p.Spec").unwrap()).shape();
        let check = |list: &str, item: &str, expect: &str| {
            let item = json::parse(item.as_bytes()).unwrap();
            let element = item_element(&spec.at(list).unwrap(), &item).unwrap();
            assert_eq!(element.to_string(), expect);
        };
        check("list", r#"{"key":"a","kind":"X"}"#, r#"[key="a",kind="X"]"#);
        check("list", r#"{"key":"a"}"#, r#"[key="a",kind="K"]"#);
        check("list", "{}", r#"[key="",kind="K"]"#);
        check("merged", r#"{"key":"a","kind":"X"}"#, r#"[key="a"]"#);
    }
}
