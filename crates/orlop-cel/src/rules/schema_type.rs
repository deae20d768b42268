//! What a structural schema declares to expressions.
//!
//! After `SchemaDeclType` in `staging/src/k8s.io/apiserver/pkg/cel/common/schemas.go`. What a
//! schema does not say the type of is not visible: neither are lists and maps of it, nor properties
//! whose names no expression can write. How large data can be is guessed from what fits into a
//! request where the schema does not say; costs are estimated from it, so the guesses are
//! upstream's.

use orlop_machinery::Str;
use orlop_machinery::structural::{self, Properties, Structural};

use crate::decl_type::{DeclType, Field, ListIdentity, Shape};
use crate::escape::escape;

/// The largest request.
pub const REQUEST_SIZE_MAX: u64 = 3 * 1024 * 1024;

/// The name of the outermost object. Upstream's ends in a number that nobody can know.
const SELF_TYPE: &str = "selfType";

/// The longest date with time, and the longest duration, with quotes.
const DATE_TIME_SIZE_MAX: u64 = 32;
const DATE_TIME_SIZE_MIN: u64 = 21;
const DURATION_SIZE_MIN: u64 = 3;
/// A date, with quotes.
const DATE_SIZE: u64 = 12;
const STRING_SIZE_MIN: u64 = 2;
const BOOL_SIZE_MIN: u64 = 4;
const NUMBER_SIZE_MIN: u64 = 1;
/// `{}` or `[]`
const CONTAINER_SIZE_MIN: u64 = 2;

/// Whether a schema is about a whole object: one with kind and metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It is.
    Resource,
    /// It is about a part of one.
    Part,
}

/// What a schema declares; none when expressions cannot see it.
#[must_use]
pub fn declare(schema: &Structural, extent: Extent) -> Option<DeclType> {
    declare_at(schema, extent, &mut SELF_TYPE.to_owned())
}

/// Of which extent a schema inside another one is.
pub(super) fn extent_of(schema: &Structural) -> Extent {
    if schema.is_embedded_resource { Extent::Resource } else { Extent::Part }
}

/// The type of a schema as it is written.
pub(super) fn type_name(schema: &Structural) -> &'static str {
    match &schema.shape {
        None => "",
        Some(structural::Shape::Boolean) => "boolean",
        Some(structural::Shape::Integer) => "integer",
        Some(structural::Shape::Number) => "number",
        Some(structural::Shape::String) => "string",
        Some(structural::Shape::Object { .. } | structural::Shape::Map { .. }) => "object",
        Some(structural::Shape::Array { .. }) => "array",
    }
}

fn declare_at(schema: &Structural, extent: Extent, name: &mut String) -> Option<DeclType> {
    let declared = if schema.is_int_or_string {
        let max = text_max(schema).unwrap_or(REQUEST_SIZE_MAX - 2);
        sized(Shape::IntOrString, 1, max)
    } else {
        match schema.shape.as_ref()? {
            structural::Shape::Boolean => sized(Shape::Bool, BOOL_SIZE_MIN, 0),
            structural::Shape::Integer => sized(Shape::Int, NUMBER_SIZE_MIN, 0),
            structural::Shape::Number => sized(Shape::Double, NUMBER_SIZE_MIN, 0),
            structural::Shape::String => declare_string(schema),
            structural::Shape::Array { items, identity } => {
                let items = declare_below(items, ".@idx", name)?;
                let guess = (REQUEST_SIZE_MAX - 2) / (items.serialized_size_min() + 1);
                let max = bound(schema.rules.items.1).unwrap_or(guess);
                let identity = match identity {
                    structural::ListIdentity::Atomic => ListIdentity::Atomic,
                    structural::ListIdentity::Set => ListIdentity::Set,
                    structural::ListIdentity::Map(keys) => ListIdentity::Map(keys.clone()),
                };
                sized(Shape::List { items, identity }, CONTAINER_SIZE_MIN, max)
            }
            structural::Shape::Map { values, .. } => {
                let values = declare_below(values, ".@elem", name)?;
                // Two characters of key, quotes, a colon and a comma.
                let guess = (REQUEST_SIZE_MAX - 2) / (values.serialized_size_min() + 6);
                let max = bound(schema.rules.properties.1).unwrap_or(guess);
                sized(Shape::Map { values }, CONTAINER_SIZE_MIN, max)
            }
            structural::Shape::Object { properties, .. } => {
                declare_object(schema, properties, extent, name)
            }
        }
    };
    Some(if schema.is_nullable { declared.nullable() } else { declared })
}

fn declare_object(
    schema: &Structural,
    properties: &Properties,
    extent: Extent,
    name: &mut String,
) -> DeclType {
    let has_meta = extent == Extent::Resource && !has_metadata(properties);
    let mut fields = Vec::with_capacity(properties.len());
    let mut size = CONTAINER_SIZE_MIN;
    for (property, inner) in properties.iter() {
        if has_meta && matches!(property.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        let escaped = escape(property);
        let field_name = escaped.as_deref().unwrap_or(property);
        let declared = declare_below(inner, &format!(".{field_name}"), name);
        let is_required = schema.rules.required.contains(property);
        if let Some(declared) = declared.as_ref().filter(|_| is_required && inner.default.is_none())
        {
            size += property.len() as u64 + declared.serialized_size_min() + 4;
        }
        let ty = declared.unwrap_or_else(|| {
            let preserved = sized(Shape::Preserved, 0, 0);
            if inner.is_nullable { preserved.nullable() } else { preserved }
        });
        fields.push(new_field(field_name, property, ty, is_required));
    }
    if has_meta {
        for (property, ty) in metadata_fields(name) {
            let is_required = schema.rules.required.iter().any(|required| required == property);
            if is_required {
                size += property.len() as u64 + ty.serialized_size_min() + 4;
            }
            fields.push(new_field(property, property, ty, is_required));
        }
    }
    let object = DeclType::object(name.as_str(), fields);
    object.with_serialized_size_min(size).with_elements_max(0)
}

fn declare_below(schema: &Structural, step: &str, name: &mut String) -> Option<DeclType> {
    let len = name.len();
    name.push_str(step);
    let declared = declare_at(schema, extent_of(schema), name);
    name.truncate(len);
    declared
}

/// Whether a schema says itself what every object has. If it does not say all of it, what it says
/// does not count.
fn has_metadata(properties: &Properties) -> bool {
    let is_string =
        |found: Option<&Structural>| found.is_some_and(|inner| type_name(inner) == "string");
    let shape = properties.get("metadata").and_then(|inner| inner.shape.as_ref());
    let Some(structural::Shape::Object { properties: metadata, .. }) = shape else { return false };
    is_string(properties.get("kind"))
        && is_string(properties.get("apiVersion"))
        && is_string(metadata.get("name"))
        && is_string(metadata.get("generateName"))
}

/// What every object has, as far as rules may see it.
fn metadata_fields(name: &str) -> [(&'static str, DeclType); 3] {
    let text = || sized(Shape::String, STRING_SIZE_MIN, REQUEST_SIZE_MAX - 2);
    let fields = ["generateName", "name"].map(|field| new_field(field, field, text(), false));
    let metadata = DeclType::object(format!("{name}.metadata"), fields.into());
    let metadata = metadata.with_serialized_size_min(CONTAINER_SIZE_MIN).with_elements_max(0);
    [("apiVersion", text()), ("kind", text()), ("metadata", metadata)]
}

fn new_field(name: &str, json_name: &str, ty: DeclType, is_required: bool) -> Field {
    Field { name: Str::new(name), json_name: Str::new(json_name), ty, is_required }
}

fn declare_string(schema: &Structural) -> DeclType {
    let length_max = bound(schema.rules.length.1);
    match schema.rules.format.as_str() {
        "byte" => {
            let max = length_max.unwrap_or(REQUEST_SIZE_MAX - 2);
            sized(Shape::Bytes, STRING_SIZE_MIN, max)
        }
        "duration" => sized(Shape::Duration, DURATION_SIZE_MIN, DATE_TIME_SIZE_MAX),
        "date" => sized(Shape::Date, DATE_SIZE, DATE_SIZE),
        "date-time" => sized(Shape::DateTime, DATE_TIME_SIZE_MIN, DATE_TIME_SIZE_MAX),
        _ => {
            let longest = || {
                let lengths = schema.rules.choices.iter().map(|choice| choice.str().len() as u64);
                lengths.max()
            };
            let max = text_max(schema).or_else(longest).unwrap_or(REQUEST_SIZE_MAX - 2);
            sized(Shape::String, STRING_SIZE_MIN, max)
        }
    }
}

/// The most bytes of a text, where the schema says how many characters it may have.
fn text_max(schema: &Structural) -> Option<u64> {
    Some(bound(schema.rules.length.1)?.wrapping_mul(4))
}

/// A bound that the schema says; a negative one is as good as none at all.
fn bound(max: Option<i64>) -> Option<u64> {
    max.map(|max| u64::try_from(max).unwrap_or(0))
}

fn sized(shape: Shape, size_min: u64, elements_max: u64) -> DeclType {
    DeclType::new(shape).with_serialized_size_min(size_min).with_elements_max(elements_max)
}
