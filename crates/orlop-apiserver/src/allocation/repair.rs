//! Finds addresses and ports that do not fit their services, and mends what can be mended.
//!
//! After `pkg/registry/core/service/ipallocator/controller/repairip.go` and
//! `.../portallocator/controller/repair.go`. Services take and give back what they have in their
//! own transactions, so there is nothing to do unless somebody edits IPAddresses or the store by
//! hand. Everything is read at one revision and every mend expects the records as they were read:
//! a mend that is late does not happen, and the next round looks again.

mod addresses;
mod ports;

use std::sync::Arc;
use std::time::Duration;

use orlop_machinery::status::Status;
use orlop_machinery::{Str, Value};
use orlop_storage::{At, KeyRange, Outcome, RangeRequest, Record, Revision, Store, Txn, Write};
use tokio::time::MissedTickBehavior;

use super::ServiceAllocator;
use super::cluster_ips::{ServiceRange, read_ranges};
use super::node_ports::{self, Block};
use crate::definition::Definition;
use crate::event_recorder::{EventRecorder, Happening};
use crate::objects::Objects;
use crate::store_failure::store_failure;

/// How often everything is looked at.
const INTERVAL: Duration = Duration::from_secs(180);
/// Who says so about addresses.
const ADDRESS_CONTROLLER: &str = "ipallocator-repair-controller";
/// Who says so about ports.
const PORT_CONTROLLER: &str = "portallocator-repair-controller";

/// See the module's documentation.
pub(crate) struct Repair {
    allocator: Arc<ServiceAllocator>,
    addresses: EventRecorder,
    ports: EventRecorder,
}

/// An object, and the record that it was read from.
struct Found {
    object: Value,
    record: Record,
}

/// All that is there, at one revision.
struct Snapshot {
    services: Vec<Found>,
    ip_addresses: Vec<Found>,
    ranges: Vec<ServiceRange>,
    /// By number.
    blocks: Vec<(u16, Block)>,
}

/// Something that does not fit, and what to do about it.
struct Misfit {
    /// The object that it is about, and what to say.
    report: Option<(Value, Happening)>,
    /// Transactions, one after the other.
    mends: Vec<Vec<Write>>,
}

impl Repair {
    /// Looks after what an allocator gives out; `hostname` stands in events.
    pub(crate) fn new(
        allocator: Arc<ServiceAllocator>,
        objects: &Arc<dyn Objects>,
        hostname: &Str,
    ) -> Repair {
        let clock = allocator.clock.clone();
        let recorder = |controller| EventRecorder {
            objects: objects.clone(),
            clock: clock.clone(),
            controller,
            hostname: hostname.clone(),
        };
        let (addresses, ports) = (recorder(ADDRESS_CONTROLLER), recorder(PORT_CONTROLLER));
        Repair { allocator, addresses, ports }
    }

    /// Looks at everything now and then, until the future is dropped.
    pub(crate) async fn run(&self) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(error) = self.run_once().await {
                tracing::warn!(%error, "addresses and ports of services cannot be looked at");
            }
        }
    }

    /// Looks at everything once.
    ///
    /// # Errors
    ///
    /// When something cannot be read or written; what was mended before stays so.
    pub(crate) async fn run_once(&self) -> Result<(), Status> {
        let snapshot = self.read().await?;
        let now = self.allocator.clock.now();
        let definition = &self.allocator.ip_addresses;
        let misfits = addresses::find_misfits(definition, &snapshot, now)?;
        self.mend(misfits, &self.addresses).await?;
        let range = self.allocator.options.node_ports;
        self.mend(ports::find_misfits(&snapshot, range), &self.ports).await
    }

    async fn read(&self) -> Result<Snapshot, Status> {
        let ServiceAllocator { store, services, ip_addresses, service_cidrs, .. } =
            &*self.allocator;
        let (mut found, revision) = read_all(&**store, services, At::Latest).await?;
        for service in &mut found {
            crate::write_hook::WriteHook::after_read(&*self.allocator, &mut service.object);
        }
        let at = At::Revision(revision);
        let ports = RangeRequest::new(KeyRange::prefix(node_ports::prefix())).at(at);
        let ports = store.range(ports).await.map_err(store_failure)?;
        let blocks = ports.records.iter().filter_map(|record| {
            let first = record.key().get(node_ports::prefix().len()..)?;
            let first: u16 = std::str::from_utf8(first).ok()?.parse().ok()?;
            Some((node_ports::block_of(first), record))
        });
        let blocks = blocks.map(|(number, record)| Ok((number, Block::read(record)?)));
        Ok(Snapshot {
            services: found,
            ip_addresses: read_all(&**store, ip_addresses, at).await?.0,
            ranges: read_ranges(&**store, service_cidrs, at).await?,
            blocks: blocks.collect::<Result<_, Status>>()?,
        })
    }

    async fn mend(&self, misfits: Vec<Misfit>, recorder: &EventRecorder) -> Result<(), Status> {
        for misfit in misfits {
            if let Some((regarding, happening)) = &misfit.report {
                tracing::warn!(reason = happening.reason, "{}", happening.note);
                recorder.warn(regarding, happening).await;
            }
            for writes in misfit.mends {
                let outcome = self.allocator.store.commit(Txn { writes }).await;
                if let Outcome::Conflict { .. } = outcome.map_err(store_failure)? {
                    // Somebody was here; the next round will see what is left to do.
                    break;
                }
            }
        }
        Ok(())
    }
}

async fn read_all(
    store: &dyn Store,
    definition: &Definition,
    at: At,
) -> Result<(Vec<Found>, Revision), Status> {
    let all = RangeRequest::new(KeyRange::prefix(definition.prefix(""))).at(at);
    let found = store.range(all).await.map_err(store_failure)?;
    let objects = found.records.into_iter().map(|record| {
        let object = definition.read(record.value(), record.modified().0)?;
        Ok(Found { object, record })
    });
    Ok((objects.collect::<Result<_, Status>>()?, found.revision))
}
