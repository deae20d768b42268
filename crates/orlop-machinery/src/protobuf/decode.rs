//! From a message to an object in normal form.

use super::message::{Content, Member, Messages, Unset};
use super::reader::{Reader, Tag, i32_of, malformed, read_text};
use super::{ProtobufError, wire};
use crate::bytes;
use crate::duration::Duration;
use crate::json;
use crate::quantity;
use crate::schema::{Alternative, Field, List, MapOf, Schema, Struct, StructId, Type};
use crate::time::{MicroTime, Time};
use crate::value::{Map, Str, Value};

/// How often messages that stand several times are merged in one object. Each time costs as much
/// as its struct has fields and maps have entries.
const MERGES_MAX: usize = 256;

/// Structs inside structs of which nothing is set are at most so many.
const ZERO_LEVELS: usize = 16;

/// Seconds since 1970.
const YEAR_0_START: i64 = -62_167_219_200;
const YEAR_10000_START: i64 = 253_402_300_800;

/// The object that a message stands for, in normal form.
///
/// `kind` and `apiVersion` do not travel in the message; they are not set here.
///
/// # Errors
///
/// When the bytes are not such a message.
pub fn decode(schema: &Schema, id: StructId, message: &[u8]) -> Result<Value, ProtobufError> {
    let mut decoder = Decoder {
        schema,
        messages: schema.messages(),
        slots: Vec::new(),
        slots_used: 0,
        entries: Vec::new(),
        finished: Vec::with_capacity(64),
        merges_left: MERGES_MAX,
        depth: 0,
    };
    decoder.message(id, message, Value::Null)
}

struct Decoder<'a> {
    schema: &'a Schema,
    messages: &'a Messages,
    /// The values of the fields of all structs that are being read, the innermost last. Null is
    /// what was not set; behind `slots_used` all are null.
    slots: Vec<Value>,
    slots_used: usize,
    /// The entries of their maps, with the slot that they belong to.
    entries: Vec<(usize, Str, Value)>,
    /// The fields of a struct that was read, on their way into a map of their own.
    finished: Vec<(Str, Value)>,
    merges_left: usize,
    /// How many values are around the one that is being read.
    depth: usize,
}

impl<'a> Decoder<'a> {
    /// Reads a struct. `known` is what stood in another message for the same field, if any.
    fn message(
        &mut self,
        id: StructId,
        message: &[u8],
        known: Value,
    ) -> Result<Value, ProtobufError> {
        let of = self.schema.get(id);
        let base = self.slots_used;
        let first_entry = self.entries.len();
        self.slots_used += of.fields.len();
        if self.slots_used > self.slots.len() {
            self.slots.resize_with(self.slots_used + 64, Value::default);
        }
        if let Value::Map(known) = known {
            self.merge(of, base, known)?;
        }
        // Structs that are no pointers are written even when nothing in them is set, so there are
        // more levels than in JSON. Those that have something in them are counted below.
        self.depth += 1;
        if self.depth > json::DEPTH_MAX + ZERO_LEVELS {
            return Err(ProtobufError::TooDeep);
        }
        self.members(&self.messages.get(id).members, Place { of, base }, message)?;
        self.depth -= 1;
        self.close_maps(first_entry);
        let object = self.finish(id, base);
        match self.depth >= json::DEPTH_MAX && object != self.messages.get(id).zero {
            true => Err(ProtobufError::TooDeep),
            false => Ok(object),
        }
    }

    /// Puts the fields of a struct that was read already back into the slots.
    fn merge(&mut self, of: &Struct, base: usize, known: Map) -> Result<(), ProtobufError> {
        self.merges_left = self.merges_left.checked_sub(1).ok_or(ProtobufError::TooManyMerges)?;
        for (key, value) in known {
            let Some(position) = of.field_position(&key) else { continue };
            match (value, &of.fields[position].ty) {
                (Value::Map(map), Type::Map(_)) => {
                    let entries = map.into_iter().map(|(key, value)| (base + position, key, value));
                    self.entries.extend(entries);
                }
                (value, _) => self.slots[base + position] = value,
            }
        }
        Ok(())
    }

    fn members(
        &mut self,
        members: &'a [Member],
        place: Place<'a>,
        message: &[u8],
    ) -> Result<(), ProtobufError> {
        let mut reader = Reader::new(message);
        // Fields come in the order of their numbers, mostly.
        let mut next = 0;
        while let Some(tag) = reader.tag(|| short_name(place.of))? {
            let Some(at) = find(members, tag.number, next) else {
                reader.skip(tag.wire)?;
                continue;
            };
            next = at;
            match &members[at].content {
                Content::Field(position) => {
                    let field = &place.of.fields[*position];
                    let slot = place.base + position;
                    if is_scalar(&field.ty) {
                        expect_wire(tag, wire_of(&field.ty), || go_name(field))?;
                        self.slots[slot] = read_scalar(&field.ty, &mut reader)?;
                    } else {
                        self.compound_field(field, tag, &mut reader, slot)?;
                    }
                }
                Content::Embedded(inner) => {
                    expect_wire(tag, wire::BYTES, || short_name(place.of))?;
                    self.members(inner, place, reader.bytes()?)?;
                }
            }
        }
        Ok(())
    }

    /// A field that holds more than one number or text.
    fn compound_field(
        &mut self,
        field: &'a Field,
        tag: Tag,
        reader: &mut Reader<'_>,
        slot: usize,
    ) -> Result<(), ProtobufError> {
        match &field.ty {
            Type::List(list) if !list.is_wrapped => {
                let mut items = self.slots[slot].take();
                self.deeper(|decoder| {
                    decoder.items(list, (field, tag), reader, items.make_list())
                })?;
                self.slots[slot] = items;
            }
            Type::Map(map) => {
                expect_wire(tag, wire::BYTES, || go_name(field))?;
                let (key, value) =
                    self.deeper(|decoder| decoder.entry(map, field, reader.bytes()?))?;
                self.entries.push((slot, key, value));
            }
            ty => {
                expect_wire(tag, wire::BYTES, || go_name(field))?;
                let known = self.slots[slot].take();
                self.slots[slot] = self.inner_message(ty, field, reader.bytes()?, known)?;
            }
        }
        Ok(())
    }

    /// One item of a list, or several numbers packed together.
    fn items(
        &mut self,
        list: &'a List,
        of: (&'a Field, Tag),
        reader: &mut Reader<'_>,
        items: &mut Vec<Value>,
    ) -> Result<(), ProtobufError> {
        let scalar_wire = wire_of(&list.item);
        if scalar_wire == wire::BYTES || of.1.wire != wire::BYTES {
            items.push(self.value(&list.item, of, reader, Value::Null)?);
            return Ok(());
        }
        let mut packed = Reader::new(reader.bytes()?);
        let tag = Tag { wire: scalar_wire, ..of.1 };
        while !packed.is_at_end() {
            items.push(self.value(&list.item, (of.0, tag), &mut packed, Value::Null)?);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        map: &'a MapOf,
        field: &'a Field,
        message: &[u8],
    ) -> Result<(Str, Value), ProtobufError> {
        let mut key = Str::default();
        let mut value = None;
        let mut reader = Reader::new(message);
        while let Some(tag) = reader.tag(|| go_name(field))? {
            match tag.number {
                1 => {
                    expect_wire(tag, wire::BYTES, || go_name(field))?;
                    key = read_text(reader.bytes()?);
                }
                2 => {
                    value = Some(self.value(&map.value, (field, tag), &mut reader, Value::Null)?);
                }
                _ => reader.skip(tag.wire)?,
            }
        }
        Ok((key, value.unwrap_or_else(|| self.zero_entry(&map.value))))
    }

    /// The value of a map's entry that has none.
    fn zero_entry(&self, ty: &Type) -> Value {
        match ty {
            // Go makes these, where it leaves others nil.
            Type::Bytes => Value::String(Str::default()),
            Type::List(_) => Value::List(Vec::new()),
            ty => self.messages.zero(ty),
        }
    }

    /// One value. `known` is what stood there before, if anything.
    fn value(
        &mut self,
        ty: &'a Type,
        (field, tag): (&'a Field, Tag),
        reader: &mut Reader<'_>,
        known: Value,
    ) -> Result<Value, ProtobufError> {
        expect_wire(tag, wire_of(ty), || go_name(field))?;
        if is_scalar(ty) {
            return read_scalar(ty, reader);
        }
        self.inner_message(ty, field, reader.bytes()?, known)
    }

    /// A value of a type that has a message.
    fn inner_message(
        &mut self,
        ty: &'a Type,
        field: &'a Field,
        message: &[u8],
        known: Value,
    ) -> Result<Value, ProtobufError> {
        match ty {
            Type::Struct(id) => self.message(*id, message, known),
            Type::StructOr(id, other) => self.struct_or(*id, *other, message, known),
            Type::List(list) => self.wrapped_list(list, field, message, known),
            Type::Time => read_time(message),
            Type::MicroTime => read_micro_time(message),
            Type::Duration => read_duration(message),
            Type::Quantity => read_quantity(message, known),
            Type::IntOrString => read_int_or_string(message, known),
            Type::Any | Type::Raw | Type::FieldSet => {
                let value = read_json(message, known)?;
                match fits(&value, json::DEPTH_MAX - self.depth) {
                    true => Ok(value),
                    false => Err(ProtobufError::TooDeep),
                }
            }
            // Scalars have no message, and protobuf has no map in a list or map.
            Type::Bool
            | Type::Int32
            | Type::Int64
            | Type::Float64
            | Type::String
            | Type::Bytes
            | Type::Map(_) => Ok(known),
        }
    }

    fn wrapped_list(
        &mut self,
        list: &'a List,
        field: &'a Field,
        message: &[u8],
        mut known: Value,
    ) -> Result<Value, ProtobufError> {
        let items = known.make_list();
        let mut reader = Reader::new(message);
        while let Some(tag) = reader.tag(|| go_name(field))? {
            match tag.number {
                1 => {
                    self.deeper(|decoder| decoder.items(list, (field, tag), &mut reader, items))?;
                }
                _ => reader.skip(tag.wire)?,
            }
        }
        Ok(known)
    }

    fn struct_or(
        &mut self,
        id: StructId,
        other: Alternative,
        message: &[u8],
        known: Value,
    ) -> Result<Value, ProtobufError> {
        let name = || short_name(self.schema.get(id));
        let (struct_number, other_number) = match other {
            Alternative::Bool => (2, 1),
            Alternative::List | Alternative::Strings => (1, 2),
        };
        let mut allows = known == Value::Bool(true);
        let (mut object, mut items) = match known {
            Value::Map(_) => (known, Vec::new()),
            Value::List(items) => (Value::Null, items),
            _ => (Value::Null, Vec::new()),
        };
        let mut reader = Reader::new(message);
        while let Some(tag) = reader.tag(name)? {
            if tag.number == struct_number {
                expect_wire(tag, wire::BYTES, || "Schema".into())?;
                object = self.message(id, reader.bytes()?, object.take())?;
            } else if tag.number != other_number {
                reader.skip(tag.wire)?;
            } else if other == Alternative::Bool {
                expect_wire(tag, wire::VARINT, || "Allows".into())?;
                allows = reader.varint()? != 0;
            } else {
                expect_wire(tag, wire::BYTES, || "JSONSchemas".into())?;
                let bytes = reader.bytes()?;
                items.push(match other {
                    Alternative::Strings => Value::String(read_text(bytes)),
                    _ => self.deeper(|decoder| decoder.message(id, bytes, Value::Null))?,
                });
            }
        }
        Ok(match other {
            Alternative::Bool if object.is_null() => Value::Bool(allows),
            Alternative::List | Alternative::Strings if !items.is_empty() => Value::List(items),
            _ => object,
        })
    }

    /// The struct whose fields are in the slots from `base` on.
    fn finish(&mut self, id: StructId, base: usize) -> Value {
        let fields = &self.schema.get(id).fields;
        let rules = &self.messages.get(id).rules;
        let first = self.finished.len();
        for ((slot, field), rule) in
            self.slots[base..self.slots_used].iter_mut().zip(fields).zip(rules)
        {
            if slot.is_null() {
                // Most fields are not set, and most of those are left out.
                if rule.unset != Unset::Nothing {
                    let value = self.messages.unset(field, *rule);
                    self.finished.extend(value.map(|value| (field.name.clone(), value)));
                }
            } else if self.messages.is_omitted(field, *rule, slot) {
                *slot = Value::Null;
            } else {
                self.finished.push((field.name.clone(), slot.take()));
            }
        }
        self.slots_used = base;
        Value::Map(Map::from_sorted(self.finished.split_off(first)))
    }

    /// Sorts the entries that came since `first` into the maps of their slots.
    fn close_maps(&mut self, first: usize) {
        if self.entries.len() == first {
            return;
        }
        let mut entries = self.entries.split_off(first);
        entries.sort_by_key(|(slot, ..)| *slot);
        let mut entries = entries.into_iter().peekable();
        while let Some(&(slot, ..)) = entries.peek() {
            let of_slot = std::iter::from_fn(|| entries.next_if(|(other, ..)| *other == slot));
            let map = of_slot.map(|(_, key, value)| (key, value)).collect();
            self.slots[slot] = Value::Map(map);
        }
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ProtobufError>,
    ) -> Result<T, ProtobufError> {
        self.depth += 1;
        if self.depth > json::DEPTH_MAX {
            return Err(ProtobufError::TooDeep);
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

/// A struct that is being read, and its first slot.
#[derive(Clone, Copy)]
struct Place<'a> {
    of: &'a Struct,
    base: usize,
}

/// Where the member with this number is. Most often it is `hint` or the one after it.
fn find(members: &[Member], number: u32, hint: usize) -> Option<usize> {
    for at in [hint, hint + 1] {
        if members.get(at).is_some_and(|member| member.number == number) {
            return Some(at);
        }
    }
    members.binary_search_by_key(&number, |member| member.number).ok()
}

fn wire_of(ty: &Type) -> u8 {
    match ty {
        Type::Bool | Type::Int32 | Type::Int64 => wire::VARINT,
        Type::Float64 => wire::FIXED64,
        _ => wire::BYTES,
    }
}

fn expect_wire(tag: Tag, expect: u8, name: impl Fn() -> String) -> Result<(), ProtobufError> {
    if tag.wire == expect {
        return Ok(());
    }
    let message = format!("proto: wrong wireType = {} for field {}", tag.wire, name());
    Err(malformed(message))
}

/// The name of a struct in Go.
fn short_name(of: &Struct) -> String {
    of.name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// The name of a field in Go, nearly.
fn go_name(field: &Field) -> String {
    let mut chars = field.name.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// Whether a type has no message.
fn is_scalar(ty: &Type) -> bool {
    matches!(
        ty,
        Type::String | Type::Bool | Type::Int32 | Type::Int64 | Type::Float64 | Type::Bytes
    )
}

/// A value of a type that has no message.
#[inline]
fn read_scalar(ty: &Type, reader: &mut Reader<'_>) -> Result<Value, ProtobufError> {
    Ok(match ty {
        Type::String => Value::String(read_text(reader.bytes()?)),
        Type::Bool => Value::Bool(reader.varint()? != 0),
        Type::Int32 => Value::Int(i32_of(reader.varint()?).into()),
        Type::Int64 => Value::Int(reader.varint()?.cast_signed()),
        Type::Float64 => Value::Float(read_float(reader)?),
        Type::Bytes => Value::from(bytes::encode(reader.bytes()?)),
        _ => Value::Null,
    })
}

/// A number, if JSON has it.
fn read_float(reader: &mut Reader<'_>) -> Result<f64, ProtobufError> {
    let number = f64::from_bits(reader.fixed64()?);
    let name = match number {
        number if number.is_finite() => return Ok(number),
        number if number.is_nan() => "NaN",
        number if number > 0.0 => "+Inf",
        _ => "-Inf",
    };
    Err(malformed(format!("json: unsupported value: {name}")))
}

fn read_time(message: &[u8]) -> Result<Value, ProtobufError> {
    if message.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, _) = read_timestamp(message)?;
    let time = Time::from_unix(seconds);
    Ok(if time.is_zero() { Value::Null } else { display(time) })
}

fn read_micro_time(message: &[u8]) -> Result<Value, ProtobufError> {
    if message.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, nanos) = read_timestamp(message)?;
    let time = MicroTime::from_unix(seconds, nanos);
    Ok(if time.is_zero() { Value::Null } else { display(time) })
}

fn read_timestamp(message: &[u8]) -> Result<(i64, i32), ProtobufError> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "Timestamp".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::VARINT, || "Seconds".into())?;
                seconds = reader.varint()?.cast_signed();
            }
            2 => {
                expect_wire(tag, wire::VARINT, || "Nanos".into())?;
                nanos = i32_of(reader.varint()?);
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    // Text of other years cannot be read back. Upstream only notices when a client tries.
    if !(YEAR_0_START..YEAR_10000_START).contains(&seconds) {
        return Err(malformed("Time.MarshalJSON: year outside of range [0,9999]"));
    }
    Ok((seconds, nanos))
}

fn read_duration(message: &[u8]) -> Result<Value, ProtobufError> {
    let mut nanos = 0;
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "Duration".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::VARINT, || "Duration".into())?;
                nanos = reader.varint()?.cast_signed();
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(display(Duration::from_nanos(nanos)))
}

fn read_quantity(message: &[u8], known: Value) -> Result<Value, ProtobufError> {
    let mut quantity = known;
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "Quantity".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::BYTES, || "String_".into())?;
                let text = read_text(reader.bytes()?);
                quantity = Value::String(quantity::canonicalize(&text)?);
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(if quantity.is_null() { Type::Quantity.zero() } else { quantity })
}

fn read_int_or_string(message: &[u8], known: Value) -> Result<Value, ProtobufError> {
    let (mut ty, mut number, mut text) = match known {
        Value::String(text) => (1, 0, text),
        known => (0, known.int(), Str::default()),
    };
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "IntOrString".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::VARINT, || "Type".into())?;
                ty = reader.varint()?;
            }
            2 => {
                expect_wire(tag, wire::VARINT, || "IntVal".into())?;
                number = i32_of(reader.varint()?).into();
            }
            3 => {
                expect_wire(tag, wire::BYTES, || "StrVal".into())?;
                text = read_text(reader.bytes()?);
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    match ty {
        0 => Ok(Value::Int(number)),
        1 => Ok(Value::String(text)),
        _ => Err(malformed("impossible IntOrString.Type")),
    }
}

fn read_json(message: &[u8], known: Value) -> Result<Value, ProtobufError> {
    let mut value = known;
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag(|| "RawExtension".into())? {
        match tag.number {
            1 => {
                expect_wire(tag, wire::BYTES, || "Raw".into())?;
                value = match reader.bytes()? {
                    // What was never set.
                    [] => Value::Null,
                    text => json::parse(text)?,
                };
            }
            _ => reader.skip(tag.wire)?,
        }
    }
    Ok(value)
}

/// Whether a value has at most so many levels.
fn fits(value: &Value, levels: usize) -> bool {
    let inner = levels.checked_sub(1);
    match value {
        Value::List(items) => {
            inner.is_some_and(|levels| items.iter().all(|item| fits(item, levels)))
        }
        Value::Map(map) => {
            inner.is_some_and(|levels| map.values().all(|value| fits(value, levels)))
        }
        _ => true,
    }
}

fn display(value: impl std::fmt::Display) -> Value {
    Value::String(compact_str::format_compact!("{value}"))
}
