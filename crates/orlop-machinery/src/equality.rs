//! Whether two objects mean the same.
//!
//! Behaviour follows `staging/src/k8s.io/apimachinery/pkg/api/equality/semantic.go` and the
//! `DeepEqual` in `third_party/forked/golang/reflect` that it uses: lists and maps without entries
//! are equal to none, quantities are compared as numbers and times as moments. A field that is not
//! set is equal to its zero value, unless it is a pointer. Without a schema a value that is not set
//! is only equal to lists and maps without entries, because it may be a pointer.
//!
//! Values are compared in place. They are as deep as a decoder lets them be, so the recursion here
//! is bounded by that.

use std::str::FromStr;

use crate::bytes;
use crate::duration::Duration;
use crate::quantity::Quantity;
use crate::schema::{Field, Schema, Struct, StructId, Type};
use crate::time::{MicroTime, Time};
use crate::value::{Map, NULL, Value};

/// Whether two values of a struct mean the same.
///
/// ```
/// use orlop_machinery::{equality::semantically_equal, json, schema};
///
/// let schema = schema::parse(&["package a\nB\n memory quantity 1 omit\n list [string] 2 omit\n"]);
/// let schema = schema.unwrap();
/// let id = schema.find("a.B").unwrap();
/// let a = json::parse(br#"{"memory": "1024Mi", "list": []}"#).unwrap();
/// let b = json::parse(br#"{"memory": "1Gi"}"#).unwrap();
/// assert!(semantically_equal(&schema, id, &a, &b));
/// ```
#[must_use]
pub fn semantically_equal(schema: &Schema, id: StructId, a: &Value, b: &Value) -> bool {
    structs_equal(schema, schema.get(id), a.map(), b.map())
}

/// The same for values of any type of a schema.
#[must_use]
pub fn semantically_equal_type(schema: &Schema, ty: &Type, a: &Value, b: &Value) -> bool {
    match ty {
        Type::Struct(id) => semantically_equal(schema, *id, a, b),
        Type::List(list) => {
            let item_equal = |(a, b)| value_equal(schema, &list.item, list.is_item_pointer, a, b);
            let (a, b) = (a.list(), b.list());
            a.len() == b.len() && a.iter().zip(b).all(item_equal)
        }
        Type::Map(map) => {
            let (a, b) = (a.map(), b.map());
            let entry_equal = |((key, a), (other, b)): ((&str, &Value), (&str, &Value))| {
                key == other && semantically_equal_type(schema, &map.value, a, b)
            };
            a.len() == b.len() && a.iter().zip(b.iter()).all(entry_equal)
        }
        Type::Any | Type::Raw | Type::FieldSet => a == b,
        ty => scalars_equal(ty, a, b),
    }
}

/// Whether two values mean the same, as far as one can tell without a schema: null, what is not
/// there, and lists and maps without entries are all equal.
#[must_use]
pub fn equal_without_schema(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_without_schema(a, b))
        }
        (Value::Map(a), Value::Map(b)) => both(a, b).all(|(_, a, b)| equal_without_schema(a, b)),
        (a, b) => a == b || (is_hollow(a) && is_hollow(b)),
    }
}

/// Whether there is nothing in it: null, or a list or map without entries, or a map of such.
fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.values().all(is_hollow),
        _ => false,
    }
}

fn structs_equal(schema: &Schema, ty: &Struct, a: &Map, b: &Map) -> bool {
    both(a, b).all(|(name, a, b)| match ty.field(name) {
        Some(Field { ty, is_pointer, .. }) => value_equal(schema, ty, *is_pointer, a, b),
        None => a == b,
    })
}

/// Compares what may be a pointer: none and zero are different then.
fn value_equal(schema: &Schema, ty: &Type, is_pointer: bool, a: &Value, b: &Value) -> bool {
    if is_pointer && a.is_null() != b.is_null() {
        return false;
    }
    semantically_equal_type(schema, ty, a, b)
}

/// Compares texts and numbers. What is not set is zero.
fn scalars_equal(ty: &Type, a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    // Texts that cannot be read are only equal to themselves.
    match ty {
        Type::Quantity => match (Quantity::from_value(a), Quantity::from_value(b)) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        },
        Type::Time => read_equal(a, b, Time::ZERO),
        Type::MicroTime => read_equal(a, b, MicroTime::ZERO),
        Type::Duration => read_equal(a, b, Duration::default()),
        Type::Bytes => match (bytes::decode(a.str()), bytes::decode(b.str())) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        },
        // A float may have been written without a point.
        Type::Float64 => a.as_float().unwrap_or(0.0) == b.as_float().unwrap_or(0.0),
        ty => match (a, b) {
            (Value::Null, set) | (set, Value::Null) => *set == ty.zero(),
            _ => false,
        },
    }
}

/// Compares what two texts stand for. None stands for zero.
fn read_equal<T: FromStr + PartialEq + Copy>(a: &Value, b: &Value, zero: T) -> bool {
    let read = |value: &Value| match value {
        Value::String(text) => text.parse::<T>().ok(),
        _ => None,
    };
    match (read(a), read(b)) {
        (Some(a), Some(b)) => a == b,
        (Some(set), None) if b.is_null() => set == zero,
        (None, Some(set)) if a.is_null() => set == zero,
        _ => false,
    }
}

/// The entries of two maps side by side, in the order of their keys; null for what one lacks.
fn both<'a>(a: &'a Map, b: &'a Map) -> impl Iterator<Item = (&'a str, &'a Value, &'a Value)> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    std::iter::from_fn(move || {
        let (next_a, next_b) = (a.peek().map(|entry| entry.0), b.peek().map(|entry| entry.0));
        let key = match (next_a, next_b) {
            (Some(a), Some(b)) => a.min(b),
            (next_a, next_b) => next_a.or(next_b)?,
        };
        let from_a = a.next_if(|entry| entry.0 == key).map_or(&NULL, |entry| entry.1);
        let from_b = b.next_if(|entry| entry.0 == key).map_or(&NULL, |entry| entry.1);
        Some((key, from_a, from_b))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{json, schema};

    const SCHEMA: &str = "package t
Root
 text string 1 omit
 flag bool 2 omit
 flagPointer *bool 3 omit
 count int32 4 omit
 countPointer *int32 5 omit
 ratio float64 6 omit
 data bytes 7 omit
 time time 8 omit
 timePointer *time 9 omit
 micro microtime 10 omit
 wait duration 11 omit
 memory quantity 12 omit
 memoryPointer *quantity 13 omit
 port intstr 14 omit
 any any 15 omit
 list [string] 16 omit
 labels {string} 17 omit
 limits {quantity} 18 omit
 child Child 19 omit
 childPointer *Child 20 omit
 children [Child] 21 omit
 childPointers [*Child] 22 omit
 lists {[string]} 23 omit
Child
 name string 1 omit
 memory quantity 2 omit
";

    fn check(a: &str, b: &str, expect: bool) {
        let schema = schema::parse(&[SCHEMA]).unwrap();
        let id = schema.find("t.Root").unwrap();
        let read = |text: &str| json::parse(format!("{{{text}}}").as_bytes()).unwrap();
        let (left, right) = (read(a), read(b));
        assert_eq!(semantically_equal(&schema, id, &left, &right), expect, "{a} and {b}");
        assert_eq!(semantically_equal(&schema, id, &right, &left), expect, "{b} and {a}");
        assert!(semantically_equal(&schema, id, &left, &left), "{a} and itself");
    }

    #[test]
    fn what_is_not_set_is_zero_unless_it_is_a_pointer() {
        for zero in [
            r#""text": """#,
            r#""flag": false"#,
            r#""count": 0"#,
            r#""ratio": 0"#,
            r#""data": """#,
            r#""time": null"#,
            r#""time": "0001-01-01T00:00:00Z""#,
            r#""micro": "0001-01-01T00:00:00.000000Z""#,
            r#""wait": "0s""#,
            r#""memory": "0""#,
            r#""port": 0"#,
            r#""list": []"#,
            r#""labels": {}"#,
            r#""child": {}"#,
            r#""child": {"name": "", "memory": "0Ki"}"#,
            r#""children": []"#,
            r#""flagPointer": null"#,
        ] {
            check("", zero, true);
        }
        for set in [
            r#""flagPointer": false"#,
            r#""countPointer": 0"#,
            r#""memoryPointer": "0""#,
            r#""childPointer": {}"#,
            r#""port": """#,
            r#""any": """#,
            r#""labels": {"a": ""}"#,
            r#""list": [""]"#,
            r#""children": [{}]"#,
            r#""time": "nonsense""#,
        ] {
            check("", set, false);
        }
    }

    #[test]
    fn values_are_compared_by_what_they_mean() {
        check(r#""memory": "1Gi""#, r#""memory": "1024Mi""#, true);
        check(r#""memory": "1Gi""#, r#""memory": "1G""#, false);
        check(r#""memory": "1""#, r#""memory": 1"#, true);
        check(r#""memory": "x""#, r#""memory": "y""#, false);
        check(r#""limits": {"cpu": "1000m"}"#, r#""limits": {"cpu": "1"}"#, true);
        check(r#""limits": {"cpu": "1"}"#, r#""limits": {"gpu": "1"}"#, false);
        let noon = r#""time": "2026-01-01T12:00:00Z""#;
        check(noon, r#""time": "2026-01-01T13:00:00+01:00""#, true);
        check(noon, r#""time": "2026-01-01T12:00:01Z""#, false);
        check(r#""timePointer": "2026-01-01T12:00:00Z""#, "", false);
        check(r#""wait": "60s""#, r#""wait": "1m0s""#, true);
        check(r#""data": "Zm9v""#, r#""data": "Zm\n9v""#, true);
        check(r#""ratio": 1"#, r#""ratio": 1.0"#, true);
        check(r#""port": 80"#, r#""port": "80""#, false);
        check(r#""any": {"a": []}"#, r#""any": {}"#, false);
        check(r#""childPointers": [null]"#, r#""childPointers": [{}]"#, false);
        check(r#""children": [null]"#, r#""children": [{"name": ""}]"#, true);
        check(r#""lists": {"a": null}"#, r#""lists": {"a": []}"#, true);
        check(r#""lists": {"a": null}"#, "", false);
        check(r#""list": ["a", "b"]"#, r#""list": ["b", "a"]"#, false);
        check(r#""unknown": 1"#, r#""unknown": 2"#, false);
    }

    #[test]
    fn without_a_schema_hollow_values_are_equal() {
        let equal = |a: &str, b: &str| {
            let read = |text: &str| json::parse(text.as_bytes()).unwrap();
            let result = equal_without_schema(&read(a), &read(b));
            assert_eq!(result, equal_without_schema(&read(b), &read(a)), "{a} and {b}");
            result
        };
        assert!(equal(r#"{"a": null, "b": [], "c": {}}"#, "{}"));
        assert!(equal(r#"{"a": {"b": []}}"#, "null"));
        assert!(equal(r#"{"a": 1, "b": {}}"#, r#"{"a": 1}"#));
        assert!(!equal(r#"{"a": 0}"#, "{}"));
        assert!(!equal(r#"{"a": ""}"#, "{}"));
        assert!(!equal(r#"{"a": false}"#, "null"));
        assert!(!equal("[[]]", "[]"));
        assert!(!equal(r#"{"a": 1}"#, r#"{"b": 1}"#));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..3_i64).prop_map(Value::from),
            "[ab]?".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::List),
                prop::collection::btree_map("[abc]", inner, 0..4).prop_map(|map| {
                    let entries = map.into_iter().map(|(key, value)| (key.into(), value));
                    Value::Map(entries.collect())
                }),
            ]
        })
    }

    /// What is left when everything hollow is the same.
    fn strip(value: &Value) -> Value {
        match value {
            value if is_hollow(value) => Value::Null,
            Value::List(items) => Value::List(items.iter().map(strip).collect()),
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| (key.into(), strip(value)));
                Value::Map(entries.filter(|(_, value)| !value.is_null()).collect())
            }
            value => value.clone(),
        }
    }

    proptest! {
        #[test]
        fn only_what_is_hollow_makes_no_difference(a in values(), b in values()) {
            prop_assert!(equal_without_schema(&a, &strip(&a)));
            prop_assert_eq!(equal_without_schema(&a, &b), strip(&a) == strip(&b));
        }
    }
}
