//! Addresses that do not fit: decided from what was read, without doing anything.
//!
//! After `syncService` and `syncIPAddress` in
//! `pkg/registry/core/service/ipallocator/controller/repairip.go`.

use std::collections::HashMap;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use orlop_machinery::Value;
use orlop_machinery::meta::Meta;
use orlop_machinery::names;
use orlop_machinery::status::Status;
use orlop_machinery::time::Time;
use orlop_storage::{Action, Expect, Write};

use super::{Found, Misfit, Snapshot};
use crate::allocation::ip_address::{
    self, LABEL_MANAGED_BY, MANAGED_BY, ServiceName, delete_record, family_of, has_labels,
    labels_of, name_of, new_ip_address, refers_to, refers_to_some_service,
};
use crate::definition::Definition;
use crate::event_recorder::Happening;
use crate::time::to_time;

/// How old an address without a service may get, in seconds.
const GRACE_SECONDS: i64 = 60;

/// By namespace and name.
type Services<'a> = HashMap<(&'a str, &'a str), &'a Found>;
/// By name.
type Objects<'a> = HashMap<&'a str, &'a Found>;

/// All addresses of services that have no object, and all objects that have no service.
pub(super) fn find_misfits(
    definition: &Definition,
    snapshot: &Snapshot,
    now: Duration,
) -> Result<Vec<Misfit>, Status> {
    let services: Services<'_> = snapshot.services.iter().map(by_place).collect();
    let objects = snapshot.ip_addresses.iter();
    let objects: Objects<'_> =
        objects.map(|found| (Meta::of(&found.object).name(), found)).collect();
    let mut misfits = Vec::new();
    for service in &snapshot.services {
        for text in addresses_of(&service.object) {
            let check = AddressCheck { definition, snapshot, services: &services, now, service };
            misfits.extend(check.misfit(text, &objects)?);
        }
    }
    let leaked = snapshot.ip_addresses.iter();
    misfits.extend(leaked.filter_map(|found| leak(definition, found, &services, now)));
    Ok(misfits)
}

fn by_place(found: &Found) -> ((&str, &str), &Found) {
    let ServiceName { namespace, name } = ServiceName::of(&found.object);
    ((namespace, name), found)
}

/// What it takes to judge the addresses of one service.
struct AddressCheck<'a> {
    definition: &'a Definition,
    snapshot: &'a Snapshot,
    services: &'a Services<'a>,
    now: Duration,
    service: &'a Found,
}

impl AddressCheck<'_> {
    fn misfit(&self, text: &str, objects: &Objects<'_>) -> Result<Option<Misfit>, Status> {
        let Some(address) = names::parse_ip(text) else {
            let note = format!("Cluster IP {text} is not a valid IP; please recreate Service");
            return Ok(Some(self.report("ClusterIPNotValid", "ClusterIPValidation", note)));
        };
        let family = name_of(family_of(address));
        let action = "ClusterIPAllocation";
        if !self.snapshot.ranges.iter().any(|known| known.range.contains(address)) {
            let note = format!(
                "Cluster IP [{family}]: {address} is not within any configured Service CIDR; \
                 please recreate service"
            );
            return Ok(Some(self.report("ClusterIPOutOfRange", action, note)));
        }
        let Some(found) = objects.get(address.to_string().as_str()) else {
            let note = format!("Cluster IP [{family}]: {address} is not allocated; repairing");
            let mut misfit = self.report("ClusterIPNotAllocated", action, note);
            misfit.mends.push(self.create(address)?);
            return Ok(Some(misfit));
        };
        let name = ServiceName::of(&self.service.object);
        let other = self.services.get(&parent_of(&found.object));
        let is_own = refers_to(&found.object, name);
        if !is_own && (!refers_to_some_service(&found.object) || other.is_none()) {
            let note = format!(
                "the ClusterIP [{family}]: {address} for Service {name} has a wrong reference; \
                 repairing"
            );
            let mut misfit = self.report("ClusterIPNotAllocated", action, note);
            misfit.mends = self.recreate(address, found)?;
            return Ok(Some(misfit));
        }
        if !is_own && other.is_some_and(|other| has_address(&other.object, address)) {
            let note = format!(
                "Cluster IP [{family}]:{address} was assigned to multiple services; please \
                 recreate service"
            );
            return Ok(Some(self.report("ClusterIPAlreadyAllocated", action, note)));
        }
        if is_own && !has_labels(&found.object, &labels_of(address)) {
            let mends = self.recreate(address, found)?;
            return Ok(Some(Misfit { report: None, mends }));
        }
        Ok(None)
    }

    fn report(&self, reason: &'static str, action: &'static str, note: String) -> Misfit {
        let happening = Happening { reason, action, note };
        Misfit { report: Some((self.service.object.clone(), happening)), mends: Vec::new() }
    }

    /// Creates the object, if the service is still as it was.
    fn create(&self, address: IpAddr) -> Result<Vec<Write>, Status> {
        let name = ServiceName::of(&self.service.object);
        let object = new_ip_address(self.definition, address, name, self.now)?;
        let guard = Write {
            key: Bytes::copy_from_slice(self.service.record.key()),
            expect: Expect::Revision(self.service.record.modified()),
            action: Action::Keep,
        };
        Ok(vec![ip_address::create(self.definition, &object), guard])
    }

    fn recreate(&self, address: IpAddr, found: &Found) -> Result<Vec<Vec<Write>>, Status> {
        Ok(vec![vec![delete(self.definition, found, self.now)], self.create(address)?])
    }
}

/// What to do about an object of ours that no service has.
fn leak(
    definition: &Definition,
    found: &Found,
    services: &Services<'_>,
    now: Duration,
) -> Option<Misfit> {
    let meta = Meta::of(&found.object);
    if meta.label(LABEL_MANAGED_BY) != Some(MANAGED_BY) {
        return None;
    }
    let (name, parent) = (meta.name(), parent_of(&found.object));
    let created = Time::from_str(meta.creation_timestamp()).unwrap_or(Time::ZERO);
    let is_new =
        to_time(now).unix_seconds().saturating_sub(created.unix_seconds()) <= GRACE_SECONDS;
    let (namespace, service) = parent;
    let (reason, note) = if !refers_to_some_service(&found.object) {
        let note = format!(
            "IPAddress {name} appears to have been modified, not referencing a Service \
             {namespace}/{service}: cleaning up"
        );
        ("IPAddressNotAllocated", note)
    } else if let Some(owner) = services.get(&parent) {
        let address = names::parse_ip(name)?;
        let is_external = owner.object.path(&["spec", "type"]).str() == "ExternalName";
        if has_address(&owner.object, address) || (is_external && is_new) {
            return None;
        }
        let note = format!(
            "IPAddress: {name} for Service {namespace}/{service} has a wrong reference; cleaning \
             up"
        );
        ("IPAddressWrongReference", note)
    } else if is_new {
        return None;
    } else {
        let note = format!(
            "IPAddress: {name} for Service {namespace}/{service} appears to have leaked: cleaning \
             up"
        );
        ("IPAddressNotAllocated", note)
    };
    let happening = Happening { reason, action: "IPAddressAllocation", note };
    let mends = vec![vec![delete(definition, found, now)]];
    Some(Misfit { report: Some((found.object.clone(), happening)), mends })
}

fn delete(definition: &Definition, found: &Found, now: Duration) -> Write {
    delete_record(definition, &found.record, found.object.clone(), now)
}

/// The addresses of a service that has any.
fn addresses_of(service: &Value) -> impl Iterator<Item = &str> {
    let spec = service.at("spec");
    let is_external = spec.at("type").str() == "ExternalName";
    let addresses = spec.at("clusterIPs").list().iter().map(Value::str);
    addresses.filter(move |text| !is_external && !text.is_empty() && *text != "None")
}

fn has_address(service: &Value, address: IpAddr) -> bool {
    addresses_of(service).any(|text| names::parse_ip(text) == Some(address))
}

fn parent_of(ip_address: &Value) -> (&str, &str) {
    let parent = ip_address.path(&["spec", "parentRef"]);
    (parent.at("namespace").str(), parent.at("name").str())
}
