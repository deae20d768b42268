//! The document of version 2: everything in one.

use super::operations::{Operation, Parameter};
use super::paths::{self, Paths};
use super::schemas::Schemas;
use super::{Dialect, Documents, info, security_scheme};
use crate::value::{Map, Str, Value};

/// Parameters that stand where they are used: clients look for them there, to see what the server
/// can do, and do not follow references.
const IN_PLACE: [&str; 2] = ["dryRun", "fieldValidation"];

/// The document.
pub(super) fn document(documents: &Documents<'_>) -> Value {
    let mut all = Paths::new();
    let group_versions = documents.group_versions();
    for (group, version) in &group_versions {
        all.extend(paths::of_group_version(documents, group, version));
        match *group {
            "" => all.extend(paths::of_root("api")),
            group if documents.is_custom_group(group) => {}
            group => {
                all.extend(paths::of_group(group));
                all.extend(paths::of_root("apis"));
            }
        }
    }
    let schemas = Schemas::new(documents, Dialect::V2, None);
    let mut renderer = Renderer { schemas, shared: Map::new() };
    let paths: Vec<(Str, Value)> =
        all.iter().map(|(path, operations)| (Str::new(path), renderer.path(operations))).collect();
    let no_scopes = Vec::<Value>::new();
    Value::from([
        ("definitions", renderer.schemas.finish()),
        ("info", info()),
        ("parameters", renderer.shared.into()),
        ("paths", Value::Map(Map::from_unsorted(paths))),
        ("security", vec![Value::from([("BearerToken", no_scopes)])].into()),
        ("securityDefinitions", security_scheme()),
        ("swagger", "2.0".into()),
    ])
}

struct Renderer<'a> {
    schemas: Schemas<'a>,
    /// The parameters that operations refer to.
    shared: Map,
}

impl Renderer<'_> {
    fn path(&mut self, operations: &[Operation<'_>]) -> Value {
        let at_path = paths::shared_parameters(operations);
        let mut item = Vec::with_capacity(operations.len() + 1);
        for operation in operations {
            let value = self.operation(operation, &at_path);
            item.push((Str::const_new(operation.method), value));
        }
        if !at_path.is_empty() {
            let parameters: Vec<Value> = at_path.iter().map(|of| self.parameter(of)).collect();
            item.push((Str::const_new("parameters"), parameters.into()));
        }
        Value::Map(Map::from_unsorted(item))
    }

    fn operation(&mut self, operation: &Operation<'_>, at_path: &[Parameter]) -> Value {
        let mut entries = super::operations::render_head(operation);
        let mut own = Vec::new();
        if let Some(body) = &operation.body {
            let mut rendered = Value::from([
                ("in", "body".into()),
                ("name", "body".into()),
                ("schema", self.schemas.reference(&body.name)),
            ]);
            if body.is_required {
                rendered.set("required", true);
            }
            own.push(rendered);
        }
        let rest = operation.parameters.iter().filter(|parameter| !at_path.contains(parameter));
        own.extend(rest.map(|parameter| self.parameter(parameter)));
        if !own.is_empty() {
            entries.push((Str::const_new("parameters"), own.into()));
        }
        let mut responses = Map::with_capacity(operation.codes.len() + 1);
        for (code, text) in operation.codes {
            let schema = match &operation.gives {
                Some(name) => self.schemas.reference(name),
                None => Value::from([("type", "string")]),
            };
            let response = [("description", Value::from(*text)), ("schema", schema)];
            responses.insert(*code, Value::from(response));
        }
        responses.insert("401", Value::from([("description", "Unauthorized")]));
        entries.push((Str::const_new("responses"), responses.into()));
        entries.push((Str::const_new("consumes"), operation.consumes.to_vec().into()));
        entries.push((Str::const_new("produces"), operation.produces.to_vec().into()));
        entries.push((Str::const_new("schemes"), vec!["https"].into()));
        Value::Map(Map::from_unsorted(entries))
    }

    /// The parameter, or a reference to it.
    fn parameter(&mut self, parameter: &Parameter) -> Value {
        let place = parameter.place;
        let mut rendered = Value::from([
            ("in", Value::from(place)),
            ("name", parameter.name.clone().into()),
            ("type", parameter.ty.into()),
            ("uniqueItems", true.into()),
        ]);
        if parameter.place == "path" {
            rendered.set("required", true);
        }
        if IN_PLACE.contains(&parameter.name.as_str()) {
            return rendered;
        }
        let key = format!("{}-{place}-{}", parameter.name, parameter.ty);
        let reference = Value::from([("$ref", format!("#/parameters/{key}"))]);
        self.shared.insert(key, rendered);
        reference
    }
}
