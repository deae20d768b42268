//! The ports of nodes: which are in use, and by whom.
//!
//! After `pkg/registry/core/service/portallocator` and `.../allocator/bitmap.go`. Upstream keeps
//! one bitmap in one record, which all writers fight for; here a record holds a block of
//! [`BLOCK_PORTS`] ports with their owners, so that writers meet seldom, and a service with all
//! ports of the default range still fits one transaction. Nothing is written here: an operation
//! ends in writes for the transaction of its service. What is given back is free only when that
//! is committed.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use orlop_machinery::status::Status;
use orlop_machinery::{Map, Str, Value, json};
use orlop_storage::{Action, At, Expect, Record, Revision, Store, Write};

use crate::definition::REGISTRY;
use crate::random::random_number;
use crate::store_failure::store_failure;

/// How many ports one record holds.
const BLOCK_PORTS: u16 = 32;
/// Under `/registry/`.
const PREFIX: &str = "ranges/servicenodeports/";
/// Where a dry run begins to make up ports.
const DRY_RUN_FIRST: i64 = 32769;
/// Bounds of what is kept for those who ask by number, and its share of the range.
const RESERVED_MIN: u16 = 16;
const RESERVED_MAX: u16 = 128;
const RESERVED_SHARE: u16 = 32;

/// The ports of nodes that services may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodePortRange {
    /// The first one.
    pub first: u16,
    /// The last one.
    pub last: u16,
}

/// Why a service does not get a port.
#[derive(Debug, thiserror::Error)]
pub(super) enum PortError {
    #[error("range is full")]
    Full,
    #[error("provided port is already allocated")]
    Allocated,
    #[error(
        "provided port is not in the valid range. The range of valid ports is {range}",
        range = .0
    )]
    NotInRange(NodePortRange),
    #[error("{0}")]
    Failed(Status),
}

/// The ports that one write of a service takes and gives back.
pub(super) struct PortOperation<'a> {
    store: &'a dyn Store,
    range: NodePortRange,
    /// `namespace/name` of the service.
    owner: String,
    is_dry_run: bool,
    /// What was read, with what is taken.
    blocks: BTreeMap<u16, Block>,
    /// In a dry run, what would be taken.
    pretended: Vec<i64>,
    released: Vec<u16>,
}

/// The record of some ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// None for a record that does not exist.
    pub(super) revision: Option<Revision>,
    /// Who has them, as `namespace/name`.
    pub(super) owners: BTreeMap<u16, Str>,
    is_changed: bool,
}

impl<'a> PortOperation<'a> {
    /// For one write of a service.
    pub(super) fn new(
        store: &'a dyn Store,
        range: NodePortRange,
        owner: String,
        is_dry_run: bool,
    ) -> PortOperation<'a> {
        let (blocks, pretended, released) = (BTreeMap::new(), Vec::new(), Vec::new());
        PortOperation { store, range, owner, is_dry_run, blocks, pretended, released }
    }

    /// Takes a port that the service asks for.
    pub(super) async fn allocate(&mut self, wanted: i64) -> Result<(), PortError> {
        let port = u16::try_from(wanted).ok().filter(|port| self.range.contains(*port));
        let Some(port) = port else {
            // A dry run does not look: nothing outside of the range is in use.
            return if self.is_dry_run { Ok(()) } else { Err(PortError::NotInRange(self.range)) };
        };
        if self.pretended.contains(&wanted) || self.is_used(port).await? {
            return Err(PortError::Allocated);
        }
        if self.is_dry_run {
            self.pretended.push(wanted);
        } else {
            self.take(port);
        }
        Ok(())
    }

    /// Takes any port that is free.
    pub(super) async fn allocate_next(&mut self) -> Result<i64, PortError> {
        if self.is_dry_run {
            let last = self.pretended.iter().max().copied();
            let port = last.map_or(DRY_RUN_FIRST, |last| last.saturating_add(1));
            self.pretended.push(port);
            return Ok(port);
        }
        let random = random_number().map_err(PortError::Failed)?;
        for (first, count) in self.range.bands() {
            let start = random.checked_rem(count.into()).unwrap_or(0);
            for step in 0..u64::from(count) {
                let offset = (start + step) % u64::from(count);
                let port = first.saturating_add(u16::try_from(offset).unwrap_or(u16::MAX));
                if !self.is_used(port).await? {
                    self.take(port);
                    return Ok(port.into());
                }
            }
        }
        Err(PortError::Full)
    }

    /// Gives a port back that the service has. Nobody gets it in the same operation.
    pub(super) fn release(&mut self, port: i64) {
        if let Some(port) = u16::try_from(port).ok().filter(|port| *port != 0) {
            self.released.push(port);
        }
    }

    /// What the transaction has to write.
    pub(super) async fn into_writes(mut self) -> Result<Vec<Write>, Status> {
        if self.is_dry_run {
            return Ok(Vec::new());
        }
        for port in std::mem::take(&mut self.released) {
            let owner = self.owner.clone();
            let block = self.block(port).await?;
            if block.owners.get(&port).is_some_and(|known| *known == owner) {
                block.owners.remove(&port);
                block.is_changed = true;
            }
        }
        let changed = self.blocks.iter().filter(|(_, block)| block.is_changed);
        Ok(changed.map(|(number, block)| block.to_write(*number)).collect())
    }

    async fn is_used(&mut self, port: u16) -> Result<bool, PortError> {
        let block = self.block(port).await.map_err(PortError::Failed)?;
        Ok(block.owners.contains_key(&port))
    }

    fn take(&mut self, port: u16) {
        let owner = Str::new(&self.owner);
        let block = self.blocks.entry(port / BLOCK_PORTS).or_default();
        block.owners.insert(port, owner);
        block.is_changed = true;
    }

    async fn block(&mut self, port: u16) -> Result<&mut Block, Status> {
        let number = port / BLOCK_PORTS;
        if !self.blocks.contains_key(&number) {
            let key = key_of(number);
            let found = self.store.get(key.as_bytes(), At::Latest).await.map_err(store_failure)?;
            let block = found.record.as_ref().map(Block::read).transpose()?.unwrap_or_default();
            self.blocks.insert(number, block);
        }
        Ok(self.blocks.get_mut(&number).expect("it was put in above"))
    }
}

impl Block {
    /// Reads a record.
    pub(super) fn read(record: &Record) -> Result<Block, Status> {
        let value = json::parse(record.value()).map_err(|error| {
            let key = record.key().escape_ascii();
            Status::internal_error(format!("the node ports in {key} cannot be read: {error}"))
        })?;
        let ports = value.at("ports").map().iter();
        let owners = ports.filter_map(|(port, owner)| Some((port.parse().ok()?, owner.str())));
        let owners = owners.map(|(port, owner)| (port, Str::new(owner))).collect();
        Ok(Block { revision: Some(record.modified()), owners, is_changed: false })
    }

    /// The same record, without owners.
    pub(super) fn emptied(&self) -> Block {
        Block { revision: self.revision, ..Block::default() }
    }

    /// The write that makes the record of the block with this number as it is here.
    pub(super) fn to_write(&self, number: u16) -> Write {
        let expect = self.revision.map_or(Expect::Absent, Expect::Revision);
        let action = if self.owners.is_empty() {
            Action::Delete
        } else {
            let owners = self.owners.iter();
            let ports: Map = owners
                .map(|(port, owner)| (Str::from(port.to_string()), owner.clone().into()))
                .collect();
            let value = Bytes::from(json::to_string(&Value::from([("ports", ports)])));
            Action::Put { value, lease: None }
        };
        Write { key: key_of(number).into(), expect, action }
    }
}

/// What the keys of all blocks begin with.
pub(super) fn prefix() -> String {
    format!("{REGISTRY}{PREFIX}")
}

/// The number of the block that a port is in.
pub(super) fn block_of(port: u16) -> u16 {
    port / BLOCK_PORTS
}

/// The key names the first port of the block, in digits that sort.
fn key_of(number: u16) -> String {
    format!("{REGISTRY}{PREFIX}{:05}", number * BLOCK_PORTS)
}

impl NodePortRange {
    /// Whether a port is in the range.
    pub(super) fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }

    /// Where to look for a free port, in order: each band's first port, and how many it has.
    fn bands(self) -> [(u16, u16); 2] {
        let size = self.last.saturating_sub(self.first).saturating_add(1);
        let share = (size / RESERVED_SHARE).clamp(RESERVED_MIN, RESERVED_MAX);
        let reserved = if size <= RESERVED_MIN { 0 } else { share };
        [(self.first.saturating_add(reserved), size - reserved), (self.first, reserved)]
    }
}

impl fmt::Display for NodePortRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.first, self.last)
    }
}
