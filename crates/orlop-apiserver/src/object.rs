//! An object as it is kept: the bytes of the store, as a version shows them, and what is known of
//! them without reading all.
//!
//! Most answers need the bytes alone: they go out as they are, with the resource version put in.
//! Labels and fields that selectors ask for are read when somebody asks, once. The bytes are those
//! of the store's [`Record`] and are shared with it. There may be a million of these; each is four
//! words and what is read of it.

mod scan;

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value, json};
use orlop_storage::{Record, Revision};

use crate::definition::Definition;

/// See the module's documentation.
pub(crate) struct Object {
    record: Record,
    /// Where in the bytes the resource version goes; [`NO_PLACE`] when it cannot be put in.
    place: u32,
    head: OnceLock<Box<Head>>,
}

/// What selectors ask for.
struct Head {
    /// Sorted by key.
    labels: Box<[(Str, Str)]>,
    /// The selectable fields of the kind as it is stored, in the order in which it lists them.
    fields: OnceLock<Box<[Str]>>,
}

/// Stands for bytes that have no metadata or already have a resource version.
const NO_PLACE: u32 = u32::MAX;

impl Object {
    /// The object that a record holds.
    pub(crate) fn new(record: Record) -> Object {
        let place = scan::resource_version_place(trimmed(&record));
        let place = place.and_then(|place| u32::try_from(place).ok()).unwrap_or(NO_PLACE);
        Object { record, place, head: OnceLock::new() }
    }

    /// The object that was written to a key just now.
    pub(crate) fn written(key: &[u8], stored: &[u8], revision: Revision) -> Object {
        Object::new(Record::new(key, stored, revision, revision, None))
    }

    /// The key in the store.
    pub(crate) fn key(&self) -> &[u8] {
        self.record.key()
    }

    /// The revision that wrote this version.
    pub(crate) fn revision(&self) -> u64 {
        self.record.modified().0
    }

    /// The bytes, as they are stored.
    pub(crate) fn stored(&self) -> &[u8] {
        trimmed(&self.record)
    }

    /// The object in the version of a definition, with a resource version, which is not its own
    /// when somebody is told of its end.
    pub(crate) fn value(&self, definition: &Definition, revision: u64) -> Result<Value, Status> {
        definition.read(self.stored(), revision)
    }

    /// The bytes in two parts with the resource version between them; none if it cannot be put in,
    /// or there is none because nothing was written.
    /// `skip` bytes at the start are left out.
    pub(crate) fn spliced(&self, revision: u64, skip: usize) -> Option<Spliced<'_>> {
        self.splice(skip..self.stored().len(), revision)
    }

    /// The same for the metadata alone.
    pub(crate) fn spliced_metadata(&self, revision: u64) -> Option<Spliced<'_>> {
        self.splice(scan::metadata(self.stored())?, revision)
    }

    fn splice(&self, part: Range<usize>, revision: u64) -> Option<Spliced<'_>> {
        let (stored, place) = (self.stored(), self.place as usize);
        if revision == 0 || self.place == NO_PLACE || !part.contains(&place) {
            return None;
        }
        let (before, after) = (&stored[part.start..place], &stored[place..part.end]);
        let is_first = before.last() == Some(&b'{');
        let is_last = after.trim_ascii_start().first() == Some(&b'}');
        let comma = match (is_first, is_last) {
            (false, _) => Comma::Before,
            (true, false) => Comma::After,
            (true, true) => Comma::None,
        };
        Some(Spliced { before, after, comma, revision })
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        let labels = &self.head().labels;
        let place = labels.binary_search_by(|(known, _)| known.as_str().cmp(key)).ok()?;
        Some(&labels[place].1)
    }

    /// The selectable fields of the object, in the order in which its kind lists them.
    pub(crate) fn fields(&self, definition: &Definition) -> &[Str] {
        self.head().fields.get_or_init(|| {
            let value = self.value(definition, self.revision()).unwrap_or_default();
            definition.kind.select(&value)
        })
    }

    fn head(&self) -> &Head {
        self.head.get_or_init(|| {
            let labels = scan::labels(self.stored()).and_then(|text| json::parse(text).ok());
            let labels = labels.unwrap_or_default();
            let text = |(key, value): (&str, &Value)| (Str::new(key), Str::new(value.str()));
            let labels = labels.map().iter().map(text).collect();
            Box::new(Head { labels, fields: OnceLock::new() })
        })
    }
}

/// The bytes of an object with its resource version.
#[derive(Clone, Copy)]
pub(crate) struct Spliced<'a> {
    before: &'a [u8],
    after: &'a [u8],
    comma: Comma,
    revision: u64,
}

/// Where a comma stands beside the resource version.
#[derive(Clone, Copy)]
enum Comma {
    Before,
    After,
    None,
}

impl Spliced<'_> {
    /// Appends it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.before);
        if self.revision == 0 {
            // It was never stored.
            out.extend_from_slice(self.after);
            return;
        }
        if matches!(self.comma, Comma::Before) {
            out.push(b',');
        }
        out.extend_from_slice(br#""resourceVersion":""#);
        write_number(self.revision, out);
        out.push(b'"');
        if matches!(self.comma, Comma::After) {
            out.push(b',');
        }
        out.extend_from_slice(self.after);
    }
}

/// Appends a number.
pub(crate) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + u8::try_from(number % 10).expect("a digit is small");
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// The value without the line end that other writers put behind it.
fn trimmed(record: &Record) -> &[u8] {
    record.value().trim_ascii()
}

impl fmt::Debug for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.key().escape_ascii(), self.revision())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(stored: &str) -> Object {
        Object::written(b"/registry/pods/a/b", stored.as_bytes(), Revision(7))
    }

    fn spliced(part: Option<Spliced<'_>>) -> String {
        let mut out = Vec::new();
        match part {
            Some(part) => part.write(&mut out),
            None => return "none".into(),
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_version_is_put_where_go_writes_it() {
        let check = |stored: &str, expect: &str| {
            assert_eq!(spliced(object(stored).spliced(7, 0)), expect, "{stored}");
        };
        check(
            r#"{"kind":"A","metadata":{"name":"a","uid":"u","labels":{}},"spec":{}}"#,
            concat!(
                r#"{"kind":"A","metadata":{"name":"a","uid":"u","resourceVersion":"7","#,
                r#""labels":{}},"spec":{}}"#
            ),
        );
        check(
            r#"{"kind":"A","metadata":{"ownerReferences":[{"uid":"x"}]}}"#,
            concat!(
                r#"{"kind":"A","metadata":{"resourceVersion":"7","#,
                r#""ownerReferences":[{"uid":"x"}]}}"#
            ),
        );
        check(
            r#"{"kind":"A","metadata":{}}"#,
            r#"{"kind":"A","metadata":{"resourceVersion":"7"}}"#,
        );
        check(
            r#"{"apiVersion":"x","metadata":{"labels":{"uid":"}"},"uid":"u"}}"#,
            concat!(
                r#"{"apiVersion":"x","metadata":{"labels":{"uid":"}"},"#,
                r#""resourceVersion":"7","uid":"u"}}"#
            ),
        );
        check("{\"metadata\":{ } }\n", r#"{"metadata":{"resourceVersion":"7" } }"#);
        for none in ["", "{}", "[]", "7", r#"{"metadata":7}"#, r#"{"metadata":{"name":"a""#] {
            check(none, "none");
        }
        check(r#"{"kind":"A","metadata":{"name":"a","resourceVersion":"1"}}"#, "none");
    }

    #[test]
    fn parts_of_an_object_have_its_version_too() {
        let stored = r#"{"kind":"A","metadata":{"uid":"u"},"spec":{}}"#;
        let object = object(stored);
        assert_eq!(
            spliced(object.spliced(9, 12)),
            r#""metadata":{"uid":"u","resourceVersion":"9"},"spec":{}}"#
        );
        assert_eq!(spliced(object.spliced_metadata(10)), r#"{"uid":"u","resourceVersion":"10"}"#);
    }

    #[test]
    fn labels_are_found_wherever_they_stand() {
        let check = |stored: &str, expect: Option<&str>| {
            assert_eq!(object(stored).label("app"), expect, "{stored}");
        };
        check(r#"{"metadata":{"labels":{"app":"x","b":"c"}}}"#, Some("x"));
        check(
            r#"{"spec":{"labels":{"app":"n"}},"metadata":{"labels":{"app":"y\n"}}}"#,
            Some("y\n"),
        );
        check(r#"{"metadata":{"annotations":{"labels":"n"}}}"#, None);
        check(r#"{"metadata":{"labels":null}}"#, None);
        check("", None);
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for number in [0, 1, 9, 10, 12_345, u64::MAX] {
            let mut out = Vec::new();
            write_number(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }

    #[test]
    fn an_object_is_small() {
        assert!(size_of::<Object>() <= 32);
    }
}
