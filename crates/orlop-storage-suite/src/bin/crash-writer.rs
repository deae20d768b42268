//! Writes to a store as fast as it can until somebody kills it, and tells what was acknowledged.
//!
//! Each line on standard output is `WRITER STEP REVISION`, printed after the acknowledgement.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test program"
)]

use std::path::Path;
use std::sync::Arc;

use orlop_storage::{Embedded, Store};
use orlop_storage_suite::kill_loop::{WRITERS, options, write};

#[tokio::main]
async fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let first: u64 = std::env::args().nth(2).expect("the first step").parse().unwrap();
    let store = Arc::new(Embedded::open(options(Path::new(&folder))).unwrap());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for step in first.. {
                    let outcome = store.commit(write(writer, step)).await.unwrap();
                    println!("{writer} {step} {}", outcome.committed().unwrap());
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}
