//! What is written: definitions of 30 fields, their objects, and ConfigMaps as long as those.

use serde_json::{Value, json};

/// The rule that every object is held to.
pub(super) const RULE: &str = "self.min <= self.max && self.names.all(n, n.size() < 64)";
const GROUP: &str = "bench.example.com";
/// Where definitions are.
pub(super) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Where all objects go.
pub(super) const NAMESPACE: &str = "default";

/// A definition, one of many that differ in their names.
pub(super) fn definition(index: usize) -> String {
    let text = |pattern: &str| json!({ "type": "string", "maxLength": 253, "pattern": pattern });
    let number = json!({ "type": "integer", "minimum": 0, "maximum": 1_000_000, "default": 0 });
    let choice = json!({ "type": "string", "enum": ["Always", "Never", "Sometimes"] });
    let mut fields = serde_json::Map::new();
    for field in 0..8 {
        fields.insert(format!("text{field}"), text("^[a-z0-9./:-]*$"));
        fields.insert(format!("choice{field}"), choice.clone());
    }
    for field in 0..8 {
        fields.insert(format!("flag{field}"), json!({ "type": "boolean" }));
    }
    fields.insert("min".to_owned(), number.clone());
    fields.insert("max".to_owned(), number);
    let names = json!({ "type": "string", "maxLength": 253 });
    fields.insert(
        "names".to_owned(),
        json!({ "type": "array", "maxItems": 32, "default": [], "items": names }),
    );
    fields.insert(
        "labels".to_owned(),
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
    );
    let spec = json!({
        "type": "object", "required": ["text0"], "properties": fields,
        "x-kubernetes-validations": [{ "rule": RULE }],
    });
    let status = json!({ "type": "object", "properties": {
        "phase": { "type": "string" }, "ready": { "type": "integer" } } });
    let singular = format!("widget{index}");
    let whole = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{singular}s.{GROUP}") },
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": { "plural": format!("{singular}s"), "singular": singular,
                       "kind": format!("Widget{index}") },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "additionalPrinterColumns":
                    [{ "name": "Phase", "type": "string", "jsonPath": ".status.phase" }],
                "schema": { "openAPIV3Schema": { "type": "object", "required": ["spec"],
                    "properties": { "spec": spec, "status": status } } },
            }],
        },
    });
    whole.to_string()
}

/// The path of discovery of all definitions, and what it has once this one is there.
pub(super) fn discovery(index: usize) -> (String, String) {
    (format!("/apis/{GROUP}/v1"), format!("\"name\":\"widget{index}s\""))
}

/// The objects of a definition.
pub(super) fn collection(index: usize) -> String {
    format!("/apis/{GROUP}/v1/namespaces/{NAMESPACE}/widget{index}s")
}

/// All ConfigMaps.
pub(super) fn config_maps() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

/// An object of a definition.
pub(super) fn custom_resource(index: usize, name: usize) -> String {
    let mut spec = json!({
        "min": 1, "max": name + 2, "names": ["one", "two", "three", "four"],
        "labels": { "tier": "backend", "team": "payments", "filler": "x".repeat(300) },
    });
    for field in 0..8 {
        spec[format!("text{field}")] = json!("registry.example.com/shop/checkout:1.42.0");
        spec[format!("flag{field}")] = json!(field % 2 == 0);
    }
    let object = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": format!("Widget{index}"),
        "metadata": metadata(name), "spec": spec,
    });
    object.to_string()
}

/// A ConfigMap that is as long as a custom resource.
pub(super) fn config_map(name: usize) -> String {
    let mut object =
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(name), "data": {} });
    for field in 0..8 {
        object["data"][format!("text{field}")] = json!("registry.example.com/shop/checkout:1.42.0");
    }
    let missing = custom_resource(0, name).len().saturating_sub(object.to_string().len() + 12);
    object["data"]["filler"] = json!("x".repeat(missing));
    object.to_string()
}

fn metadata(name: usize) -> Value {
    json!({ "name": format!("object-{name}"), "labels": { "app": "bench" } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_equally_long() {
        assert_eq!(custom_resource(0, 7).len(), config_map(7).len());
    }

    #[test]
    fn a_definition_has_thirty_fields() {
        let definition: Value = serde_json::from_str(&definition(3)).unwrap();
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
        let count = |part: &str| schema[part]["properties"].as_object().unwrap().len();
        assert_eq!(count("spec") + count("status"), 30);
    }
}
