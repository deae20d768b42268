//! Which servers the kubernetes service leads to.
//!
//! After `pkg/controlplane/reconcilers/{lease,endpointsadapter}.go`. Every server keeps a record
//! of its address under a lease, renews it, and makes the Endpoints and the EndpointSlice of the
//! service hold the addresses of all records. The record of a server that dies goes with its
//! lease, and the next server that looks takes its address out.
//!
//! A server whose address no Endpoints may hold, such as one of loopback, is no endpoint.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use orlop_machinery::meta::{Meta, MetaMut};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::{Map, Value, json};
use orlop_storage::{Expect, KeyRange, RangeRequest, Store, Txn};
use tokio::sync::Mutex;

use super::BootstrapOptions;
use super::ensure::place_of;
use super::kubernetes_service::{NAME, NAMESPACE, PORT_NAME};
use crate::definition::REGISTRY;
use crate::objects::{FIELD_MANAGER, Objects, Place};
use crate::store_failure::store_failure;

/// Under `/registry/`.
const PREFIX: &str = "masterleases/";
/// How long a server counts that does not renew its record.
const LEASE_TTL: Duration = Duration::from_secs(15);
/// Says that nobody need copy the Endpoints into an EndpointSlice.
const LABEL_SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
/// The label with the service of an EndpointSlice.
const LABEL_SERVICE_NAME: &str = "kubernetes.io/service-name";

/// See the module's documentation.
pub(super) struct EndpointReconciler {
    store: Arc<dyn Store>,
    address: IpAddr,
    port: u16,
    /// How often the record was written: it must change for the lease to be a new one.
    generation: AtomicI64,
    has_left: AtomicBool,
    /// One at a time, lest who leaves is put back by who is late.
    turn: Mutex<()>,
}

impl EndpointReconciler {
    /// None if the address is none that others can use.
    pub(super) fn new(
        store: Arc<dyn Store>,
        options: &BootstrapOptions,
    ) -> Option<EndpointReconciler> {
        let address = options.advertise_address;
        if !may_be_endpoint(address) {
            tracing::info!(%address, "no endpoint of the kubernetes service: its address is local");
            return None;
        }
        Some(EndpointReconciler {
            store,
            address,
            port: options.secure_port,
            generation: AtomicI64::new(0),
            has_left: AtomicBool::new(false),
            turn: Mutex::new(()),
        })
    }

    /// Renews the record of this server, and makes the endpoints those of all records.
    pub(super) async fn reconcile(&self, objects: &dyn Objects) -> Result<(), Status> {
        let _turn = self.turn.lock().await;
        if self.has_left.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.renew().await?;
        self.sync(objects).await
    }

    /// Takes this server out, for good.
    pub(super) async fn leave(&self, objects: &dyn Objects) -> Result<(), Status> {
        self.has_left.store(true, Ordering::SeqCst);
        let _turn = self.turn.lock().await;
        let key = format!("{REGISTRY}{PREFIX}{}", self.address);
        self.store.delete(key.into(), Expect::Anything).await.map_err(store_failure)?;
        self.sync(objects).await
    }

    async fn renew(&self) -> Result<(), Status> {
        let generation = self.generation.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let subset = Value::from([("addresses", vec![ip(&self.address.to_string())])]);
        let record = Value::from([
            ("kind", Value::from("Endpoints")),
            ("apiVersion", "v1".into()),
            ("metadata", Value::from([("generation", generation)])),
            ("subsets", vec![subset].into()),
        ]);
        let lease = self.store.grant_lease(LEASE_TTL).await.map_err(store_failure)?;
        let key = format!("{REGISTRY}{PREFIX}{}", self.address);
        let value = json::to_string(&record);
        let txn = Txn::new().put_leased(key, value, Expect::Anything, lease);
        self.store.commit(txn).await.map_err(store_failure)?;
        Ok(())
    }

    async fn sync(&self, objects: &dyn Objects) -> Result<(), Status> {
        let place =
            Place { api_version: "v1", kind: "Endpoints", namespace: NAMESPACE, name: NAME };
        let found = objects.get(place).await?;
        let has_left = self.has_left.load(Ordering::SeqCst);
        if found.is_none() && has_left {
            return Ok(());
        }
        let addresses = self.read_addresses().await?;
        if addresses.is_empty() && !has_left {
            return Err(Status::internal_error(
                "no API server IP addresses were listed in storage, refusing to erase all \
                 endpoints for the kubernetes Service",
            ));
        }
        let wanted = endpoints(found.as_ref(), &addresses, self.port);
        let slice = endpoint_slice(&wanted);
        let written = match found {
            None => objects.create(wanted, FIELD_MANAGER).await.map(|_| ()),
            Some(found) if found == wanted => Ok(()),
            Some(_) => objects.update(wanted, FIELD_MANAGER).await.map(|_| ()),
        };
        written.or_else(unless_exists)?;
        sync_slice(objects, slice).await
    }

    /// In the order of their texts.
    async fn read_addresses(&self) -> Result<Vec<String>, Status> {
        let prefix = format!("{REGISTRY}{PREFIX}");
        let all = RangeRequest::new(KeyRange::prefix(prefix));
        let found = self.store.range(all).await.map_err(store_failure)?;
        let mut addresses = Vec::new();
        for record in &found.records {
            let value = json::parse(record.value()).map_err(Status::internal_error)?;
            let subset = value.at("subsets").list().first().map(|subset| subset.at("addresses"));
            let address = subset.and_then(|list| list.list().first());
            addresses.extend(address.map(|address| address.at("ip").str().to_owned()));
        }
        addresses.retain(|address| !address.is_empty());
        Ok(addresses)
    }
}

/// Whether Endpoints may hold an address; after `ValidateEndpointIP` in
/// `pkg/apis/core/validation/validation.go`.
fn may_be_endpoint(address: IpAddr) -> bool {
    if address.is_unspecified() || address.is_loopback() {
        return false;
    }
    match address {
        IpAddr::V4(address) => {
            let is_multicast_nearby = matches!(address.octets(), [224, 0, 0, _]);
            !address.is_link_local() && !is_multicast_nearby
        }
        IpAddr::V6(address) => {
            let is_multicast_nearby = address.segments()[0] & 0xff0f == 0xff02;
            !address.is_unicast_link_local() && !is_multicast_nearby
        }
    }
}

/// The Endpoints as they should be. Ports that are there stay: another server may have another
/// one, and the two would take turns.
fn endpoints(found: Option<&Value>, addresses: &[String], port: u16) -> Value {
    let fresh = || {
        Value::from([
            ("apiVersion", Value::from("v1")),
            ("kind", "Endpoints".into()),
            ("metadata", Value::from([("name", NAME), ("namespace", NAMESPACE)])),
        ])
    };
    let mut endpoints = found.cloned().unwrap_or_else(fresh);
    MetaMut::of(&mut endpoints).set_label(LABEL_SKIP_MIRROR, "true");
    if addresses.is_empty() {
        endpoints.remove("subsets");
        return endpoints;
    }
    let known = match endpoints.at("subsets").list() {
        [only] => only.at("ports").clone(),
        _ => Value::Null,
    };
    let own = Value::from([
        ("name", Value::from(PORT_NAME)),
        ("port", i64::from(port).into()),
        ("protocol", "TCP".into()),
    ]);
    let ports = if known.is_empty() { Value::from(vec![own]) } else { known };
    let listed: Vec<Value> = addresses.iter().map(|address| ip(address)).collect();
    let subset = Value::from([("addresses", Value::from(listed)), ("ports", ports)]);
    endpoints.set("subsets", vec![subset]);
    endpoints
}

/// The EndpointSlice that says the same.
fn endpoint_slice(endpoints: &Value) -> Value {
    let subset = endpoints.at("subsets").list().first().cloned().unwrap_or_default();
    let addresses: Vec<&str> =
        subset.at("addresses").list().iter().map(|address| address.at("ip").str()).collect();
    let is_v6 = |address: &str| address.contains(':');
    let is_all_v6 = !addresses.is_empty() && addresses.iter().all(|address| is_v6(address));
    let listed = addresses.iter().filter(|address| is_v6(address) == is_all_v6);
    let listed: Vec<Value> = listed
        .map(|address| {
            Value::from([
                ("addresses", Value::from(vec![*address])),
                ("conditions", Value::from([("ready", true)])),
            ])
        })
        .collect();
    let metadata = Value::from([
        ("name", Value::from(NAME)),
        ("namespace", NAMESPACE.into()),
        ("labels", Value::from([(LABEL_SERVICE_NAME, NAME)])),
    ]);
    let mut slice = Value::from([
        ("apiVersion", Value::from("discovery.k8s.io/v1")),
        ("kind", "EndpointSlice".into()),
        ("metadata", metadata),
        ("addressType", if is_all_v6 { "IPv6" } else { "IPv4" }.into()),
        ("endpoints", listed.into()),
    ]);
    if !subset.at("ports").is_empty() {
        slice.set("ports", subset.at("ports").clone());
    }
    slice
}

async fn sync_slice(objects: &dyn Objects, mut wanted: Value) -> Result<(), Status> {
    let Some(found) = objects.get(place_of(&wanted)).await? else {
        let created = objects.create(wanted, FIELD_MANAGER).await;
        return created.map(|_| ()).or_else(unless_exists);
    };
    if found.at("addressType") != wanted.at("addressType") {
        objects.delete(place_of(&wanted)).await?;
        return objects.create(wanted, FIELD_MANAGER).await.map(|_| ());
    }
    let is_same = |field: &str| found.at(field).list() == wanted.at(field).list();
    let labels = |object: &Value| -> Map { Meta::of(object).labels().clone() };
    if is_same("endpoints") && is_same("ports") && labels(&found) == labels(&wanted) {
        return Ok(());
    }
    MetaMut::of(&mut wanted).set_resource_version(Meta::of(&found).resource_version());
    objects.update(wanted, FIELD_MANAGER).await.map(|_| ())
}

/// Another server was quicker, with the same.
fn unless_exists(status: Status) -> Result<(), Status> {
    if status.is(&Reason::AlreadyExists) { Ok(()) } else { Err(status) }
}

fn ip(address: &str) -> Value {
    Value::from([("ip", address)])
}
