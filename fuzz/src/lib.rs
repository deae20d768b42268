//! The library of the fuzz targets: what more than one of them needs.
//!
//! A target is a file in `targets/` and a `[[bin]]` in the manifest, with `test = false`,
//! `doc = false` and `bench = false`. It starts with a doc that says which law it checks, then
//! `#![no_main]`, then one `fuzz_target!` that never fails on bad input, only on a broken law.

pub mod expressions;
pub mod peers;
pub mod request;

use std::sync::Arc;

use orlop_kinds::catalog::{Entry, catalog};
use orlop_kinds::schema;
use orlop_machinery::{Value, decode, json};
use orlop_storage::embedded::disk::Disk;
use orlop_storage::embedded::maintenance;
use orlop_storage::{At, KeyRange, RangeRequest, Revision};
use orlop_storage_suite::sim_disk::SimDisk;

/// A store's folder with its FORMAT file and one more file.
pub fn folder_with(name: &str, bytes: &[u8]) -> SimDisk {
    let disk = SimDisk::new();
    // The checksum at the end is not looked at while fuzzing.
    let mut format = b"ORLOPSTR\x01\0\0\0".to_vec();
    format.resize(32, 0);
    disk.put("FORMAT", format);
    disk.put(name, bytes.to_vec());
    disk
}

/// Reads the folder: it is refused, or it can be read at every revision that is kept.
pub fn read(disk: SimDisk) {
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let Ok(image) = maintenance::load_from(&disk, &|_, _| {}) else { return };
    let (oldest, newest) = (image.compacted().0.max(1), image.revision().0);
    assert!(oldest <= newest);
    for revision in (oldest..=newest).rev().take(20) {
        let at = At::Revision(Revision(revision));
        let range = image.range(&RangeRequest::new(KeyRange::all()).at(at));
        let range = range.expect("a kept revision can be read");
        assert!(range.records.is_sorted_by(|left, right| left.key() < right.key()));
    }
}

/// Two texts in one input, with a zero byte between them.
pub fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (&bytes[..at], bytes.get(at + 1..).unwrap_or_default())
}

/// A kind that the input chooses with its first byte, and the rest of the input.
pub fn choose_kind(bytes: &[u8]) -> Option<(&'static Entry, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let entries: Vec<&Entry> = catalog().iter().collect();
    Some((entries[usize::from(*first) % entries.len()], rest))
}

/// An object of a kind, if the text is one.
pub fn object(entry: &Entry, text: &[u8]) -> Option<Value> {
    let mut value = json::parse(text).ok()?;
    value.as_map()?;
    value.set("apiVersion", entry.resource.api_version());
    value.set("kind", entry.resource.kind.clone());
    Some(decode::decode(schema(), entry.id, value).ok()?.object)
}
