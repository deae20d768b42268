//! Addresses of services: out of the networks of ServiceCIDRs, into IPAddress objects.
//!
//! After `pkg/registry/core/service/ipallocator/{cidrallocator,ipallocator}.go`. An address is in
//! use when there is an IPAddress of its name. A ServiceCIDR from which an address is taken must
//! be the same when the transaction is committed, so none is taken from one that goes away.
//! Nothing is written here: an operation ends in writes for the transaction of its service.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use orlop_machinery::Value;
use orlop_machinery::meta::{Meta, find_condition};
use orlop_machinery::names::IpFamily;
use orlop_machinery::status::Status;
use orlop_storage::{Action, At, Expect, KeyRange, RangeRequest, Revision, Select, Store, Write};

use super::address_range::AddressRange;
use super::ip_address::{self, ServiceName, new_ip_address};
use crate::definition::Definition;
use crate::random::random_number;
use crate::store_failure::store_failure;

/// How many addresses are looked up one by one before all of them are read at once.
const PROBES_MAX: usize = 8;

/// Why a service does not get an address.
#[derive(Debug, thiserror::Error)]
pub(super) enum AddressError {
    #[error("range is full")]
    Full,
    #[error("provided IP is already allocated")]
    Allocated,
    #[error("the provided network does not match the current range")]
    MismatchedNetwork,
    #[error(
        "the provided IP ({address}) is not in the valid range. The range of valid IPs is {range}"
    )]
    NotInRange { address: IpAddr, range: String },
    #[error("allocator not ready")]
    NotReady,
    #[error("{0}")]
    Failed(Status),
}

/// A network of a ServiceCIDR.
#[derive(Clone, Debug)]
pub(super) struct ServiceRange {
    pub(super) range: AddressRange,
    /// Whether addresses may be taken from it.
    pub(super) is_ready: bool,
    /// The ServiceCIDR, as it was read.
    key: Bytes,
    revision: Revision,
}

/// The addresses that one write of a service takes and gives back.
pub(super) struct AddressOperation<'a> {
    store: &'a dyn Store,
    ip_addresses: &'a Definition,
    ranges: Vec<ServiceRange>,
    now: Duration,
    is_dry_run: bool,
    writes: Vec<Write>,
    /// The ServiceCIDRs from which addresses are taken.
    used_ranges: HashMap<Bytes, Revision>,
}

impl<'a> AddressOperation<'a> {
    /// For one write of a service.
    pub(super) fn new(
        store: &'a dyn Store,
        ip_addresses: &'a Definition,
        now: Duration,
        is_dry_run: bool,
    ) -> AddressOperation<'a> {
        AddressOperation {
            store,
            ip_addresses,
            ranges: Vec::new(),
            now,
            is_dry_run,
            writes: Vec::new(),
            used_ranges: HashMap::new(),
        }
    }

    /// Knows of the networks from which addresses may be taken.
    pub(super) fn with_ranges(mut self, ranges: Vec<ServiceRange>) -> AddressOperation<'a> {
        self.ranges = ranges;
        self
    }

    /// Takes an address that the service asks for.
    pub(super) async fn allocate(
        &mut self,
        address: IpAddr,
        service: ServiceName<'_>,
    ) -> Result<(), AddressError> {
        if self.is_dry_run {
            return self.pretend(address);
        }
        let ready = self.ranges.iter().filter(|known| known.is_ready);
        let range = ready.into_iter().find(|known| known.range.contains(address));
        let range = range.ok_or(AddressError::MismatchedNetwork)?.clone();
        if self.is_used(address).await.map_err(AddressError::Failed)? {
            return Err(AddressError::Allocated);
        }
        self.take(address, &range, service)
    }

    /// Takes any address of a family that is free.
    pub(super) async fn allocate_next(
        &mut self,
        family: IpFamily,
        service: ServiceName<'_>,
    ) -> Result<IpAddr, AddressError> {
        let random = random_number().map_err(AddressError::Failed)?;
        let of_family = self.ranges.iter().filter(|known| known.range.family() == family);
        let mut ranges: Vec<ServiceRange> = of_family.cloned().collect();
        if self.is_dry_run {
            // What would be taken would be somebody else's by the time it is.
            let range = ranges.first().filter(|known| known.is_ready);
            return range.map(|known| known.range.network()).ok_or(AddressError::NotReady);
        }
        ranges.retain(|known| known.is_ready);
        let count = u64::try_from(ranges.len()).unwrap_or(u64::MAX);
        let first = random.checked_rem(count).unwrap_or(0);
        ranges.rotate_left(usize::try_from(first).unwrap_or(0));
        for known in &ranges {
            let found = self.find_free(&known.range, random).await;
            if let Some(address) = found.map_err(AddressError::Failed)? {
                self.take(address, known, service)?;
                return Ok(address);
            }
        }
        Err(AddressError::Full)
    }

    /// Gives an address back, if it is the service's.
    pub(super) async fn release(
        &mut self,
        address: IpAddr,
        service: ServiceName<'_>,
    ) -> Result<(), Status> {
        if self.is_dry_run {
            return Ok(());
        }
        let key = self.ip_addresses.key("", &address.to_string());
        let is_own = |object: &Value| ip_address::refers_to(object, service);
        let write =
            ip_address::delete(self.store, self.ip_addresses, key, is_own, self.now).await?;
        self.writes.extend(write);
        Ok(())
    }

    /// What the transaction has to write.
    pub(super) fn into_writes(self) -> Vec<Write> {
        let guards = self.used_ranges.into_iter().map(|(key, revision)| Write {
            key,
            expect: Expect::Revision(revision),
            action: Action::Keep,
        });
        self.writes.into_iter().chain(guards).collect()
    }

    /// A dry run asks one network only, and not whether somebody has the address.
    fn pretend(&self, address: IpAddr) -> Result<(), AddressError> {
        let family = ip_address::family_of(address);
        let known = self.ranges.iter().find(|known| known.range.family() == family);
        let known = known.filter(|known| known.is_ready).ok_or(AddressError::NotReady)?;
        if known.range.contains(address) {
            return Ok(());
        }
        Err(AddressError::NotInRange { address, range: known.range.to_string() })
    }

    fn take(
        &mut self,
        address: IpAddr,
        from: &ServiceRange,
        service: ServiceName<'_>,
    ) -> Result<(), AddressError> {
        let object = new_ip_address(self.ip_addresses, address, service, self.now);
        let object = object.map_err(AddressError::Failed)?;
        self.writes.push(ip_address::create(self.ip_addresses, &object));
        self.used_ranges.insert(from.key.clone(), from.revision);
        Ok(())
    }

    async fn find_free(&self, range: &AddressRange, random: u64) -> Result<Option<IpAddr>, Status> {
        let mut used: Option<HashSet<String>> = None;
        let mut probes = 0;
        for number in range.bands().into_iter().flat_map(|band| band.starting_at_random(random)) {
            let address = range.address(number);
            let is_used = match &used {
                Some(used) => used.contains(&address.to_string()),
                None => self.is_used(address).await?,
            };
            if !is_used {
                return Ok(Some(address));
            }
            probes += 1;
            if probes == PROBES_MAX {
                used = Some(self.read_used().await?);
            }
        }
        Ok(None)
    }

    async fn is_used(&self, address: IpAddr) -> Result<bool, Status> {
        let key = self.ip_addresses.key("", &address.to_string());
        let found = self.store.get(key.as_bytes(), At::Latest).await.map_err(store_failure)?;
        Ok(found.record.is_some())
    }

    async fn read_used(&self) -> Result<HashSet<String>, Status> {
        let prefix = self.ip_addresses.prefix("");
        let keys = RangeRequest::new(KeyRange::prefix(prefix.clone())).select(Select::Keys);
        let found = self.store.range(keys).await.map_err(store_failure)?;
        let names = found.records.iter().filter_map(|record| record.key().get(prefix.len()..));
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }
}

/// The networks of all ServiceCIDRs.
pub(super) async fn read_ranges(
    store: &dyn Store,
    service_cidrs: &Definition,
    at: At,
) -> Result<Vec<ServiceRange>, Status> {
    let all = RangeRequest::new(KeyRange::prefix(service_cidrs.prefix(""))).at(at);
    let found = store.range(all).await.map_err(store_failure)?;
    let mut ranges = Vec::new();
    for record in &found.records {
        let object = service_cidrs.read(record.value(), record.modified().0)?;
        let is_ready = is_ready(&object);
        for cidr in object.path(&["spec", "cidrs"]).list() {
            let Some(range) = AddressRange::parse(cidr.str()) else { continue };
            let key = Bytes::copy_from_slice(record.key());
            ranges.push(ServiceRange { range, is_ready, key, revision: record.modified() });
        }
    }
    Ok(ranges)
}

/// Without a condition it counts as ready: the controller that sets it may not run.
fn is_ready(service_cidr: &Value) -> bool {
    let condition = find_condition(service_cidr.path(&["status", "conditions"]), "Ready");
    let is_true = condition.is_none_or(|condition| condition.at("status").str() == "True");
    is_true && Meta::of(service_cidr).deletion_timestamp().is_none()
}
