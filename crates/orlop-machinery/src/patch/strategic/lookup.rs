//! What the schema says about merging a field.
//!
//! Follows `PatchMetaFromStruct` of `strategicpatch/meta.go` and
//! `apimachinery/third_party/forked/golang/json/fields.go`: what is a struct in Go can be looked
//! into, even when it has no fields in JSON, as `RawExtension`; maps, lists and scalars cannot.

use std::borrow::Cow;

use super::PatchError;
use crate::schema::{Alternative, Field, Schema, StructId, Type};
use crate::text::quote;

/// A type whose fields can be looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup<'a> {
    schema: &'a Schema,
    shape: Shape<'a>,
    is_pointer: bool,
}

#[derive(Clone, Copy, Debug)]
enum Shape<'a> {
    Struct(StructId),
    Other(&'a Type),
}

/// How a field is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// The type of the field, or of the items of the list in it.
    pub(super) inner: Lookup<'a>,
    pub(super) strategy: Strategy,
    pub(super) retains_keys: bool,
    /// Empty when there is none.
    pub(super) merge_key: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Maps are merged, lists replaced.
    Unsaid,
    Merge,
    Replace,
}

impl<'a> Lookup<'a> {
    pub(super) fn of(schema: &'a Schema, id: StructId) -> Lookup<'a> {
        Lookup { schema, shape: Shape::Struct(id), is_pointer: false }
    }

    /// How a field with a map is merged.
    pub(super) fn map(self, key: &str) -> Result<Rules<'a>, PatchError> {
        let field = self.field(key)?;
        Ok(self.rules(field, &field.ty, field.is_pointer))
    }

    /// How a field with a list is merged.
    pub(super) fn list(self, key: &str) -> Result<Rules<'a>, PatchError> {
        let field = self.field(key)?;
        match &field.ty {
            Type::List(list) if !field.is_pointer && is_slice(&list.item) => {
                Err(PatchError::Schema("unexpected slice of slice".into()))
            }
            Type::List(list) => Ok(self.rules(field, &list.item, list.is_item_pointer)),
            // Upstream lets a pointer to something else pass for a list of it.
            other if field.is_pointer => Ok(self.rules(field, other, false)),
            _ => Err(PatchError::Schema(format!(
                "expected slice or array type, but got: {}",
                self.kind()
            ))),
        }
    }

    /// What Go calls the kind of the type.
    pub(super) fn kind(self) -> &'static str {
        match self.shape {
            _ if self.is_pointer => "ptr",
            Shape::Struct(_) => "struct",
            Shape::Other(ty) => kind(ty),
        }
    }

    fn field(self, key: &str) -> Result<&'a Field, PatchError> {
        let name = match self.shape {
            Shape::Struct(id) => {
                let of = self.schema.get(id);
                let any_case = || of.in_order().find(|field| field.name.eq_ignore_ascii_case(key));
                if let Some(field) = of.field(key).or_else(any_case) {
                    return Ok(field);
                }
                Cow::Borrowed(self.short_name(id))
            }
            Shape::Other(ty) => self.opaque_struct(ty).ok_or_else(|| {
                PatchError::Schema(format!(
                    "merging an object in json but data type is not struct, instead is: {}",
                    kind(ty)
                ))
            })?,
        };
        Err(PatchError::Schema(format!(
            "unable to find api field in struct {name} for the json field {}",
            quote(key)
        )))
    }

    /// What Go calls a type that there is a struct of which JSON shows no field.
    fn opaque_struct(self, ty: &Type) -> Option<Cow<'a, str>> {
        Some(Cow::Borrowed(match ty {
            Type::Time => "Time",
            Type::MicroTime => "MicroTime",
            Type::Duration => "Duration",
            Type::Quantity => "Quantity",
            Type::IntOrString => "IntOrString",
            Type::Any => "JSON",
            Type::Raw => "RawExtension",
            Type::FieldSet => "FieldsV1",
            Type::StructOr(id, alternative) => {
                let other = match alternative {
                    Alternative::Bool => "OrBool",
                    Alternative::List => "OrArray",
                    Alternative::Strings => "OrStringArray",
                };
                return Some(Cow::Owned(format!("{}{other}", self.short_name(*id))));
            }
            _ => return None,
        }))
    }

    /// The name of a struct without its package.
    fn short_name(self, id: StructId) -> &'a str {
        let name = &self.schema.get(id).name;
        name.rsplit('.').next().unwrap_or(name)
    }

    fn rules(self, field: &'a Field, inner: &'a Type, is_pointer: bool) -> Rules<'a> {
        let shape = match inner {
            Type::Struct(id) => Shape::Struct(*id),
            other => Shape::Other(other),
        };
        let strategy = match field.patch {
            patch if patch.merges => Strategy::Merge,
            patch if patch.replaces => Strategy::Replace,
            _ => Strategy::Unsaid,
        };
        Rules {
            inner: Lookup { schema: self.schema, shape, is_pointer },
            strategy,
            retains_keys: field.patch.retains_keys,
            merge_key: &field.merge_key,
        }
    }
}

fn is_slice(ty: &Type) -> bool {
    kind(ty) == "slice"
}

fn kind(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int32 => "int32",
        Type::Int64 => "int64",
        Type::Float64 => "float64",
        Type::String => "string",
        Type::Bytes | Type::List(_) => "slice",
        Type::Map(_) => "map",
        Type::Time
        | Type::MicroTime
        | Type::Duration
        | Type::Quantity
        | Type::IntOrString
        | Type::Any
        | Type::Raw
        | Type::FieldSet
        | Type::Struct(_)
        | Type::StructOr(..) => "struct",
    }
}
