//! Random operations on every engine, held against the model.
//!
//! `PROPTEST_CASES` sets how many sequences are tried; a failure prints its shortest sequence
//! and the seed, which `PROPTEST_RNG_SEED` sets to see it again.

#![allow(
    clippy::disallowed_methods,
    reason = "how many sequences are tried is read from the environment"
)]

use std::sync::Arc;

use orlop_storage::Store;
use orlop_storage_suite::engines;
use orlop_storage_suite::random_ops::{check_against_model, sequences};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// Tries random sequences of operations, each on a store of its own.
fn check<Guard, Opened>(open: impl Fn() -> Opened, cases: u32)
where
    Opened: Future<Output = Option<(Arc<dyn Store>, Guard)>>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = wanted.unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed = match config.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => rand::random(),
    };
    let config = Config { rng_seed: RngSeed::Fixed(seed), ..config };
    let result = TestRunner::new(config).run(&sequences(60), |ops| {
        runtime.block_on(async {
            let Some((store, guard)) = open().await else {
                engines::assert_not_required();
                return Ok(());
            };
            let checked = check_against_model(store, &ops).await;
            drop(guard);
            checked.map_err(TestCaseError::fail)
        })
    });
    if let Err(failure) = result {
        panic!("PROPTEST_RNG_SEED={seed}: {failure}");
    }
}

#[test]
fn the_reference_answers_as_the_model() {
    check(engines::reference, 200);
}

#[test]
fn memory_answers_as_the_model() {
    check(engines::memory, 500);
}

#[test]
fn embedded_answers_as_the_model() {
    check(engines::embedded, 100);
}

#[test]
fn etcd_answers_as_the_model() {
    check(engines::etcd, 5);
}
