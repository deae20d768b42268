//! Reading a snapshot, with all cores.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::checksum;
use super::super::disk::{self, DiskFile};
use super::super::entry::Reader;
use super::super::identity::VERSION;
use super::block::{self, BLOCK_HEAD, Items};
use super::{END_LENGTH, HEAD_LENGTH, Head, MAGIC_END, MAGIC_HEAD};
use crate::state::{Lease, State, Superseded};
use crate::{Record, Revision};

/// What is wrong with a snapshot.
#[derive(Debug)]
pub(in super::super) enum SnapshotError {
    Io(io::Error),
    Newer(u32),
    Damaged { offset: u64, what: &'static str },
}

/// A snapshot whose head, end and index are good.
pub(in super::super) struct SnapshotReader<'a> {
    file: &'a dyn DiskFile,
    pub(in super::super) head: Head,
    pub(in super::super) bytes: u64,
    /// Offset and length of each block.
    blocks: Vec<(u64, usize)>,
}

/// Everything in a snapshot.
pub(in super::super) struct Contents {
    pub(in super::super) head: Head,
    pub(in super::super) current: Vec<Record>,
    pub(in super::super) superseded: Vec<Superseded>,
    pub(in super::super) leases: Vec<Lease>,
}

/// Reads the whole snapshot; `progress` is told of blocks done and all blocks.
pub(in super::super) fn read(
    file: &dyn DiskFile,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<(Contents, u64), SnapshotError> {
    let reader = SnapshotReader::open(file)?;
    let bytes = reader.bytes;
    Ok((reader.contents(progress)?, bytes))
}

impl<'a> SnapshotReader<'a> {
    pub(in super::super) fn open(file: &'a dyn DiskFile) -> Result<Self, SnapshotError> {
        let bytes = file.length().map_err(SnapshotError::Io)?;
        let start = disk::read(file, 0, HEAD_LENGTH).map_err(SnapshotError::Io)?;
        let head = parse_head(&start)?;
        let damaged = |offset, what| SnapshotError::Damaged { offset, what };
        let end_at = bytes
            .checked_sub(END_LENGTH as u64)
            .filter(|at| *at >= HEAD_LENGTH as u64)
            .ok_or(damaged(bytes, "the file is cut off"))?;
        let end = disk::read(file, end_at, END_LENGTH).map_err(SnapshotError::Io)?;
        let (index_length, index_sum) = parse_end(&end).map_err(|what| damaged(end_at, what))?;
        let index_at = end_at
            .checked_sub(index_length)
            .filter(|at| *at >= HEAD_LENGTH as u64)
            .ok_or(damaged(end_at, "an index that is longer than the file"))?;
        let index_length = usize::try_from(index_length).unwrap_or(usize::MAX);
        let index = disk::read(file, index_at, index_length).map_err(SnapshotError::Io)?;
        if !checksum::is_right(index_sum, &[&index]) {
            return Err(damaged(index_at, "the checksum of the index is wrong"));
        }
        let blocks = parse_index(&index, index_at).map_err(|what| damaged(index_at, what))?;
        Ok(Self { file, head, bytes, blocks })
    }

    fn contents(&self, progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Contents, SnapshotError> {
        let next = AtomicUsize::new(0);
        let parsed: Mutex<Vec<Option<Items>>> = Mutex::default();
        lock(&parsed).resize_with(self.blocks.len(), || None);
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let work = || -> Result<(), SnapshotError> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(offset, length)) = self.blocks.get(number) else {
                    return Ok(());
                };
                let items = self.block(offset, length).inspect_err(|_| {
                    next.store(self.blocks.len(), Ordering::Relaxed);
                })?;
                lock(&parsed)[number] = Some(items);
                progress(number as u64 + 1, self.blocks.len() as u64);
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
            let here = work();
            workers.into_iter().fold(here, |result, worker| {
                result.and(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })
        })?;
        let items = std::mem::take(&mut *lock(&parsed)).into_iter().flatten();
        self.assemble(items)
    }

    fn block(&self, offset: u64, length: usize) -> Result<Items, SnapshotError> {
        let bytes = disk::read(self.file, offset, length).map_err(SnapshotError::Io)?;
        block::parse(&bytes).map_err(|what| SnapshotError::Damaged { offset, what })
    }

    /// Puts the blocks together and checks what holds between them.
    fn assemble(&self, items: impl Iterator<Item = Items>) -> Result<Contents, SnapshotError> {
        let Head { revision, compacted, .. } = self.head;
        let mut contents = Contents {
            head: self.head,
            current: Vec::new(),
            superseded: Vec::new(),
            leases: Vec::new(),
        };
        for items in items {
            match items {
                Items::Current(mut records) => contents.current.append(&mut records),
                Items::Superseded(mut old) => contents.superseded.append(&mut old),
                Items::Leases(mut leases) => contents.leases.append(&mut leases),
            }
        }
        let damaged = |what| Err(SnapshotError::Damaged { offset: HEAD_LENGTH as u64, what });
        if !contents.current.is_sorted_by(|left, right| left.key() < right.key()) {
            return damaged("records out of order");
        }
        if !contents.superseded.is_sorted_by_key(|old| old.until) {
            return damaged("versions out of order");
        }
        let in_time = |modified: Revision| modified <= revision;
        if !contents.current.iter().all(|record| in_time(record.modified()))
            || !contents.superseded.iter().all(|old| in_time(old.until) && old.until > compacted)
        {
            return damaged("a record from another time");
        }
        Ok(contents)
    }
}

impl Contents {
    /// The state that the snapshot describes.
    pub(in super::super) fn into_state(self) -> State {
        let Head { revision, compacted, .. } = self.head;
        let mut state = State::restore(revision, compacted, self.current, &self.superseded);
        for lease in self.leases {
            state.grant(lease);
        }
        state
    }
}

fn parse_head(bytes: &[u8]) -> Result<Head, SnapshotError> {
    let damaged = |what| SnapshotError::Damaged { offset: 0, what };
    let mut reader = Reader(bytes);
    let head = (|| {
        if reader.take(8)? != MAGIC_HEAD {
            return Err("this is not a snapshot");
        }
        let version = reader.u32()?;
        let batch = reader.u64()?;
        let revision = Revision(reader.u64()?);
        let compacted = Revision(reader.u64()?);
        let intact = checksum::is_right(reader.u32()?, &[&bytes[..HEAD_LENGTH - 4]]);
        Ok((version, intact, Head { batch, revision, compacted }))
    })();
    let (version, intact, head) = head.map_err(damaged)?;
    if version > VERSION {
        return Err(SnapshotError::Newer(version));
    }
    if !intact || head.compacted > head.revision || head.revision == Revision::ZERO {
        return Err(damaged("the checksum of the head is wrong"));
    }
    Ok(head)
}

fn parse_end(bytes: &[u8]) -> Result<(u64, u32), &'static str> {
    let mut reader = Reader(bytes);
    let (index_length, index_sum) = (reader.u64()?, reader.u32()?);
    let intact = checksum::is_right(reader.u32()?, &[&bytes[..12]]);
    if !intact || reader.0 != MAGIC_END {
        return Err("the end of the file is not that of a snapshot");
    }
    Ok((index_length, index_sum))
}

fn parse_index(index: &[u8], index_at: u64) -> Result<Vec<(u64, usize)>, &'static str> {
    let mut reader = Reader(index);
    let mut blocks = Vec::with_capacity(index.len() / 16);
    let mut expected = HEAD_LENGTH as u64;
    while !reader.0.is_empty() {
        let (offset, length) = (reader.u64()?, reader.u64()?);
        let fits = length >= BLOCK_HEAD as u64 && length <= index_at.saturating_sub(offset);
        if offset != expected || !fits {
            return Err("an index that does not fit the blocks");
        }
        expected += length;
        blocks.push((offset, usize::try_from(length).map_err(|_| "a block that is too large")?));
    }
    if expected != index_at {
        return Err("an index that does not fit the blocks");
    }
    Ok(blocks)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
