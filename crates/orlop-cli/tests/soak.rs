//! The long versions of what the other tests do in seconds: `cargo xtask soak apiserver`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "a test")]

use std::path::Path;

use anyhow::Result;
use orlop_apiserver_suite::verdict;

const PROGRAM: &str = env!("CARGO_BIN_EXE_orlop");
/// More would make one history that takes long to judge.
const KILLS_PER_RUN: u64 = 10;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask soak apiserver"]
async fn hundreds_of_kills_lose_nothing() -> Result<()> {
    let program = Path::new(PROGRAM);
    let (mut left, mut seed) = (number("ORLOP_SOAK_KILLS", 200), number("ORLOP_SOAK_SEED", 7));
    while left > 0 {
        let kills = left.min(KILLS_PER_RUN);
        verdict::killed(program, u32::try_from(kills)?, seed).await?;
        (left, seed) = (left - kills, seed + 1);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask soak apiserver"]
async fn many_failing_members_of_etcd_are_linearizable() -> Result<()> {
    let (kills, seed) = (number("ORLOP_SOAK_KILLS", 200), number("ORLOP_SOAK_SEED", 7));
    for round in 0..kills.div_ceil(KILLS_PER_RUN) {
        verdict::failing_etcd(Path::new(PROGRAM), 10, seed + round).await?;
    }
    Ok(())
}
