//! An embedded store whose power fails again and again.
//!
//! To its clients it is one store that is away now and then. Behind it, each failure cuts the power
//! of a simulated disk in the middle of whatever happens, and the store is opened again from what
//! that left.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use orlop_storage::embedded::Options;
use orlop_storage::{
    At, Embedded, Error, Get, LeaseId, Outcome, Range, RangeRequest, Revision, Store, Txn, Watch,
    WatchRequest,
};

use crate::sim_disk::SimDisk;

/// See the module's documentation.
#[derive(Debug)]
pub struct Restarting {
    disk: Mutex<SimDisk>,
    store: Mutex<Option<Arc<Embedded>>>,
}

impl Restarting {
    /// A new store on a new disk.
    #[must_use]
    pub fn new() -> Self {
        let disk = SimDisk::new();
        let store = Mutex::new(Some(open(&disk)));
        Self { disk: Mutex::new(disk), store }
    }

    /// Cuts the power and starts the store again.
    ///
    /// # Panics
    /// If it does not start.
    pub fn fail_power(&self, seed: u64) {
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        let after = disk.power_off(seed);
        drop(before);
        let again = open(&after);
        *disk = after;
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(again);
    }

    fn store(&self) -> Result<Arc<Embedded>, Error> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).clone();
        store.ok_or_else(|| Error::Unavailable { reason: "there is no power".into() })
    }
}

impl Default for Restarting {
    fn default() -> Self {
        Self::new()
    }
}

/// Small files, so that a failure often hits a new segment or a snapshot.
fn open(disk: &SimDisk) -> Arc<Embedded> {
    let mut options = Options::new(Path::new("unused"));
    options.disk = Some(Arc::new(disk.clone()));
    options.segment_bytes = 256 << 10;
    options.snapshot_log_bytes = 512 << 10;
    Arc::new(Embedded::open(options).unwrap_or_else(|error| panic!("no start: {error}")))
}

#[async_trait]
impl Store for Restarting {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        self.store()?.get(key, at).await
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        self.store()?.range(request).await
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        self.store()?.commit(txn).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        self.store()?.watch(request).await
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        self.store()?.compact(revision).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        self.store()?.grant_lease(ttl).await
    }

    async fn revision(&self) -> Result<Revision, Error> {
        self.store()?.revision().await
    }

    async fn health(&self) -> Result<(), Error> {
        self.store()?.health().await
    }
}
