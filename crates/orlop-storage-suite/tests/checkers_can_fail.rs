//! The checkers, end to end: traffic on a store that breaks one promise must not pass.
//!
//! Each fault is put between the recorded clients and a sound store, so that what is checked is
//! exactly what clients were told.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use orlop_storage::{
    At, Delivery, Error, Event, Get, LeaseId, Outcome, ProgressRequester, Range, RangeRequest,
    Record, Revision, Store, Txn, Watch, WatchEnd, WatchRequest, WatchSource,
};
use orlop_storage_suite::traffic::Traffic;
use orlop_storage_suite::{ReferenceStore, history};

/// Which promise is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    LostWrite,
    WriteDoneTwice,
    StaleGet,
    StaleList,
    IgnoredExpectation,
    EventLost,
    EventTwice,
    EventsOutOfOrder,
    TransactionSplit,
    ProgressTooEarly,
    WrongPrevious,
    UpdateToldAsCreation,
    NeighbourDelivered,
    StartSkipped,
}

/// A store that keeps all promises but one, now and then.
#[derive(Debug)]
struct Faulty {
    sound: ReferenceStore,
    fault: Fault,
    calls: AtomicU64,
    watches: AtomicU64,
    old_get: Mutex<Option<(Vec<u8>, Get)>>,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        let sound = ReferenceStore::new();
        let calls = AtomicU64::new(0);
        Self { sound, fault, calls, watches: AtomicU64::new(0), old_get: Mutex::default() }
    }

    /// Whether it is time for this fault again.
    fn strikes(&self, fault: Fault) -> bool {
        self.fault == fault && self.calls.fetch_add(1, Ordering::SeqCst) % 20 == 10
    }
}

#[async_trait]
impl Store for Faulty {
    async fn get(&self, key: &[u8], at: At) -> Result<Get, Error> {
        let got = self.sound.get(key, at).await?;
        let mut old = self.old_get.lock().expect("no panic");
        match &*old {
            Some((of, answer)) if of == key && self.strikes(Fault::StaleGet) => {
                return Ok(answer.clone());
            }
            Some(_) => {}
            None => *old = Some((key.to_vec(), got.clone())),
        }
        Ok(got)
    }

    async fn range(&self, request: RangeRequest) -> Result<Range, Error> {
        let found = self.sound.range(request.clone()).await?;
        if request.at != At::Latest || !self.strikes(Fault::StaleList) {
            return Ok(found);
        }
        // What is said to be new is a little old.
        let ago = Revision(found.revision.0.saturating_sub(5).max(1));
        let past = self.sound.range(request.at(At::Revision(ago))).await;
        let revision = found.revision;
        Ok(past.map_or(found, |past| Range { revision, ..past }))
    }

    async fn commit(&self, mut txn: Txn) -> Result<Outcome, Error> {
        let closing = txn.writes.iter().any(|write| write.key.ends_with(b"closing"));
        if !closing && self.strikes(Fault::LostWrite) {
            return Ok(Outcome::Committed { revision: self.sound.revision().await?.next() });
        }
        if self.strikes(Fault::IgnoredExpectation) {
            txn.writes.iter_mut().for_each(|write| write.expect = orlop_storage::Expect::Anything);
        }
        if self.strikes(Fault::WriteDoneTwice) {
            let mut again = txn.clone();
            again
                .writes
                .iter_mut()
                .for_each(|write| write.expect = orlop_storage::Expect::Anything);
            let outcome = self.sound.commit(txn).await?;
            if outcome.committed().is_some() {
                self.sound.commit(again).await?;
            }
            return Ok(outcome);
        }
        self.sound.commit(txn).await
    }

    async fn watch(&self, mut request: WatchRequest) -> Result<Watch, Error> {
        let even = self.watches.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
        if self.fault == Fault::StartSkipped && even {
            request.after = request.after.map(|after| Revision(after.0 + 2));
        }
        if self.fault == Fault::NeighbourDelivered {
            request.range = orlop_storage::KeyRange::all();
        }
        let watch = self.sound.watch(request).await?;
        Ok(Watch::new(FaultyWatch { watch, fault: self.fault, deliveries: 0, held: Vec::new() }))
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        self.sound.compact(revision).await
    }

    async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Error> {
        self.sound.grant_lease(ttl).await
    }

    async fn revision(&self) -> Result<Revision, Error> {
        self.sound.revision().await
    }

    async fn health(&self) -> Result<(), Error> {
        self.sound.health().await
    }
}

#[derive(Debug)]
struct FaultyWatch {
    watch: Watch,
    fault: Fault,
    deliveries: usize,
    /// What is delivered before anything else is read.
    held: Vec<Delivery>,
}

#[async_trait]
impl WatchSource for FaultyWatch {
    async fn next(&mut self) -> Result<Delivery, WatchEnd> {
        if let Some(held) = self.held.pop() {
            return Ok(held);
        }
        let delivery = self.watch.next().await?;
        let Delivery::Events(events) = &delivery else { return Ok(delivery) };
        self.deliveries += 1;
        if !self.deliveries.is_multiple_of(3) {
            return Ok(delivery);
        }
        let mut events = events.to_vec();
        self.spoil(&mut events);
        match self.fault {
            Fault::ProgressTooEarly => {
                let last = events[events.len() - 1].revision();
                self.held.push(Delivery::Events(events.into()));
                return Ok(Delivery::Progress(last));
            }
            Fault::TransactionSplit => {
                let same = |n: &usize| events[*n].revision() == events[*n - 1].revision();
                if let Some(n) = (1..events.len()).find(same) {
                    let rest = events.split_off(n);
                    self.held.push(Delivery::Events(rest.into()));
                }
            }
            _ => {}
        }
        Ok(Delivery::Events(events.into()))
    }

    fn progress_requester(&self) -> ProgressRequester {
        self.watch.progress_requester()
    }
}

impl FaultyWatch {
    fn spoil(&self, events: &mut Vec<Event>) {
        match self.fault {
            Fault::EventLost if events.len() > 2 => drop(events.remove(1)),
            Fault::EventTwice => events.push(events[events.len() - 1].clone()),
            Fault::EventsOutOfOrder => events.reverse(),
            Fault::WrongPrevious => events.iter_mut().for_each(forge_previous),
            Fault::UpdateToldAsCreation => {
                for event in events {
                    if let Event::Updated { record, .. } = event {
                        *event = Event::Created { record: record.clone() };
                    }
                }
            }
            _ => {}
        }
    }
}

fn forge_previous(event: &mut Event) {
    if let Event::Updated { previous, .. } = event {
        let (created, modified) = (previous.created(), previous.modified());
        *previous = Record::new(previous.key(), b"forged", created, modified, None);
    }
}

/// What the checkers say of traffic on a store with this fault. A fault may not strike in one run,
/// so several are tried.
fn verdict(fault: Fault) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    (0..10).find_map(|seed| {
        let traffic = Traffic { operations: 1000, keys: 3, seed, ..Traffic::default() };
        let history = runtime.block_on(traffic.run(Arc::new(Faulty::new(fault))));
        history::check(&history).err().map(|violation| violation.to_string())
    })
}

/// The verdict on a fault must hold one of these.
#[track_caller]
fn check(fault: Fault, expected: &[&str]) {
    let found = verdict(fault).unwrap_or_else(|| panic!("{fault:?} was not found"));
    assert!(expected.iter().any(|part| found.contains(part)), "{fault:?}: {found}");
}

#[test]
fn a_sound_store_passes() {
    assert_eq!(verdict(Fault::None), None);
}

#[test]
fn a_lost_write_is_found() {
    check(Fault::LostWrite, &["cannot", "was observed", "had been seen", "the store ends at"]);
}

#[test]
fn a_write_that_is_done_twice_is_found() {
    check(Fault::WriteDoneTwice, &["cannot be explained", "was observed", "cannot have happened"]);
}

#[test]
fn a_stale_answer_is_found() {
    check(Fault::StaleGet, &["had been seen before", "was observed"]);
    check(Fault::StaleList, &["was observed"]);
}

#[test]
fn an_ignored_expectation_is_found() {
    check(Fault::IgnoredExpectation, &["cannot be explained"]);
}

#[test]
fn a_lost_event_is_found() {
    check(Fault::EventLost, &["reliable: ", "atomic: "]);
}

#[test]
fn a_repeated_event_is_found() {
    check(Fault::EventTwice, &["unique: "]);
}

#[test]
fn events_out_of_order_are_found() {
    check(Fault::EventsOutOfOrder, &["ordered: "]);
}

#[test]
fn a_split_transaction_is_found() {
    check(Fault::TransactionSplit, &["atomic: "]);
}

#[test]
fn progress_that_overtakes_is_found() {
    check(Fault::ProgressTooEarly, &["bookmarkable: "]);
}

#[test]
fn a_wrong_previous_record_is_found() {
    check(Fault::WrongPrevious, &["previous: "]);
}

#[test]
fn an_update_told_as_a_creation_is_found() {
    check(Fault::UpdateToldAsCreation, &["is create: "]);
}

#[test]
fn a_key_outside_the_range_is_found() {
    check(Fault::NeighbourDelivered, &["filter: "]);
}

#[test]
fn a_skipped_start_is_found() {
    check(Fault::StartSkipped, &["resumable: ", "bookmarkable: "]);
}
