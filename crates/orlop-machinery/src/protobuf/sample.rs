//! Random objects in normal form, for tests of laws.

use super::message::Rule;
use super::reader;
use crate::bytes;
use crate::duration::Duration;
use crate::json;
use crate::schema::{Alternative, Schema, StructId, Type};
use crate::time::{MicroTime, Time};
use crate::value::{Str, Value};

/// Structs deeper than this have no field set.
const DEPTH_MAX: usize = 5;

const TEXTS: [&str; 4] = ["", "a", "b\u{e9}", "longer than what fits without an allocation"];
const QUANTITIES: [&str; 4] = ["0", "1", "1500m", "2Gi"];
const JSON: [&str; 3] = [r#"{"a":[1,2.5,null],"b":{}}"#, "1", r#""x""#];

pub(super) struct Sampler<'a> {
    schema: &'a Schema,
    state: u64,
    depth: usize,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(schema: &'a Schema, seed: u64) -> Sampler<'a> {
        Sampler { schema, state: seed | 1, depth: 0 }
    }

    pub(super) fn object(&mut self, id: StructId) -> Value {
        self.depth += 1;
        let mut entries = Vec::new();
        for field in &self.schema.get(id).fields {
            let value = match field.tag {
                Some(_) if self.depth <= DEPTH_MAX && self.number().is_multiple_of(3) => {
                    self.value(&field.ty)
                }
                _ => Value::Null,
            };
            let (messages, rule) = (self.schema.messages(), Rule::of(field));
            let value = match value {
                Value::Null => messages.unset(field, rule),
                value if messages.is_omitted(field, rule, &value) => None,
                value => Some(value),
            };
            entries.extend(value.map(|value| (field.name.clone(), value)));
        }
        self.depth -= 1;
        Value::Map(entries.into_iter().collect())
    }

    fn value(&mut self, ty: &Type) -> Value {
        let number = self.number();
        let seconds = (number >> 40).cast_signed();
        match ty {
            Type::Bool => Value::Bool(number.is_multiple_of(2)),
            Type::Int32 => Value::from(reader::i32_of(number)),
            Type::Int64 => Value::Int(number.cast_signed()),
            Type::Float64 => Value::Float(f64::from(reader::i32_of(number)) / 4.0),
            Type::String => Value::from(self.pick(&TEXTS)),
            Type::Bytes => Value::from(bytes::encode(self.pick(&TEXTS).as_bytes())),
            Type::Time => Value::from(Time::from_unix(seconds).to_string()),
            Type::MicroTime => Value::from(MicroTime::from_unix(seconds, 5000).to_string()),
            Type::Duration => Value::from(Duration::from_nanos(number.cast_signed()).to_string()),
            Type::Quantity => Value::from(self.pick(&QUANTITIES)),
            Type::IntOrString if number.is_multiple_of(2) => Value::from(self.pick(&TEXTS)),
            Type::IntOrString => Value::from(reader::i32_of(number)),
            Type::Any | Type::Raw | Type::FieldSet => {
                json::parse(self.pick(&JSON).as_bytes()).expect("it is JSON")
            }
            Type::List(list) => {
                let count = self.number() % 4;
                let items: Vec<Value> = (0..count).map(|_| self.value(&list.item)).collect();
                // Only in a message of its own an empty list is more than none.
                if items.is_empty() && !list.is_wrapped { Value::Null } else { Value::List(items) }
            }
            Type::Map(map) => {
                let count = self.number() % 4;
                let entries = (0..count).map(|_| {
                    let key = Str::from(self.pick(&TEXTS));
                    (key, self.value(&map.value))
                });
                Value::Map(entries.collect())
            }
            Type::Struct(id) => self.object(*id),
            Type::StructOr(id, _) if number.is_multiple_of(2) => self.object(*id),
            Type::StructOr(_, Alternative::Bool) => Value::Bool(number.is_multiple_of(3)),
            Type::StructOr(id, Alternative::List) => Value::List(vec![self.object(*id)]),
            Type::StructOr(_, Alternative::Strings) => Value::from(vec![self.pick(&TEXTS)]),
        }
    }

    fn pick(&mut self, texts: &[&'static str]) -> &'static str {
        let at = self.number() % texts.len() as u64;
        texts[usize::try_from(at).expect("below the length")]
    }

    /// The next number (xorshift).
    fn number(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}
