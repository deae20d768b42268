//! What clients see while the store fails underneath them is still linearizable, and watches keep
//! their nine guarantees. The long versions are in `soak.rs`.
#![allow(missing_docs, reason = "a test")]

use orlop_storage_suite::etcd_server::etcd_available;
use orlop_storage_suite::{chaos, engines};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn embedded_is_linearizable_through_power_failures() {
    for seed in 1..4 {
        chaos::power_failures(25, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn etcd_is_linearizable_while_members_fail() {
    if !etcd_available() {
        engines::assert_not_required();
        return;
    }
    chaos::failing_members(8, 1).await;
}
