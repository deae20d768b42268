//! A half-open range of keys.

use std::cmp::Ordering;
use std::fmt;

use bytes::Bytes;

/// The keys from `start` up to, not including, `end`; without an `end`, all keys from `start`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyRange {
    start: Bytes,
    end: Option<Bytes>,
}

impl KeyRange {
    /// Every key.
    #[must_use]
    pub fn all() -> Self {
        Self { start: Bytes::new(), end: None }
    }

    /// The keys from `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: impl Into<Bytes>, end: impl Into<Bytes>) -> Self {
        Self { start: start.into(), end: Some(end.into()) }
    }

    /// The keys that begin with `prefix`.
    ///
    /// ```
    /// # use orlop_storage::KeyRange;
    /// let pods = KeyRange::prefix("/registry/pods/");
    /// assert!(pods.contains(b"/registry/pods/default/web"));
    /// assert!(!pods.contains(b"/registry/podtemplates/default/web"));
    /// ```
    #[must_use]
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start = prefix.into();
        let end = successor_of_prefix(&start);
        Self { start, end }
    }

    /// The one key `key`.
    #[must_use]
    pub fn key(key: impl Into<Bytes>) -> Self {
        let start = key.into();
        let end = Bytes::from([&start, &b"\0"[..]].concat());
        Self { start, end: Some(end) }
    }

    /// The part of this range that follows `key`: where the next page of a list starts.
    #[must_use]
    pub fn after(&self, key: &[u8]) -> Self {
        let next = Bytes::from([key, b"\0"].concat());
        Self { start: next.max(self.start.clone()), end: self.end.clone() }
    }

    /// The first key that may be in the range.
    #[must_use]
    pub fn start(&self) -> &Bytes {
        &self.start
    }

    /// The first key behind the range; none if the range is open.
    #[must_use]
    pub fn end(&self) -> Option<&Bytes> {
        self.end.as_ref()
    }

    /// Whether `key` is in the range.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.side(key) == Ordering::Equal
    }

    /// Whether no key can be in the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// The prefix that all keys of this range share and that no other key has, if there is one.
    pub(crate) fn as_prefix(&self) -> Option<&Bytes> {
        (self.end == successor_of_prefix(&self.start)).then_some(&self.start)
    }

    /// Where `key` lies: before the range, in it (equal), or behind it.
    fn side(&self, key: &[u8]) -> Ordering {
        if key < self.start.as_ref() {
            Ordering::Less
        } else if self.end.as_ref().is_some_and(|end| key >= end.as_ref()) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }
}

impl fmt::Debug for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, ", self.start.escape_ascii())?;
        match &self.end {
            Some(end) => write!(f, "{})", end.escape_ascii()),
            None => write!(f, "..)"),
        }
    }
}

/// The first key that is greater than every key with this prefix; none if there is no such key.
fn successor_of_prefix(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|&byte| byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(Bytes::from(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: &KeyRange, inside: &[&[u8]], outside: &[&[u8]]) {
        for key in inside {
            assert!(range.contains(key), "{range:?} must contain {}", key.escape_ascii());
        }
        for key in outside {
            assert!(!range.contains(key), "{range:?} must not contain {}", key.escape_ascii());
        }
    }

    #[test]
    fn a_prefix_ends_before_its_neighbour() {
        check(&KeyRange::prefix("/a/"), &[b"/a/", b"/a/b", b"/a/\xff"], &[b"/a", b"/a0", b"/b/"]);
    }

    #[test]
    fn a_prefix_of_the_highest_bytes_is_open() {
        check(&KeyRange::prefix(&b"\xff\xff"[..]), &[b"\xff\xff", b"\xff\xff\xff"], &[b"\xff"]);
        check(&KeyRange::prefix(&b"a\xff"[..]), &[b"a\xff", b"a\xff\x00"], &[b"a", b"b"]);
        check(&KeyRange::all(), &[b"", b"\xff"], &[]);
    }

    #[test]
    fn a_single_key_is_alone() {
        check(&KeyRange::key("/a"), &[b"/a"], &[b"/a\0", b"/", b"/b"]);
    }

    #[test]
    fn the_next_page_starts_behind_the_last_key() {
        let page = KeyRange::prefix("/a/").after(b"/a/m");
        check(&page, &[b"/a/m\0", b"/a/n"], &[b"/a/m", b"/a/a", b"/b"]);
    }

    #[test]
    fn prefixes_know_that_they_are() {
        assert!(KeyRange::all().as_prefix().is_some());
        assert!(KeyRange::prefix("/a/").as_prefix().is_some());
        assert!(KeyRange::prefix("/a/").after(b"/a/m").as_prefix().is_none());
        assert!(KeyRange::new("b", "a").is_empty());
    }
}
