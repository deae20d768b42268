//! Schemas inside schemas.
//!
//! After `SchemaHas`. Walking is a loop: a schema may be as deep as JSON may be.

use orlop_machinery::Value;

/// Where a schema has others.
enum Holder {
    /// One, or in some places something else.
    One,
    List,
    Map,
}

/// In the order in which upstream looks.
const HOLDERS: [(&str, Holder); 12] = [
    ("items", Holder::One),
    ("items", Holder::List),
    ("allOf", Holder::List),
    ("anyOf", Holder::List),
    ("oneOf", Holder::List),
    ("not", Holder::One),
    ("properties", Holder::Map),
    ("additionalProperties", Holder::One),
    ("patternProperties", Holder::Map),
    ("additionalItems", Holder::One),
    ("definitions", Holder::Map),
    ("dependencies", Holder::Map),
];

/// The schema and all that are inside, outer before inner.
pub(super) fn walk(schema: &Value) -> impl Iterator<Item = &Value> {
    let mut left: Vec<&Value> = schema.as_map().map(|_| schema).into_iter().collect();
    std::iter::from_fn(move || {
        let next = left.pop()?;
        let at = left.len();
        for (field, holder) in HOLDERS {
            let value = next.at(field);
            match holder {
                Holder::One => left.push(value),
                Holder::List => left.extend(value.list()),
                Holder::Map => left.extend(value.map().values()),
            }
        }
        left[at..].reverse();
        let mut kept = at;
        for index in at..left.len() {
            if left[index].as_map().is_some() {
                left[kept] = left[index];
                kept += 1;
            }
        }
        left.truncate(kept);
        Some(next)
    })
}

/// Whether something holds for the schema or one inside.
pub(super) fn has(schema: &Value, holds: impl Fn(&Value) -> bool) -> bool {
    walk(schema).any(holds)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;

    #[test]
    fn outer_schemas_come_before_inner_ones() {
        let schema = json::parse(
            br#"{"title": "a", "properties": {"x": {"title": "e", "not": {"title": "f"}},
                "y": {"title": "g"}}, "items": [{"title": "b"}, {"title": "c"}],
                "allOf": [{"title": "d"}], "additionalProperties": true,
                "dependencies": {"x": ["y"], "z": {"title": "h"}}}"#,
        )
        .unwrap();
        let titles: String = walk(&schema).map(|schema| schema.at("title").str()).collect();
        assert_eq!(titles, "abcdefgh");
        assert_eq!(walk(&Value::Null).count(), 0);
    }
}
