//! A crash at every sync: whatever part of the unsynced sectors reached the disk, every
//! acknowledged write is there afterwards and nothing is invented.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use orlop_storage::{
    At, Delivery, Embedded, Event, Expect, HistoryLimits, KeyRange, RangeRequest, Revision, Store,
    Txn, WatchRequest, embedded::Options,
};
use orlop_storage_suite::sim_disk::SimDisk;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const CLIENTS: u64 = 4;
const OPERATIONS: u64 = 60;

/// Small files, so that segments change and snapshots are made all the time.
fn options(disk: &SimDisk) -> Options {
    let mut options = Options::new(std::path::Path::new("unused"));
    options.disk = Some(Arc::new(disk.clone()));
    options.segment_bytes = 64 << 10;
    options.snapshot_log_bytes = 96 << 10;
    options.history = HistoryLimits { transactions_max: 100, ..HistoryLimits::default() };
    options
}

type Content = BTreeMap<Vec<u8>, (Revision, Vec<u8>)>;
/// Every event of the run, by revision.
type Truth = BTreeMap<Revision, Vec<Event>>;

fn content_at(truth: &Truth, revision: Revision) -> Content {
    let mut content = Content::new();
    for event in truth.range(..=revision).flat_map(|(_, events)| events) {
        match event.record() {
            Some(record) => {
                let version = (record.modified(), record.value().to_vec());
                content.insert(event.key().to_vec(), version);
            }
            None => {
                content.remove(event.key());
            }
        }
    }
    content
}

async fn content_of(store: &Embedded, at: At) -> Content {
    let range = store.range(RangeRequest::new(KeyRange::all()).at(at)).await.unwrap();
    assert_eq!(range.count, range.records.len() as u64);
    let version =
        |r: &orlop_storage::Record| (r.key().to_vec(), (r.modified(), r.value().to_vec()));
    range.records.iter().map(version).collect()
}

/// One client: random puts, deletes and transactions; what it was promised goes to `acknowledged`.
async fn client(store: Arc<Embedded>, seed: u64, acknowledged: Arc<AtomicU64>) {
    let mut random = StdRng::seed_from_u64(seed);
    for step in 0..OPERATIONS {
        let key = |random: &mut StdRng| format!("/key/{}", random.random_range(0..20));
        let value = vec![b'a' + u8::try_from(seed).unwrap(); random.random_range(0..6000)];
        let txn = match random.random_range(0..10) {
            0 => Txn::new().delete(key(&mut random), Expect::Anything),
            1 => (0..5).fold(Txn::new(), |txn, i| {
                txn.put(format!("/many/{i}"), format!("{seed}-{step}"), Expect::Anything)
            }),
            _ => Txn::new().put(key(&mut random), value, Expect::Anything),
        };
        let revision = store.commit(txn).await.unwrap().committed().unwrap();
        acknowledged.fetch_max(revision.0, Ordering::SeqCst);
    }
}

/// Follows the store from the beginning to the end.
async fn record(store: Arc<Embedded>, until: Arc<AtomicU64>) -> Truth {
    let request = WatchRequest::new(KeyRange::all()).after(Revision(1));
    let mut watch = store.watch(request.progress_every(Duration::from_millis(20))).await.unwrap();
    let mut truth = Truth::new();
    loop {
        match watch.next().await.unwrap() {
            Delivery::Events(events) => {
                for event in events.iter() {
                    truth.entry(event.revision()).or_default().push(event.clone());
                }
            }
            Delivery::Progress(revision) if revision.0 >= until.load(Ordering::SeqCst) => {
                return truth;
            }
            Delivery::Progress(_) => {}
        }
    }
}

/// What recovery makes of a crashed disk is right, and the store works on.
async fn check(image: &SimDisk, acknowledged: u64, truth: &Truth, seed: u64) {
    let what = format!("image {seed}, acknowledged {acknowledged}");
    let store = Embedded::open(options(image)).unwrap_or_else(|e| panic!("{what}: {e}"));
    let revision = store.revision().await.unwrap();
    assert!(revision.0 >= acknowledged, "{what}: an acknowledged write is lost, {revision}");
    assert_eq!(content_of(&store, At::Latest).await, content_at(truth, revision), "{what}");
    for back in [1, 7, 30] {
        let old = Revision(revision.0.saturating_sub(back).max(1));
        match store.get(b"/key/1", At::Revision(old)).await {
            Err(orlop_storage::Error::Compacted { oldest }) => assert!(oldest > old, "{what}"),
            Err(error) => panic!("{what}: {error}"),
            Ok(_) => {
                let found = content_of(&store, At::Revision(old)).await;
                assert_eq!(found, content_at(truth, old), "{what} at {old}");
            }
        }
    }
    let next = store.put("/after".into(), "crash".into(), Expect::Anything).await.unwrap();
    assert_eq!(next.committed(), Some(revision.next()), "{what}");
    drop(store);
    let again = Embedded::open(options(image)).unwrap_or_else(|e| panic!("{what}: again: {e}"));
    assert_eq!(again.revision().await.unwrap(), revision.next(), "{what}");
    assert!(again.get(b"/after", At::Latest).await.unwrap().record.is_some(), "{what}");
}

async fn crash_at_every_sync(seed: u64) {
    println!("seed {seed}");
    let disk = SimDisk::new();
    let acknowledged = Arc::new(AtomicU64::new(0));
    let images: Arc<Mutex<Vec<(SimDisk, u64)>>> = Arc::default();
    disk.before_sync({
        let (acknowledged, images) = (acknowledged.clone(), images.clone());
        move |disk| {
            // First what was promised, then what is on the disk: never the other way round.
            let promised = acknowledged.load(Ordering::SeqCst);
            let mut images = images.lock().unwrap();
            let image = disk.crash(seed * 1_000_000 + images.len() as u64);
            images.push((image, promised));
        }
    });
    let store = Arc::new(Embedded::open(options(&disk)).unwrap());
    let until = Arc::new(AtomicU64::new(u64::MAX));
    let recorder = tokio::spawn(record(store.clone(), until.clone()));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| tokio::spawn(client(store.clone(), seed * CLIENTS + n, acknowledged.clone())))
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    until.store(store.revision().await.unwrap().0, Ordering::SeqCst);
    let truth = recorder.await.unwrap();
    store.close();
    let images = std::mem::take(&mut *images.lock().unwrap());
    println!("{} crashes", images.len());
    assert!(images.len() as u64 > OPERATIONS, "there are many syncs to crash at");
    for (number, (image, promised)) in images.iter().enumerate() {
        check(image, *promised, &truth, seed * 1_000_000 + number as u64).await;
    }
    // And the end of it all, as a kill -9 would leave it.
    check(&disk.copy(), acknowledged.load(Ordering::SeqCst), &truth, seed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_crash_loses_or_invents_anything() {
    for seed in 1..9 {
        crash_at_every_sync(seed).await;
    }
}
