//! Many clients over HTTPS at once, on servers that fail or are several, and the verdict of the
//! checkers that judge the store: reads, writes and watches are as if there were one server that
//! does one thing after the other.
//!
//! `TRAFFIC_SEED` repeats a run, as far as the scheduler allows.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "a test")]

use std::path::Path;

use anyhow::Result;
use orlop_apiserver_suite::{ApiServer, verdict};
use orlop_storage_suite::engines;
use orlop_storage_suite::etcd_server::EtcdServer;

const PROGRAM: &str = env!("CARGO_BIN_EXE_orlop");

fn seed() -> u64 {
    let given = std::env::var("TRAFFIC_SEED").ok();
    given.map_or_else(|| std::process::id().into(), |seed| seed.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_server_is_linearizable() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let server = ApiServer::up(Path::new(PROGRAM), folder.path())?;
    let (stores, notes) = verdict::stores(&[&server]).await?;
    verdict::judge(&verdict::traffic(seed()), &stores, &notes).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_servers_on_one_etcd_are_linearizable() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    let etcd = EtcdServer::start()?;
    let start = || ApiServer::on_etcd(Path::new(PROGRAM), &[etcd.endpoint().to_owned()], &[]);
    let servers = [start()?, start()?, start()?];
    let (stores, notes) = verdict::stores(&servers.each_ref()).await?;
    verdict::judge(&verdict::traffic(seed()), &stores, &notes).await?;
    Ok(())
}

/// What was acknowledged is there after each kill, with its resource version, and who watches
/// across it misses nothing and is told nothing twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_under_load_loses_nothing() -> Result<()> {
    verdict::killed(Path::new(PROGRAM), 4, seed()).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_servers_are_linearizable_while_members_of_etcd_fail() -> Result<()> {
    if engines::is_etcd_missing() {
        return Ok(());
    }
    verdict::failing_etcd(Path::new(PROGRAM), 3, seed()).await?;
    Ok(())
}
