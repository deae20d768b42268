//! Keys and values like Kubernetes', and the loops that write them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use orlop_storage::{Expect, Store, Txn};
use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};

use super::VALUE_BYTES;
use crate::report::Run;

/// The key with this number, 44 bytes long.
pub(crate) fn key(number: usize) -> Bytes {
    let namespace = number % 97;
    Bytes::from(format!("/registry/configmaps/namespace-{namespace:03}/name-{number:08}"))
}

/// A value, half text and half noise.
pub(crate) fn value(random: &mut SmallRng) -> Bytes {
    let mut value = Vec::with_capacity(VALUE_BYTES);
    while value.len() < VALUE_BYTES / 2 {
        value.extend(br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"#);
    }
    value.resize(VALUE_BYTES, 0);
    random.fill_bytes(&mut value[VALUE_BYTES / 2..]);
    Bytes::from(value)
}

/// Creates the keys, many in a transaction.
pub(crate) async fn fill(store: &Arc<dyn Store>, keys: usize) -> anyhow::Result<()> {
    const LANES: usize = 8;
    let lanes = (0..LANES).map(|lane| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut random = SmallRng::seed_from_u64(lane as u64);
            let numbers: Vec<usize> = (lane..keys).step_by(LANES).collect();
            for some in numbers.chunks(100) {
                let txn = some.iter().fold(Txn::new(), |txn, number| {
                    txn.put(key(*number), value(&mut random), Expect::Anything)
                });
                store.commit(txn).await?;
            }
            anyhow::Ok(())
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await??;
    }
    Ok(())
}

/// Writers in closed loops, each updating random keys.
pub(crate) async fn write(
    store: &Arc<dyn Store>,
    keys: usize,
    writers: usize,
    time: Duration,
) -> anyhow::Result<Run> {
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut random = SmallRng::seed_from_u64(writer as u64);
                // Making noise is not what is measured.
                let values: Vec<Bytes> = (0..64).map(|_| value(&mut random)).collect();
                let mut run = Run::new();
                let begin = Instant::now();
                while begin.elapsed() < time {
                    let key = key(random.random_range(0..keys));
                    let value = values[random.random_range(0..values.len())].clone();
                    let start = Instant::now();
                    store.put(key, value, Expect::Anything).await?;
                    run.record(start.elapsed());
                }
                run.elapsed = begin.elapsed();
                anyhow::Ok(run)
            })
        })
        .collect();
    let mut all = Run::new();
    for task in tasks {
        all.merge(&task.await??);
    }
    Ok(all)
}
