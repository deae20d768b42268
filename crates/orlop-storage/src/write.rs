//! Optimistic, atomic writes.

use bytes::Bytes;

use crate::{Error, LeaseId, Record, Revision};

/// What must be true of a key for a write to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Anything,
    /// The key does not exist.
    Absent,
    /// The key exists and was last changed at this revision.
    Revision(Revision),
}

impl Expect {
    /// Whether the current record of the key, if any, is as expected.
    pub(crate) fn holds(self, current: Option<&Record>) -> bool {
        match self {
            Self::Anything => true,
            Self::Absent => current.is_none(),
            Self::Revision(revision) => current.is_some_and(|r| r.modified() == revision),
        }
    }
}

/// What happens to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It gets this value, under this lease.
    Put {
        /// The new value.
        value: Bytes,
        /// The lease that the record dies with.
        lease: Option<LeaseId>,
    },
    /// It goes away. Deleting what is not there changes nothing.
    Delete,
    /// It stays as it is: the expectation guards the other writes of the transaction.
    Keep,
}

/// One key's part in a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The key.
    pub key: Bytes,
    /// What must be true of it.
    pub expect: Expect,
    /// What happens to it.
    pub action: Action,
}

/// Writes that happen together, at one revision, or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Txn {
    /// At least one, at most [`Txn::WRITES_MAX`], of different keys.
    pub writes: Vec<Write>,
}

impl Txn {
    /// The most writes of one transaction (etcd's default).
    pub const WRITES_MAX: usize = 128;
    /// The most bytes of keys and values in one transaction (etcd's default request limit).
    pub const BYTES_MAX: usize = 1536 * 1024;

    /// An empty transaction to add writes to.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a put.
    #[must_use]
    pub fn put(self, key: impl Into<Bytes>, value: impl Into<Bytes>, expect: Expect) -> Self {
        self.with(key, expect, Action::Put { value: value.into(), lease: None })
    }

    /// Adds a put under a lease.
    #[must_use]
    pub fn put_leased(
        self,
        key: impl Into<Bytes>,
        value: impl Into<Bytes>,
        expect: Expect,
        lease: LeaseId,
    ) -> Self {
        self.with(key, expect, Action::Put { value: value.into(), lease: Some(lease) })
    }

    /// Adds a delete.
    #[must_use]
    pub fn delete(self, key: impl Into<Bytes>, expect: Expect) -> Self {
        self.with(key, expect, Action::Delete)
    }

    /// Adds an expectation without a change.
    #[must_use]
    pub fn check(self, key: impl Into<Bytes>, expect: Expect) -> Self {
        self.with(key, expect, Action::Keep)
    }

    fn with(mut self, key: impl Into<Bytes>, expect: Expect, action: Action) -> Self {
        self.writes.push(Write { key: key.into(), expect, action });
        self
    }

    /// Keys and values together, in bytes.
    pub(crate) fn size(&self) -> usize {
        let value = |action: &Action| match action {
            Action::Put { value, .. } => value.len(),
            Action::Delete | Action::Keep => 0,
        };
        self.writes.iter().map(|write| write.key.len() + value(&write.action)).sum()
    }

    /// What every engine refuses in the same words.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let refuse = |reason: String| Err(Error::Invalid { reason });
        if self.writes.is_empty() {
            return refuse("a transaction needs at least one write".into());
        }
        if self.writes.len() > Self::WRITES_MAX {
            let found = self.writes.len();
            return refuse(format!("{found} writes in one transaction, {} max", Self::WRITES_MAX));
        }
        if self.size() > Self::BYTES_MAX {
            let size = self.size();
            return refuse(format!("a transaction of {size} bytes, {} max", Self::BYTES_MAX));
        }
        if self.writes.iter().any(|write| write.key.is_empty()) {
            return refuse("a key must not be empty".into());
        }
        let mut keys: Vec<&Bytes> = self.writes.iter().map(|write| &write.key).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => refuse(format!("key {} is written twice", pair[0].escape_ascii())),
            None => Ok(()),
        }
    }
}

/// How a transaction ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every expectation held and every change is made.
    Committed {
        /// The revision that made it; the newest one if there was nothing to change.
        revision: Revision,
    },
    /// An expectation did not hold and nothing is changed.
    Conflict {
        /// The current record of each key, in the order of the writes.
        current: Vec<Option<Record>>,
        /// The revision at which they were read.
        revision: Revision,
    },
}

impl Outcome {
    /// The revision of a committed transaction; none for a conflict.
    #[must_use]
    pub fn committed(&self) -> Option<Revision> {
        match self {
            Self::Committed { revision } => Some(*revision),
            Self::Conflict { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(txn: &Txn, expect: &str) {
        let found = match txn.validate() {
            Ok(()) => "ok".to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expect);
    }

    #[test]
    fn malformed_transactions_are_refused_by_name() {
        check(&Txn::new(), "invalid request: a transaction needs at least one write");
        check(&Txn::new().delete("", Expect::Anything), "invalid request: a key must not be empty");
        let twice = Txn::new().put("a", "1", Expect::Absent).delete("a", Expect::Anything);
        check(&twice, "invalid request: key a is written twice");
        let many = (0..129).fold(Txn::new(), |txn, i| txn.delete(i.to_string(), Expect::Anything));
        check(&many, "invalid request: 129 writes in one transaction, 128 max");
        let large = Txn::new().put("a", vec![0; 1536 * 1024], Expect::Absent);
        check(&large, "invalid request: a transaction of 1572865 bytes, 1572864 max");
        check(&Txn::new().put("a", "1", Expect::Absent), "ok");
    }
}
