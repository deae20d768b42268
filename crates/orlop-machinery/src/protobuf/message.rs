//! The messages of a schema: which field of a struct stands where.
//!
//! Made once for a schema, when the first message is written or read, and kept with it.

use crate::schema::{Field, Omit, Schema, StructId, Type};
use crate::value::{Map, Value};

/// The messages of all structs of a schema.
#[derive(Debug)]
pub(crate) struct Messages {
    by_struct: Vec<Message>,
}

/// The message of a struct.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// In the order of their numbers.
    pub(super) members: Vec<Member>,
    /// How each field comes into normal form, by its position.
    pub(super) rules: Vec<Rule>,
    /// What the struct is when nothing was set, in normal form.
    pub(super) zero: Value,
}

/// How a field comes into normal form. Small, because every field of every struct that is read is
/// looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// What stands there when it was not set.
    pub(super) unset: Unset,
    /// When it is left out although it was set.
    omitted: Omitted,
}

/// What stands in normal form for a field that was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unset {
    Nothing,
    Null,
    Zero,
}

#[derive(Clone, Copy, Debug)]
enum Omitted {
    Never,
    WhenEmpty,
    WhenZero,
}

/// What stands at a number of a message.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) number: u32,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A field, by its position in the struct.
    Field(usize),
    /// A message of its own with more fields of the same struct.
    Embedded(Vec<Member>),
}

impl Messages {
    pub(crate) fn new(schema: &Schema) -> Messages {
        let by_struct = schema.iter().map(|(_, of)| Message {
            members: members(&of.fields),
            rules: of.fields.iter().map(Rule::of).collect(),
            zero: Value::Null,
        });
        let mut messages = Messages { by_struct: by_struct.collect() };
        for (id, _) in schema.iter() {
            messages.fill_zero(schema, id);
        }
        messages
    }

    pub(super) fn get(&self, id: StructId) -> &Message {
        &self.by_struct[id.index()]
    }

    /// Makes the zero of a struct, after those of the structs inside it.
    fn fill_zero(&mut self, schema: &Schema, id: StructId) {
        if !self.get(id).zero.is_null() {
            return;
        }
        // No struct of Go holds itself but by a pointer. One that does is empty inside.
        self.by_struct[id.index()].zero = Value::Map(Map::new());
        let fields = &schema.get(id).fields;
        for field in fields {
            if let (Type::Struct(inner), false) = (&field.ty, field.is_pointer) {
                self.fill_zero(schema, *inner);
            }
        }
        let entries = fields.iter().filter_map(|field| {
            let value = self.unset(field, Rule::of(field))?;
            Some((field.name.clone(), value))
        });
        let zero = Map::from_unsorted(entries.collect());
        self.by_struct[id.index()].zero = Value::Map(zero);
    }

    /// Whether a field that was set is left out of normal form.
    #[inline]
    pub(super) fn is_omitted(&self, field: &Field, rule: Rule, value: &Value) -> bool {
        match rule.omitted {
            Omitted::Never => false,
            Omitted::WhenEmpty => value.is_empty(),
            Omitted::WhenZero => *value == self.zero(&field.ty),
        }
    }

    /// What stands in normal form for a field that was not set, if anything.
    pub(super) fn unset(&self, field: &Field, rule: Rule) -> Option<Value> {
        match rule.unset {
            Unset::Nothing => None,
            Unset::Null => Some(Value::Null),
            Unset::Zero => Some(self.zero(&field.ty)),
        }
    }

    /// The zero value of a type, in normal form.
    pub(super) fn zero(&self, ty: &Type) -> Value {
        match ty {
            Type::Struct(id) => self.get(*id).zero.clone(),
            ty => ty.zero(),
        }
    }
}

impl Rule {
    pub(super) fn of(field: &Field) -> Rule {
        let unset = match field.is_always_encoded() {
            false => Unset::Nothing,
            true if field.is_pointer => Unset::Null,
            true => Unset::Zero,
        };
        let omitted = match field.omit {
            Omit::Empty if !field.is_pointer && !field.ty.is_struct_in_go() => Omitted::WhenEmpty,
            Omit::Zero if !field.is_pointer => Omitted::WhenZero,
            _ => Omitted::Never,
        };
        Rule { unset, omitted }
    }
}

/// The members of a struct's message.
fn members(fields: &[Field]) -> Vec<Member> {
    let mut members = Vec::new();
    for (position, field) in fields.iter().enumerate() {
        let Some(tag) = field.tag else { continue };
        let messages = [tag.outside, tag.inside].into_iter().flatten();
        let message = messages.fold(&mut members, |members, number| embedded(members, number));
        message.push(Member { number: tag.number.into(), content: Content::Field(position) });
    }
    sort(&mut members);
    members
}

/// The members of the embedded message at a number.
fn embedded(members: &mut Vec<Member>, number: u16) -> &mut Vec<Member> {
    let number = u32::from(number);
    let found = members.iter().position(|member| {
        member.number == number && matches!(member.content, Content::Embedded(_))
    });
    let at = found.unwrap_or_else(|| {
        members.push(Member { number, content: Content::Embedded(Vec::new()) });
        members.len() - 1
    });
    match &mut members[at].content {
        Content::Embedded(members) => members,
        Content::Field(_) => unreachable!("an embedded message was found or made above"),
    }
}

fn sort(members: &mut [Member]) {
    members.sort_by_key(|member| member.number);
    for member in members {
        if let Content::Embedded(members) = &mut member.content {
            sort(members);
        }
    }
}
