//! IPAddress objects of services: made with a service, and gone with it.
//!
//! After `createIPAddress` and `release` in
//! `pkg/registry/core/service/ipallocator/ipallocator.go`. They are written past the handlers of
//! their own resource, in the transaction of the service, and look as if they had come through
//! them.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use orlop_machinery::apply::{FieldManager, Typing};
use orlop_machinery::kind::Context;
use orlop_machinery::meta::Meta;
use orlop_machinery::meta::create::{SystemFields, fill_system_fields};
use orlop_machinery::meta::delete::mark_as_deleting;
use orlop_machinery::names::IpFamily;
use orlop_machinery::status::Status;
use orlop_machinery::{Map, Value};
use orlop_storage::{Action, At, Expect, Record, Store, Write};

use crate::definition::Definition;
use crate::random::random_uid;
use crate::store_failure::store_failure;
use crate::time::to_time;

/// The label with the family of the address.
pub(super) const LABEL_FAMILY: &str = "ipaddress.kubernetes.io/ip-family";
/// The label with who looks after the address.
pub(super) const LABEL_MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";
/// Whose addresses these are.
pub(super) const MANAGED_BY: &str = "ipallocator.k8s.io";
/// Who is said to have written them.
const FIELD_MANAGER: &str = "kube-apiserver";

/// A service by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServiceName<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl<'a> ServiceName<'a> {
    pub(super) fn of(service: &'a Value) -> ServiceName<'a> {
        let meta = Meta::of(service);
        ServiceName { namespace: meta.namespace(), name: meta.name() }
    }
}

impl std::fmt::Display for ServiceName<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.namespace, self.name)
    }
}

/// The object that makes an address the address of a service.
pub(super) fn new_ip_address(
    definition: &Definition,
    address: IpAddr,
    service: ServiceName<'_>,
    now: Duration,
) -> Result<Value, Status> {
    let now = to_time(now);
    let parent = Value::from([
        ("resource", "services"),
        ("namespace", service.namespace),
        ("name", service.name),
    ]);
    let metadata =
        Value::from([("name", Value::from(address.to_string())), ("labels", labels_of(address))]);
    let mut object = Value::from([
        ("apiVersion", Value::from(definition.api_version.clone())),
        ("kind", definition.resource.kind.clone().into()),
        ("metadata", metadata),
        ("spec", Value::from([("parentRef", parent)])),
    ]);
    let fields =
        SystemFields { uid: &random_uid()?.to_string(), now: &now.to_string(), generated_name: "" };
    fill_system_fields(&mut object, fields);
    let context = Context { now_seconds: now.unix_seconds(), ..Context::default() };
    definition.rules().prepare_create(&context, &mut object);
    let typing = Typing::Struct(&definition.schema, definition.id);
    let manager = FieldManager::new(typing, &definition.api_version, &definition.resource.kind);
    Ok(manager.update(&Value::Null, object, FIELD_MANAGER, now))
}

/// The labels of the object of an address.
pub(super) fn labels_of(address: IpAddr) -> Value {
    let family = name_of(family_of(address));
    Value::from([(LABEL_FAMILY, family), (LABEL_MANAGED_BY, MANAGED_BY)])
}

/// The write that creates an object, if it does not exist.
pub(super) fn create(definition: &Definition, object: &Value) -> Write {
    let meta = Meta::of(object);
    Write {
        key: definition.key(meta.namespace(), meta.name()).into(),
        expect: Expect::Absent,
        action: Action::Put { value: definition.encode(&mut object.clone()).into(), lease: None },
    }
}

/// The write that deletes an object that `is_wanted`: as any deletion, it waits for finalizers.
pub(super) async fn delete(
    store: &dyn Store,
    definition: &Definition,
    key: String,
    is_wanted: impl Fn(&Value) -> bool,
    now: Duration,
) -> Result<Option<Write>, Status> {
    let found = store.get(key.as_bytes(), At::Latest).await.map_err(store_failure)?;
    let Some(record) = found.record else { return Ok(None) };
    let object = definition.read(record.value(), record.modified().0)?;
    Ok(is_wanted(&object).then(|| delete_record(definition, &record, object, now)))
}

/// The write that deletes an object as it was read.
pub(super) fn delete_record(
    definition: &Definition,
    record: &Record,
    mut object: Value,
    now: Duration,
) -> Write {
    let action = if Meta::of(&object).finalizers().len() == 0 {
        Action::Delete
    } else {
        mark_as_deleting(&mut object, &to_time(now).to_string());
        Action::Put { value: definition.encode(&mut object).into(), lease: None }
    };
    let key = Bytes::copy_from_slice(record.key());
    Write { key, expect: Expect::Revision(record.modified()), action }
}

/// Whether an address is said to be that of a service.
pub(super) fn refers_to(ip_address: &Value, service: ServiceName<'_>) -> bool {
    let parent = ip_address.path(&["spec", "parentRef"]);
    refers_to_some_service(ip_address)
        && parent.at("namespace").str() == service.namespace
        && parent.at("name").str() == service.name
}

/// Whether an address is said to be that of any service.
pub(super) fn refers_to_some_service(ip_address: &Value) -> bool {
    let parent = ip_address.path(&["spec", "parentRef"]);
    parent.at("group").str().is_empty() && parent.at("resource").str() == "services"
}

/// The family of an address.
pub(super) fn family_of(address: IpAddr) -> IpFamily {
    if address.is_ipv4() { IpFamily::V4 } else { IpFamily::V6 }
}

/// A family as the API names it.
pub(super) fn name_of(family: IpFamily) -> &'static str {
    match family {
        IpFamily::V4 => "IPv4",
        IpFamily::V6 => "IPv6",
    }
}

/// Whether an address has the labels that it should have.
pub(super) fn has_labels(ip_address: &Value, expected: &Value) -> bool {
    let labels: &Map = Meta::of(ip_address).labels();
    expected.map().iter().all(|(key, value)| labels.get(key) == Some(value))
}
