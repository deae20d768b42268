//! From an object to JSON text in the order of Go: the fields of structs as they are declared, the
//! keys of maps sorted.
//!
//! The object is in normal form: everything that is in it is written, and nothing else. Fields that
//! the schema does not know come last in their struct.

use crate::json;
use crate::schema::{Cursor, Schema, StructId, Type};
use crate::value::{Map, Str, Value};

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
    let index = schema.indexes().get(id);
    let rest = match_fields(Cursor::new(&info.fields, index), entries, places);
    let mut writer = Writer { schema, out, is_first: true };
    writer.out.push(b'{');
    for &at in &info.order {
        let at = usize::from(at);
        if let Some((_, value)) = entries.get(usize::from(places[at])) {
            writer.comma();
            writer.out.extend_from_slice(index.quoted(at));
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
fn match_fields(mut cursor: Cursor<'_>, entries: &[(Str, Value)], places: &mut [u16]) -> usize {
    let mut rest = 0;
    for ((key, _), place) in entries.iter().zip(0..) {
        match cursor.find(key) {
            Some(at) => places[at] = place,
            None => rest += 1,
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
    /// Comes before each entry but the first.
    fn comma(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(b',');
        }
    }

    fn key(&mut self, key: &str) {
        self.comma();
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::decode::sample::{schema, thing};

    #[track_caller]
    fn check(object: &str, expect: &str) {
        let object = json::parse(object.as_bytes()).unwrap();
        let text = String::from_utf8(to_vec(schema(), thing(), &object)).unwrap();
        assert_eq!(text, expect);
    }

    #[test]
    fn fields_stand_in_the_order_of_declaration_and_keys_sorted() {
        check(
            r#"{"spec":{"items":[{"value":"1","name":"b"}],"size":1},"apiVersion":"v1",
                "kind":"Thing","metadata":{"labels":{"b":"2","a":"1"},"name":"x"}}"#,
            concat!(
                r#"{"kind":"Thing","apiVersion":"v1","#,
                r#""metadata":{"name":"x","labels":{"a":"1","b":"2"}},"#,
                r#""spec":{"size":1,"items":[{"name":"b","value":"1"}]}}"#,
            ),
        );
        check(
            r#"{"spec":{"needs":{"a":["x"],"b":{"paused":true,"size":1}},
                "choices":[{"wait":"1s","size":2}],"choice":false}}"#,
            concat!(
                r#"{"spec":{"choice":false,"choices":[{"size":2,"wait":"1s"}],"#,
                r#""needs":{"a":["x"],"b":{"size":1,"paused":true}}}}"#,
            ),
        );
    }

    #[test]
    fn everything_that_is_there_is_written() {
        check(
            r#"{"zz":1,"spec":null,"a<":{"b":1,"a":2},"kind":""}"#,
            r#"{"kind":"","spec":null,"a\u003c":{"a":2,"b":1},"zz":1}"#,
        );
        check("{}", "{}");
        check("[1]", "[1]");
    }

    #[test]
    fn structs_may_have_very_many_fields() {
        let fields: String = (0..200).rev().map(|at| format!(" f{at} int32 1\n")).collect();
        let schema = crate::schema::parse(&[format!("package p\nS\n{fields}").leak()]).unwrap();
        let object = json::parse(br#"{"f0":0,"f199":1,"f20":2,"g":3}"#).unwrap();
        let text = to_vec(&schema, schema.find("p.S").unwrap(), &object);
        assert_eq!(text, br#"{"f199":1,"f20":2,"f0":0,"g":3}"#);
    }
}
