//! Traffic like that of Kubernetes on every engine, and the verdict of all checkers.
//!
//! `TRAFFIC_SEED` repeats a run, as far as the scheduler allows; `TRAFFIC_OPERATIONS` makes it
//! longer.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a run is repeated by its seed, which is printed and read from the environment"
)]

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use orlop_storage::Store;
use orlop_storage_suite::traffic::Traffic;
use orlop_storage_suite::{engines, history};

fn from_environment<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs the traffic on a store and asks every checker about it.
fn check<Guard, Opened>(open: impl Fn() -> Opened, traffic: &Traffic)
where
    Opened: Future<Output = Option<(Arc<dyn Store>, Guard)>>,
{
    let seed = from_environment("TRAFFIC_SEED").unwrap_or_else(|| std::process::id().into());
    let operations = from_environment("TRAFFIC_OPERATIONS").unwrap_or(traffic.operations);
    let traffic = Traffic { seed, operations, ..traffic.clone() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let checked = runtime.expect("a runtime").block_on(async {
        let (store, guard) = open().await?;
        let history = traffic.run(store).await;
        drop(guard);
        let events: usize = history.watches.iter().map(|watch| watch.events().count()).sum();
        let (calls, watches) = (history.calls.len(), history.watches.len());
        println!("seed {seed}: {calls} calls, {watches} watches, {events} events");
        assert!(events > 0 && calls >= operations / 2, "the traffic did not flow");
        Some(history::check(&history))
    });
    match checked {
        None => engines::assert_not_required(),
        Some(Ok(_)) => {}
        Some(Err(violation)) => panic!("seed {seed}: {violation}"),
    }
}

/// A run in which everybody wants the same keys.
fn crowded() -> Traffic {
    let compaction_interval = Some(Duration::from_millis(3));
    Traffic { keys: 1, operations: 3000, compaction_interval, ..Traffic::default() }
}

#[test]
fn the_reference_is_linearizable() {
    check(engines::reference, &Traffic::default());
}

#[test]
fn memory_is_linearizable() {
    check(engines::memory, &Traffic { operations: 8000, ..Traffic::default() });
}

#[test]
fn memory_is_linearizable_when_all_want_the_same_keys() {
    check(engines::memory, &crowded());
}

#[test]
fn embedded_is_linearizable() {
    check(engines::embedded, &Traffic { operations: 8000, ..Traffic::default() });
}

#[test]
fn embedded_is_linearizable_when_all_want_the_same_keys() {
    check(engines::embedded, &crowded());
}

/// A watch that starts behind the newest revision waits up to 100 ms in etcd before it is served.
/// History that is given up more often than that would end every watch before its first event.
#[test]
fn etcd_is_linearizable() {
    let compaction_interval = Some(Duration::from_millis(250));
    check(engines::etcd, &Traffic { operations: 4000, compaction_interval, ..Traffic::default() });
}
