//! Objects made from a schema alone, for definitions whose package has no object of theirs.
//!
//! An object has what is required and nothing else. It need not be right: patterns are met only
//! if one of a few words meets them, and rules are not looked at. What the server says of it is
//! compared all the same.

use regex::Regex;
use serde_json::{Map, Value, json};

/// Schemas that demand themselves are followed so deep.
const DEPTH_MAX: usize = 16;
/// Longer lists than this are not made.
const ITEMS_MAX: u64 = 8;

/// Words that meet most patterns.
const WORDS: [&str; 16] = [
    "a",
    "a1",
    "1",
    "v1",
    "a.example.test",
    "https://a.example.test/a",
    "1s",
    "1Gi",
    "/a",
    "a/b",
    "10.0.0.0/8",
    "10.0.0.1",
    "a.example.test/a",
    "example.test/a:v1",
    "A",
    "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
];

/// An object of a kind, with what its schema demands and a `spec` if it knows one.
pub(super) fn make(api_version: &str, kind: &str, schema: &Value) -> Value {
    let mut object = value(schema, 0);
    if let Value::Object(fields) = &mut object {
        let spec = &schema["properties"]["spec"];
        if spec.is_object() && !fields.contains_key("spec") {
            fields.insert("spec".to_owned(), value(spec, 1));
        }
        fields.remove("status");
    } else {
        object = json!({});
    }
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    object["metadata"] = json!({ "name": "made" });
    object
}

fn value(schema: &Value, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!(text(schema)),
        Some("integer" | "number") => number(schema),
        Some("boolean") => json!(true),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0).min(ITEMS_MAX);
            (0..count).map(|_| value(&schema["items"], depth + 1)).collect()
        }
        _ if schema["x-kubernetes-int-or-string"] == true => json!(1),
        _ => object(schema, depth),
    }
}

fn object(schema: &Value, depth: usize) -> Value {
    let mut fields = Map::new();
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        fields.insert(key.to_owned(), value(&schema["properties"][key], depth + 1));
    }
    if schema["minProperties"].as_u64().is_some_and(|least| least > 0) && fields.is_empty() {
        let first = schema["properties"].as_object().and_then(|all| all.iter().next());
        let (key, below) = first.map_or_else(
            || ("a".to_owned(), &schema["additionalProperties"]),
            |(key, below)| (key.clone(), below),
        );
        fields.insert(key, value(below, depth + 1));
    }
    Value::Object(fields)
}

fn text(schema: &Value) -> String {
    let least = schema["minLength"].as_u64().and_then(|least| usize::try_from(least).ok());
    let padded = "a".repeat(least.unwrap_or(1).clamp(1, 256));
    let pattern = schema["pattern"].as_str().and_then(|pattern| Regex::new(pattern).ok());
    let by_format = match schema["format"].as_str() {
        Some("date-time") => Some("2026-01-01T00:00:00Z"),
        Some("date") => Some("2026-01-01"),
        Some("duration") => Some("1s"),
        Some("byte") => Some("YQ=="),
        Some("ipv4") => Some("10.0.0.1"),
        Some("ipv6") => Some("fd00::1"),
        Some("cidr") => Some("10.0.0.0/8"),
        Some("uri") => Some("https://a.example.test/a"),
        Some("uuid") => Some("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"),
        _ => None,
    };
    let words = by_format.into_iter().chain(WORDS).map(str::to_owned);
    let fits = |word: &String| {
        word.len() >= least.unwrap_or(0) && pattern.as_ref().is_none_or(|it| it.is_match(word))
    };
    words.chain([padded.clone()]).find(fits).unwrap_or(padded)
}

fn number(schema: &Value) -> Value {
    match (&schema["minimum"], &schema["maximum"]) {
        (least, _) if least.as_f64().is_some_and(|least| least > 1.0) => least.clone(),
        (_, most) if most.as_f64().is_some_and(|most| most < 1.0) => most.clone(),
        _ => json!(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_is_there() {
        let schema = json!({ "type": "object", "properties": { "spec": {
            "type": "object", "required": ["a", "b", "c", "d"], "properties": {
                "a": { "type": "string", "pattern": "^[0-9]+s$" },
                "b": { "type": "array", "minItems": 1,
                       "items": { "type": "integer", "minimum": 5 } },
                "c": { "type": "string", "enum": ["X", "Y"] },
                "d": { "type": "object", "minProperties": 1,
                       "additionalProperties": { "type": "boolean" } },
                "e": { "type": "string" } } } } });
        let expect = json!({ "a": "1s", "b": [5], "c": "X", "d": { "a": true } });
        assert_eq!(make("g/v1", "K", &schema)["spec"], expect);
    }
}
