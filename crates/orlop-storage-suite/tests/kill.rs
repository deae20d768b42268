//! Killing a real process under concurrent writers: nothing acknowledged is lost.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::path::Path;

use orlop_storage_suite::kill_loop::kill_loop;

#[tokio::test]
async fn kill_minus_nine_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_crash-writer"));
    let steps = kill_loop(program, folder.path(), 15, 1).await;
    assert!(steps > 100, "the writers got somewhere: {steps} steps");
}
