//! Finding places in the JSON text of an object without reading it.
//!
//! The text is what the store holds: JSON that was written by an encoder, or what somebody put
//! there. Whatever it is, nothing here panics; what is no JSON has no places. A stored object has
//! no resource version; one that has it before the place where it belongs is noticed.

use std::ops::Range;

/// What stands before the resource version in a struct of Go.
const DECLARED_BEFORE: [&[u8]; 5] = [b"name", b"generateName", b"namespace", b"selfLink", b"uid"];
const RESOURCE_VERSION: &[u8] = b"resourceVersion";

/// Where in the metadata the resource version goes: behind an entry, or at the very start.
///
/// Objects whose text starts with their kind are written in the order of Go's structs, others in
/// the order of names.
pub(super) fn resource_version_place(text: &[u8]) -> Option<usize> {
    let mut cursor = Cursor { text, at: 0 };
    let mut is_sorted = None;
    cursor.enter(b'{')?;
    while let Some(key) = cursor.key()? {
        let is_sorted = *is_sorted.get_or_insert(key != b"kind");
        if key == b"metadata" {
            return cursor.place_in_metadata(is_sorted);
        }
        cursor.skip_value()?;
    }
    None
}

/// Where the metadata is, with its braces.
pub(super) fn metadata(text: &[u8]) -> Option<Range<usize>> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.find(b"metadata")?;
    cursor.skip_space();
    let start = cursor.at;
    cursor.skip_value()?;
    (text[start] == b'{').then_some(start..cursor.at)
}

/// The text of the labels.
pub(super) fn labels(text: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.find(b"metadata")?;
    cursor.find(b"labels")?;
    let start = cursor.at;
    cursor.skip_value()?;
    Some(&text[start..cursor.at])
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Goes over a byte that must come next.
    fn enter(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Goes to the value of a key of the object that starts here.
    fn find(&mut self, wanted: &[u8]) -> Option<()> {
        self.enter(b'{')?;
        while let Some(key) = self.key()? {
            if key == wanted {
                return Some(());
            }
            self.skip_value()?;
        }
        None
    }

    /// The next key of an object, as it is written, and the colon behind it; none inside at its
    /// end.
    fn key(&mut self) -> Option<Option<&'a [u8]>> {
        self.skip_space();
        match self.peek()? {
            b'}' => {
                self.at += 1;
                return Some(None);
            }
            b',' => {
                self.at += 1;
                self.skip_space();
            }
            _ => {}
        }
        let key = self.string()?;
        self.enter(b':')?;
        Some(Some(key))
    }

    /// A string without its quotes, as it is written.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.enter(b'"')?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(&self.text[start..self.at - 1]);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        self.skip_space();
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                _ => self.skip_word(),
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Goes over a number or a literal.
    fn skip_word(&mut self) {
        while let Some(byte) = self.peek()
            && !matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
        {
            self.at += 1;
        }
    }

    fn place_in_metadata(&mut self, is_sorted: bool) -> Option<usize> {
        self.enter(b'{')?;
        let mut place = self.at;
        while let Some(key) = self.key()? {
            if key == RESOURCE_VERSION || key.contains(&b'\\') {
                return None;
            }
            let comes_before = match is_sorted {
                true => key < RESOURCE_VERSION,
                false => DECLARED_BEFORE.contains(&key),
            };
            if !comes_before {
                break;
            }
            self.skip_value()?;
            place = self.at;
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, range: Option<&str>) {
        let seen = metadata(text.as_bytes()).map(|range| &text[range]);
        assert_eq!(seen, range, "{text}");
    }

    #[test]
    fn the_metadata_is_found_among_everything_else() {
        check(r#"{"a":[1,{"metadata":{}}],"b":"\"}{","metadata":{"x":"}"}}"#, Some(r#"{"x":"}"}"#));
        check(r#" { "metadata" : { "a" : [ ] } , "b" : 1 }"#, Some(r#"{ "a" : [ ] }"#));
        check(r#"{"n":-1.5e9,"t":true,"metadata":{}}"#, Some("{}"));
        check(r#"{"metadata":null}"#, None);
        check(r#"{"metadata":{"#, None);
        check(r#"{"metadata""#, None);
        check("nothing", None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[{}\[\]",:\\ a-z0-9]{0,60}"#) {
            for text in [text.clone(), format!("{{\"metadata\":{{{text}")] {
                let _ = resource_version_place(text.as_bytes());
                let _ = metadata(text.as_bytes());
                let _ = labels(text.as_bytes());
            }
        }
    }
}
