//! Records that die with their lease. Real time: an engine may stretch a lease by some seconds.

use std::sync::Arc;
use std::time::Duration;

use orlop_storage::{Action, Error, Event, Expect, LeaseId, Record, Revision, Store, Txn, Write};
use tokio::time::{Instant, sleep};

use super::collected::Collected;
use super::fixture::*;

const SECOND: Duration = Duration::from_secs(1);
/// Long enough to do something first, also on a busy machine.
const SHORT: Duration = Duration::from_secs(2);
const HOUR: Duration = Duration::from_secs(3600);

async fn grant(store: &Shared, ttl: Duration) -> LeaseId {
    let granted = store.grant_lease(ttl).await;
    granted.unwrap_or_else(|error| panic!("a lease of {ttl:?} failed: {error}"))
}

async fn put_leased(
    store: &Shared,
    key: &'static str,
    value: &'static str,
    lease: LeaseId,
) -> Revision {
    commit(store, Txn::new().put_leased(key, value, Expect::Anything, lease)).await
}

/// Waits, but not forever, until a key is gone.
async fn wait_until_gone(store: &Shared, key: &str) {
    let deadline = Instant::now() + Duration::from_secs(15);
    while get(store, key).await.is_some() {
        assert!(Instant::now() < deadline, "{key} must die with its lease");
        sleep(Duration::from_millis(50)).await;
    }
}

/// A record tells the lease it was written under; others have none.
pub async fn a_record_tells_its_lease(store: Arc<dyn Store>) {
    let lease = grant(&store, HOUR).await;
    put_leased(&store, "/a", "1", lease).await;
    put(&store, "/b", "1").await;
    assert_eq!(must_get(&store, "/a").await.lease(), Some(lease));
    assert_eq!(must_get(&store, "/b").await.lease(), None);
    let leases: Vec<_> = everything(&store).await.records.iter().map(Record::lease).collect();
    assert_eq!(leases, [Some(lease), None]);
}

/// Two leases are never the same.
pub async fn leases_are_distinct(store: Arc<dyn Store>) {
    let (one, two) = (grant(&store, HOUR).await, grant(&store, HOUR).await);
    assert_ne!(one, two);
}

/// Granting a lease is not a change.
pub async fn a_grant_does_not_move_the_revision(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "1").await;
    grant(&store, HOUR).await;
    assert_eq!(newest(&store).await, before);
}

/// A record lives as long as its lease, and then dies by itself.
pub async fn a_record_dies_with_its_lease(store: Arc<dyn Store>) {
    let lease = grant(&store, SECOND).await;
    let before = put_leased(&store, "/a", "1", lease).await;
    wait_until_gone(&store, "/a").await;
    assert_eq!(newest(&store).await, before.next(), "the expiry is one change");
    assert_eq!(value_at(&store, "/a", before).await.as_deref(), Some("1"), "the past stays");
}

/// Watchers see the expiry of every record of the lease as a deletion at a new revision.
pub async fn an_expiry_is_delivered_as_deletions(store: Arc<dyn Store>) {
    let lease = grant(&store, SHORT).await;
    let txn = Txn::new().put_leased("/a", "1", Expect::Absent, lease);
    let written = commit(&store, txn.put_leased("/b", "2", Expect::Absent, lease)).await;
    let kept = put(&store, "/kept", "3").await;
    let mut watch = Collected::after(&store, kept).await;
    watch.wait_for(2).await;
    watch.assert_whole_and_in_order();
    let mut told = watch.told();
    told.sort_unstable();
    assert_eq!(told, ["deleted /a was 1", "deleted /b was 2"]);
    for event in &watch.events {
        assert!(event.revision() > written, "a new revision");
        let previous = event.previous().expect("a deletion carries what it deleted");
        assert_eq!((previous.lease(), previous.modified()), (Some(lease), written));
        assert!(matches!(event, Event::Deleted { .. }));
    }
    assert_eq!(pairs(&everything(&store).await), ["/kept=3"]);
}

/// Written again without the lease, a record outlives it.
pub async fn a_record_written_without_its_lease_outlives_it(store: Arc<dyn Store>) {
    let lease = grant(&store, SHORT).await;
    put_leased(&store, "/a", "1", lease).await;
    put_leased(&store, "/witness", "1", lease).await;
    put(&store, "/a", "2").await;
    assert_eq!(must_get(&store, "/a").await.lease(), None);
    wait_until_gone(&store, "/witness").await;
    assert_eq!(pairs(&everything(&store).await), ["/a=2"]);
}

/// Written again under another lease, a record follows that one.
pub async fn a_record_moves_to_the_lease_it_was_last_written_under(store: Arc<dyn Store>) {
    let (short, long) = (grant(&store, SHORT).await, grant(&store, HOUR).await);
    put_leased(&store, "/stays", "1", short).await;
    put_leased(&store, "/witness", "1", short).await;
    put_leased(&store, "/goes", "1", long).await;
    put_leased(&store, "/stays", "2", long).await;
    put_leased(&store, "/goes", "2", short).await;
    assert_eq!(must_get(&store, "/stays").await.lease(), Some(long));
    wait_until_gone(&store, "/witness").await;
    wait_until_gone(&store, "/goes").await;
    assert_eq!(pairs(&everything(&store).await), ["/stays=2"]);
}

/// A record that was deleted before its lease expired is not deleted again.
pub async fn an_expiry_after_a_delete_is_harmless(store: Arc<dyn Store>) {
    let lease = grant(&store, SHORT).await;
    put_leased(&store, "/a", "1", lease).await;
    put_leased(&store, "/recreated", "1", lease).await;
    put_leased(&store, "/witness", "1", lease).await;
    delete(&store, "/a").await;
    delete(&store, "/recreated").await;
    let last = put(&store, "/recreated", "2").await;
    let mut watch = Collected::after(&store, last).await;
    wait_until_gone(&store, "/witness").await;
    watch.wait_for(1).await;
    watch.stays_silent().await;
    watch.assert_told(&["deleted /witness was 1"]);
    assert_eq!(pairs(&everything(&store).await), ["/recreated=2"]);
}

/// A lease without records expires without a change.
pub async fn the_expiry_of_an_unused_lease_changes_nothing(store: Arc<dyn Store>) {
    let _unused = grant(&store, SECOND).await;
    let lease = grant(&store, SHORT).await;
    let before = put_leased(&store, "/witness", "1", lease).await;
    wait_until_gone(&store, "/witness").await;
    assert_eq!(newest(&store).await, before.next(), "only the witness died");
}

/// A put under a lease that does not exist is refused and changes nothing.
pub async fn an_unknown_lease_is_refused(store: Arc<dyn Store>) {
    let before = put(&store, "/a", "1").await;
    let unknown = LeaseId::from_number(0x7eee_eeee).expect("not zero");
    let mut txn = Txn::new().put("/b", "1", Expect::Anything);
    let action = Action::Put { value: "2".into(), lease: Some(unknown) };
    txn.writes.push(Write { key: "/a".into(), expect: Expect::Anything, action });
    match store.commit(txn).await {
        Err(Error::LeaseNotFound { lease }) => assert_eq!(lease, unknown),
        other => panic!("a put under an unknown lease must be refused, got {other:?}"),
    }
    assert_eq!(newest(&store).await, before);
    assert_eq!(pairs(&everything(&store).await), ["/a=1"]);
}

/// An expired lease is as unknown as one that never was.
pub async fn an_expired_lease_is_refused(store: Arc<dyn Store>) {
    let lease = grant(&store, SECOND).await;
    put_leased(&store, "/a", "1", lease).await;
    wait_until_gone(&store, "/a").await;
    let txn = Txn::new().put_leased("/b", "1", Expect::Anything, lease);
    match store.commit(txn).await {
        Err(Error::LeaseNotFound { lease: found }) => assert_eq!(found, lease),
        other => panic!("a put under an expired lease must be refused, got {other:?}"),
    }
}

/// A lease lives from one second to one year.
pub async fn leases_out_of_bounds_are_refused(store: Arc<dyn Store>) {
    let year = 365 * 24 * HOUR;
    for ttl in [Duration::ZERO, Duration::from_millis(999), year * 2, Duration::MAX] {
        assert_invalid(store.grant_lease(ttl).await, &format!("a lease of {ttl:?}"));
    }
    grant(&store, SECOND).await;
    grant(&store, year).await;
}

/// Records of one lease may be more than one transaction could delete.
pub async fn a_lease_may_hold_many_records(store: Arc<dyn Store>) {
    let before = newest(&store).await;
    let lease = grant(&store, SHORT).await;
    for page in 0..3 {
        let txn = (0..100).fold(Txn::new(), |txn, n| {
            txn.put_leased(format!("/{page}/{n:03}"), "x", Expect::Absent, lease)
        });
        commit(&store, txn).await;
    }
    let mut watch = Collected::after(&store, before).await;
    watch.wait_for(600).await;
    watch.assert_whole_and_in_order();
    assert_eq!(everything(&store).await.count, 0);
}
