//! The etcd engine on a cluster that breaks: members killed, paused, cut off from each other and
//! from their clients, while somebody writes and others watch.
//!
//! The watches must see everything that the history holds, once and in order. Without an etcd
//! binary the tests say so and pass, except in CI, where they fail.

#![allow(clippy::print_stdout, reason = "what a test has seen is worth a line")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use orlop_storage::{
    Delivery, Error, Etcd, EtcdOptions, Expect, KeyRange, Revision, Store, Watch, WatchRequest,
};
use orlop_storage_suite::engines::{self, put};
use orlop_storage_suite::etcd_server::EtcdCluster;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(30);

/// Writes one key after the other, whatever happens to single writes, until told to stop.
async fn write_on(store: &Etcd, stop: &AtomicBool) -> (u64, u64, u64) {
    let (mut done, mut unknown, mut failed) = (0, 0, 0);
    for i in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        match store.put(format!("/w/{}", i % 10).into(), "x".into(), Expect::Anything).await {
            Ok(_) => done += 1,
            Err(Error::Unknown { .. }) => unknown += 1,
            Err(Error::Unavailable { .. }) => failed += 1,
            Err(other) => panic!("{other}"),
        }
    }
    (done, unknown, failed)
}

/// Breaks a cluster with `break_it` while writing and watching; the watches must have seen
/// everything that the history holds, once and in order.
async fn watch_through(
    name: &str,
    break_it: impl FnOnce(&mut EtcdCluster) -> Result<()> + Send + 'static,
) -> Result<()> {
    let mut cluster = EtcdCluster::start(3)?;
    let mut options = EtcdOptions::new(cluster.endpoints()).compact_every(None);
    options.request_timeout = Duration::from_secs(3);
    options.keep_alive_every = Duration::from_secs(5);
    options.keep_alive_timeout = Duration::from_secs(1);
    let store = Arc::new(Etcd::connect(options.clone()).await?);
    let start = store.revision().await?;
    let range = || KeyRange::prefix("/w/");
    let mut watches = Vec::new();
    for _ in 0..6 {
        watches.push(store.watch(WatchRequest::new(range()).after(start)).await?);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (store, stop) = (store.clone(), stop.clone());
        async move { write_on(&store, &stop).await }
    });
    sleep(Duration::from_millis(300)).await;
    let cluster = tokio::task::spawn_blocking(move || {
        break_it(&mut cluster)?;
        Ok::<_, anyhow::Error>(cluster)
    });
    let cluster = cluster.await??;
    sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::Relaxed);
    let (done, unknown, failed) = writer.await?;
    let last = store.revision().await?;
    println!("{name}: {done} written, {unknown} unknown, {failed} failed, revision {last}");

    for (index, watch) in watches.iter_mut().enumerate() {
        let complete = check_complete(watch, start, last).await;
        complete.with_context(|| format!("watch {index}"))?;
    }
    ensure!(done > 20, "hardly anything was written: {done}");
    drop(cluster);
    Ok(())
}

/// Every revision after `start` up to `last` is one event of the watch, in order.
async fn check_complete(watch: &mut Watch, start: Revision, last: Revision) -> Result<()> {
    watch.progress_requester().request();
    let (mut seen, mut progress) = (start, start);
    while progress < last {
        let delivery = timeout(PATIENCE, watch.next()).await;
        match delivery.with_context(|| format!("stuck at {seen}"))?? {
            Delivery::Events(events) => {
                for event in events.iter() {
                    ensure!(event.revision() == seen.next(), "{event:?} after {seen}");
                    seen = event.revision();
                }
            }
            Delivery::Progress(revision) => progress = revision,
        }
    }
    ensure!(seen == last, "{seen} of {last}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_outlive_killed_leaders() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    watch_through("kill", |cluster| {
        for _ in 0..3 {
            let leader = cluster.leader()?;
            cluster.kill(leader)?;
            cluster.leader()?;
            std::thread::sleep(Duration::from_millis(300));
            cluster.restart(leader)?;
            cluster.wait_for_health(leader)?;
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_outlive_members_cut_off_from_the_others() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    watch_through("cut peers", |cluster| {
        for _ in 0..2 {
            let leader = cluster.leader()?;
            cluster.cut_peers(leader);
            std::thread::sleep(Duration::from_secs(3));
            cluster.mend_peers(leader);
            cluster.wait_for_health(leader)?;
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_outlive_members_cut_off_from_clients() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    watch_through("cut clients", |cluster| {
        for member in [0, 1, 2, 0] {
            cluster.cut_clients(member);
            std::thread::sleep(Duration::from_millis(700));
            cluster.mend_clients(member);
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_outlive_paused_members() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    watch_through("pause", |cluster| {
        let leader = cluster.leader()?;
        cluster.pause(leader)?;
        std::thread::sleep(Duration::from_secs(9));
        cluster.resume(leader)?;
        cluster.wait_for_health(leader)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_goes_on_with_the_endpoints_that_are_left() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let cluster = EtcdCluster::start(3)?;
    let store = Etcd::connect(EtcdOptions::new(cluster.endpoints()).compact_every(None)).await?;
    put(&store, "/a", "1").await?;
    cluster.cut_clients(0);
    sleep(Duration::from_millis(200)).await;
    store.health().await?;
    for i in 0..5 {
        put(&store, "/a", format!("{i}")).await?;
    }
    // A member without the others has no leader: it is skipped too.
    cluster.mend_clients(0);
    cluster.cut_clients(1);
    cluster.cut_clients(2);
    cluster.cut_peers(0);
    sleep(Duration::from_secs(3)).await;
    let alone = store.put("/a".into(), "x".into(), Expect::Anything).await;
    ensure!(matches!(alone, Err(Error::Unavailable { .. } | Error::Unknown { .. })), "{alone:?}");
    cluster.mend_clients(1);
    // A read finds the endpoint that works; a write to a cut one would end in doubt.
    store.health().await?;
    let written = put(&store, "/b", "y").await;
    written.context("two members are enough")?;
    Ok(())
}
