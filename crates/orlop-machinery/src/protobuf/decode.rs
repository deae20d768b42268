//! From a message to an object in normal form.

use super::leaf::{self, expect_wire, is_scalar, read_scalar, wire_of};
use super::message::{Content, Member, Messages, Unset};
use super::reader::{Reader, Tag, read_text};
use super::{ProtobufError, wire};
use crate::json;
use crate::schema::{Alternative, Field, List, MapOf, Schema, Struct, StructId, Type};
use crate::value::{Map, Str, Value};

/// How often messages that stand several times are merged in one object. Each time costs as much
/// as its struct has fields and maps have entries.
const MERGES_MAX: usize = 256;

/// Structs inside structs of which nothing is set are at most so many.
const ZERO_LEVELS: usize = 16;

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
            ty => {
                let levels_left = json::DEPTH_MAX.saturating_sub(self.depth);
                leaf::read_message(ty, message, known, levels_left)
            }
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

/// The name of a struct in Go.
fn short_name(of: &Struct) -> String {
    of.name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// The name of a field in Go, nearly.
fn go_name(field: &Field) -> String {
    let mut chars = field.name.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}
