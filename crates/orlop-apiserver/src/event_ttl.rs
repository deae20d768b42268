//! Objects that do not stay: they are stored under a lease and go with it.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/etcd3/lease_manager.go`. Leases are expensive,
//! so what is written at about the same time shares one: objects live a little longer than asked
//! for. Which kinds these are, the kinds say.

use std::sync::Arc;
use std::time::Duration;

use orlop_machinery::status::Status;
use orlop_storage::{Clock, LeaseId, Store};
use tokio::sync::Mutex;

use crate::definition::Definition;
use crate::store_failure::store_failure;

/// How long a lease is given to new objects, at most.
const REUSE_MAX: Duration = Duration::from_secs(60);
/// The same, as a share of the time to live.
const REUSE_SHARE: u32 = 20;
/// How many writes may share a lease.
const OBJECTS_MAX: usize = 1000;

/// Gives leases to objects that do not stay.
pub(crate) struct EventTtl {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// How long objects stay, at least.
    ttl: Duration,
    /// The lease given last.
    last: Mutex<Option<Shared>>,
}

#[derive(Clone, Copy, Debug)]
struct Shared {
    lease: LeaseId,
    expires: Duration,
    objects: usize,
}

impl EventTtl {
    /// Objects stay for `ttl`; for ever if it is zero.
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, ttl: Duration) -> EventTtl {
        EventTtl { store, clock, ttl, last: Mutex::new(None) }
    }

    /// The lease for one write of an object, every write anew; none for objects that stay.
    pub(crate) async fn lease_for(
        &self,
        definition: &Definition,
    ) -> Result<Option<LeaseId>, Status> {
        if self.ttl.is_zero() || !definition.kind.expires() {
            return Ok(None);
        }
        let now = self.clock.now();
        let reuse = REUSE_MAX.min(self.ttl / REUSE_SHARE);
        let mut last = self.last.lock().await;
        if let Some(shared) = last.as_mut()
            && now + self.ttl < shared.expires
            && now + self.ttl + reuse >= shared.expires
            && shared.objects < OBJECTS_MAX
        {
            shared.objects += 1;
            return Ok(Some(shared.lease));
        }
        let life = self.ttl + reuse;
        let lease = self.store.grant_lease(life).await.map_err(store_failure)?;
        *last = Some(Shared { lease, expires: now + life, objects: 1 });
        Ok(Some(lease))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use orlop_storage::{At, Expect, HistoryLimits, Memory, Txn};

    use super::*;
    use crate::catalog::Catalog;

    #[derive(Debug)]
    struct Seconds(AtomicU64);

    impl Clock for Seconds {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::SeqCst))
        }
    }

    fn parts(ttl_seconds: u64) -> (Arc<Seconds>, Memory, EventTtl) {
        let clock = Arc::new(Seconds(AtomicU64::new(1000)));
        let store = Memory::with(clock.clone(), HistoryLimits::default());
        let ttl = Duration::from_secs(ttl_seconds);
        let leases = EventTtl::new(Arc::new(store.clone()), clock.clone(), ttl);
        (clock, store, leases)
    }

    async fn lease(leases: &EventTtl, group: &str) -> Option<LeaseId> {
        let catalog = Catalog::built_in();
        leases.lease_for(catalog.find(group, "v1", "events").unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn events_of_the_same_minute_share_a_lease() {
        let (clock, _, leases) = parts(3600);
        let first = lease(&leases, "").await;
        assert!(first.is_some());
        assert_eq!(lease(&leases, "events.k8s.io").await, first);
        clock.0.store(1059, Ordering::SeqCst);
        assert_eq!(lease(&leases, "").await, first);
        clock.0.store(1060, Ordering::SeqCst);
        assert_ne!(lease(&leases, "").await, first);
    }

    #[tokio::test]
    async fn a_lease_is_shared_by_a_thousand_events_at_most() {
        let (clock, _, leases) = parts(3600);
        let first = lease(&leases, "").await;
        clock.0.store(1001, Ordering::SeqCst);
        for _ in 1..OBJECTS_MAX {
            assert_eq!(lease(&leases, "").await, first);
        }
        assert_ne!(lease(&leases, "").await, first);
    }

    #[tokio::test]
    async fn other_objects_stay() {
        let (_, _, leases) = parts(3600);
        let catalog = Catalog::built_in();
        let pods = catalog.find("", "v1", "pods").unwrap();
        assert_eq!(leases.lease_for(pods).await.unwrap(), None);
        let (_, _, leases) = parts(0);
        assert_eq!(lease(&leases, "").await, None);
    }

    #[tokio::test]
    async fn an_event_goes_with_its_lease() {
        let (clock, store, leases) = parts(3600);
        let lease = lease(&leases, "").await.unwrap();
        let put = Txn::new().put_leased("/registry/events/a/b", "{}", Expect::Absent, lease);
        store.commit(put).await.unwrap();
        clock.0.store(1000 + 3600 + 61, Ordering::SeqCst);
        // Leases are looked at by a thread of the store.
        for _ in 0..500 {
            let found = store.get(b"/registry/events/a/b", At::Latest).await.unwrap();
            if found.record.is_none() {
                return;
            }
            tokio::task::spawn_blocking(std::thread::yield_now).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the event is still there");
    }
}
