//! Tables beside the structs, for walking an object and its schema side by side.
//!
//! A struct has many fields and an object few of them. What the walk looks at first lies close
//! together here, so that most fields are passed without looking at them.

use super::{Field, Schema, StructId};
use crate::json;
use crate::value::key_prefix;

/// The tables of all structs.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    list: Vec<Index>,
}

/// The tables of one struct.
#[derive(Debug)]
pub(crate) struct Index {
    /// The prefixes of the names of the fields, in their order.
    prefixes: Box<[u64]>,
    /// The positions of the fields that are encoded even when nothing is set.
    pub(crate) always: Box<[u16]>,
    /// The names of the fields as JSON has them before a value, one after the other: `"name":`.
    quoted: Box<[u8]>,
    /// Where each of them ends.
    ends: Box<[u32]>,
}

impl Index {
    fn new(fields: &[Field]) -> Index {
        let mut quoted = Vec::with_capacity(fields.len() * 16);
        let mut quote = |field: &Field| {
            json::write_string(&field.name, &mut quoted);
            quoted.push(b':');
            u32::try_from(quoted.len()).expect("names are short")
        };
        let ends = fields.iter().map(&mut quote).collect();
        let always = (0..).zip(fields).filter(|(_, field)| field.is_always_encoded());
        Index {
            prefixes: fields.iter().map(|field| key_prefix(&field.name)).collect(),
            always: always.map(|(at, _)| at).collect(),
            quoted: quoted.into(),
            ends,
        }
    }

    /// The name of a field as JSON has it before a value.
    #[inline]
    pub(crate) fn quoted(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.quoted[start as usize..self.ends[at] as usize]
    }
}

impl Indexes {
    pub(super) fn new(schema: &Schema) -> Indexes {
        Indexes { list: schema.iter().map(|(_, info)| Index::new(&info.fields)).collect() }
    }

    pub(crate) fn get(&self, id: StructId) -> &Index {
        &self.list[id.index()]
    }
}

/// Finds fields by keys that come in order.
pub(crate) struct Cursor<'a> {
    fields: &'a [Field],
    prefixes: &'a [u64],
    /// All fields before it have smaller names than the last key.
    next: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(fields: &'a [Field], index: &'a Index) -> Cursor<'a> {
        Cursor { fields, prefixes: &index.prefixes, next: 0 }
    }

    /// The position of the field of this name. Each key must be greater than the one before.
    #[inline]
    pub(crate) fn find(&mut self, key: &str) -> Option<usize> {
        let prefix = key_prefix(key);
        while *self.prefixes.get(self.next)? < prefix {
            self.next += 1;
        }
        while *self.prefixes.get(self.next)? == prefix {
            let at = self.next;
            match self.fields[at].name.as_str().cmp(key) {
                std::cmp::Ordering::Less => self.next += 1,
                std::cmp::Ordering::Equal => return Some(at),
                std::cmp::Ordering::Greater => return None,
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::schema::parse;

    #[test]
    fn fields_with_the_same_beginning_are_told_apart() {
        let text =
            "package p\nS\n a int32 -\n prefix int32 -\n prefix12 int32 -\n prefix123 int32 -\n\
            prefix1234 int32 -\n z int32 - omit\n"
                .replace("\nprefix", "\n prefix");
        let schema = parse(&[text.leak()]).unwrap();
        let id = schema.find("p.S").unwrap();
        let info = schema.get(id);
        let index = schema.indexes().get(id);
        let check = |keys: &[&str], expect: &[Option<usize>]| {
            let mut cursor = Cursor::new(&info.fields, index);
            let found: Vec<_> = keys.iter().map(|key| cursor.find(key)).collect();
            assert_eq!(found, expect, "{keys:?}");
        };
        check(
            &["a", "prefix", "prefix12", "prefix123", "z"],
            &[Some(0), Some(1), Some(2), Some(3), Some(5)],
        );
        check(
            &["", "b", "prefix1", "prefix122", "prefix1234", "zz"],
            &[None, None, None, None, Some(4), None],
        );
        check(&["prefix124", "z\u{e9}"], &[None, None]);
        assert_eq!(*index.always, [0, 1, 2, 3, 4]);
        assert_eq!(index.quoted(0), b"\"a\":");
        assert_eq!(index.quoted(5), b"\"z\":");
    }
}
