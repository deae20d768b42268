//! What documents say about custom resources: the schema that their definition has, and what every
//! object has besides.
//!
//! After `staging/src/k8s.io/apiextensions-apiserver/pkg/controller/openapi/{builder,v2}`. Version
//! 2 of OpenAPI cannot say all that a schema says, and old clients stumble over parts that it can
//! say; those are left out there.

use super::{Dialect, GroupVersionKind, META};
use crate::kind::Resource;
use crate::value::{Map, Str, Value};

/// What a custom resource says about its objects.
#[derive(Clone, Copy, Debug)]
pub struct CustomSchema<'a> {
    /// The schema as the definition says it; null if it has none.
    pub schema: &'a Value,
    /// Whether objects keep fields that the schema does not know.
    pub keeps_unknown: bool,
    /// The fields that selectors may name, as `selectableFields` of the definition lists them.
    pub selectable: &'a Value,
}

/// Deeper schemas are cut: nobody can define such.
const DEPTH_MAX: usize = 64;

/// The schema of an object.
pub(super) fn object(resource: &Resource, custom: CustomSchema<'_>, dialect: Dialect) -> Value {
    let is_open =
        custom.keeps_unknown || custom.schema.at("x-kubernetes-preserve-unknown-fields").bool();
    let mut schema = match custom.schema {
        Value::Null => Value::from([("type", "object")]),
        _ if dialect == Dialect::V2 && is_open => Value::from([("type", "object")]),
        schema => {
            let mut schema = publish(schema, dialect, 0);
            let properties = schema.entry("properties");
            set_type_meta(properties);
            properties.set("metadata", reference("ObjectMeta", dialect));
            schema
        }
    };
    set_kind(&mut schema, resource, &resource.kind);
    set_selectable(&mut schema, custom);
    schema
}

/// The schema of a list.
pub(super) fn list(resource: &Resource, custom: CustomSchema<'_>, dialect: Dialect) -> Value {
    let items = Value::from([
        ("items", reference_to(&resource.schema_name, dialect)),
        ("type", "array".into()),
    ]);
    let mut properties =
        Value::from([("items", items), ("metadata", reference("ListMeta", dialect))]);
    set_type_meta(&mut properties);
    let mut schema = Value::from([
        ("properties", properties),
        ("required", vec!["items"].into()),
        ("type", "object".into()),
    ]);
    set_kind(&mut schema, resource, &resource.list_kind);
    set_selectable(&mut schema, custom);
    schema
}

fn set_type_meta(properties: &mut Value) {
    for name in ["apiVersion", "kind"] {
        properties.set(name, Value::from([("type", "string")]));
    }
}

fn set_kind(schema: &mut Value, resource: &Resource, kind: &str) {
    let kind = GroupVersionKind { group: &resource.group, version: &resource.version, kind };
    schema.set("x-kubernetes-group-version-kind", vec![Value::from(kind)]);
}

fn set_selectable(schema: &mut Value, custom: CustomSchema<'_>) {
    let fields = custom.selectable.list().iter().map(|field| {
        Value::from([("fieldPath", field.at("jsonPath").str().trim_start_matches('.'))])
    });
    let fields: Vec<Value> = fields.collect();
    if !fields.is_empty() {
        schema.set("x-kubernetes-selectable-fields", fields);
    }
}

fn reference(name: &str, dialect: Dialect) -> Value {
    reference_to(&format!("{META}.{name}"), dialect)
}

fn reference_to(name: &str, dialect: Dialect) -> Value {
    let prefix = match dialect {
        Dialect::V2 => "#/definitions/",
        Dialect::V3 => "#/components/schemas/",
    };
    Value::from([("$ref", format!("{prefix}{name}"))])
}

/// A schema inside, as the document says it.
fn publish(schema: &Value, dialect: Dialect, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Map(Map::new());
    }
    let mut published = schema.clone();
    match dialect {
        Dialect::V2 => leave_out(&mut published),
        Dialect::V3 => unfold(&mut published),
    }
    if let Some(properties) = published.get_mut("properties") {
        let entries = properties.map().iter();
        let entries: Vec<(Str, Value)> = entries
            .map(|(name, property)| (Str::new(name), publish(property, dialect, depth + 1)))
            .collect();
        *properties = Value::Map(Map::from_unsorted(entries));
    }
    for inside in ["items", "additionalProperties"] {
        if let Some(found) = published.get_mut(inside).filter(|found| found.as_map().is_some()) {
            *found = publish(found, dialect, depth + 1);
        }
    }
    let is_open = published.at("x-kubernetes-preserve-unknown-fields").bool();
    let is_shown = !(is_open && dialect == Dialect::V2);
    if published.at("x-kubernetes-embedded-resource").bool() && is_shown {
        embed(&mut published, dialect);
    }
    published
}

/// An object inside has what every object has.
fn embed(schema: &mut Value, dialect: Dialect) {
    let properties = schema.entry("properties");
    set_type_meta(properties);
    properties.set("metadata", reference("ObjectMeta", dialect));
    let required = schema.entry("required").make_list();
    for name in ["kind", "apiVersion"] {
        if !required.iter().any(|known| known.str() == name) {
            required.push(name.into());
        }
    }
}

/// What version 2 has no words for, or old clients no understanding of.
fn leave_out(schema: &mut Value) {
    for name in ["allOf", "anyOf", "oneOf", "not"] {
        schema.remove(name);
    }
    let is_open = schema.at("x-kubernetes-preserve-unknown-fields").bool();
    let is_nullable = schema.remove("nullable").is_some_and(|nullable| nullable.bool());
    if is_nullable || is_open {
        schema.remove("items");
        schema.remove("properties");
    }
    let ty = schema.at("type").str();
    let has_no_items = ty == "array" && schema.at("items").is_null();
    if is_nullable || has_no_items || is_open && ty == "object" {
        schema.remove("type");
    }
    let nullable: Vec<Str> = schema
        .at("properties")
        .map()
        .iter()
        .filter(|(_, property)| property.at("nullable").bool())
        .map(|(name, _)| Str::new(name))
        .collect();
    let drops_all = schema.path(&["additionalProperties", "nullable"]).bool();
    if let Some(Value::List(required)) = schema.get_mut("required") {
        required.retain(|name| !drops_all && !nullable.iter().any(|known| known == name.str()));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// What may be a number or a text says so in words that every reader knows.
fn unfold(schema: &mut Value) {
    if !schema.at("x-kubernetes-int-or-string").bool() {
        return;
    }
    let both = || vec![Value::from([("type", "integer")]), Value::from([("type", "string")])];
    let says_it = |any_of: &Value| {
        let types: Vec<&str> = any_of.list().iter().map(|one| one.at("type").str()).collect();
        types == ["integer", "string"]
    };
    let first = schema.at("allOf").list().first();
    if says_it(schema.at("anyOf")) || first.is_some_and(|first| says_it(first.at("anyOf"))) {
        return;
    }
    if schema.at("anyOf").is_null() {
        schema.set("anyOf", both());
    } else {
        let all_of = schema.entry("allOf").make_list();
        all_of.insert(0, Value::from([("anyOf", both())]));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::json;

    #[track_caller]
    fn check(schema: &str, v3: &str, v2: &str) {
        let schema = json::parse(schema.as_bytes()).unwrap();
        let parse = |text: &str| json::parse(text.as_bytes()).unwrap();
        assert_eq!(publish(&schema, Dialect::V3, 0), parse(v3), "{schema:?}");
        assert_eq!(publish(&schema, Dialect::V2, 0), parse(v2), "{schema:?}");
    }

    #[test]
    fn version_2_leaves_out_what_it_cannot_say() {
        let plain = r#"{"type":"string","description":"A color.","enum":["red"]}"#;
        check(plain, plain, plain);
        check(
            r#"{"type":"object","properties":{"a":{"type":"string","nullable":true}},
                "required":["a"],"anyOf":[{"required":["b"]}]}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","nullable":true}},
                "required":["a"],"anyOf":[{"required":["b"]}]}"#,
            r#"{"type":"object","properties":{"a":{}}}"#,
        );
        check(
            r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true,
                "properties":{"a":{"type":"string"}}}"#,
            r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true,
                "properties":{"a":{"type":"string"}}}"#,
            r#"{"x-kubernetes-preserve-unknown-fields":true}"#,
        );
    }

    #[test]
    fn a_number_or_text_says_so_once() {
        let both = r#"[{"type":"integer"},{"type":"string"}]"#;
        let said = format!(r#"{{"x-kubernetes-int-or-string":true,"anyOf":{both}}}"#);
        let unsaid = r#"{"x-kubernetes-int-or-string":true}"#;
        check(unsaid, &said, unsaid);
        check(&said, &said, unsaid);
        check(
            r#"{"x-kubernetes-int-or-string":true,"anyOf":[{"pattern":"a"}]}"#,
            &format!(
                r#"{{"x-kubernetes-int-or-string":true,"anyOf":[{{"pattern":"a"}}],
                    "allOf":[{{"anyOf":{both}}}]}}"#
            ),
            unsaid,
        );
    }

    #[test]
    fn an_object_inside_has_kind_and_metadata() {
        let metadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
        let with = |prefix: &str| {
            format!(
                r##"{{"type":"object","x-kubernetes-embedded-resource":true,
                    "required":["kind","apiVersion"],"properties":{{"kind":{{"type":"string"}},
                    "apiVersion":{{"type":"string"}},
                    "metadata":{{"$ref":"#/{prefix}/{metadata}"}}}}}}"##
            )
        };
        check(
            r#"{"type":"object","x-kubernetes-embedded-resource":true}"#,
            &with("components/schemas"),
            &with("definitions"),
        );
    }
}
