//! From a [`Structural`] schema to the struct of a [`Schema`].
//!
//! Apply then merges as upstream does with the types that `kube-openapi/pkg/schemaconv/openapi.go`
//! makes of the published schema: objects and maps by field unless they are atomic, lists as a
//! whole unless they say how items are told apart, everything else as it comes.
//!
//! Two things are coarser than upstream: a value without a type but with properties is any JSON,
//! and text with a format is text, where upstream's apply lets any scalar through to validation.

use std::collections::BTreeMap;

use super::{Additional, ListIdentity, Position, Properties, Shape, Structural};
use crate::schema::{
    Extra, Field, Identity, List, MapOf, Omit, Patch, Schema, Struct, StructId, Type,
};
use crate::value::Str;

/// Compiles the schemas of a custom resource.
pub(super) struct Compiler {
    pub(super) metadata: StructId,
}

impl Compiler {
    /// The type of a value; `keeps` says whether a list or map around it keeps unknown fields.
    fn ty(&self, schema: &mut Schema, node: &Structural, name: &str, keeps: bool) -> Type {
        let keeps = keeps || node.preserves_unknown_fields;
        if node.is_int_or_string {
            return Type::IntOrString;
        }
        match &node.shape {
            None => Type::Any,
            Some(Shape::Boolean) => Type::Bool,
            Some(Shape::Integer) => Type::Int64,
            Some(Shape::Number) => Type::Float64,
            Some(Shape::String) => Type::String,
            Some(Shape::Object { .. }) => {
                self.structure(schema, (node, keeps), name, Position::Inside)
            }
            Some(Shape::Map { values, is_atomic }) => {
                let value = self.ty(schema, values, &format!("{name}.*"), keeps);
                Type::Map(Box::new(MapOf { value, is_atomic: *is_atomic }))
            }
            Some(Shape::Array { items, identity }) => {
                let item = self.ty(schema, items, &format!("{name}[]"), keeps);
                let identity = match identity {
                    ListIdentity::Atomic => Identity::Atomic { is_declared: false },
                    ListIdentity::Set => Identity::Set,
                    ListIdentity::Map(keys) => Identity::Keys(keys.clone()),
                };
                let is_item_pointer = items.is_nullable;
                Type::List(Box::new(List { item, is_item_pointer, identity, is_wrapped: false }))
            }
        }
    }

    /// The struct of an object; anything for an object of which nothing is known.
    pub(super) fn structure(
        &self,
        schema: &mut Schema,
        (node, keeps): (&Structural, bool),
        name: &str,
        position: Position,
    ) -> Type {
        let nothing = Properties::default();
        let (properties, additional, is_atomic) = match &node.shape {
            Some(Shape::Object { properties, additional, is_atomic }) => {
                (properties, *additional, *is_atomic)
            }
            _ => (&nothing, Additional::Undeclared, false),
        };
        let has_metadata = position == Position::Root || node.is_embedded_resource;
        let mut fields: BTreeMap<Str, Field> = BTreeMap::new();
        for (field, property) in properties {
            let ty = self.ty(schema, property, &format!("{name}.{field}"), false);
            fields.insert(field.clone(), new_field(field, ty, property));
        }
        if has_metadata {
            for (field, ty) in [
                ("apiVersion", Type::String),
                ("kind", Type::String),
                ("metadata", Type::Struct(self.metadata)),
            ] {
                fields.insert(Str::const_new(field), new_field(field, ty, &Structural::default()));
            }
        }
        let fields = fields.into_values().collect();
        let keeps_unknown = keeps || additional == Additional::Allowed;
        let new = Struct { is_atomic, keeps_unknown, ..new_struct(name, fields) };
        Type::Struct(schema.add(new))
    }
}

/// Fields are written in the order of their names: nothing else is declared.
pub(super) fn new_struct(name: &str, fields: Vec<Field>) -> Struct {
    let count = u16::try_from(fields.len()).unwrap_or(u16::MAX);
    Struct { name: Str::new(name), fields, order: (0..count).collect(), ..Struct::default() }
}

fn new_field(name: &str, ty: Type, node: &Structural) -> Field {
    let default = node.default.clone();
    let extra =
        default.map(|default| Box::new(Extra { default: Some(default), ..Extra::default() }));
    Field {
        name: Str::new(name),
        ty,
        // What was sent is kept as it was sent.
        is_pointer: true,
        omit: Omit::Empty,
        is_required: false,
        is_atomic: false,
        is_granular: false,
        tag: None,
        patch: Patch::default(),
        merge_key: Str::const_new(""),
        extra,
    }
}
