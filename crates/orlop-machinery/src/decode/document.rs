//! Decoding from text, in the order of the text: slower, and exactly as Go.
//!
//! A value has lost the order of its keys, those that stood twice, and how numbers were written.
//! Where that matters (something is wrong, or stands twice, or a quantity has an exponent) the text
//! is read again here. Of several entries for one field of a struct the later ones are read into
//! what the earlier ones left, as Go does: structs and maps are merged, lists item by item.
//!
//! What comes out is not in normal form yet; [`super::decode`] brings it there.

use std::borrow::Cow;
use std::collections::HashSet;

use super::leaf::{self, Fault};
use super::trail::Trail;
use super::{DecodeError, Errors};
use crate::json::{self, Failure, Findings, Scanner};
use crate::schema::{Alternative, Field, Identity, List, Schema, StructId, Type};
use crate::text::quote;
use crate::value::{Map, Str, Value};

/// What a text says.
pub(crate) struct Document {
    /// All that the schema knows, duplicates merged.
    pub(crate) value: Value,
    /// The strict errors in the order of the text: `unknown field "spec.foo"`.
    pub(crate) findings: Vec<String>,
}

/// Reads JSON text that has been parsed before: this relies on its nesting having a bound.
pub(crate) fn read(
    schema: &Schema,
    id: StructId,
    text: &[u8],
) -> Result<Result<Document, DecodeError>, Failure> {
    let mut reader = Reader {
        schema,
        scanner: Scanner::new(text),
        findings: Findings::default(),
        is_silent: false,
        errors: Errors::default(),
    };
    let mut value = Value::Null;
    reader.structure(id, &mut value, &Trail::ROOT)?;
    let findings = reader.findings.list;
    Ok(reader.errors.result().map(|()| Document { value, findings }))
}

/// A field while its struct is read.
#[derive(Default)]
struct Place {
    value: Value,
    /// Whether the text has it already.
    is_seen: bool,
}

struct Reader<'a> {
    schema: &'a Schema,
    scanner: Scanner<'a>,
    findings: Findings,
    /// Whether strict errors are not worth telling.
    is_silent: bool,
    errors: Errors,
}

impl Reader<'_> {
    fn structure(
        &mut self,
        id: StructId,
        into: &mut Value,
        trail: &Trail<'_>,
    ) -> Result<(), Failure> {
        match self.scanner.peek_word() {
            Some(b'{') => self.scanner.bump(),
            Some(b'n') => return self.scanner.skip_scalar(),
            _ => return self.mismatch(&Type::Struct(id), trail),
        }
        let info = self.schema.get(id);
        let mut places: Vec<Place> = info.fields.iter().map(|_| Place::default()).collect();
        let mut others = Vec::new();
        for (key, value) in std::mem::take(into.make_map()) {
            match info.field_position(&key) {
                Some(at) => places[at].value = value,
                None => others.push((key, value)),
            }
        }
        let mut goes_on = !self.scanner.take(b'}');
        while goes_on {
            let key = self.scanner.key()?;
            match info.field_position(&key) {
                Some(at) => {
                    if std::mem::replace(&mut places[at].is_seen, true) {
                        self.find("duplicate", &key, trail);
                    }
                    self.field(id, &info.fields[at], &mut places[at].value, trail)?;
                }
                None if info.keeps_unknown => {
                    let value = json::parse(self.scanner.skip_value()?)?;
                    others.push((Str::from(key), value));
                }
                None => {
                    self.find("unknown", &key, trail);
                    self.scanner.skip_value()?;
                }
            }
            goes_on = self.scanner.next_entry()?;
        }
        let fields = info.fields.iter().zip(places).filter(|(_, place)| !place.value.is_null());
        others.extend(fields.map(|(field, place)| (field.name.clone(), place.value)));
        *into = Value::Map(Map::from_unsorted(others));
        Ok(())
    }

    fn find(&mut self, what: &str, key: &str, trail: &Trail<'_>) {
        if !self.is_silent && !self.findings.is_full() {
            let path = quote(&trail.strict_path(key));
            self.findings.add(format!("{what} field {path}"));
        }
    }

    fn field(
        &mut self,
        id: StructId,
        field: &Field,
        into: &mut Value,
        trail: &Trail<'_>,
    ) -> Result<(), Failure> {
        let trail = trail.field(id, field);
        if field.is_pointer && self.scanner.peek_word() == Some(b'n') {
            *into = Value::Null;
            return self.scanner.skip_scalar();
        }
        self.value(&field.ty, into, &trail)
    }

    fn value(&mut self, ty: &Type, into: &mut Value, trail: &Trail<'_>) -> Result<(), Failure> {
        if self.errors.is_fatal() {
            return self.scanner.skip_value().map(drop);
        }
        match (ty, self.scanner.peek_word()) {
            (Type::Struct(id), _) => self.structure(*id, into, trail),
            (Type::StructOr(id, alternative), _) => self.struct_or(*id, *alternative, into, trail),
            (_, Some(b'n')) => self.null(ty, into, trail),
            (Type::List(list), Some(b'[')) => self.list(list, into, trail),
            (Type::Map(map), Some(b'{')) => self.map(&map.value, into, trail),
            (Type::List(_) | Type::Map(_), _) => self.mismatch(ty, trail),
            _ => self.leaf(ty, into, trail),
        }
    }

    /// Null: some types forget what was there before, others do not notice.
    fn null(&mut self, ty: &Type, into: &mut Value, trail: &Trail<'_>) -> Result<(), Failure> {
        match ty {
            Type::Bytes
            | Type::List(_)
            | Type::Map(_)
            | Type::Time
            | Type::MicroTime
            | Type::Quantity
            | Type::IntOrString => *into = Value::Null,
            // Go reads the empty text, which is no duration.
            Type::Duration => {
                let fault = leaf::convert(ty, &mut Value::from(""), None).err();
                fault.into_iter().for_each(|fault| self.fault(fault, ty, trail));
            }
            _ => {}
        }
        self.scanner.skip_scalar()
    }

    fn list(&mut self, list: &List, into: &mut Value, trail: &Trail<'_>) -> Result<(), Failure> {
        self.scanner.bump();
        let items = into.make_list();
        let mut count = 0;
        let mut goes_on = !self.scanner.take(b']');
        while goes_on {
            if count == items.len() {
                items.push(Value::Null);
            }
            if list.is_item_pointer && self.scanner.peek_word() == Some(b'n') {
                items[count] = Value::Null;
                self.scanner.skip_scalar()?;
            } else {
                self.value(&list.item, &mut items[count], &trail.index(count))?;
            }
            count += 1;
            goes_on = self.scanner.next_item()?;
        }
        items.truncate(count);
        Ok(())
    }

    fn map(&mut self, ty: &Type, into: &mut Value, trail: &Trail<'_>) -> Result<(), Failure> {
        self.scanner.bump();
        let mut entries: Vec<(Str, Value)> = std::mem::take(into.make_map()).into_iter().collect();
        let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
        let mut goes_on = !self.scanner.take(b'}');
        while goes_on {
            let key = self.scanner.key()?;
            if seen.contains(&key) {
                self.find("duplicate", &key, trail);
            }
            let mut value = Value::Null;
            self.value(ty, &mut value, &trail.key(&key))?;
            entries.push((Str::new(&key), value));
            seen.insert(key);
            goes_on = self.scanner.next_entry()?;
        }
        *into = Value::Map(Map::from_unsorted(entries));
        Ok(())
    }

    /// As the decoder does it with values.
    fn struct_or(
        &mut self,
        id: StructId,
        alternative: Alternative,
        into: &mut Value,
        trail: &Trail<'_>,
    ) -> Result<(), Failure> {
        let (was_silent, noted) = (self.is_silent, self.errors.noted.take());
        self.is_silent = true;
        *into = Value::Null;
        match (alternative, self.scanner.peek_word()) {
            (_, Some(b'{')) => self.structure(id, into, trail)?,
            (Alternative::Bool, Some(b't' | b'f')) => {
                *into = json::parse(self.scanner.skip_value()?)?;
            }
            (Alternative::Bool, _) => {
                self.errors.stop(DecodeError::NeitherBoolNorStruct);
                self.scanner.skip_value()?;
            }
            (_, Some(b'[')) => {
                let item = match alternative {
                    Alternative::Strings => Type::String,
                    Alternative::Bool | Alternative::List => Type::Struct(id),
                };
                let identity = Identity::Atomic { is_declared: false };
                let list = List { item, is_item_pointer: false, identity, is_wrapped: false };
                self.list(&list, into, trail)?;
            }
            _ => drop(self.scanner.skip_value()?),
        }
        self.is_silent = was_silent;
        self.errors.end_inner(noted);
        Ok(())
    }

    fn leaf(&mut self, ty: &Type, into: &mut Value, trail: &Trail<'_>) -> Result<(), Failure> {
        let number = match self.scanner.peek_word() {
            Some(b'-' | b'0'..=b'9') => Some(self.scanner.number()?),
            _ => None,
        };
        *into = match &number {
            // What no float can hold is a fault of the field, if it wants a number at all.
            Some(number) if !matches!(ty, Type::Any | Type::Raw | Type::FieldSet) => {
                json::to_value(number).unwrap_or(Value::Float(f64::INFINITY))
            }
            Some(number) => json::to_value(number)?,
            None => json::parse(self.scanner.skip_value()?)?,
        };
        let text = number.as_ref().map(|number| number.text);
        if let Err(fault) = leaf::convert(ty, into, text) {
            self.fault(fault, ty, trail);
        }
        Ok(())
    }

    fn mismatch(&mut self, ty: &Type, trail: &Trail<'_>) -> Result<(), Failure> {
        let found = match self.scanner.peek_word() {
            Some(b'"') => "string",
            Some(b'{') => "object",
            Some(b'[') => "array",
            Some(b't' | b'f') => "bool",
            _ => "number",
        };
        self.fault(Fault::of(found), ty, trail);
        self.scanner.skip_value().map(drop)
    }

    fn fault(&mut self, fault: Fault, ty: &Type, trail: &Trail<'_>) {
        self.errors.add(self.schema, fault, ty, trail);
    }
}
