//! Traffic on stores that fail underneath it, and the verdict of all checkers.

use std::sync::Arc;
use std::time::Duration;

use orlop_storage::{Etcd, EtcdOptions, Store};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::time::sleep;

use crate::etcd_server::EtcdCluster;
use crate::history;
use crate::restarting::Restarting;
use crate::traffic::Traffic;

/// Traffic on the embedded engine while its power fails `failures` times.
///
/// # Panics
/// If a checker finds fault with what the clients saw.
pub async fn power_failures(failures: u64, seed: u64) {
    println!("seed {seed}");
    let store = Arc::new(Restarting::new());
    let victim = store.clone();
    let chaos = tokio::task::spawn_blocking(move || {
        let mut random = StdRng::seed_from_u64(seed);
        for failure in 0..failures {
            std::thread::sleep(Duration::from_millis(random.random_range(5..60)));
            victim.fail_power(seed.wrapping_mul(1000) + failure);
        }
    });
    let operations = usize::try_from(failures * 400).expect("a small number");
    verdict(store, Traffic { operations, seed, ..Traffic::default() }).await;
    chaos.await.expect("the store starts after every failure");
}

/// Traffic on a cluster of three while members are killed, paused and cut off, `failures` times.
///
/// # Panics
/// If the cluster does not start, or a checker finds fault with what the clients saw.
pub async fn failing_members(failures: u64, seed: u64) {
    println!("seed {seed}");
    let mut cluster = EtcdCluster::start(3).expect("a cluster of three");
    let mut options = EtcdOptions::new(cluster.endpoints()).compact_every(None);
    options.request_timeout = Duration::from_secs(2);
    let store: Arc<dyn Store> = Arc::new(Etcd::connect(options).await.expect("a connection"));
    let chaos = tokio::task::spawn_blocking(move || {
        break_members(&mut cluster, failures, seed);
        cluster
    });
    let traffic = Traffic {
        operations: usize::try_from(failures * 200).expect("a small number"),
        compaction_interval: Some(Duration::from_millis(150)),
        time_max: Duration::from_secs(20 + failures * 4),
        seed,
        ..Traffic::default()
    };
    verdict(store, traffic).await;
    chaos.await.expect("every member comes back");
}

/// Kills, pauses and cuts off members of a cluster of three, `failures` times, one at a time.
///
/// # Panics
/// If a member does not come back.
pub fn break_members(cluster: &mut EtcdCluster, failures: u64, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..failures {
        std::thread::sleep(Duration::from_millis(random.random_range(200..800)));
        let member = random.random_range(0..3);
        let length = Duration::from_millis(random.random_range(300..1500));
        fail(cluster, member, random.random_range(0..4), length);
    }
}

/// One failure of one member, and its end.
fn fail(cluster: &mut EtcdCluster, member: usize, kind: u32, length: Duration) {
    let wait = || std::thread::sleep(length);
    match kind {
        0 => {
            cluster.kill(member).expect("the member runs");
            wait();
            cluster.restart(member).expect("the member starts again");
        }
        1 => {
            cluster.pause(member).expect("the member runs");
            wait();
            cluster.resume(member).expect("the member is paused");
        }
        2 => {
            cluster.cut_peers(member);
            wait();
            cluster.mend_peers(member);
        }
        _ => {
            cluster.cut_clients(member);
            wait();
            cluster.mend_clients(member);
        }
    }
}

async fn verdict(store: Arc<dyn Store>, traffic: Traffic) {
    let seed = traffic.seed;
    let history = traffic.run(store).await;
    // The checkers compute; the failures go on beside them.
    sleep(Duration::ZERO).await;
    let (calls, watches) = (history.calls.len(), history.watches.len());
    let events: usize = history.watches.iter().map(|watch| watch.events().count()).sum();
    println!("seed {seed}: {calls} calls, {watches} watches, {events} events");
    assert!(events > 0, "the traffic did not flow");
    if let Err(violation) = history::check(&history) {
        panic!("seed {seed}: {violation}");
    }
}
