//! Snapshots: the whole state in one file.
//!
//! A file is a head, blocks of records, an index of the blocks and an end, each with a checksum.
//! Blocks stand for themselves, so they are written one after the other while the server works, and
//! read by all cores at once. The same file is a backup. `docs/storage-format.md` has it byte by
//! byte.

mod block;
mod reader;
mod writer;

pub(super) use self::reader::{SnapshotError, read};
pub(super) use self::writer::write;
use crate::Revision;

const MAGIC_HEAD: [u8; 8] = *b"ORLOPSNP";
const MAGIC_END: [u8; 8] = *b"PNSPOLRO";
const HEAD_LENGTH: usize = 40;
const END_LENGTH: usize = 24;

/// What a snapshot says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The last batch of the log that is in it.
    pub(super) batch: u64,
    pub(super) revision: Revision,
    pub(super) compacted: Revision,
}
