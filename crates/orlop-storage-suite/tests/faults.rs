//! Disks that fail: what is refused, what is fatal, what is noticed.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use orlop_storage::embedded::{OpenError, Options};
use orlop_storage::{
    At, Delivery, Embedded, Error, Expect, KeyRange, RangeRequest, Revision, Store, WatchEnd,
    WatchRequest,
};
use orlop_storage_suite::sim_disk::{Failure, Operation, SimDisk};

fn options(disk: &SimDisk) -> Options {
    let mut options = Options::new(Path::new("unused"));
    options.disk = Some(Arc::new(disk.clone()));
    options.segment_bytes = 64 << 10;
    options.snapshot_log_bytes = 128 << 10;
    options
}

fn open(disk: &SimDisk) -> Embedded {
    Embedded::open(options(disk)).unwrap()
}

async fn put(store: &Embedded, key: &str, bytes: usize) -> Result<Revision, Error> {
    let outcome = store.put(key.to_string().into(), vec![b'x'; bytes].into(), Expect::Anything);
    Ok(outcome.await?.committed().expect("there is no condition"))
}

async fn keys(store: &Embedded) -> Vec<String> {
    let range = store.range(RangeRequest::new(KeyRange::all())).await.unwrap();
    range.records.iter().map(|r| String::from_utf8(r.key().to_vec()).unwrap()).collect()
}

/// A closed store with a snapshot, several segments, a lease and some history.
async fn closed_store() -> SimDisk {
    let disk = SimDisk::new();
    let store = open(&disk);
    let lease = store.grant_lease(Duration::from_secs(1000)).await.unwrap();
    let txn = orlop_storage::Txn::new().put_leased("/leased", "1", Expect::Absent, lease);
    store.commit(txn).await.unwrap();
    for step in 0..60 {
        put(&store, &format!("/key/{}", step % 7), 5000).await.unwrap();
    }
    wait_for(&disk, ".snapshot").await;
    for step in 0..30 {
        put(&store, &format!("/last/{}", step % 5), 5000).await.unwrap();
    }
    store.close();
    disk
}

async fn wait_for(disk: &SimDisk, suffix: &str) {
    for _ in 0..1000 {
        if disk.files().iter().any(|(name, _)| name.ends_with(suffix)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("no {suffix} after 5 s");
}

async fn is_fatal(operation: Operation, failure: Failure) {
    let disk = SimDisk::new();
    let store = open(&disk);
    put(&store, "/first", 100).await.unwrap();
    let mut watch = store.watch(WatchRequest::new(KeyRange::all())).await.unwrap();
    disk.fail(operation, failure, ".log", 0);
    let refused = put(&store, "/second", 100).await.unwrap_err();
    assert!(matches!(refused, Error::Stopped { .. }), "{refused}");
    let reason = store.failed().await;
    assert!(reason.contains(".log") && reason.contains("os error 5"), "{reason}");
    assert!(matches!(put(&store, "/third", 1).await.unwrap_err(), Error::Stopped { .. }));
    assert!(store.health().await.is_err());
    assert!(matches!(watch.next().await, Err(WatchEnd::Stopped { .. })));
    assert_eq!(keys(&store).await, ["/first"], "reads go on");
    store.close();
    for seed in 0..20 {
        let found = keys(&open(&disk.crash(seed))).await;
        assert_eq!(found[0], "/first");
        assert!(found.len() == 1 || found[1..] == ["/second"], "{found:?}");
    }
}

#[tokio::test]
async fn a_failed_sync_ends_the_store() {
    is_fatal(Operation::Sync, Failure::Error).await;
}

#[tokio::test]
async fn a_failed_write_ends_the_store() {
    is_fatal(Operation::Write, Failure::Error).await;
    is_fatal(Operation::Write, Failure::TornError).await;
}

#[tokio::test]
async fn a_short_write_is_continued() {
    let disk = SimDisk::new();
    let store = open(&disk);
    disk.fail(Operation::Write, Failure::Short, ".log", 0);
    disk.fail(Operation::Write, Failure::Short, ".log", 0);
    put(&store, "/long", 20_000).await.unwrap();
    drop(store);
    assert_eq!(keys(&open(&disk)).await, ["/long"]);
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_space() {
    let disk = SimDisk::new();
    let store = open(&disk);
    put(&store, "/before", 100).await.unwrap();
    let mut watch = store.watch(WatchRequest::new(KeyRange::all())).await.unwrap();
    disk.set_space(Some(0));
    let mut accepted = vec!["/before".to_string()];
    let mut refused = 0;
    for step in 0..60 {
        let key = format!("/full/{step:02}");
        match put(&store, &key, 5000).await {
            Ok(_) => accepted.push(key),
            Err(Error::NoSpace) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 10, "what was allocated before does not last long");
    assert_eq!(keys(&store).await, accepted, "reads go on, and show nothing that was refused");
    let before = store.revision().await.unwrap();
    assert_eq!(before.0, accepted.len() as u64 + 1, "a refused write takes no revision");
    store.health().await.unwrap();
    disk.set_space(None);
    let after = put(&store, "/space/again", 5000).await.unwrap();
    assert_eq!(after, before.next());
    accepted.push("/space/again".into());
    let mut seen = Vec::new();
    while seen.len() < accepted.len() - 1 {
        let Delivery::Events(events) = watch.next().await.unwrap() else { continue };
        seen.extend(events.iter().map(|e| String::from_utf8(e.key().to_vec()).unwrap()));
    }
    assert_eq!(seen, accepted[1..], "watchers hear of nothing that was refused");
    drop(store);
    assert_eq!(keys(&open(&disk)).await, accepted);
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_written_is_not_fatal() {
    let disk = SimDisk::new();
    let store = open(&disk);
    disk.fail(Operation::Sync, Failure::Error, "snapshot.tmp", 0);
    for step in 0..60 {
        put(&store, &format!("/key/{}", step % 7), 5000).await.unwrap();
    }
    store.health().await.unwrap();
    let expect = keys(&store).await;
    drop(store);
    assert_eq!(keys(&open(&disk)).await, expect);
}

#[tokio::test]
async fn no_flipped_bit_goes_unnoticed() {
    let disk = closed_store().await;
    let store = open(&disk.copy());
    let expect = store.range(RangeRequest::new(KeyRange::all())).await.unwrap();
    drop(store);
    let mut refused = 0;
    let mut tried = 0;
    let files = disk.files().into_iter().filter(|(name, _)| !name.ends_with(".tmp"));
    for (name, length) in files {
        // Every byte of heads and ends, and a sample of the rest.
        let interesting = |at: &usize| at % 4096 < 40 || at.is_multiple_of(61) || at + 64 > length;
        for offset in (0..length).filter(interesting) {
            let broken = disk.copy();
            broken.flip(&name, offset, 1 << (offset % 8));
            tried += 1;
            match Embedded::open(options(&broken)) {
                Ok(store) => {
                    let found = store.range(RangeRequest::new(KeyRange::all())).await.unwrap();
                    assert_eq!(found.revision, expect.revision, "{name} at {offset}");
                    assert_eq!(found.records, expect.records, "{name} at {offset}");
                }
                Err(OpenError::Damaged { file, .. } | OpenError::Newer { file, .. }) => {
                    refused += 1;
                    assert!(file.ends_with(&name) || name == "FORMAT", "{name}, not {file}");
                }
                Err(error) => panic!("{name} at {offset}: {error}"),
            }
        }
    }
    println!("{refused} of {tried} flips were refused, the others hit nothing that matters");
    assert!(refused > 1000);
}

#[tokio::test]
async fn missing_and_cut_files_are_noticed() {
    let disk = closed_store().await;
    let logs: Vec<String> =
        disk.files().into_iter().map(|(name, _)| name).filter(|n| n.ends_with(".log")).collect();
    let snapshot = disk.files().into_iter().find(|(name, _)| name.ends_with(".snapshot")).unwrap();
    let refuses = |broken: &SimDisk, what: &str| {
        let error = Embedded::open(options(broken)).err().unwrap_or_else(|| panic!("{what}"));
        assert!(
            matches!(error, OpenError::Damaged { .. } | OpenError::Unsuitable { .. }),
            "{error}"
        );
    };
    let without = |name: &str| {
        let broken = disk.copy();
        orlop_storage::embedded::disk::Disk::remove(&broken, name).unwrap();
        broken
    };
    refuses(&without(&snapshot.0), "a missing snapshot");
    refuses(&without("FORMAT"), "a missing FORMAT file");
    // Segments that the snapshot covers, and prepared ones, may go; the others are missed.
    let expect = keys(&open(&disk.copy())).await;
    let mut missed = 0;
    for log in &logs {
        match Embedded::open(options(&without(log))) {
            Ok(store) => assert_eq!(keys(&store).await, expect, "without {log}"),
            Err(OpenError::Damaged { .. }) => missed += 1,
            Err(error) => panic!("without {log}: {error}"),
        }
    }
    assert!(missed > 0, "some segment matters: {logs:?}");
    for length in [0, 10, snapshot.1 / 2, snapshot.1 - 1] {
        let broken = disk.copy();
        broken.truncate(&snapshot.0, length);
        refuses(&broken, "a snapshot that is cut off");
    }
}

#[tokio::test]
async fn history_and_leases_survive_a_restart() {
    let disk = SimDisk::new();
    let store = open(&disk);
    let lease = store.grant_lease(Duration::from_secs(2)).await.unwrap();
    let txn = orlop_storage::Txn::new().put_leased("/leased", "1", Expect::Absent, lease);
    store.commit(txn).await.unwrap();
    let old = put(&store, "/key", 1).await.unwrap();
    put(&store, "/key", 2).await.unwrap();
    store.delete("/key".into(), Expect::Anything).await.unwrap();
    for _ in 0..40 {
        put(&store, "/other", 5000).await.unwrap();
    }
    wait_for(&disk, ".snapshot").await;
    drop(store);
    let store = open(&disk);
    assert!(store.facts().snapshot_bytes > 0);
    let found = store.get(b"/key", At::Revision(old)).await.unwrap().record.unwrap();
    assert_eq!(found.value().len(), 1, "what was readable before the restart still is");
    let request = WatchRequest::new(KeyRange::prefix("/key")).after(old);
    let mut watch = store.watch(request).await.unwrap();
    let Delivery::Events(events) = watch.next().await.unwrap() else { panic!("events first") };
    assert_eq!(events.len(), 2, "a watch goes on where it was: {events:?}");
    assert_eq!(events[0].previous().unwrap().value().len(), 1);
    let request = WatchRequest::new(KeyRange::key("/leased"));
    let mut watch = store.watch(request).await.unwrap();
    let end = tokio::time::timeout(Duration::from_secs(10), watch.next()).await;
    let Ok(Ok(Delivery::Events(events))) = end else { panic!("the lease ends: {end:?}") };
    assert!(matches!(events[0], orlop_storage::Event::Deleted { .. }));
}

#[tokio::test]
async fn a_store_has_one_owner() {
    let disk = SimDisk::new();
    let store = open(&disk);
    assert!(matches!(Embedded::open(options(&disk)), Err(OpenError::InUse { .. })));
    store.close();
    assert!(matches!(put(&store, "/key", 1).await, Err(Error::Stopped { .. })));
    open(&disk);
}

#[tokio::test]
async fn a_newer_format_is_refused() {
    let disk = closed_store().await;
    let newer = disk.copy();
    newer.flip("FORMAT", 8, 3);
    let error = Embedded::open(options(&newer)).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 2, known: 1, .. }), "{error}");
    let (snapshot, _) = disk.files().into_iter().find(|(n, _)| n.ends_with(".snapshot")).unwrap();
    let newer = disk.copy();
    newer.flip(&snapshot, 8, 3);
    let error = Embedded::open(options(&newer)).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 2, known: 1, .. }), "{error}");
}

#[tokio::test]
async fn a_full_disk_does_not_keep_a_store_from_closing() {
    let disk = SimDisk::new();
    let store = open(&disk);
    let lease = store.grant_lease(Duration::from_secs(1)).await.unwrap();
    let txn = orlop_storage::Txn::new().put_leased("/leased", "1", Expect::Absent, lease);
    store.commit(txn).await.unwrap();
    // Fill what is allocated, so that the end of the lease cannot be written.
    disk.set_space(Some(0));
    while put(&store, "/full", 5000).await.is_ok() {}
    tokio::time::sleep(Duration::from_millis(1500)).await;
    store.health().await.unwrap();
    let closed = tokio::task::spawn_blocking(move || store.close());
    tokio::time::timeout(Duration::from_secs(10), closed).await.unwrap().unwrap();
    disk.set_space(None);
    let store = open(&disk);
    for _ in 0..100 {
        if !keys(&store).await.contains(&"/leased".to_string()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the lease did not end: {:?}", keys(&store).await);
}

#[tokio::test]
async fn history_of_writes_that_were_refused_is_never_given_up() {
    let disk = SimDisk::new();
    let mut small = options(&disk);
    small.history.keep = Duration::from_millis(300);
    let store = Embedded::open(small).unwrap();
    put(&store, "/key", 100).await.unwrap();
    disk.set_space(Some(0));
    while put(&store, "/full", 5000).await.is_ok() {}
    // Longer than history is kept, with writes that are refused all the time.
    for _ in 0..30 {
        assert!(matches!(put(&store, "/full", 5000).await, Err(Error::NoSpace)));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    disk.set_space(None);
    put(&store, "/again", 100).await.unwrap();
    store.health().await.unwrap();
}

#[tokio::test]
async fn the_folder_is_given_back_after_the_last_write_and_not_before() {
    let disk = SimDisk::new();
    let store = Arc::new(open(&disk));
    put(&store, "/key", 100).await.unwrap();
    disk.before_sync(|_| std::thread::sleep(Duration::from_millis(300)));
    let (writer, closer) = (store.clone(), store.clone());
    let write = tokio::spawn(async move { put(&writer, "/last", 100).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let close = tokio::task::spawn_blocking(move || closer.close());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(matches!(Embedded::open(options(&disk)), Err(OpenError::InUse { .. })));
    write.await.unwrap().unwrap();
    close.await.unwrap();
    assert_eq!(keys(&open(&disk)).await, ["/key", "/last"]);
}

#[tokio::test]
async fn log_that_a_snapshot_covers_may_be_there_in_part() {
    let disk = SimDisk::new();
    let mut unbounded = options(&disk);
    unbounded.snapshot_log_bytes = u64::MAX;
    let store = Embedded::open(unbounded).unwrap();
    for step in 0..60 {
        put(&store, &format!("/key/{}", step % 7), 5000).await.unwrap();
    }
    drop(store);
    let (first, bytes) = ("0000000000000001.log", disk.get("0000000000000001.log"));
    let store = open(&disk);
    for _ in 0..40 {
        put(&store, "/more", 5000).await.unwrap();
    }
    wait_for(&disk, ".snapshot").await;
    put(&store, "/last", 1).await.unwrap();
    let expect = keys(&store).await;
    drop(store);
    disk.put(first, bytes);
    assert_eq!(keys(&open(&disk)).await, expect, "a forgotten segment is not damage");
}

#[tokio::test]
async fn a_snapshot_in_the_middle_of_a_compaction_can_be_read() {
    let disk = SimDisk::new();
    let mut eager = options(&disk);
    eager.snapshot_log_bytes = 1;
    let store = Embedded::open(eager).unwrap();
    let mut newest = Revision::ZERO;
    for step in 0..600 {
        newest = put(&store, &format!("/key/{}", step % 7), 10).await.unwrap();
    }
    store.compact(newest).await.unwrap();
    put(&store, "/key/1", 20).await.unwrap();
    let expect = keys(&store).await;
    drop(store);
    let store = open(&disk);
    assert!(store.facts().snapshot_bytes > 0);
    assert_eq!(keys(&store).await, expect);
    assert!(store.get(b"/key/1", At::Revision(newest)).await.unwrap().record.is_some());
}
