//! The store: a bare log (the limit), the embedded engine and etcd, on the same disk.

mod bare;
mod fan_out;
mod footprint;
mod load;
mod peer;
mod puts;
mod reads;

pub(crate) use self::footprint::open_here;

use std::time::Duration;

use orlop_storage::{Embedded, embedded};
use tokio::runtime::Runtime;

use crate::Options;
use crate::report::Report;

/// How many clients write at the same time.
const WRITERS: [usize; 3] = [1, 8, 64];
/// The bytes of a value.
const VALUE_BYTES: usize = 1024;

/// What a measurement needs.
pub(crate) struct Bench {
    options: Options,
    runtime: Runtime,
    report: Report,
}

impl Bench {
    /// How long one measurement of throughput takes.
    fn time(&self) -> Duration {
        Duration::from_secs(if self.options.quick { 3 } else { 6 })
    }

    /// How long the busiest load runs before anything is measured, so that the history has its
    /// full length and memory is used again: in a virtual machine the first touch of a page is
    /// served by the host and takes longer than anything here.
    fn warm_up_time(&self) -> Duration {
        Duration::from_secs(if self.options.quick { 4 } else { 8 })
    }

    /// How many keys the stores hold.
    fn key_counts(&self) -> &'static [usize] {
        if self.options.quick { &[10_000, 100_000] } else { &[10_000, 100_000, 1_000_000] }
    }

    fn wants(&self, part: &str) -> bool {
        part.contains(&self.options.only)
    }

    /// A new empty folder on the disk that is measured.
    fn folder(&self) -> anyhow::Result<tempfile::TempDir> {
        std::fs::create_dir_all(&self.options.folder)?;
        Ok(tempfile::tempdir_in(&self.options.folder)?)
    }
}

/// Runs all parts.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut bench = Bench { options: options.clone(), runtime, report: Report::default() };
    type Part = fn(&mut Bench) -> anyhow::Result<()>;
    let parts: [(&str, Part); 6] = [
        ("bare", bare::run),
        ("puts", puts::run),
        ("etcd", peer::run),
        ("reads", reads::run),
        ("watch", fan_out::run),
        ("footprint", footprint::run),
    ];
    for (name, part) in parts {
        if bench.wants(name) {
            println!("{name}");
            part(&mut bench)?;
        }
    }
    ratios(&mut bench);
    bench.report.finish("storage", options.json.as_deref())
}

/// What we aim for, as ratios within this run.
fn ratios(bench: &mut Bench) {
    println!("ratios");
    for writers in WRITERS {
        for keys in bench.key_counts() {
            let ours = format!("embedded {keys} keys, {writers} writers");
            let etcd = format!("etcd {keys} keys, {writers} writers");
            let report = &mut bench.report;
            let bare = format!("bare append, {writers} writers /s");
            report.ratio(&format!("{ours} to the bare loop"), &format!("{ours} /s"), &bare);
            let name = format!("{ours} to etcd, puts");
            report.ratio(&name, &format!("{ours} /s"), &format!("{etcd} /s"));
            let name = format!("{ours} to etcd, p99");
            report.ratio(&name, &format!("{ours} p99 ms"), &format!("{etcd} p99 ms"));
        }
    }
}

/// Opens the embedded engine as the product does.
fn open(folder: &std::path::Path) -> anyhow::Result<Embedded> {
    Ok(Embedded::open(embedded::Options::new(folder))?)
}
