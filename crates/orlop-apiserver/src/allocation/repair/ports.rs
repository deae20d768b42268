//! Ports of nodes that do not fit: decided from what was read, without doing anything.
//!
//! After `doRunOnce` in `pkg/registry/core/service/portallocator/controller/repair.go`. A port
//! that no service has is given back at once: it was read at the same revision as the services.

use std::collections::BTreeMap;

use orlop_kinds::service_allocation::{needs_health_check_node_port, node_ports};
use orlop_machinery::{Str, Value};

use super::{Misfit, Snapshot};
use crate::allocation::ip_address::ServiceName;
use crate::allocation::node_ports::{Block, NodePortRange, block_of};
use crate::event_recorder::Happening;

/// All ports of services that are not taken, and all that are taken by no service.
pub(super) fn find_misfits(snapshot: &Snapshot, range: NodePortRange) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    let mut owners: BTreeMap<u16, Str> = BTreeMap::new();
    let taken: BTreeMap<u16, &Str> =
        snapshot.blocks.iter().flat_map(|(_, block)| block.owners.iter()).map(copy_key).collect();
    for found in &snapshot.services {
        let service = &found.object;
        let name = Str::from(ServiceName::of(service).to_string());
        for port in ports_of(service) {
            let known = u16::try_from(port).ok().filter(|port| range.contains(*port));
            let Some(known) = known else {
                let note = format!(
                    "Port {port} is not within the port range {range}; please recreate service"
                );
                misfits.push(report(service, "PortOutOfRange", note));
                continue;
            };
            if owners.contains_key(&known) {
                let note = format!(
                    "Port {port} was assigned to multiple services; please recreate service"
                );
                misfits.push(report(service, "PortAlreadyAllocated", note));
                continue;
            }
            owners.insert(known, name.clone());
            if !taken.contains_key(&known) {
                let note = format!("Port {port} is not allocated; repairing");
                misfits.push(report(service, "PortNotAllocated", note));
            }
        }
    }
    for (port, owner) in taken.iter().filter(|(port, _)| !owners.contains_key(port)) {
        tracing::warn!(port, %owner, "the node port appears to have leaked: cleaning up");
    }
    misfits.extend(mend_blocks(snapshot, owners));
    misfits
}

/// Each block as it should be, where it is not.
fn mend_blocks(
    snapshot: &Snapshot,
    owners: BTreeMap<u16, Str>,
) -> impl Iterator<Item = Misfit> + '_ {
    let read = snapshot.blocks.iter();
    let mut right: BTreeMap<u16, Block> =
        read.map(|(number, block)| (*number, block.emptied())).collect();
    for (port, owner) in owners {
        right.entry(block_of(port)).or_default().owners.insert(port, owner);
    }
    let is_wrong = |(number, block): &(u16, Block)| {
        let known = snapshot.blocks.iter().find(|(known, _)| known == number);
        known.is_none_or(|(_, known)| known.owners != block.owners)
    };
    let wrong = right.into_iter().filter(is_wrong);
    wrong.map(|(number, block)| Misfit { report: None, mends: vec![vec![block.to_write(number)]] })
}

fn ports_of(service: &Value) -> Vec<i64> {
    let mut ports: Vec<i64> = node_ports(service).into_iter().collect();
    let health_check = service.path(&["spec", "healthCheckNodePort"]).int();
    if needs_health_check_node_port(service) && health_check != 0 {
        ports.push(health_check);
    }
    ports
}

fn report(service: &Value, reason: &'static str, note: String) -> Misfit {
    let happening = Happening { reason, action: "PortAllocation", note };
    Misfit { report: Some((service.clone(), happening)), mends: Vec::new() }
}

fn copy_key<'a>((port, owner): (&u16, &'a Str)) -> (u16, &'a Str) {
    (*port, owner)
}
