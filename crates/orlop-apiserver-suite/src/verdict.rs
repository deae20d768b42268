//! Traffic over the API of one or several servers, and the verdict of all checkers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use orlop_storage::{Outcome, Store};
use orlop_storage_suite::chaos;
use orlop_storage_suite::etcd_server::EtcdCluster;
use orlop_storage_suite::history::{self, Answer, Call, WatchLog};
use orlop_storage_suite::traffic::{KINDS, Traffic};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::api_server::ApiServer;
use crate::api_store::{ApiStore, Notes};
use crate::complete::complete;

/// What there was to judge.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// Calls of all clients.
    pub calls: usize,
    /// Those that changed something, as far as the clients know.
    pub written: usize,
    /// Watches of all clients, each resumed one counted again.
    pub watches: usize,
    /// Events of all watches.
    pub events: usize,
}

/// Stores over the API of these servers, for one history.
///
/// # Errors
/// When a server does not answer.
pub async fn stores(servers: &[&ApiServer]) -> Result<(Vec<Arc<dyn Store>>, Arc<Notes>)> {
    let notes = Arc::new(Notes::default());
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let store = ApiStore::new(Arc::new(server.client()?), notes.clone());
        if index == 0 {
            let namespace = |kind: &&'static str| kind.rsplit('/').nth(1).expect("they end so");
            let namespaces: Vec<&str> = KINDS.iter().map(namespace).collect();
            store.prepare(&namespaces).await?;
        }
        stores.push(Arc::new(store));
    }
    Ok((stores, notes))
}

/// Runs traffic over these stores and judges what its clients were told.
///
/// # Errors
/// The first promise that was not kept, or that nothing was there to judge.
pub async fn judge(traffic: &Traffic, stores: &[Arc<dyn Store>], notes: &Notes) -> Result<Judged> {
    let recorded = traffic.run_on(stores).await;
    let history = complete(&recorded, notes);
    let is_written =
        |call: &&Call| matches!(call.answer, Answer::Outcome(Outcome::Committed { .. }));
    let judged = Judged {
        calls: history.calls.len(),
        written: history.calls.iter().filter(is_written).count(),
        watches: history.watches.len(),
        events: history.watches.iter().flat_map(WatchLog::events).count(),
    };
    println!("seed {}: {judged:?}", traffic.seed);
    anyhow::ensure!(
        judged.events > 0 && judged.written > traffic.operations / 50,
        "the traffic did not flow"
    );
    let checked = history::check(&history).map_err(|violation| anyhow::anyhow!("{violation}"));
    checked.with_context(|| format!("seed {}", traffic.seed))?;
    Ok(judged)
}

/// The traffic that can be had over the API: no compaction, and one key at a time.
#[must_use]
pub fn traffic(seed: u64) -> Traffic {
    Traffic {
        operations: 1000,
        compaction_interval: None,
        writes_pairs: false,
        seed,
        ..Traffic::default()
    }
}

/// Traffic on a server with a store in a folder that is killed, and started again, `kills` times.
///
/// # Errors
/// As [`judge`], and when the server does not start again.
pub async fn killed(program: &Path, kills: u32, seed: u64) -> Result<Judged> {
    println!("seed {seed}");
    let folder = tempfile::tempdir()?;
    let mut server = ApiServer::up(program, folder.path())?;
    let (stores, notes) = stores(&[&server]).await?;
    let killing = tokio::task::spawn_blocking(move || {
        let mut random = StdRng::seed_from_u64(seed);
        for _ in 0..kills {
            std::thread::sleep(Duration::from_millis(random.random_range(50..600)));
            server.kill()?;
            server.start()?;
        }
        anyhow::Ok(server)
    });
    let traffic = Traffic {
        operations: OPERATIONS_PER_KILL * kills as usize,
        time_max: Duration::from_secs(30 + 5 * u64::from(kills)),
        ..traffic(seed)
    };
    let judged = judge(&traffic, &stores, &notes).await?;
    killing.await??;
    Ok(judged)
}

/// Traffic on three servers, each on all members of an etcd cluster of three that are killed,
/// paused and cut off, `failures` times.
///
/// # Errors
/// As [`judge`], and when something does not start.
pub async fn failing_etcd(program: &Path, failures: u32, seed: u64) -> Result<Judged> {
    println!("seed {seed}");
    let mut cluster = EtcdCluster::start(3)?;
    let start = || ApiServer::on_etcd(program, &cluster.endpoints(), &[]);
    let servers = [start()?, start()?, start()?];
    let (stores, notes) = stores(&servers.each_ref()).await?;
    let breaking = tokio::task::spawn_blocking(move || {
        chaos::break_members(&mut cluster, failures.into(), seed);
        cluster
    });
    let traffic = Traffic {
        operations: OPERATIONS_PER_FAILURE * failures as usize,
        time_max: Duration::from_secs(30 + 10 * u64::from(failures)),
        ..traffic(seed)
    };
    let judged = judge(&traffic, &stores, &notes).await?;
    breaking.await?;
    Ok(judged)
}

/// Enough to go on until a member has failed and is back.
const OPERATIONS_PER_FAILURE: usize = 300;
/// Enough to go on until the server was killed and is back.
const OPERATIONS_PER_KILL: usize = 1200;
