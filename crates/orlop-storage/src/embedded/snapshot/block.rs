//! Blocks: some hundred records, compressed together.

use std::time::Duration;

use super::super::checksum;
use super::super::entry::{Reader, millis};
use crate::state::{Lease, Superseded};
use crate::{LeaseId, Record, Revision};

/// The bytes before the compressed data of a block.
pub(super) const BLOCK_HEAD: usize = 20;
/// Blocks are closed when they have this many bytes before compression.
pub(super) const RAW_BYTES: usize = 128 << 10;

/// No block is larger than this before compression: one record of the largest size and a full
/// block before it.
const RAW_BYTES_MAX: usize = 64 << 20;

/// What the items of a block are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Current = 1,
    Superseded = 2,
    Leases = 3,
}

impl Kind {
    pub(super) fn from_number(number: u32) -> Option<Self> {
        [Self::Current, Self::Superseded, Self::Leases]
            .into_iter()
            .find(|kind| *kind as u32 == number)
    }
}

/// A block under construction.
pub(super) struct BlockBuilder {
    kind: Kind,
    raw: Vec<u8>,
    count: u32,
}

impl BlockBuilder {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, raw: Vec::with_capacity(RAW_BYTES + (16 << 10)), count: 0 }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn is_full(&self) -> bool {
        self.raw.len() >= RAW_BYTES
    }

    pub(super) fn push_record(&mut self, record: &Record) {
        self.count += 1;
        let number = |length: usize| u32::try_from(length).expect("a transaction is bounded");
        self.raw.extend(record.created().0.to_le_bytes());
        self.raw.extend(record.modified().0.to_le_bytes());
        self.raw.extend(LeaseId::number(record.lease()).to_le_bytes());
        self.raw.extend(number(record.key().len()).to_le_bytes());
        self.raw.extend(record.key());
        self.raw.extend(number(record.value().len()).to_le_bytes());
        self.raw.extend(record.value());
    }

    pub(super) fn push_superseded(&mut self, old: &Superseded) {
        self.raw.extend(old.until.0.to_le_bytes());
        self.push_record(&old.record);
    }

    pub(super) fn push_lease(&mut self, lease: &Lease) {
        self.count += 1;
        self.raw.extend(lease.id.0.get().to_le_bytes());
        self.raw.extend(millis(lease.deadline).to_le_bytes());
    }

    /// The block as it stands in the file; the builder is empty then.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let data = lz4_flex::block::compress(&self.raw);
        let number = |length: usize| u32::try_from(length).expect("a block is bounded");
        let mut block = Vec::with_capacity(BLOCK_HEAD + data.len());
        block.extend((self.kind as u32).to_le_bytes());
        block.extend(self.count.to_le_bytes());
        block.extend(number(self.raw.len()).to_le_bytes());
        block.extend(number(data.len()).to_le_bytes());
        let sum = checksum::of(&[&block, &data]);
        block.extend(sum.to_le_bytes());
        block.extend(data);
        self.raw.clear();
        self.count = 0;
        block
    }
}

/// The items of a block.
pub(super) enum Items {
    Current(Vec<Record>),
    Superseded(Vec<Superseded>),
    Leases(Vec<Lease>),
}

/// Reads a block as it stands in the file.
pub(super) fn parse(block: &[u8]) -> Result<Items, &'static str> {
    let mut reader = Reader(block);
    let kind = Kind::from_number(reader.u32()?).ok_or("an unknown kind of block")?;
    let count = reader.u32()?;
    let raw_length = reader.u32()? as usize;
    let data_length = reader.u32()? as usize;
    let sum = reader.u32()?;
    let data = reader.take(data_length)?;
    if !reader.0.is_empty() || !checksum::is_right(sum, &[&block[..16], data]) {
        return Err("the checksum of a block is wrong");
    }
    if raw_length > RAW_BYTES_MAX {
        return Err("a block that is too large");
    }
    let raw = lz4_flex::block::decompress(data, raw_length).map_err(|_| "a garbled block")?;
    if raw.len() != raw_length {
        return Err("a block of another length");
    }
    let mut rest = Reader(&raw);
    let items = match kind {
        Kind::Current => Items::Current(all(&mut rest, count, record)?),
        Kind::Superseded => Items::Superseded(all(&mut rest, count, superseded)?),
        Kind::Leases => Items::Leases(all(&mut rest, count, lease)?),
    };
    if rest.0.is_empty() { Ok(items) } else { Err("more bytes than items in a block") }
}

fn all<T>(
    rest: &mut Reader<'_>,
    count: u32,
    one: fn(&mut Reader<'_>) -> Result<T, &'static str>,
) -> Result<Vec<T>, &'static str> {
    (0..count).map(|_| one(rest)).collect()
}

fn record(rest: &mut Reader<'_>) -> Result<Record, &'static str> {
    let created = Revision(rest.u64()?);
    let modified = Revision(rest.u64()?);
    let lease = LeaseId::from_number(rest.u64()?);
    if created > modified || created == Revision::ZERO {
        return Err("a record with impossible revisions");
    }
    let key = rest.bytes()?;
    Ok(Record::new(key, rest.bytes()?, created, modified, lease))
}

fn superseded(rest: &mut Reader<'_>) -> Result<Superseded, &'static str> {
    let until = Revision(rest.u64()?);
    let record = record(rest)?;
    if until <= record.modified() {
        return Err("a version that ended before it began");
    }
    Ok(Superseded { record, until })
}

fn lease(rest: &mut Reader<'_>) -> Result<Lease, &'static str> {
    let id = LeaseId::from_number(rest.u64()?).ok_or("a lease without a number")?;
    Ok(Lease { id, deadline: Duration::from_millis(rest.u64()?) })
}
