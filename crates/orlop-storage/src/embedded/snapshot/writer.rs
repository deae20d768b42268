//! Writing a snapshot beside a server at work.

use std::io;

use super::super::checksum;
use super::super::disk::{self, DiskFile};
use super::super::identity::VERSION;
use super::block::{BlockBuilder, Kind};
use super::{END_LENGTH, HEAD_LENGTH, Head, MAGIC_END, MAGIC_HEAD};
use crate::state::State;

/// How much is written between syncs: little enough that the log's own syncs do not wait.
const SYNC_BYTES: u64 = 4 << 20;

/// What was written.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Written {
    pub(in super::super) bytes: u64,
}

/// Writes `state`, which contains the log up to `batch`, to an empty file and syncs it.
///
/// `pause` is called after each block; an error from it ends the writing.
pub(in super::super) fn write(
    file: &dyn DiskFile,
    state: &State,
    batch: u64,
    pause: &mut dyn FnMut(u64, u64) -> io::Result<()>,
) -> io::Result<Written> {
    let head = Head { batch, revision: state.revision(), compacted: state.compacted() };
    let total = state.current().len() as u64;
    let mut out = Output { file, offset: 0, synced: 0, index: Vec::new(), items: 0, total, pause };
    out.put(&encode_head(&head))?;
    let mut block = BlockBuilder::new(Kind::Current);
    for record in state.current().iter() {
        block.push_record(record);
        out.block_if_full(&mut block)?;
    }
    out.block(&mut block)?;
    let mut block = BlockBuilder::new(Kind::Superseded);
    for old in state.superseded() {
        block.push_superseded(&old);
        out.block_if_full(&mut block)?;
    }
    out.block(&mut block)?;
    let mut block = BlockBuilder::new(Kind::Leases);
    for lease in state.leases() {
        block.push_lease(lease);
        out.block_if_full(&mut block)?;
    }
    out.block(&mut block)?;
    out.end()
}

struct Output<'a> {
    file: &'a dyn DiskFile,
    offset: u64,
    synced: u64,
    /// Offset and length of each block.
    index: Vec<u8>,
    items: u64,
    total: u64,
    pause: &'a mut dyn FnMut(u64, u64) -> io::Result<()>,
}

impl Output<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        disk::write_all(self.file, self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        if self.offset - self.synced > SYNC_BYTES {
            self.file.sync()?;
            self.synced = self.offset;
        }
        Ok(())
    }

    fn block_if_full(&mut self, block: &mut BlockBuilder) -> io::Result<()> {
        if block.is_full() { self.block(block) } else { Ok(()) }
    }

    fn block(&mut self, block: &mut BlockBuilder) -> io::Result<()> {
        if block.count() == 0 {
            return Ok(());
        }
        if block.kind() == Kind::Current {
            self.items += u64::from(block.count());
        }
        let bytes = block.finish();
        self.index.extend(self.offset.to_le_bytes());
        self.index.extend((bytes.len() as u64).to_le_bytes());
        self.put(&bytes)?;
        (self.pause)(self.items, self.total)
    }

    fn end(mut self) -> io::Result<Written> {
        let index = std::mem::take(&mut self.index);
        let mut end = Vec::with_capacity(END_LENGTH);
        end.extend((index.len() as u64).to_le_bytes());
        end.extend(checksum::of(&[&index]).to_le_bytes());
        end.extend(checksum::of(&[&end]).to_le_bytes());
        end.extend(MAGIC_END);
        self.put(&index)?;
        self.put(&end)?;
        self.file.sync()?;
        Ok(Written { bytes: self.offset })
    }
}

fn encode_head(head: &Head) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_LENGTH);
    bytes.extend(MAGIC_HEAD);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(head.batch.to_le_bytes());
    bytes.extend(head.revision.0.to_le_bytes());
    bytes.extend(head.compacted.0.to_le_bytes());
    bytes.extend(checksum::of(&[&bytes]).to_le_bytes());
    bytes
}
