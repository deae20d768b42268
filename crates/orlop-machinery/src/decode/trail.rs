//! The way from an object to a value inside of it, for the messages of the decoder.
//!
//! Go names a place in two ways. Strict errors have the keys and indices of the document:
//! `spec.containers[0].name`. Type errors have the struct and the names of fields alone, embedded
//! structs among them: `Container.spec.containers.name`.

use crate::json::{push_index, push_key, shown_path};
use crate::schema::{Field, Schema, StructId, Type};

/// A chain of steps that live on the stack: making one costs nothing.
#[derive(Clone, Copy)]
pub(super) struct Trail<'a> {
    parent: Option<&'a Trail<'a>>,
    step: Step<'a>,
    /// How many steps there are.
    pub(super) depth: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(StructId, &'a Field),
    Key(&'a str),
    Index(usize),
}

impl<'a> Trail<'a> {
    /// The object itself.
    pub(super) const ROOT: Trail<'static> = Trail { parent: None, step: Step::Root, depth: 0 };

    pub(super) fn field<'b>(&'b self, owner: StructId, field: &'b Field) -> Trail<'b> {
        self.to(Step::Field(owner, field))
    }

    pub(super) fn key<'b>(&'b self, key: &'b str) -> Trail<'b> {
        self.to(Step::Key(key))
    }

    pub(super) fn index(&self, index: usize) -> Trail<'_> {
        self.to(Step::Index(index))
    }

    fn to<'b>(&'b self, step: Step<'b>) -> Trail<'b> {
        Trail { parent: Some(self), step, depth: self.depth + 1 }
    }

    /// The path that a strict error about a field of this struct has.
    pub(super) fn strict_path(&self, name: &str) -> String {
        let mut path = String::new();
        for trail in self.steps_down() {
            match trail.step {
                Step::Root => {}
                Step::Field(_, field) => push_key(&mut path, &field.name),
                Step::Key(key) => push_key(&mut path, key),
                Step::Index(index) => push_index(&mut path, index),
            }
        }
        push_key(&mut path, name);
        shown_path(&path).to_owned()
    }

    /// The struct and the field that a type error names; none for the object itself.
    pub(super) fn struct_field(&self, schema: &Schema) -> Option<String> {
        let mut owner = None;
        let mut names = Vec::new();
        for trail in self.steps_down() {
            if let Step::Field(id, field) = trail.step {
                owner = Some(id);
                names.extend([embedded(field), field.name.as_str()]);
            }
        }
        names.retain(|name| !name.is_empty());
        let name = schema.get(owner?).name.as_str();
        Some(format!("{}.{}", last_part(name), names.join(".")))
    }

    /// The name of the type of the value, which is what the schema says it is.
    pub(super) fn type_name(&self, schema: &Schema, ty: &Type) -> String {
        let mut inner = 0;
        for trail in self.steps_up() {
            match trail.step {
                Step::Root => break,
                Step::Key(_) | Step::Index(_) => inner += 1,
                Step::Field(_, field) => {
                    let name = inner_name(field.type_name(), inner);
                    return name.map_or_else(|| type_name(schema, ty), str::to_owned);
                }
            }
        }
        type_name(schema, ty)
    }

    fn steps_up(&self) -> impl Iterator<Item = &Trail<'a>> {
        std::iter::successors(Some(self), |trail| trail.parent)
    }

    fn steps_down(&self) -> impl Iterator<Item = &Trail<'a>> {
        let trails: Vec<&Trail<'a>> = self.steps_up().collect();
        trails.into_iter().rev()
    }
}

/// The embedded structs that a field stands in. Kind and version stand in one wherever they do not
/// travel with the others.
fn embedded(field: &Field) -> &str {
    match field.name.as_str() {
        "kind" | "apiVersion" if field.tag.is_none() => "TypeMeta",
        _ => field.embedded(),
    }
}

/// The name of an item of a list or map, so many levels in; none when the name does not tell.
fn inner_name(name: &str, levels: usize) -> Option<&str> {
    let item = |name: &'_ str| {
        let map = name.strip_prefix("map[").and_then(|rest| rest.split_once(']'));
        map.map(|(_, value)| value.len()).or(name.strip_prefix("[]").map(str::len))
    };
    let name = (0..levels).try_fold(name, |name, _| Some(&name[name.len() - item(name)?..]))?;
    let name = name.strip_prefix('*').unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

/// The type as Go names it, where the field does not say.
fn type_name(schema: &Schema, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::Int32 => "int32".into(),
        Type::Int64 => "int64".into(),
        Type::Float64 => "float64".into(),
        Type::String => "string".into(),
        Type::Bytes => "[]uint8".into(),
        Type::Time => "v1.Time".into(),
        Type::MicroTime => "v1.MicroTime".into(),
        Type::Duration => "v1.Duration".into(),
        Type::Quantity => "resource.Quantity".into(),
        Type::IntOrString => "intstr.IntOrString".into(),
        Type::Any => "v1.JSON".into(),
        Type::Raw => "runtime.RawExtension".into(),
        Type::FieldSet => "v1.FieldsV1".into(),
        Type::List(list) => {
            let pointer = if list.is_item_pointer { "*" } else { "" };
            format!("[]{pointer}{}", type_name(schema, &list.item))
        }
        Type::Map(map) => format!("map[string]{}", type_name(schema, &map.value)),
        Type::Struct(id) | Type::StructOr(id, _) => {
            let name = schema.get(*id).name.as_str();
            let package = name.rsplit_once('.').map_or("", |(package, _)| package);
            format!("{}.{}", last_part(package), last_part(name))
        }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
