//! One version of one key.
//!
//! Key, value and revisions share one allocation, and a [`Record`] is one word that points to it.
//! State, history, every reader and every watcher hold the same bytes; nothing copies them.

use std::fmt;

use bytes::Bytes;
use triomphe::ThinArc;

use crate::{LeaseId, Revision};

/// One version of one key, immutable and cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Record(ThinArc<Head, u8>);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    created: Revision,
    modified: Revision,
    lease: Option<LeaseId>,
    /// The slice behind the head is the key, this long, then the value, and then zeros up to a
    /// multiple of [`PADDING`].
    key_length: u32,
    value_length: u32,
}

/// Allocators are quick with sizes that are multiples of the alignment.
const PADDING: usize = 8;

impl Record {
    /// A record of `key` with `value`, created and last changed at the given revisions.
    ///
    /// # Panics
    /// If `created` is later than `modified`, or key or value are longer than 4 GiB.
    #[must_use]
    pub fn new(
        key: &[u8],
        value: &[u8],
        created: Revision,
        modified: Revision,
        lease: Option<LeaseId>,
    ) -> Self {
        assert!(created <= modified, "a record is created before it is modified");
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("a transaction is bounded");
        let (key_length, value_length) = (length(key), length(value));
        let mut bytes = Vec::with_capacity(key.len() + value.len() + PADDING);
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(PADDING), 0);
        let head = Head { created, modified, lease, key_length, value_length };
        Self(ThinArc::from_header_and_slice(head, &bytes))
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.0.slice[..self.head().key_length as usize]
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        let Head { key_length, value_length, .. } = *self.head();
        &self.0.slice[key_length as usize..][..value_length as usize]
    }

    /// The value as shared bytes: no copy, the record lives as long as they do.
    #[must_use]
    pub fn value_bytes(&self) -> Bytes {
        struct Value(Record);
        impl AsRef<[u8]> for Value {
            fn as_ref(&self) -> &[u8] {
                self.0.value()
            }
        }
        Bytes::from_owner(Value(self.clone()))
    }

    /// The revision at which the key came into being.
    #[must_use]
    pub fn created(&self) -> Revision {
        self.head().created
    }

    /// The revision that wrote this version.
    #[must_use]
    pub fn modified(&self) -> Revision {
        self.head().modified
    }

    /// The lease this version was written under.
    #[must_use]
    pub fn lease(&self) -> Option<LeaseId> {
        self.head().lease
    }

    fn head(&self) -> &Head {
        &self.0.header.header
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("key", &self.key().escape_ascii().to_string())
            .field("created", &self.created().0)
            .field("modified", &self.modified().0)
            .field("value_length", &self.value().len())
            .finish_non_exhaustive()
    }
}
