//! The long versions of what the other tests do in seconds: `cargo xtask soak storage`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "a test")]

use std::path::Path;

use orlop_storage_suite::chaos;
use orlop_storage_suite::kill_loop::kill_loop;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap())
}

#[tokio::test]
#[ignore = "takes minutes: cargo xtask soak storage"]
async fn hundreds_of_kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_crash-writer"));
    let kills = number("ORLOP_SOAK_KILLS", 200);
    let steps = kill_loop(program, folder.path(), kills, number("ORLOP_SOAK_SEED", 7)).await;
    println!("{kills} kills, {steps} acknowledged transactions, none lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask soak storage"]
async fn hundreds_of_power_failures_are_linearizable() {
    let kills = number("ORLOP_SOAK_KILLS", 200);
    for round in 0..kills.div_ceil(50) {
        chaos::power_failures(50, number("ORLOP_SOAK_SEED", 7) + round).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask soak storage"]
async fn many_failing_members_are_linearizable() {
    let kills = number("ORLOP_SOAK_KILLS", 200);
    for round in 0..kills.div_ceil(50) {
        chaos::failing_members(12, number("ORLOP_SOAK_SEED", 7) + round).await;
    }
}
