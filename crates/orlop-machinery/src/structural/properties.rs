//! The fields of an object, by name.

use std::ops::Index;

use super::Structural;
use crate::value::Str;

/// Schemas by the name of the field, sorted by name. Takes no more memory than it has entries:
/// there are many schemas, and most have few fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties {
    /// Sorted by name; no name stands twice.
    entries: Box<[(Str, Structural)]>,
}

impl Properties {
    /// The schema of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Structural> {
        let at = self.entries.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(&self.entries[at].1)
    }

    /// All of them, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Structural)> {
        self.entries.iter().map(|(name, schema)| (name, schema))
    }

    /// All of them, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Str, &mut Structural)> {
        self.entries.iter_mut().map(|(name, schema)| (&*name, schema))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All of them as they lie, sorted by name.
    pub(super) fn entries(&self) -> &[(Str, Structural)] {
        &self.entries
    }
}

impl FromIterator<(Str, Structural)> for Properties {
    /// From sorted entries, each name once, or from any: of several with one name, the last stays.
    fn from_iter<I: IntoIterator<Item = (Str, Structural)>>(entries: I) -> Properties {
        let sorted: std::collections::BTreeMap<Str, Structural> = entries.into_iter().collect();
        Properties { entries: sorted.into_iter().collect() }
    }
}

impl Index<&str> for Properties {
    type Output = Structural;

    /// The schema of a field that is there.
    fn index(&self, name: &str) -> &Structural {
        self.get(name).expect("the field is listed")
    }
}

impl<'a> IntoIterator for &'a Properties {
    type Item = (&'a Str, &'a Structural);
    type IntoIter = std::iter::Map<
        std::slice::Iter<'a, (Str, Structural)>,
        fn(&'a (Str, Structural)) -> (&'a Str, &'a Structural),
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(name, schema)| (name, schema))
    }
}
