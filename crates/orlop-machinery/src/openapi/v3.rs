//! A document of version 3: one group version, one group, or one root.

use super::operations::{Body, Operation, Parameter};
use super::paths::{self, Paths};
use super::schemas::Schemas;
use super::{Dialect, Documents, info, security_scheme};
use crate::value::{Map, Str, Value};

/// The document of a name, if there is one.
pub(super) fn document(documents: &Documents<'_>, name: &str) -> Option<Value> {
    let all = documents.group_versions();
    let parts: Vec<&str> = name.split('/').collect();
    let has = |wanted: &str| all.iter().any(|(group, _)| *group == wanted);
    let (group_version, paths) = match parts[..] {
        ["api"] if has("") => (None, paths::of_root(name)),
        ["apis"] if all.iter().any(|(group, _)| !group.is_empty()) => (None, paths::of_root(name)),
        ["apis", group] if has(group) => (None, paths::of_group(group)),
        ["api", version] if all.contains(&("", version)) => {
            (Some(("", version)), paths::of_group_version(documents, "", version))
        }
        ["apis", group, version] if !group.is_empty() && all.contains(&(group, version)) => {
            (Some((group, version)), paths::of_group_version(documents, group, version))
        }
        _ => return None,
    };
    let mut schemas = Schemas::new(documents, Dialect::V3, group_version);
    let paths = render(&paths, &mut schemas);
    let components =
        Value::from([("schemas", schemas.finish()), ("securitySchemes", security_scheme())]);
    Some(Value::from([
        ("components", components),
        ("info", info()),
        ("openapi", "3.0.0".into()),
        ("paths", paths),
    ]))
}

fn render(paths: &Paths<'_>, schemas: &mut Schemas<'_>) -> Value {
    let mut rendered = Vec::with_capacity(paths.len());
    for (path, operations) in paths {
        let shared = paths::shared_parameters(operations);
        let mut item = Vec::with_capacity(operations.len() + 1);
        for operation in operations {
            let value = render_operation(operation, &shared, schemas);
            item.push((Str::const_new(operation.method), value));
        }
        if !shared.is_empty() {
            let parameters: Vec<Value> = shared.iter().map(render_parameter).collect();
            item.push((Str::const_new("parameters"), parameters.into()));
        }
        rendered.push((Str::new(path), Value::Map(Map::from_unsorted(item))));
    }
    Value::Map(Map::from_unsorted(rendered))
}

fn render_operation(
    operation: &Operation<'_>,
    shared: &[Parameter],
    schemas: &mut Schemas<'_>,
) -> Value {
    let mut entries = super::operations::render_head(operation);
    let own = operation.parameters.iter().filter(|parameter| !shared.contains(parameter));
    let own: Vec<Value> = own.map(render_parameter).collect();
    if !own.is_empty() {
        entries.push((Str::const_new("parameters"), own.into()));
    }
    if let Some(body) = &operation.body {
        entries.push((Str::const_new("requestBody"), render_body(operation, body, schemas)));
    }
    let schema = match &operation.gives {
        Some(name) => schemas.reference(name),
        None => Value::from([("type", "string")]),
    };
    let content = content(operation.produces, &schema);
    let mut responses = Map::with_capacity(operation.codes.len() + 1);
    for (code, text) in operation.codes {
        let response = [("content", content.clone()), ("description", (*text).into())];
        responses.insert(*code, Value::from(response));
    }
    responses.insert("401", Value::from([("description", "Unauthorized")]));
    entries.push((Str::const_new("responses"), responses.into()));
    Value::Map(Map::from_unsorted(entries))
}

fn render_body(operation: &Operation<'_>, body: &Body, schemas: &mut Schemas<'_>) -> Value {
    let schema = schemas.reference(&body.name);
    let mut rendered = Value::from([("content", content(operation.consumes, &schema))]);
    if body.is_required {
        rendered.set("required", true);
    }
    rendered
}

fn content(media_types: &[&'static str], schema: &Value) -> Value {
    let one =
        |media: &&'static str| (Str::const_new(media), Value::from([("schema", schema.clone())]));
    Value::Map(media_types.iter().map(one).collect())
}

fn render_parameter(parameter: &Parameter) -> Value {
    let schema = Value::from([("type", Value::from(parameter.ty)), ("uniqueItems", true.into())]);
    let mut rendered = Value::from([
        ("in", parameter.place.into()),
        ("name", Value::from(parameter.name.clone())),
        ("schema", schema),
    ]);
    if parameter.place == "path" {
        rendered.set("required", true);
    }
    rendered
}
