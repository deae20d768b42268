//! A store whose operations are timed; otherwise it is the store that it wraps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use orlop_storage::{
    Action, At, Error, Expect, Get, LeaseId, Outcome, Range, RangeRequest, Revision, Select, Store,
    Txn, Watch, WatchRequest,
};

use crate::metrics::{Operation, StoreTimes};

/// See the module's documentation.
#[derive(Clone)]
pub(crate) struct MeasuredStore {
    store: Arc<dyn Store>,
    times: Arc<StoreTimes>,
}

impl MeasuredStore {
    /// Times the operations of a store.
    pub(crate) fn new(store: Arc<dyn Store>, times: Arc<StoreTimes>) -> MeasuredStore {
        MeasuredStore { store, times }
    }
}

impl std::fmt::Debug for MeasuredStore {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.store.fmt(out)
    }
}

#[async_trait]
impl Store for MeasuredStore {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        let start = Instant::now();
        let got = self.store.get(key, at).await;
        self.times.record(Operation::Get, key, start.elapsed(), got.is_err());
        got
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        let operation = match request.select {
            Select::Records => Operation::List,
            Select::Keys => Operation::ListOnlyKeys,
            Select::Count => Operation::ListWithCount,
        };
        let range = request.range.clone();
        let start = Instant::now();
        let found = self.store.range(request).await;
        self.times.record(operation, range.start(), start.elapsed(), found.is_err());
        found
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        let (operation, key) = operation_of(&txn);
        let start = Instant::now();
        let outcome = self.store.commit(txn).await;
        self.times.record(operation, &key, start.elapsed(), outcome.is_err());
        outcome
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        self.store.watch(request).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        self.store.compact(revision).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        self.store.grant_lease(ttl).await
    }

    async fn revision(&self) -> Result<Revision, Error> {
        self.store.revision().await
    }

    async fn health(&self) -> Result<(), Error> {
        self.store.health().await
    }
}

/// What a transaction is for: what its first write does that changes something.
fn operation_of(txn: &Txn) -> (Operation, bytes::Bytes) {
    let write = txn.writes.iter().find(|write| write.action != Action::Keep);
    let Some(write) = write else { return (Operation::Get, bytes::Bytes::new()) };
    let operation = match (&write.action, write.expect) {
        (Action::Delete, _) => Operation::Delete,
        (_, Expect::Absent) => Operation::Create,
        _ => Operation::Update,
    };
    (operation, write.key.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_named_after_its_first_change() {
        let check = |txn: Txn, expect: (Operation, &str)| {
            let (operation, key) = operation_of(&txn);
            assert_eq!((operation, &*key), (expect.0, expect.1.as_bytes()));
        };
        let guarded = || Txn::new().check("guard", Expect::Anything);
        check(guarded().put("a", "1", Expect::Absent), (Operation::Create, "a"));
        check(guarded().put("a", "1", Expect::Revision(Revision(1))), (Operation::Update, "a"));
        check(guarded().delete("a", Expect::Anything), (Operation::Delete, "a"));
        check(guarded(), (Operation::Get, ""));
    }
}
