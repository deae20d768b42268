//! Killing a process that writes, again and again, and looking for what it was promised.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use orlop_storage::embedded::Options;
use orlop_storage::{At, Embedded, Expect, KeyRange, RangeRequest, Revision, Store, Txn};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// How many tasks of the process write at the same time.
pub const WRITERS: u64 = 8;
/// How many keys each of them writes to.
const KEYS: u64 = 40;

/// A store whose segments and snapshots change many times a second.
#[must_use]
pub fn options(folder: &Path) -> Options {
    let mut options = Options::new(folder);
    options.segment_bytes = 1 << 20;
    options.snapshot_log_bytes = 1 << 20;
    options
}

/// What a writer does in a step: a put, or sometimes a delete, and always a note of the step.
#[must_use]
pub fn write(writer: u64, step: u64) -> Txn {
    let key = format!("/data/{writer}/{}", step % KEYS);
    let txn = Txn::new().put(format!("/step/{writer}"), step.to_string(), Expect::Anything);
    if step % 7 == 3 {
        return txn.delete(key, Expect::Anything);
    }
    let filler = "x".repeat(usize::try_from(step * 37 % 3000).expect("it is small"));
    txn.put(key, format!("{step} {filler}"), Expect::Anything)
}

/// What one life of the process was promised: each writer's last step and its revision.
type Promises = HashMap<u64, (u64, Revision)>;

/// Kills the process `kills` times, and checks the store after each; how many steps survived.
///
/// # Panics
/// If something that was acknowledged is missing, or something was invented.
pub async fn kill_loop(program: &Path, folder: &Path, kills: u64, seed: u64) -> u64 {
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut first = 0;
    let mut total = 0;
    for kill in 0..kills {
        let life = Duration::from_millis(random.random_range(5..120));
        let promises = live_and_die(program, folder, first, life);
        total += promises.values().map(|(step, _)| step + 1 - first).sum::<u64>();
        let last = check(folder, &promises, &format!("seed {seed}, kill {kill}")).await;
        first = last.map_or(first, |last| last + 1);
    }
    total
}

fn live_and_die(program: &Path, folder: &Path, first: u64, life: Duration) -> Promises {
    let mut process = Command::new(program)
        .arg(folder)
        .arg(first.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the writer starts");
    let output = process.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut promises = Promises::new();
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let numbers: Vec<u64> = line.split(' ').map_while(|word| word.parse().ok()).collect();
            // The last line may be cut off; whoever reads it was not told.
            if let [writer, step, revision] = numbers[..] {
                promises.insert(writer, (step, Revision(revision)));
            }
        }
        promises
    });
    std::thread::sleep(life);
    process.kill().expect("it still runs");
    process.wait().expect("it has ended");
    reader.join().expect("it only reads")
}

/// Everything promised is there and everything there was written; the last step of any writer.
async fn check(folder: &Path, promises: &Promises, what: &str) -> Option<u64> {
    let store = Embedded::open(options(folder)).unwrap_or_else(|e| panic!("{what}: {e}"));
    let revision = store.revision().await.expect("it is open");
    let mut last = None;
    for writer in 0..WRITERS {
        let key = format!("/step/{writer}");
        let note = store.get(key.as_bytes(), At::Latest).await.expect("it is open").record;
        let step: Option<u64> = note.map(|record| {
            std::str::from_utf8(record.value()).expect("a number").parse().expect("a number")
        });
        if let Some((promised, at)) = promises.get(&writer) {
            assert!(revision >= *at, "{what}: revision {at} was acknowledged, {revision} found");
            let step = step.unwrap_or_else(|| panic!("{what}: writer {writer} has no note"));
            assert!(step >= *promised, "{what}: writer {writer} was promised {promised}: {step}");
            assert!(step <= promised + 1, "{what}: writer {writer} never got to {step}");
        }
        if let Some(step) = step {
            check_data(&store, writer, step, what).await;
        }
        last = last.max(step);
    }
    last
}

/// The data of a writer is just what its steps so far make of it.
async fn check_data(store: &Embedded, writer: u64, last: u64, what: &str) {
    let prefix = format!("/data/{writer}/");
    let range = store.range(RangeRequest::new(KeyRange::prefix(prefix))).await;
    for record in range.expect("it is open").records {
        let key = String::from_utf8_lossy(record.key()).into_owned();
        let slot: u64 = key.rsplit('/').next().expect("a part").parse().expect("a number");
        let value = String::from_utf8_lossy(record.value()).into_owned();
        let step: u64 = value.split(' ').next().expect("a part").parse().expect("a number");
        assert!(step % KEYS == slot && step <= last, "{what}: {key} holds step {step} of {last}");
        let written = write(writer, step);
        let expect = Txn::new()
            .put(format!("/step/{writer}"), step.to_string(), Expect::Anything)
            .put(key.clone(), value, Expect::Anything);
        assert_eq!(written, expect, "{what}: {key} holds something else than was written");
    }
}
