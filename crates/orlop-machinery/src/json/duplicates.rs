//! Which keys of JSON text stand more than once in their object.
//!
//! A second look at the text, for the rare case that there are any: a value cannot tell, because
//! it has each key once. Paths as `kubernetes_patch.go` of `vendor/sigs.k8s.io/json` makes them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;

use super::scan::{Failure, Scanner};

/// The paths of all keys that stand twice, each once, in the order of the text.
///
/// The text has been read before: this relies on its nesting having a bound.
pub(super) fn find(text: &[u8]) -> Result<Vec<String>, Failure> {
    let mut finder =
        Finder { scanner: Scanner::new(text), path: String::new(), found: Findings::default() };
    finder.value()?;
    Ok(finder.found.list)
}

/// What strict decoding found, in the order in which it was found: each once, and no more than
/// upstream keeps.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<String>,
    seen: HashSet<String>,
}

impl Findings {
    const MAX: usize = 100;

    pub(crate) fn is_full(&self) -> bool {
        self.list.len() == Self::MAX
    }

    pub(crate) fn add(&mut self, finding: String) {
        if !self.is_full() && self.seen.insert(finding.clone()) {
            self.list.push(finding);
        }
    }
}

/// Appends a key to a path. A path under construction starts with a dot, so that an empty key
/// leaves its trace.
pub(crate) fn push_key(path: &mut String, key: &str) {
    path.push('.');
    path.push_str(key);
}

/// A path that [`push_key`] and [`push_index`] made, as it is shown.
pub(crate) fn shown_path(path: &str) -> &str {
    path.strip_prefix('.').unwrap_or(path)
}

/// Appends an index to a path.
pub(crate) fn push_index(path: &mut String, index: usize) {
    write!(path, "[{index}]").expect("a string grows");
}

struct Finder<'a> {
    scanner: Scanner<'a>,
    path: String,
    found: Findings,
}

impl Finder<'_> {
    fn value(&mut self) -> Result<(), Failure> {
        match self.scanner.peek_word() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            _ => self.scanner.skip_scalar(),
        }
    }

    fn object(&mut self) -> Result<(), Failure> {
        self.scanner.bump();
        if self.scanner.take(b'}') {
            return Ok(());
        }
        let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
        let length = self.path.len();
        loop {
            let key = self.scanner.key()?;
            push_key(&mut self.path, &key);
            if !seen.insert(key) && !self.found.is_full() {
                self.found.add(shown_path(&self.path).to_owned());
            }
            self.value()?;
            self.path.truncate(length);
            if !self.scanner.next_entry()? {
                return Ok(());
            }
        }
    }

    fn array(&mut self) -> Result<(), Failure> {
        self.scanner.bump();
        if self.scanner.take(b']') {
            return Ok(());
        }
        let length = self.path.len();
        for index in 0.. {
            push_index(&mut self.path, index);
            self.value()?;
            self.path.truncate(length);
            if !self.scanner.next_item()? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::json::parse_with_duplicates;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let (_, paths) = parse_with_duplicates(text.as_bytes()).unwrap();
        assert_eq!(paths, expect, "{text}");
    }

    #[test]
    fn keys_that_stand_twice_are_named_in_the_order_of_the_text() {
        check(r#"{"b":1,"a":1}"#, &[]);
        check(r#"{"b":1,"a":1,"b":2,"a":3,"b":4}"#, &["b", "a"]);
        check(r#"{"a":{"x":1,"x":2},"a":{"x":1,"x":2}}"#, &["a.x", "a"]);
        check(r#"{"a":[0,{"x":1,"y":[[{"z":0,"z":0}]],"x":2}]}"#, &["a[1].y[0][0].z", "a[1].x"]);
        check(r#"[{"x":1,"\u0078":2}]"#, &["[0].x"]);
        check(r#"{"a.b":{"":1,"":2}}"#, &["a.b."]);
        check(r#"{"":{"x":1,"x":2},"":1}"#, &[".x", ""]);
    }

    #[test]
    fn no_more_than_a_hundred_are_named() {
        let entries: Vec<String> = (0..300).map(|at| format!("\"{}\":1", at / 2)).collect();
        let (_, paths) =
            parse_with_duplicates(format!("{{{}}}", entries.join(",")).as_bytes()).unwrap();
        assert_eq!(paths.len(), 100);
        assert_eq!(paths[99], "99");
    }
}
