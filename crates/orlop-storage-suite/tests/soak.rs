//! The long versions of what the other tests do in seconds: `cargo xtask soak storage`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "a test")]

use std::path::Path;

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
