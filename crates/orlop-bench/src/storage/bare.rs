//! The limit: a loop that appends and syncs, and does nothing else.
//!
//! `bare append` is what anybody would write: a file that grows. `bare prepared` writes into a file
//! that was filled with zeros before, past the page cache, which is the best this disk can do.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Instant;

use super::{Bench, VALUE_BYTES, WRITERS};
use crate::report::Run;

/// What a put takes in a log: its value, its key, its numbers.
const RECORD_BYTES: usize = VALUE_BYTES + 80;
const BLOCK: usize = 4096;
const PREPARED_BYTES: u64 = 1 << 30;

/// Measures both loops.
pub(crate) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let folder = bench.folder()?;
    for writers in WRITERS {
        let path = folder.path().join("append");
        let file = File::create(&path)?;
        let run = loop_over(bench, &file, &vec![7; writers * RECORD_BYTES], u64::MAX, writers)?;
        bench.report.add_run(&format!("bare append, {writers} writers"), &run);
        std::fs::remove_file(path)?;
    }
    let path = folder.path().join("prepared");
    prepare(&path)?;
    for writers in WRITERS {
        let direct = i32::try_from(rustix::fs::OFlags::DIRECT.bits())?;
        let file = OpenOptions::new().write(true).custom_flags(direct).open(&path)?;
        let length = (writers * RECORD_BYTES).next_multiple_of(BLOCK);
        let memory = vec![7; length + BLOCK];
        let start = memory.as_ptr().align_offset(BLOCK);
        let bytes = &memory[start..start + length];
        let run = loop_over(bench, &file, bytes, PREPARED_BYTES, writers)?;
        bench.report.add_run(&format!("bare prepared, {writers} writers"), &run);
    }
    Ok(())
}

fn loop_over(
    bench: &Bench,
    file: &File,
    bytes: &[u8],
    end: u64,
    writers: usize,
) -> anyhow::Result<Run> {
    let mut run = Run::new();
    run.per_latency = writers as u64;
    let mut offset = 0;
    let begin = Instant::now();
    while begin.elapsed() < bench.time() {
        let start = Instant::now();
        if offset + bytes.len() as u64 > end {
            offset = 0;
        }
        file.write_all_at(bytes, offset)?;
        file.sync_data()?;
        offset += bytes.len() as u64;
        run.record(start.elapsed());
    }
    run.elapsed = begin.elapsed();
    Ok(run)
}

fn prepare(path: &std::path::Path) -> anyhow::Result<()> {
    let file = File::create(path)?;
    let zeros = vec![0; 1 << 20];
    for offset in (0..PREPARED_BYTES).step_by(zeros.len()) {
        file.write_all_at(&zeros, offset)?;
    }
    Ok(file.sync_all()?)
}
