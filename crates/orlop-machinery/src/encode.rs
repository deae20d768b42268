//! From an object to JSON text in the order of Go: the fields of structs as they are declared, the
//! keys of maps sorted.
//!
//! The object is in normal form: everything that is in it is written, and nothing else. Fields that
//! the schema does not know come last in their struct.

use std::cmp::Ordering;

use crate::json;
use crate::schema::{Field, Schema, StructId, Type};
use crate::value::{Map, Str, Value, compare_keys};

/// Structs with more fields than this need an allocation.
const FIELDS_MAX: usize = 64;

/// The place of a field that is not there.
const NONE: u16 = u16::MAX;

/// The object as JSON text.
#[must_use]
pub fn to_vec(schema: &Schema, id: StructId, object: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    write(schema, id, object, &mut out);
    out
}

/// Appends the object as JSON text.
pub fn write(schema: &Schema, id: StructId, object: &Value, out: &mut Vec<u8>) {
    match object {
        Value::Map(map) => write_struct(schema, id, map, out),
        other => json::write(other, out),
    }
}

/// Both the fields and the entries are sorted by name: a merge finds which entry is which field.
fn write_struct(schema: &Schema, id: StructId, map: &Map, out: &mut Vec<u8>) {
    let info = schema.get(id);
    let entries = map.entries();
    let (mut few, mut many) = ([NONE; FIELDS_MAX], Vec::new());
    let places: &mut [u16] = match few.get_mut(..info.fields.len()) {
        Some(few) => few,
        None => {
            many.resize(info.fields.len(), NONE);
            &mut many
        }
    };
    let rest = match_fields(&info.fields, entries, places);
    let mut writer = Writer { schema, out, is_first: true };
    writer.out.push(b'{');
    for &at in &info.order {
        let at = usize::from(at);
        if let Some((key, value)) = entries.get(usize::from(places[at])) {
            writer.key(key);
            writer.value(&info.fields[at].ty, value);
        }
    }
    if rest > 0 {
        for (key, value) in map.iter().filter(|(key, _)| info.field_position(key).is_none()) {
            writer.key(key);
            json::write(value, writer.out);
        }
    }
    writer.out.push(b'}');
}

/// Notes which entry each field is; returns how many entries are no fields.
fn match_fields(fields: &[Field], entries: &[(Str, Value)], places: &mut [u16]) -> usize {
    let mut next = 0;
    let mut rest = 0;
    for ((key, _), place) in entries.iter().zip(0..) {
        let order = loop {
            match fields.get(next).map(|field| compare_keys(&field.name, key)) {
                Some(Ordering::Less) => next += 1,
                order => break order,
            }
        };
        if order == Some(Ordering::Equal) {
            places[next] = place;
            next += 1;
        } else {
            rest += 1;
        }
    }
    rest
}

struct Writer<'a> {
    schema: &'a Schema,
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl Writer<'_> {
    fn key(&mut self, key: &str) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(b',');
        }
        json::write_string(key, self.out);
        self.out.push(b':');
    }

    fn value(&mut self, ty: &Type, value: &Value) {
        match (ty, value) {
            (Type::Struct(id) | Type::StructOr(id, _), Value::Map(map)) => {
                write_struct(self.schema, *id, map, self.out);
            }
            (Type::StructOr(id, _), Value::List(items)) => {
                self.list(items, |writer, item| write(writer.schema, *id, item, writer.out));
            }
            (Type::List(list), Value::List(items)) if has_structs(&list.item) => {
                self.list(items, |writer, item| writer.value(&list.item, item));
            }
            (Type::Map(ty), Value::Map(map)) if has_structs(&ty.value) => {
                let mut inner = Writer { schema: self.schema, out: self.out, is_first: true };
                inner.out.push(b'{');
                for (key, value) in map.iter() {
                    inner.key(key);
                    inner.value(&ty.value, value);
                }
                inner.out.push(b'}');
            }
            _ => json::write(value, self.out),
        }
    }

    fn list(&mut self, items: &[Value], mut write: impl FnMut(&mut Self, &Value)) {
        self.out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            write(self, item);
        }
        self.out.push(b']');
    }
}

/// Whether there may be structs inside.
fn has_structs(ty: &Type) -> bool {
    matches!(ty, Type::Struct(_) | Type::StructOr(..) | Type::List(_) | Type::Map(_))
}
