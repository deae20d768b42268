//! From an object to a message.

use super::envelope;
use super::message::{Content, Member, Messages};
use super::writer::Writer;
use crate::bytes;
use crate::duration::Duration;
use crate::json;
use crate::schema::{Alternative, Field, List, MapOf, Schema, StructId, Type};
use crate::time::{MicroTime, Time};
use crate::value::{Map, NULL, Value};

/// Where the buffer of a message starts. Most objects need no more.
const CAPACITY: usize = 2048;

/// The message of an object that is in normal form.
///
/// What is not in normal form is not refused: a value of another type than the schema says is
/// written as if it were not set.
#[must_use]
pub fn encode(schema: &Schema, id: StructId, object: &Value) -> Vec<u8> {
    let mut encoder = Encoder::new(schema);
    encoder.message(id, object);
    encoder.writer.into_vec()
}

/// The message of an object in its [envelope](super::seal), which names its kind: what requests,
/// answers and the store hold.
#[must_use]
pub fn encode_sealed(schema: &Schema, id: StructId, object: &Value) -> Vec<u8> {
    let mut encoder = Encoder::new(schema);
    let (api_version, kind) = (object.at("apiVersion").str(), object.at("kind").str());
    let len = envelope::write_end(&mut encoder.writer);
    encoder.message(id, object);
    envelope::write_start(&mut encoder.writer, len, api_version, kind);
    encoder.writer.into_vec()
}

struct Encoder<'a> {
    schema: &'a Schema,
    messages: &'a Messages,
    writer: Writer,
    /// The values of the fields of all structs that are being written, the innermost last.
    slots: Vec<&'a Value>,
    /// JSON inside messages is written here first.
    json: Vec<u8>,
}

impl<'a> Encoder<'a> {
    fn new(schema: &'a Schema) -> Encoder<'a> {
        Encoder {
            schema,
            messages: schema.messages(),
            writer: Writer::with_capacity(CAPACITY),
            slots: Vec::with_capacity(128),
            json: Vec::new(),
        }
    }

    fn message(&mut self, id: StructId, value: &'a Value) {
        let fields = &self.schema.get(id).fields;
        let base = self.slots.len();
        self.slots.resize(base + fields.len(), &NULL);
        fill(&mut self.slots[base..], fields, value.map());
        self.members(&self.messages.get(id).members, fields, base);
        self.slots.truncate(base);
    }

    fn members(&mut self, members: &'a [Member], fields: &'a [Field], base: usize) {
        for member in members.iter().rev() {
            match &member.content {
                Content::Field(position) => {
                    self.field(&fields[*position], member.number, self.slots[base + position]);
                }
                Content::Embedded(inner) => {
                    let len = self.writer.len();
                    self.members(inner, fields, base);
                    self.writer.close_field(member.number, len);
                }
            }
        }
    }

    fn field(&mut self, field: &'a Field, number: u32, value: &'a Value) {
        if field.is_pointer && value.is_null() {
            return;
        }
        match &field.ty {
            Type::List(list) if !list.is_wrapped => self.items(list, number, value.list()),
            Type::Map(map) => self.entries(map, number, value.map()),
            // In Go these are nil, and nil is not written.
            Type::List(_) | Type::Bytes if value.is_null() => {}
            ty => self.value(ty, number, value),
        }
    }

    fn items(&mut self, list: &'a List, number: u32, items: &'a [Value]) {
        for item in items.iter().rev() {
            self.value(&list.item, number, item);
        }
    }

    fn entries(&mut self, map: &'a MapOf, number: u32, entries: &'a Map) {
        for (key, value) in entries.iter().rev() {
            let len = self.writer.len();
            if !(map.value == Type::Bytes && value.is_null()) {
                self.value(&map.value, 2, value);
            }
            self.writer.bytes_field(1, key.as_bytes());
            self.writer.close_field(number, len);
        }
    }

    /// One value with its tag. What is not set is written as zero.
    fn value(&mut self, ty: &'a Type, number: u32, value: &'a Value) {
        match ty {
            Type::Bool => self.writer.varint_field(number, value.bool().into()),
            Type::Int32 | Type::Int64 => {
                self.writer.varint_field(number, value.int().cast_unsigned());
            }
            Type::Float64 => {
                let bits = value.as_float().unwrap_or_default().to_bits();
                self.writer.fixed64_field(number, bits);
            }
            Type::String => self.writer.bytes_field(number, value.str().as_bytes()),
            Type::Bytes => {
                let bytes = bytes::decode(value.str()).unwrap_or_default();
                self.writer.bytes_field(number, &bytes);
            }
            ty => {
                let len = self.writer.len();
                self.inner_message(ty, value);
                self.writer.close_field(number, len);
            }
        }
    }

    /// What stands in the message of a value of a type that has one.
    fn inner_message(&mut self, ty: &'a Type, value: &'a Value) {
        match ty {
            Type::Struct(id) => self.message(*id, value),
            Type::StructOr(id, other) => self.struct_or(*id, *other, value),
            Type::List(list) => self.items(list, 1, value.list()),
            Type::Time => {
                if let Some(time) = parse::<Time>(value).filter(|time| !time.is_zero()) {
                    self.timestamp(time.unix_seconds(), 0);
                }
            }
            Type::MicroTime => {
                if let Some(time) = parse::<MicroTime>(value).filter(|time| !time.is_zero()) {
                    let (seconds, nanos) = time.unix();
                    self.timestamp(seconds, nanos);
                }
            }
            Type::Duration => {
                let nanos = parse::<Duration>(value).unwrap_or_default().as_nanos();
                self.writer.varint_field(1, nanos.cast_unsigned());
            }
            Type::Quantity => {
                self.writer.bytes_field(1, value.as_str().unwrap_or("0").as_bytes());
            }
            Type::IntOrString => self.int_or_string(value),
            Type::Any | Type::Raw | Type::FieldSet if value.is_null() => {}
            Type::Any | Type::Raw | Type::FieldSet => {
                self.json.clear();
                json::write(value, &mut self.json);
                self.writer.bytes_field(1, &self.json);
            }
            // Scalars have no message, and protobuf has no map in a list or map.
            Type::Bool
            | Type::Int32
            | Type::Int64
            | Type::Float64
            | Type::String
            | Type::Bytes
            | Type::Map(_) => {}
        }
    }

    fn timestamp(&mut self, seconds: i64, nanos: i32) {
        self.writer.varint_field(2, i64::from(nanos).cast_unsigned());
        self.writer.varint_field(1, seconds.cast_unsigned());
    }

    fn int_or_string(&mut self, value: &Value) {
        let is_string = matches!(value, Value::String(_));
        self.writer.bytes_field(3, value.str().as_bytes());
        self.writer.varint_field(2, value.int().cast_unsigned());
        self.writer.varint_field(1, is_string.into());
    }

    fn struct_or(&mut self, id: StructId, other: Alternative, value: &'a Value) {
        let (struct_number, list_number) = match other {
            Alternative::Bool => (2, 0),
            Alternative::List | Alternative::Strings => (1, 2),
        };
        for item in value.list().iter().rev() {
            match other {
                Alternative::Bool => {}
                Alternative::List => self.message_field(list_number, id, item),
                Alternative::Strings => {
                    self.writer.bytes_field(list_number, item.str().as_bytes());
                }
            }
        }
        if matches!(value, Value::Map(_)) {
            self.message_field(struct_number, id, value);
        }
        if other == Alternative::Bool {
            let allows = matches!(value, Value::Map(_) | Value::Bool(true));
            self.writer.varint_field(1, allows.into());
        }
    }

    fn message_field(&mut self, number: u32, id: StructId, value: &'a Value) {
        let len = self.writer.len();
        self.message(id, value);
        self.writer.close_field(number, len);
    }
}

/// Puts the value of each field into its slot. Both sides are sorted by name.
fn fill<'a>(slots: &mut [&'a Value], fields: &[Field], map: &'a Map) {
    let mut at = 0;
    for (key, value) in map.iter() {
        at += fields[at..].iter().take_while(|field| field.name.as_str() < key).count();
        if fields.get(at).is_some_and(|field| field.name == key) {
            slots[at] = value;
            at += 1;
        }
    }
}

fn parse<T: std::str::FromStr>(value: &Value) -> Option<T> {
    value.as_str()?.parse().ok()
}
