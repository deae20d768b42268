//! A walk through an object beside its schema: every place where the schema says something.

use serde_json::Value;

/// Places beyond these are not visited: one of each sort is wanted, not all.
const SITES_MAX: usize = 4_000;
/// Schemas that describe themselves are followed so deep.
const DEPTH_MAX: usize = 16;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// A place in an object that the schema describes.
#[derive(Clone, Debug)]
pub(super) struct Site<'a> {
    pub(super) path: Vec<Step>,
    pub(super) schema: &'a Value,
    /// What stands there; nothing when the field is missing in an object that is there.
    pub(super) value: Option<&'a Value>,
}

/// All places of an object, from its first field on, but for what is the server's own.
pub(super) fn sites<'a>(schema: &'a Value, object: &'a Value) -> Vec<Site<'a>> {
    let mut found = Vec::new();
    let fields = schema["properties"].as_object().into_iter().flatten();
    for (key, below) in fields {
        if !["apiVersion", "kind", "metadata", "status"].contains(&key.as_str()) {
            visit(below, object.get(key), &[Step::Key(key.clone())], &mut found);
        }
    }
    found
}

fn visit<'a>(
    schema: &'a Value,
    value: Option<&'a Value>,
    path: &[Step],
    found: &mut Vec<Site<'a>>,
) {
    if found.len() >= SITES_MAX || path.len() > DEPTH_MAX {
        return;
    }
    found.push(Site { path: path.to_vec(), schema, value });
    let with = |step: Step| [path, &[step]].concat();
    match value {
        Some(Value::Object(fields)) => {
            for (key, below) in schema["properties"].as_object().into_iter().flatten() {
                visit(below, fields.get(key), &with(Step::Key(key.clone())), found);
            }
            let more = &schema["additionalProperties"];
            if let Some((key, value)) = fields.iter().next().filter(|_| more.is_object()) {
                visit(more, Some(value), &with(Step::Key(key.clone())), found);
            }
        }
        Some(Value::Array(items)) => {
            if let Some(item) = items.first() {
                visit(&schema["items"], Some(item), &with(Step::Index(0)), found);
            }
        }
        _ => {}
    }
}

/// Puts a value at a place; takes the field away if there is none.
pub(super) fn put(object: &mut Value, path: &[Step], value: Option<Value>) {
    let Some((last, above)) = path.split_last() else { return };
    let place = above.iter().try_fold(object, |at, step| match step {
        Step::Key(key) => at.get_mut(key),
        Step::Index(index) => at.get_mut(index),
    });
    match (place, last, value) {
        (Some(Value::Object(fields)), Step::Key(key), Some(value)) => {
            fields.insert(key.clone(), value);
        }
        (Some(Value::Object(fields)), Step::Key(key), None) => {
            fields.remove(key);
        }
        (Some(Value::Array(items)), Step::Index(index), Some(value)) => items[*index] = value,
        _ => {}
    }
}

/// The path as the server writes it.
pub(super) fn show(path: &[Step]) -> String {
    let mut shown = String::new();
    for step in path {
        match step {
            Step::Key(key) if shown.is_empty() => shown.push_str(key),
            Step::Key(key) => shown.push_str(&format!(".{key}")),
            Step::Index(index) => shown.push_str(&format!("[{index}]")),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_fields_of_present_objects_are_places_too() {
        let text = json!({ "type": "string" });
        let schema = json!({ "properties": { "kind": text, "spec": { "properties": {
            "a": { "items": text }, "b": { "properties": { "c": text } } } } } });
        let object = json!({ "kind": "K", "spec": { "a": ["x"] } });
        let found = sites(&schema, &object);
        let shown: Vec<String> = found.iter().map(|site| show(&site.path)).collect();
        assert_eq!(shown, ["spec", "spec.a", "spec.a[0]", "spec.b"]);
        let mut changed = object.clone();
        put(&mut changed, &found[2].path, Some(json!(1)));
        put(&mut changed, &found[3].path, Some(json!({})));
        assert_eq!(changed["spec"], json!({ "a": [1], "b": {} }));
        put(&mut changed, &found[1].path, None);
        assert_eq!(changed["spec"], json!({ "b": {} }));
    }
}
