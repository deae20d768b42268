//! Leases: records that die together when their time is over.

use std::time::Duration;

use super::{Change, Commit, State};
use crate::tree::{Key, Keyed};
use crate::{Error, Event, LeaseId, Record};

/// A lease and when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) id: LeaseId,
    /// Since the Unix epoch.
    pub(crate) deadline: Duration,
}

impl Lease {
    /// A lease with a random id that ends `ttl` from now.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a `ttl` that is too short or too long.
    pub(crate) fn new(ttl: Duration, now: Duration) -> Result<Self, Error> {
        LeaseId::validate_ttl(ttl)?;
        let random = getrandom::u64().map_err(|error| Error::Unavailable {
            reason: format!("no randomness for a lease: {error}"),
        })?;
        // Positive as a signed number, as etcd has it; zero stands for "no lease".
        let id = LeaseId::from_number(random >> 1).unwrap_or(LeaseId(std::num::NonZeroU64::MIN));
        Ok(Self { id, deadline: now + ttl })
    }
}

/// A key under a lease: the lease's number, big endian, and then the key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LeasedKey(Box<[u8]>);

impl State {
    /// The lease with this id, if it has not expired.
    pub(crate) fn lease(&self, id: LeaseId) -> Option<&Lease> {
        self.leases.get((&[], id.0.get()))
    }

    /// All leases.
    pub(crate) fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.leases.iter()
    }

    /// Adds a lease.
    pub(crate) fn grant(&mut self, lease: Lease) {
        self.leases.insert(lease);
    }

    /// A lease whose time is over.
    pub(crate) fn overdue(&self, now: Duration) -> Option<LeaseId> {
        self.leases.iter().find(|lease| lease.deadline <= now).map(|lease| lease.id)
    }

    /// Takes a lease out, and leaves what is under it alone.
    pub(crate) fn forget(&mut self, id: LeaseId) {
        self.leases.remove((&[], id.0.get()));
    }

    /// When the next lease ends.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.leases.iter().map(|lease| lease.deadline).min()
    }

    /// Ends a lease: everything under it is deleted, in one commit.
    pub(crate) fn expire(&mut self, id: LeaseId) -> Option<Commit> {
        self.leases.remove((&[], id.0.get()))?;
        let prefix = id.0.get().to_be_bytes();
        let keys: Vec<LeasedKey> = self
            .leased
            .iter_from((&prefix, 0))
            .take_while(|leased| leased.0.starts_with(&prefix))
            .cloned()
            .collect();
        self.change_all(keys.iter().map(|leased| Change::Delete { key: &leased.0[prefix.len()..] }))
    }

    /// Keeps the index of leased keys in step with a change.
    pub(super) fn move_lease(&mut self, event: &Event) {
        if let Some(old) = event.previous().and_then(leased_key) {
            self.leased.remove(old.key());
        }
        if let Some(new) = event.record().and_then(leased_key) {
            self.leased.insert(new);
        }
    }
}

/// The index entry of a record under a lease.
pub(super) fn leased_key(record: &Record) -> Option<LeasedKey> {
    let number = record.lease()?.0.get().to_be_bytes();
    Some(LeasedKey([&number, record.key()].concat().into()))
}

impl Keyed for Lease {
    fn key(&self) -> Key<'_> {
        (&[], self.id.0.get())
    }
}

impl Keyed for LeasedKey {
    fn key(&self) -> Key<'_> {
        (&self.0, 0)
    }
}
