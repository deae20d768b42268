//! Objects broken on purpose: each breaks one thing that the schema demands, at the first place
//! where it can be broken.

use serde_json::{Value, json};

use super::schema::{self, Site, Step};

/// Longer texts and lists than this are not made.
const LENGTH_MAX: u64 = 2_000;

/// A broken object.
#[derive(Debug)]
pub(super) struct Broken {
    /// What is broken, and where.
    pub(super) what: String,
    pub(super) object: Value,
}

/// A wrong value for a place, if this can be wrong there.
type Break = fn(&Site<'_>) -> Option<Value>;

const BREAKS: [(&str, Break); 12] = [
    ("type", wrong_type),
    ("null", null),
    ("enum", unknown_enum),
    ("pattern", against_pattern),
    ("format", against_format),
    ("short", too_short),
    ("long", too_long),
    ("small", too_small),
    ("large", too_large),
    ("few", too_few),
    ("many", too_many),
    ("twice", twice),
];

/// All ways in which this object can be broken, one of each sort.
pub(super) fn all(schema: &Value, object: &Value) -> Vec<Broken> {
    let sites = schema::sites(schema, object);
    let change = |what: &str, path: &[Step], value: Option<Value>| {
        let mut object = object.clone();
        schema::put(&mut object, path, value);
        Broken { what: format!("{what} {}", schema::show(path)), object }
    };
    let mut broken = Vec::new();
    for (what, wrong) in BREAKS {
        let found = sites.iter().find_map(|site| Some((site, wrong(site)?)));
        broken.extend(found.map(|(site, value)| change(what, &site.path, Some(value))));
    }
    broken.extend(required(schema, &sites).map(|path| change("missing", &path, None)));
    broken.extend(unknown(&sites).map(|path| change("unknown", &path, Some(json!("x")))));
    broken
}

fn wrong_type(site: &Site<'_>) -> Option<Value> {
    match site.schema["type"].as_str()? {
        "string" => Some(json!(7)),
        "object" if site.path.len() == 1 => None,
        _ => Some(json!("text")),
    }
}

fn null(site: &Site<'_>) -> Option<Value> {
    let is_strict = site.schema["nullable"] != true && site.schema.get("default").is_none();
    (is_strict && site.schema["type"].is_string() && site.path.len() > 1).then_some(Value::Null)
}

fn unknown_enum(site: &Site<'_>) -> Option<Value> {
    let is_text = site.schema["type"] == "string" && site.schema["enum"].is_array();
    is_text.then(|| json!("NoSuchValue"))
}

fn against_pattern(site: &Site<'_>) -> Option<Value> {
    site.schema["pattern"].as_str().map(|_| json!(" ~ no match ~ "))
}

fn against_format(site: &Site<'_>) -> Option<Value> {
    let format = site.schema["format"].as_str()?;
    match site.schema["type"].as_str()? {
        "string" => Some(json!("not of this format")),
        "integer" if format == "int32" => Some(json!(3_000_000_000_u64)),
        _ => None,
    }
}

fn too_short(site: &Site<'_>) -> Option<Value> {
    site.schema["minLength"].as_u64().filter(|least| *least > 0).map(|_| json!(""))
}

fn too_long(site: &Site<'_>) -> Option<Value> {
    let most = site.schema["maxLength"].as_u64().filter(|most| *most < LENGTH_MAX)?;
    Some(json!("x".repeat(usize::try_from(most).ok()? + 1)))
}

fn too_small(site: &Site<'_>) -> Option<Value> {
    site.schema["minimum"].as_i64().map(|least| json!(least - 1))
}

fn too_large(site: &Site<'_>) -> Option<Value> {
    let most = site.schema["maximum"].as_i64()?;
    Some(json!(most.checked_add(1)?))
}

fn too_few(site: &Site<'_>) -> Option<Value> {
    site.schema["minItems"].as_u64().filter(|least| *least > 0).map(|_| json!([]))
}

fn too_many(site: &Site<'_>) -> Option<Value> {
    let most = site.schema["maxItems"].as_u64().filter(|most| *most < LENGTH_MAX)?;
    let item = site.value?.get(0)?;
    Some((0..=most).map(|_| item.clone()).collect())
}

/// The same item twice in a list that is a set or a map.
fn twice(site: &Site<'_>) -> Option<Value> {
    let list_type = site.schema["x-kubernetes-list-type"].as_str()?;
    let item = site.value?.get(0)?;
    (list_type != "atomic").then(|| json!([item, item]))
}

/// The first field that is there and must be.
fn required(schema: &Value, sites: &[Site<'_>]) -> Option<Vec<Step>> {
    sites.iter().find_map(|site| {
        let Step::Key(key) = site.path.last()? else { return None };
        let above = &site.path[..site.path.len() - 1];
        let parent = match sites.iter().find(|other| other.path == above) {
            Some(parent) => parent.schema,
            None if above.is_empty() => schema,
            None => return None,
        };
        let is_required = parent["required"].as_array()?.iter().any(|one| one == key);
        let can_go = is_required && site.value.is_some() && site.schema.get("default").is_none();
        can_go.then(|| site.path.clone())
    })
}

/// A field that nobody knows, in the last object that knows its fields.
fn unknown(sites: &[Site<'_>]) -> Option<Vec<Step>> {
    let closed = sites.iter().rev().find(|site| {
        site.value.is_some_and(Value::is_object)
            && site.schema["properties"].is_object()
            && site.schema["x-kubernetes-preserve-unknown-fields"] != true
    })?;
    Some([closed.path.clone(), vec![Step::Key("noSuchField".to_owned())]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_demand_is_broken_once() {
        let schema = json!({ "properties": { "spec": { "type": "object", "required": ["name"],
            "properties": {
                "name": { "type": "string", "maxLength": 3, "minLength": 1 },
                "port": { "type": "integer", "minimum": 1 } } } } });
        let object = json!({ "spec": { "name": "a" } });
        let broken = all(&schema, &object);
        let shown: Vec<String> =
            broken.iter().map(|one| format!("{}: {}", one.what, one.object["spec"])).collect();
        let expect = [
            r#"type spec.name: {"name":7}"#,
            r#"null spec.name: {"name":null}"#,
            r#"short spec.name: {"name":""}"#,
            r#"long spec.name: {"name":"xxxx"}"#,
            r#"small spec.port: {"name":"a","port":0}"#,
            "missing spec.name: {}",
            r#"unknown spec.noSuchField: {"name":"a","noSuchField":"x"}"#,
        ];
        assert_eq!(shown, expect);
    }
}
