//! The engine without durability: a state, a lock for writers, and nothing else.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;

use crate::hub::Hub;
use crate::retention::Retention;
use crate::state::{Commit, Lease, State};
use crate::{
    At, Clock, Error, Get, HistoryLimits, LeaseId, Outcome, Range, RangeRequest, Revision, Store,
    SystemClock, Txn, Watch, WatchRequest,
};

/// How many commits are swept out after each write.
const SWEEP_COMMITS: usize = 64;
/// How often leases are looked at once there is one.
const LEASE_TICK: Duration = Duration::from_millis(200);

/// A store in the memory of this process, for tests.
///
/// Clones share the store; [`Memory::fork`] makes an independent one.
///
/// ```
/// # use orlop_storage::{At, Expect, Memory, Store};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), orlop_storage::Error> {
/// let store = Memory::new();
/// store.put("a".into(), "1".into(), Expect::Anything).await?;
/// let fork = store.fork();
/// store.delete("a".into(), Expect::Anything).await?;
/// assert!(fork.get(b"a", At::Latest).await?.record.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

struct Inner {
    hub: Arc<Hub>,
    writer: Mutex<Writer>,
    clock: Arc<dyn Clock>,
    limits: HistoryLimits,
}

struct Writer {
    state: State,
    retention: Retention,
    /// Whether a thread looks after the leases.
    ticking: bool,
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Arc::new(SystemClock), HistoryLimits::default())
    }

    /// An empty store with a clock and limits of its own.
    #[must_use]
    pub fn with(clock: Arc<dyn Clock>, limits: HistoryLimits) -> Self {
        Self::from_state(State::new(), clock, limits)
    }

    /// A store with the same content and history, which goes its own way from here. O(1).
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = self.0.writer().state.clone();
        let fork = Self::from_state(state, self.0.clock.clone(), self.0.limits);
        fork.0.tick_leases(&mut fork.0.writer());
        fork
    }

    fn from_state(state: State, clock: Arc<dyn Clock>, limits: HistoryLimits) -> Self {
        let hub = Hub::new(state.clone(), crate::WATCH_BUFFER_EVENTS);
        let retention = Retention::new(limits);
        let writer = Mutex::new(Writer { state, retention, ticking: false });
        Self(Arc::new(Inner { hub, writer, clock, limits }))
    }
}

impl Inner {
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows what the writer did, and gives up old history on the way.
    fn publish(&self, writer: &mut Writer, commits: &[Commit]) {
        if let Some(revision) = writer.retention.due(self.clock.now(), &writer.state) {
            writer.state.compact(revision).expect("what is due is in the past");
        }
        writer.state.sweep(SWEEP_COMMITS);
        self.hub.show(writer.state.clone());
        self.hub.fan_out(commits);
    }

    /// Makes sure that leases end. Nobody pays for the thread who has none.
    fn tick_leases(self: &Arc<Self>, writer: &mut Writer) {
        if writer.ticking || writer.state.next_deadline().is_none() {
            return;
        }
        writer.ticking = true;
        let inner = Arc::downgrade(self);
        let run = move || while Self::tick(&inner) {};
        std::thread::Builder::new()
            .name("orlop-leases".into())
            .spawn(run)
            .expect("the system has room for one more thread");
    }

    /// Waits a moment and ends what is overdue; false when there is nothing left to wait for.
    fn tick(inner: &Weak<Self>) -> bool {
        std::thread::sleep(LEASE_TICK);
        let Some(inner) = inner.upgrade() else {
            return false;
        };
        let mut writer = inner.writer();
        while let Some(lease) = writer.state.overdue(inner.clock.now()) {
            let commit = writer.state.expire(lease);
            inner.publish(&mut writer, commit.as_slice());
        }
        let more = writer.state.next_deadline().is_some();
        writer.ticking = more;
        more
    }
}

#[async_trait]
impl Store for Memory {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        self.0.hub.state().get(key, at)
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        self.0.hub.state().range(&request)
    }

    async fn commit(&self, txn: Txn) -> Result<Outcome, Error> {
        txn.validate()?;
        let mut writer = self.0.writer();
        let applied = writer.state.apply(&txn)?;
        if applied.commit.is_some() {
            self.0.publish(&mut writer, applied.commit.as_slice());
        }
        Ok(applied.outcome)
    }

    async fn watch(&self, request: WatchRequest) -> Result<Watch, Error> {
        self.0.hub.watch(&request).map(Watch::new)
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        let mut writer = self.0.writer();
        writer.state.compact(revision)?;
        writer.state.sweep(usize::MAX);
        self.0.publish(&mut writer, &[]);
        Ok(())
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        let lease = Lease::new(ttl, self.0.clock.now())?;
        let mut writer = self.0.writer();
        writer.state.grant(lease);
        self.0.tick_leases(&mut writer);
        Ok(lease.id)
    }

    async fn revision(&self) -> Result<Revision, Error> {
        Ok(self.0.hub.state().revision())
    }

    async fn health(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("revision", &self.0.hub.state().revision()).finish()
    }
}
