//! The schemas of structs.
//!
//! The rules are those of upstream's `kube-openapi/pkg/generators/openapi.go`: what a missing field
//! means is said where Go has no way to leave it out.

use std::collections::HashSet;

use super::{Dialect, Documents, META};
use crate::schema::{
    Alternative, Field, Identity, List, MapOf, Omit, Patch, Struct, StructId, Type, Union,
};
use crate::value::{Map, Str, Value};

/// Collects the schemas that a document refers to.
pub(super) struct Schemas<'a> {
    documents: &'a Documents<'a>,
    dialect: Dialect,
    /// The group version of the document; none when it is of all.
    group_version: Option<(&'a str, &'a str)>,
    /// By the index of the struct.
    is_seen: Vec<bool>,
    waiting: Vec<StructId>,
    /// The names in `done` that are not structs.
    leaves: HashSet<Str>,
    done: Vec<(Str, Value)>,
}

/// Part of a schema: keys with values, in any order, each key once.
type Entries = Vec<(Str, Value)>;

impl<'a> Schemas<'a> {
    /// Collects for a document of one group version, or of all.
    pub(super) fn new(
        documents: &'a Documents<'a>,
        dialect: Dialect,
        group_version: Option<(&'a str, &'a str)>,
    ) -> Schemas<'a> {
        Schemas {
            documents,
            dialect,
            group_version,
            is_seen: vec![false; documents.schema.len()],
            waiting: Vec::new(),
            leaves: HashSet::new(),
            done: Vec::new(),
        }
    }

    /// A reference to a struct. One that the schema does not have may hold anything.
    pub(super) fn reference(&mut self, name: &str) -> Value {
        if let Some(schema) = self.documents.custom_schema(name, self.dialect) {
            for part in ["ListMeta", "ObjectMeta"] {
                if let Some(id) = self.documents.schema.find(&format!("{META}.{part}")) {
                    self.struct_reference(id);
                }
            }
            let entry = self.leaf(name, schema);
            return Value::Map(Map::from_unsorted(vec![entry]));
        }
        let entry = match self.documents.schema.find(name) {
            Some(id) => self.struct_reference(id),
            None => self.leaf(name, Value::from([("type", "object")])),
        };
        Value::Map(Map::from_unsorted(vec![entry]))
    }

    /// All schemas that were referred to, and those that they refer to, by name.
    pub(super) fn finish(mut self) -> Value {
        while let Some(id) = self.waiting.pop() {
            let found = self.documents.schema.get(id);
            let schema = self.definition(found);
            self.done.push((found.name.clone(), schema));
        }
        Value::Map(Map::from_unsorted(self.done))
    }

    fn definition(&mut self, of: &Struct) -> Value {
        let mut entries: Entries = vec![entry("type", "object")];
        let mut properties = Vec::with_capacity(of.fields.len());
        for field in &of.fields {
            properties.push((field.name.clone(), self.property(of, field)));
        }
        if !properties.is_empty() {
            entries.push(entry("properties", Map::from_unsorted(properties)));
        }
        let required = of.in_order().filter(|field| field.is_required);
        let required: Vec<Value> = required.map(|field| field.name.clone().into()).collect();
        if !required.is_empty() {
            entries.push(entry("required", required));
        }
        if of.is_atomic {
            entries.push(entry("x-kubernetes-map-type", "atomic"));
        }
        if of.keeps_unknown {
            entries.push(entry("x-kubernetes-preserve-unknown-fields", true));
        }
        if let Some(union) = &of.union {
            entries.push(entry("x-kubernetes-unions", vec![union_extension(union)]));
        }
        let kinds = self.documents.kinds(&of.name, self.group_version);
        if !kinds.is_empty() {
            entries.push(entry("x-kubernetes-group-version-kind", kinds));
        }
        Value::Map(Map::from_unsorted(entries))
    }

    fn property(&mut self, of: &Struct, field: &Field) -> Value {
        let mut entries = self.type_of(of, &field.ty);
        let default = match field.default() {
            Some(declared) => Some(declared.clone()),
            None if field.is_pointer => None,
            None => implied_default(&field.ty, field.omit),
        };
        self.push_default(&mut entries, default);
        push_identity(&mut entries, field);
        push_patch(&mut entries, field.patch, &field.merge_key);
        if let Some(extra) = field.extra.as_ref().filter(|extra| !extra.choices.is_empty()) {
            entries.push(entry("enum", extra.choices.clone()));
        }
        self.close(entries)
    }

    /// The schema of an item of a list or a value of a map.
    fn part(&mut self, of: &Struct, ty: &Type, is_pointer: bool) -> Value {
        let mut entries = self.type_of(of, ty);
        let default = if is_pointer { None } else { implied_default(ty, Omit::Never) };
        self.push_default(&mut entries, default);
        self.close(entries)
    }

    fn push_default(&self, entries: &mut Entries, default: Option<Value>) {
        if let (Dialect::V3, Some(default)) = (self.dialect, default) {
            entries.push((Str::const_new("default"), default));
        }
    }

    /// In version 3 nothing may stand beside a reference.
    fn close(&self, mut entries: Entries) -> Value {
        if self.dialect == Dialect::V3 && entries.len() > 1 && entries[0].0 == "$ref" {
            let reference = Value::Map(Map::from_unsorted(vec![entries.remove(0)]));
            entries.push(entry("allOf", vec![reference]));
        }
        Value::Map(Map::from_unsorted(entries))
    }

    /// What says which type it is; a reference is alone.
    fn type_of(&mut self, of: &Struct, ty: &Type) -> Entries {
        match ty {
            Type::Bool => vec![entry("type", "boolean")],
            Type::Int32 => formatted("integer", "int32"),
            Type::Int64 => formatted("integer", "int64"),
            Type::Float64 => formatted("number", "double"),
            Type::String => vec![entry("type", "string")],
            Type::Bytes => formatted("string", "byte"),
            Type::List(list) => self.list(of, list),
            Type::Map(map) => self.map(of, map),
            Type::Struct(id) => vec![self.struct_reference(*id)],
            Type::Time
            | Type::MicroTime
            | Type::Duration
            | Type::Quantity
            | Type::IntOrString
            | Type::Any
            | Type::Raw
            | Type::FieldSet
            | Type::StructOr(..) => vec![self.named(of, ty)],
        }
    }

    fn list(&mut self, of: &Struct, list: &List) -> Entries {
        let items = self.part(of, &list.item, list.is_item_pointer);
        vec![entry("type", "array"), entry("items", items)]
    }

    fn map(&mut self, of: &Struct, map: &MapOf) -> Entries {
        let values = self.part(of, &map.value, false);
        vec![entry("type", "object"), entry("additionalProperties", values)]
    }

    /// A type that is no struct but has a schema with a name.
    fn named(&mut self, of: &Struct, ty: &Type) -> (Str, Value) {
        let in_meta = |name: &str| format!("{META}.{name}");
        let is_v2 = self.dialect == Dialect::V2;
        let text = || Value::from([("type", "string")]);
        let moment = || Value::from([("format", "date-time"), ("type", "string")]);
        let object = || Value::from([("type", "object")]);
        let (name, schema) = match ty {
            Type::Time => (in_meta("Time"), moment()),
            Type::MicroTime => (in_meta("MicroTime"), moment()),
            Type::Duration => (in_meta("Duration"), text()),
            Type::FieldSet => (in_meta("FieldsV1"), object()),
            Type::Raw => ("io.k8s.apimachinery.pkg.runtime.RawExtension".to_owned(), object()),
            Type::Quantity => {
                let schema = if is_v2 { text() } else { one_of("string", "number") };
                ("io.k8s.apimachinery.pkg.api.resource.Quantity".to_owned(), schema)
            }
            Type::IntOrString => {
                let mut schema = if is_v2 { text() } else { one_of("integer", "string") };
                schema.set("format", "int-or-string");
                ("io.k8s.apimachinery.pkg.util.intstr.IntOrString".to_owned(), schema)
            }
            Type::StructOr(id, other) => {
                let suffix = match other {
                    Alternative::Bool => "Bool",
                    Alternative::List => "Array",
                    Alternative::Strings => "StringArray",
                };
                let name = &self.documents.schema.get(*id).name;
                self.struct_reference(*id);
                (format!("{name}Or{suffix}"), Map::new().into())
            }
            // Its name depends on who says it; the rest have no name and do not come here.
            _ => (format!("{}.JSON", super::package(&of.name)), Map::new().into()),
        };
        self.leaf(&name, schema)
    }

    fn leaf(&mut self, name: &str, schema: Value) -> (Str, Value) {
        if !self.leaves.contains(name) {
            self.leaves.insert(Str::new(name));
            self.done.push((Str::new(name), schema));
        }
        self.reference_to(name)
    }

    fn struct_reference(&mut self, id: StructId) -> (Str, Value) {
        if !std::mem::replace(&mut self.is_seen[id.index()], true) {
            self.waiting.push(id);
        }
        let name = &self.documents.schema.get(id).name;
        self.reference_to(name)
    }

    fn reference_to(&self, name: &str) -> (Str, Value) {
        let place = match self.dialect {
            Dialect::V2 => "#/definitions/",
            Dialect::V3 => "#/components/schemas/",
        };
        let mut path = Str::with_capacity(place.len() + name.len());
        path.push_str(place);
        path.push_str(name);
        (Str::const_new("$ref"), path.into())
    }
}

fn entry(key: &'static str, value: impl Into<Value>) -> (Str, Value) {
    (Str::const_new(key), value.into())
}

fn formatted(ty: &'static str, format: &'static str) -> Entries {
    vec![entry("type", ty), entry("format", format)]
}

fn one_of(first: &'static str, second: &'static str) -> Value {
    let types = vec![Value::from([("type", first)]), Value::from([("type", second)])];
    Value::from([("oneOf", types)])
}

/// What a field means when JSON does not have it, where Go gives it a value that is not nothing:
/// a struct always, and text, numbers and truths that are never left out.
fn implied_default(ty: &Type, omit: Omit) -> Option<Value> {
    match ty {
        Type::Struct(_) => Some(Map::new().into()),
        Type::Bool | Type::Int32 | Type::Int64 | Type::Float64 | Type::String
            if omit != Omit::Empty =>
        {
            Some(ty.zero())
        }
        _ => None,
    }
}

fn push_identity(entries: &mut Entries, field: &Field) {
    match &field.ty {
        Type::List(list) => {
            let kind = match &list.identity {
                Identity::Atomic { is_declared: false } => return,
                Identity::Atomic { is_declared: true } => "atomic",
                Identity::Set => "set",
                Identity::Keys(keys) => {
                    entries.push(entry("x-kubernetes-list-map-keys", keys.clone()));
                    "map"
                }
            };
            entries.push(entry("x-kubernetes-list-type", kind));
        }
        Type::Bytes if field.is_atomic => entries.push(entry("x-kubernetes-list-type", "atomic")),
        Type::Map(map) if map.is_atomic => entries.push(entry("x-kubernetes-map-type", "atomic")),
        _ if field.is_atomic => entries.push(entry("x-kubernetes-map-type", "atomic")),
        _ if field.is_granular => entries.push(entry("x-kubernetes-map-type", "granular")),
        _ => {}
    }
}

fn push_patch(entries: &mut Entries, patch: Patch, merge_key: &Str) {
    let words =
        [(patch.replaces, "replace"), (patch.merges, "merge"), (patch.retains_keys, "retainKeys")];
    let words: Vec<&str> = words.iter().filter(|word| word.0).map(|word| word.1).collect();
    if !words.is_empty() {
        entries.push(entry("x-kubernetes-patch-strategy", words.join(",")));
    }
    if !merge_key.is_empty() {
        entries.push(entry("x-kubernetes-patch-merge-key", merge_key.clone()));
    }
}

/// Fields are told apart by their names in Go, which are those in JSON with a capital.
fn union_extension(union: &Union) -> Value {
    let fields = union.fields.iter().map(|field| (field.clone(), capitalize(field).into()));
    let mut extension = vec![entry("fields-to-discriminateBy", fields.collect::<Map>())];
    if !union.discriminator.is_empty() {
        extension.push(entry("discriminator", union.discriminator.clone()));
    }
    Value::Map(Map::from_unsorted(extension))
}

/// The word with a capital.
pub(super) fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
