//! The contract, as simple as it can be said: one whole map per revision.
//!
//! Nothing here is clever or fast, so that it can be believed by reading it. Property tests hold
//! every engine against it, and [`crate::ReferenceStore`] makes an engine of it that passes the
//! suite: the two say the same.
//!
//! Deliberately not here: time (a lease expires when [`Model::expire`] is called), durability and
//! anything that can fail for a reason outside the contract.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use orlop_storage::{
    Action, At, Error, Event, Expect, Get, KeyRange, LeaseId, Outcome, Range, RangeRequest, Record,
    Revision, Select, Txn,
};

/// All keys as they are at one revision.
pub type Keys = BTreeMap<Bytes, Record>;

/// A store that keeps every revision whole.
#[derive(Clone, Debug)]
pub struct Model {
    /// The state just after each revision that is still kept; never empty.
    states: BTreeMap<Revision, Keys>,
    /// Every change ever made, in order of revisions.
    events: Vec<Event>,
    /// The oldest revision that can be read; zero while nothing was compacted.
    oldest: Revision,
    leases: BTreeSet<LeaseId>,
    leases_granted: u64,
}

impl Model {
    /// An empty store whose newest revision is `revision`.
    #[must_use]
    pub fn empty_at(revision: Revision) -> Self {
        Self {
            states: BTreeMap::from([(revision, Keys::new())]),
            events: Vec::new(),
            oldest: Revision::ZERO,
            leases: BTreeSet::new(),
            leases_granted: 0,
        }
    }

    /// The newest revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        *self.newest().0
    }

    /// The oldest revision that can be read; zero while nothing was compacted.
    #[must_use]
    pub fn oldest(&self) -> Revision {
        self.oldest
    }

    /// The keys as they are now.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        self.newest().1
    }

    /// See [`orlop_storage::Store::get`].
    ///
    /// # Errors
    /// For a revision that cannot be read.
    pub fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        let record = self.keys_at(at)?.get(key).cloned();
        Ok(Get { record, revision: self.revision() })
    }

    /// See [`orlop_storage::Store::range`].
    ///
    /// # Errors
    /// For a revision that cannot be read.
    pub fn range(&self, request: &RangeRequest) -> Result<Range, Error> {
        let keys = self.keys_at(request.at)?;
        let mut records: Vec<Record> =
            keys.values().filter(|r| request.range.contains(r.key())).cloned().collect();
        let count = records.len() as u64;
        if request.limit > 0 {
            records.truncate(request.limit);
        }
        if request.select == Select::Count {
            records.clear();
        }
        Ok(Range { records, count, revision: self.revision() })
    }

    /// See [`orlop_storage::Store::commit`].
    ///
    /// # Errors
    /// For a malformed transaction and an unknown lease.
    pub fn commit(&mut self, txn: &Txn) -> Result<Outcome, Error> {
        refuse_malformed(txn)?;
        let before = self.keys().clone();
        let current = |write: &orlop_storage::Write| before.get(&write.key);
        if !txn.writes.iter().all(|write| holds(write.expect, current(write))) {
            let current = txn.writes.iter().map(|write| current(write).cloned()).collect();
            return Ok(Outcome::Conflict { current, revision: self.revision() });
        }
        self.refuse_unknown_leases(txn)?;
        let (after, events) = apply(&before, txn, self.revision().next());
        Ok(Outcome::Committed { revision: self.advance(after, events) })
    }

    /// See [`orlop_storage::Store::compact`].
    ///
    /// # Errors
    /// For a revision that is compacted already or not reached yet.
    pub fn compact(&mut self, revision: Revision) -> Result<(), Error> {
        if revision > self.revision() {
            return Err(Error::FutureRevision { requested: revision, current: self.revision() });
        }
        if revision <= self.oldest {
            return Err(Error::Compacted { oldest: self.oldest });
        }
        self.oldest = revision;
        self.states.retain(|at, _| *at >= revision);
        Ok(())
    }

    /// See [`orlop_storage::Store::grant_lease`].
    ///
    /// # Errors
    /// For a `ttl` out of bounds.
    pub fn grant_lease(&mut self, ttl: Duration) -> Result<LeaseId, Error> {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
        if ttl < Duration::from_secs(1) || ttl > YEAR {
            return Err(Error::Invalid { reason: format!("a lease of {ttl:?}") });
        }
        self.leases_granted += 1;
        let lease = LeaseId::from_number(self.leases_granted).expect("counted from one");
        self.leases.insert(lease);
        Ok(lease)
    }

    /// Ends a lease: one revision deletes all its records.
    pub fn expire(&mut self, lease: LeaseId) {
        self.leases.remove(&lease);
        let owned = self.keys().values().filter(|record| record.lease() == Some(lease));
        let txn = owned.fold(Txn::new(), |txn, record| {
            txn.delete(Bytes::copy_from_slice(record.key()), Expect::Anything)
        });
        let (after, events) = apply(self.keys(), &txn, self.revision().next());
        self.advance(after, events);
    }

    /// Every change in `range` after `revision`, in order of revisions.
    #[must_use]
    pub fn events_after(&self, range: &KeyRange, revision: Revision) -> Vec<Event> {
        let first = self.events.partition_point(|event| event.revision() <= revision);
        self.events[first..].iter().filter(|event| range.contains(event.key())).cloned().collect()
    }

    /// The keys at a point in history.
    ///
    /// # Errors
    /// For a revision that cannot be read.
    pub fn keys_at(&self, at: At) -> Result<&Keys, Error> {
        let At::Revision(requested) = at else {
            return Ok(self.keys());
        };
        if requested == Revision::ZERO {
            return Err(Error::Invalid { reason: "revision 0 cannot be read".into() });
        }
        if requested > self.revision() {
            return Err(Error::FutureRevision { requested, current: self.revision() });
        }
        match self.states.get(&requested) {
            Some(keys) if requested >= self.oldest => Ok(keys),
            _ => Err(Error::Compacted { oldest: self.oldest }),
        }
    }

    fn newest(&self) -> (&Revision, &Keys) {
        self.states.last_key_value().expect("the newest state is always kept")
    }

    fn refuse_unknown_leases(&self, txn: &Txn) -> Result<(), Error> {
        for write in &txn.writes {
            match write.action {
                Action::Put { lease: Some(lease), .. } if !self.leases.contains(&lease) => {
                    return Err(Error::LeaseNotFound { lease });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes `after` the newest state if anything changed; says which revision is newest then.
    fn advance(&mut self, after: Keys, events: Vec<Event>) -> Revision {
        if !events.is_empty() {
            self.states.insert(self.revision().next(), after);
            self.events.extend(events);
        }
        self.revision()
    }
}

/// Whether the current record of a key, if any, is as expected.
#[must_use]
pub fn holds(expect: Expect, current: Option<&Record>) -> bool {
    match expect {
        Expect::Anything => true,
        Expect::Absent => current.is_none(),
        Expect::Revision(revision) => current.is_some_and(|r| r.modified() == revision),
    }
}

/// The state and the changes that the writes of `txn` make of `before` at `revision`.
#[must_use]
pub fn apply(before: &Keys, txn: &Txn, revision: Revision) -> (Keys, Vec<Event>) {
    let mut after = before.clone();
    let mut events = Vec::new();
    for write in &txn.writes {
        let previous = before.get(&write.key).cloned();
        match &write.action {
            Action::Keep => {}
            Action::Delete => {
                if let Some(previous) = previous {
                    after.remove(&write.key);
                    events.push(Event::Deleted { revision, previous });
                }
            }
            Action::Put { value, lease } => {
                let created = previous.as_ref().map_or(revision, Record::created);
                let record = Record::new(&write.key, value, created, revision, *lease);
                after.insert(write.key.clone(), record.clone());
                events.push(match previous {
                    Some(previous) => Event::Updated { record, previous },
                    None => Event::Created { record },
                });
            }
        }
    }
    (after, events)
}

fn refuse_malformed(txn: &Txn) -> Result<(), Error> {
    let keys: BTreeSet<&Bytes> = txn.writes.iter().map(|write| &write.key).collect();
    let bytes = |action: &Action| match action {
        Action::Put { value, .. } => value.len(),
        Action::Delete | Action::Keep => 0,
    };
    let size: usize = txn.writes.iter().map(|w| w.key.len() + bytes(&w.action)).sum();
    let well_formed = !txn.writes.is_empty()
        && txn.writes.len() <= Txn::WRITES_MAX
        && size <= Txn::BYTES_MAX
        && keys.len() == txn.writes.len()
        && keys.iter().all(|key| !key.is_empty());
    if well_formed {
        Ok(())
    } else {
        Err(Error::Invalid { reason: "a malformed transaction".into() })
    }
}
