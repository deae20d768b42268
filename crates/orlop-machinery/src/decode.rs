//! From any JSON value to an object in normal form, by the schema alone.
//!
//! What comes out is what Go has after decoding into its struct, as Go would encode it again:
//! fields that the schema does not know are gone, null and empty `omitempty` fields too, fields
//! without `omitempty` and structs that are no pointers are there, times, quantities and bytes are
//! in the form that upstream prints. Decoding what was decoded changes nothing.
//!
//! The rules and messages are those of `vendor/sigs.k8s.io/json` (`decode.go`) and of the types
//! that have readers of their own. Where a value has several faults, Go reports the first one in
//! the order of the text; here, the order is that of the keys. Who has the text gets Go's choice
//! from [`crate::strict`].
//!
//! Two things are not as in Go. A pointer to a value that Go prints as null (the zero time) counts
//! as not set: Go would print null once and forget it the next time. And JSON that no struct
//! describes (`RawExtension`, `FieldsV1`) is a value like all others: Go keeps its text, with the
//! order of its keys.

mod conversion;
mod document;
mod leaf;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests;
mod trail;

pub use conversion::conversion_error;
pub(crate) use document::read;

use crate::bytes::BytesError;
use crate::duration::DurationError;
use crate::json::{DEPTH_MAX, Findings};
use crate::quantity::QuantityError;
use crate::schema::{Alternative, Cursor, Field, List, Omit, Schema, StructId, Type};
use crate::time::TimeError;
use crate::value::{Map, Str, Value};
use leaf::{Fault, Mismatch};
use trail::Trail;

/// An object, and what was left out of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The object in normal form.
    pub object: Value,
    /// The paths of the fields that the schema does not know, such as `spec.foo`: in the order of
    /// keys, at most 100.
    pub unknown: Vec<String>,
}

/// Why a value is no object of a struct. In the words of Go.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A value is something else than its field wants.
    #[error("json: cannot unmarshal {found} into Go {} of type {wanted}", place(field))]
    Type {
        /// What it is, such as `string` or `number 1.5`.
        found: String,
        /// The struct and the way to the field, such as `DeploymentSpec.spec.replicas`; none for
        /// the object itself.
        field: Option<String>,
        /// The type in Go.
        wanted: String,
    },
    /// Bytes are not base64.
    #[error(transparent)]
    Bytes(#[from] BytesError),
    /// A moment is none.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// A span of time is none.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// A quantity is none.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// A value is neither a struct nor what it may be instead.
    #[error("boolean or JSON schema expected")]
    NeitherBoolNorStruct,
    /// It is nested deeper than any text may be.
    #[error("exceeded max depth")]
    Depth,
}

fn place(field: &Option<String>) -> String {
    field.as_ref().map_or_else(|| "value".to_owned(), |field| format!("struct field {field}"))
}

/// Brings a value into the normal form of a struct.
///
/// # Errors
///
/// When a value is not of the type that the schema wants. Go stops at values that have readers of
/// their own (times, quantities) and notes all others until the end; so the first of the former is
/// reported, else the first of the latter.
pub fn decode(schema: &Schema, id: StructId, value: Value) -> Result<Decoded, DecodeError> {
    let mut decoder = Decoder {
        schema,
        unknown: Findings::default(),
        is_silent: false,
        errors: Errors::default(),
    };
    let mut object = value;
    decoder.structure(id, &mut object, &Trail::ROOT);
    decoder.errors.result()?;
    Ok(Decoded { object, unknown: decoder.unknown.list })
}

/// The errors that count, of all that were met.
#[derive(Default)]
struct Errors {
    /// The first one after which Go goes on.
    noted: Option<DecodeError>,
    /// The one after which it does not.
    fatal: Option<DecodeError>,
}

impl Errors {
    fn is_fatal(&self) -> bool {
        self.fatal.is_some()
    }

    fn note(&mut self, error: DecodeError) {
        self.noted.get_or_insert(error);
    }

    fn stop(&mut self, error: DecodeError) {
        self.fatal.get_or_insert(error);
    }

    fn add(&mut self, schema: &Schema, fault: Fault, ty: &Type, trail: &Trail<'_>) {
        if self.noted.is_some() && !fault.is_fatal() {
            return;
        }
        match fault {
            Fault::Fatal(error) => self.stop(error),
            Fault::Malformed(error) => self.note(error),
            Fault::Mismatch(Mismatch { found, wanted, is_fatal }) => {
                let field = trail.struct_field(schema);
                let wanted = wanted.map_or_else(|| trail.type_name(schema, ty), str::to_owned);
                let error = DecodeError::Type { found, field, wanted };
                if is_fatal { self.stop(error) } else { self.note(error) }
            }
        }
    }

    /// What a decoder inside of another one found is final for the outer one.
    fn end_inner(&mut self, outer: Option<DecodeError>) {
        self.fatal = self.fatal.take().or(self.noted.take());
        self.noted = outer;
    }

    fn result(self) -> Result<(), DecodeError> {
        self.fatal.or(self.noted).map_or(Ok(()), Err)
    }
}

struct Decoder<'a> {
    schema: &'a Schema,
    unknown: Findings,
    /// Whether unknown fields are not worth telling.
    is_silent: bool,
    errors: Errors,
}

impl Decoder<'_> {
    /// Decodes a struct in place. Both the entries and the fields are sorted by name: they are
    /// merged.
    fn structure(&mut self, id: StructId, value: &mut Value, trail: &Trail<'_>) {
        let map = match value {
            Value::Map(map) => map,
            Value::Null => {
                *value = self.zero_struct(id, trail.depth);
                return;
            }
            _ => return self.mismatch(&Type::Struct(id), value, trail),
        };
        if trail.depth > DEPTH_MAX {
            return self.errors.stop(DecodeError::Depth);
        }
        let info = self.schema.get(id);
        let index = self.schema.indexes().get(id);
        let mut cursor = Cursor::new(&info.fields, index);
        let mut always = index.always.iter().peekable();
        let mut missing = Vec::new();
        map.retain(|key, value| match cursor.find(key) {
            Some(at) => {
                while let Some(&before) = always.next_if(|&&before| usize::from(before) <= at) {
                    missing.extend(Some(before).filter(|&before| usize::from(before) < at));
                }
                self.field(id, &info.fields[at], value, trail)
            }
            None if info.keeps_unknown => true,
            None => {
                self.unknown_field(key, trail);
                false
            }
        });
        for &at in missing.iter().chain(always) {
            let field = &info.fields[usize::from(at)];
            map.insert(field.name.clone(), self.zero(field, trail.depth));
        }
    }

    fn unknown_field(&mut self, name: &str, trail: &Trail<'_>) {
        if !self.is_silent && !self.unknown.is_full() {
            self.unknown.add(trail.strict_path(name));
        }
    }

    /// Decodes a field in place; whether it is there in the end.
    fn field(&mut self, id: StructId, field: &Field, value: &mut Value, trail: &Trail<'_>) -> bool {
        let trail = trail.field(id, field);
        if !(value.is_null() && field.is_pointer) {
            self.value(&field.ty, value, &trail);
        }
        if field.is_pointer {
            return !value.is_null() || field.omit == Omit::Never;
        }
        match field.omit {
            Omit::Never => true,
            Omit::Empty => field.ty.is_struct_in_go() || !value.is_empty(),
            Omit::Zero => !is_zero(self.schema, &field.ty, value),
        }
    }

    fn value(&mut self, ty: &Type, value: &mut Value, trail: &Trail<'_>) {
        if self.errors.is_fatal() {
            return;
        }
        if trail.depth > DEPTH_MAX {
            return self.errors.stop(DecodeError::Depth);
        }
        match (ty, &mut *value) {
            (Type::Struct(id), _) => self.structure(*id, value, trail),
            (Type::StructOr(id, alternative), _) => {
                self.struct_or(*id, *alternative, value, trail);
            }
            // Go reads the empty text, which is no duration.
            (Type::Duration, Value::Null) => self.leaf(ty, &mut Value::from(""), trail),
            (_, Value::Null) => *value = ty.zero(),
            (Type::List(list), Value::List(items)) => self.list(list, items, trail),
            (Type::Map(map), Value::Map(entries)) => {
                for (key, value) in entries.iter_mut() {
                    self.value(&map.value, value, &trail.key(key));
                }
            }
            (Type::List(_) | Type::Map(_), _) => self.mismatch(ty, value, trail),
            _ => self.leaf(ty, value, trail),
        }
    }

    fn list(&mut self, list: &List, items: &mut [Value], trail: &Trail<'_>) {
        for (index, item) in items.iter_mut().enumerate() {
            if !(list.is_item_pointer && item.is_null()) {
                self.value(&list.item, item, &trail.index(index));
            }
        }
    }

    fn leaf(&mut self, ty: &Type, value: &mut Value, trail: &Trail<'_>) {
        if let Err(fault) = leaf::convert(ty, value, None) {
            self.errors.add(self.schema, fault, ty, trail);
        }
    }

    /// Go reads these with a decoder of its own, which does not tell of unknown fields and whose
    /// errors are final.
    fn struct_or(
        &mut self,
        id: StructId,
        alternative: Alternative,
        value: &mut Value,
        trail: &Trail<'_>,
    ) {
        let (was_silent, noted) = (self.is_silent, self.errors.noted.take());
        self.is_silent = true;
        match (alternative, &mut *value) {
            (_, Value::Map(_)) => self.structure(id, value, trail),
            (Alternative::Bool, Value::Bool(_)) => {}
            (Alternative::Bool, _) => self.errors.stop(DecodeError::NeitherBoolNorStruct),
            (_, Value::List(items)) if !items.is_empty() => {
                let item = match alternative {
                    Alternative::Strings => Type::String,
                    Alternative::Bool | Alternative::List => Type::Struct(id),
                };
                for (index, value) in items.iter_mut().enumerate() {
                    self.value(&item, value, &trail.index(index));
                }
            }
            _ => *value = Value::Null,
        }
        self.is_silent = was_silent;
        self.errors.end_inner(noted);
    }

    fn mismatch(&mut self, ty: &Type, value: &Value, trail: &Trail<'_>) {
        self.errors.add(self.schema, Fault::of(leaf::kind(value)), ty, trail);
    }

    /// What stands in place of a field that is not set.
    fn zero(&self, field: &Field, depth: usize) -> Value {
        match field.ty {
            Type::Struct(id) if !field.is_pointer => self.zero_struct(id, depth + 1),
            _ => field.zero(),
        }
    }

    /// A struct of which nothing is set, with the fields that Go encodes even then.
    fn zero_struct(&self, id: StructId, depth: usize) -> Value {
        // No struct of Go holds itself; a schema could.
        if depth > DEPTH_MAX {
            return Value::Map(Map::new());
        }
        let fields = self.schema.get(id).fields.iter().filter(|field| field.is_always_encoded());
        let entries: Vec<(Str, Value)> =
            fields.map(|field| (field.name.clone(), self.zero(field, depth))).collect();
        Value::Map(Map::from_unsorted(entries))
    }
}

/// Whether nothing was set, as `omitzero` means it. A list without items was set.
fn is_zero(schema: &Schema, ty: &Type, value: &Value) -> bool {
    match (ty, value) {
        (_, Value::Null) => true,
        (Type::List(_) | Type::Map(_) | Type::Any | Type::Raw | Type::FieldSet, _) => false,
        (Type::Struct(id), Value::Map(map)) => {
            let mut fields = schema.get(*id).fields.iter();
            map.iter().all(|(key, value)| {
                let field = fields.find(|field| field.name == key);
                field.is_some_and(|field| {
                    value.is_null() || !field.is_pointer && is_zero(schema, &field.ty, value)
                })
            })
        }
        (ty, value) => *value == ty.zero(),
    }
}
