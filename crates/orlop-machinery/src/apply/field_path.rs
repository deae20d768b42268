//! The way to one field, as field sets spell it.
//!
//! Unlike the paths of field errors these find items of lists by what identifies them, not by
//! where they stand: `.spec.ports[port=80,protocol="TCP"].name`. Behaviour after
//! `structured-merge-diff/fieldpath` (`element.go`, `path.go`).

use std::cmp::Ordering;
use std::fmt;

use super::{value_order, value_text};
use crate::value::{Map, Str, Value, compare_keys};

/// One step of a path.
///
/// Prints as `.name`, `[key="a"]`, `[="a"]` or `[0]`. Ordered in this order of kinds, and within
/// a kind by content; numbers compare by amount, so `80` and `80.0` are the same item.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a struct, or a key of a map.
    Field(Str),
    /// The item of a list whose fields have these values.
    Key(Map),
    /// The item of a list that is this value.
    Value(Value),
    /// The item of a list at this place.
    Index(i64),
}

impl PathElement {
    /// A field of a struct, or a key of a map.
    #[must_use]
    pub fn field(name: &str) -> PathElement {
        PathElement::Field(Str::new(name))
    }

    /// A path of field names with dots between them.
    #[must_use]
    pub fn fields(path: &str) -> Vec<PathElement> {
        path.split('.').map(PathElement::field).collect()
    }

    fn rank(&self) -> u8 {
        match self {
            PathElement::Field(_) => 0,
            PathElement::Key(_) => 1,
            PathElement::Value(_) => 2,
            PathElement::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &PathElement) -> Ordering {
        match (self, other) {
            (PathElement::Field(left), PathElement::Field(right)) => compare_keys(left, right),
            (PathElement::Key(left), PathElement::Key(right)) => {
                value_order::compare_maps(left, right)
            }
            (PathElement::Value(left), PathElement::Value(right)) => {
                value_order::compare(left, right)
            }
            (PathElement::Index(left), PathElement::Index(right)) => left.cmp(right),
            (left, right) => left.rank().cmp(&right.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &PathElement) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &PathElement) -> bool {
        match (self, other) {
            (PathElement::Field(left), PathElement::Field(right)) => left == right,
            (left, right) => left.cmp(right).is_eq(),
        }
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        match self {
            PathElement::Field(name) => return write!(out, ".{name}"),
            PathElement::Index(index) => return write!(out, "[{index}]"),
            PathElement::Key(key) => {
                for (at, (name, value)) in key.iter().enumerate() {
                    if at > 0 {
                        text.push(',');
                    }
                    text.push_str(name);
                    text.push('=');
                    value_text::write_in_path(value, &mut text);
                }
            }
            PathElement::Value(value) => {
                text.push('=');
                value_text::write_in_path(value, &mut text);
            }
        }
        write!(out, "[{text}]")
    }
}

/// A path as text: its elements one after the other.
#[must_use]
pub fn path_text(path: &[PathElement]) -> String {
    path.iter().map(PathElement::to_string).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    fn key(text: &str) -> PathElement {
        PathElement::Key(json::parse(text.as_bytes()).unwrap().map().clone())
    }

    #[test]
    fn elements_print_as_people_know_them() {
        let cases = [
            (PathElement::field("spec"), ".spec"),
            (PathElement::field("example.com/a"), ".example.com/a"),
            (key(r#"{"protocol":"TCP","port":80}"#), r#"[port=80,protocol="TCP"]"#),
            (key(r#"{"a":1000000,"b":null,"c":true}"#), "[a=1000000,b=null,c=true]"),
            (key(r#"{"a":1000000.0}"#), "[a=1e+06]"),
            (PathElement::Value("a\"b".into()), r#"[="a\"b"]"#),
            (PathElement::Value(Value::Float(1.5)), "[=1.5]"),
            (PathElement::Value(Value::List(vec![1.into(), "x".into()])), r#"[=[1,"x"]]"#),
            (PathElement::Value(Value::from([("a", 1), ("b", 2)])), "[=a=1b=2]"),
            (PathElement::Index(3), "[3]"),
        ];
        for (element, expect) in cases {
            assert_eq!(element.to_string(), expect);
        }
        let path = [PathElement::field("a"), PathElement::Index(0), PathElement::field("b")];
        assert_eq!(path_text(&path), ".a[0].b");
    }

    #[test]
    fn every_element_is_above_those_before_it() {
        let ascending = [
            PathElement::field("a"),
            PathElement::field("b"),
            key(r"{}"),
            key(r#"{"name":80}"#),
            key(r#"{"name":443}"#),
            key(r#"{"name":"a"}"#),
            key(r#"{"name":"a","port":1}"#),
            key(r#"{"name":"b"}"#),
            key(r#"{"port":1}"#),
            PathElement::Value(2.into()),
            PathElement::Value(10.into()),
            PathElement::Value("1".into()),
            PathElement::Value(true.into()),
            PathElement::Value(Value::Null),
            PathElement::Index(-1),
            PathElement::Index(9),
            PathElement::Index(10),
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(left.cmp(right), at.cmp(&other), "{left} and {right}");
                assert_eq!(left == right, at == other);
            }
        }
        assert_eq!(PathElement::Value(5.into()), PathElement::Value(Value::Float(5.0)));
    }
}
