//! The lease by which servers know of each other.
//!
//! After `pkg/controlplane/apiserver/server.go`, `.../controller/apiserverleasegc` and
//! `staging/src/k8s.io/component-helpers/apimachinery/lease`. The name comes from that of the
//! machine, so a server that starts again takes its old lease over.

use std::str::FromStr;
use std::time::Duration;

use orlop_machinery::meta::{Meta, MetaMut};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::time::MicroTime;
use orlop_machinery::{Str, Value};
use orlop_storage::Clock;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use crate::objects::{FIELD_MANAGER, Objects, Place};
use crate::random::random_uid;
use crate::time::to_micro_time;

const API_VERSION: &str = "coordination.k8s.io/v1";
const KIND: &str = "Lease";
const NAMESPACE: &str = "kube-system";
/// The label that all leases of servers have, and its value.
const LABEL_IDENTITY: &str = "apiserver.kubernetes.io/identity";
const IDENTITY: &str = "kube-apiserver";
const LABEL_HOSTNAME: &str = "kubernetes.io/hostname";
/// How long a server counts that does not renew its lease.
const DURATION_SECONDS: i64 = 3600;
/// How often a lease is written anew that somebody else has changed.
const UPDATES_MAX: usize = 5;

/// The lease of this server.
pub(super) struct IdentityLease {
    pub(super) name: String,
    hostname: Str,
    /// This run of this server.
    holder: String,
    /// Set when the lease is given up, for good; one writes at a time.
    is_stopped: Mutex<bool>,
}

impl IdentityLease {
    pub(super) fn new(hostname: &Str) -> Result<IdentityLease, Status> {
        let name = name_of(hostname);
        let holder = format!("{name}_{}", random_uid()?);
        Ok(IdentityLease {
            name,
            hostname: hostname.clone(),
            holder,
            is_stopped: Mutex::new(false),
        })
    }

    /// Replaces what an earlier run has left behind.
    pub(super) async fn start(
        &self,
        objects: &dyn Objects,
        clock: &dyn Clock,
    ) -> Result<(), Status> {
        objects.delete(self.place()).await.or_else(unless_gone)?;
        self.renew(objects, clock).await
    }

    /// Says that this server is there still.
    pub(super) async fn renew(
        &self,
        objects: &dyn Objects,
        clock: &dyn Clock,
    ) -> Result<(), Status> {
        let is_stopped = self.is_stopped.lock().await;
        if *is_stopped {
            return Ok(());
        }
        let mut result = Ok(());
        for _ in 0..UPDATES_MAX {
            let found = objects.get(self.place()).await?;
            let lease = self.lease(found.as_ref(), clock.now());
            let written = match found {
                Some(_) => objects.update(lease, FIELD_MANAGER).await,
                None => objects.create(lease, FIELD_MANAGER).await,
            };
            result = match written {
                Ok(_) => return Ok(()),
                Err(status) if is_race(&status) => Err(status),
                Err(status) => return Err(status),
            };
        }
        result
    }

    /// Gives the lease up: this server goes.
    pub(super) async fn stop(&self, objects: &dyn Objects) -> Result<(), Status> {
        let mut is_stopped = self.is_stopped.lock().await;
        *is_stopped = true;
        objects.delete(self.place()).await.or_else(unless_gone)
    }

    fn place(&self) -> Place<'_> {
        Place { api_version: API_VERSION, kind: KIND, namespace: NAMESPACE, name: &self.name }
    }

    fn lease(&self, found: Option<&Value>, now: Duration) -> Value {
        let fresh = || {
            let metadata = Value::from([("name", self.name.as_str()), ("namespace", NAMESPACE)]);
            Value::from([
                ("apiVersion", Value::from(API_VERSION)),
                ("kind", KIND.into()),
                ("metadata", metadata),
                ("spec", Value::from([("holderIdentity", self.holder.as_str())])),
            ])
        };
        let mut lease = found.cloned().unwrap_or_else(fresh);
        let spec = lease.entry("spec");
        spec.set("leaseDurationSeconds", DURATION_SECONDS);
        spec.set("renewTime", to_micro_time(now).to_string());
        let mut meta = MetaMut::of(&mut lease);
        meta.set_label(LABEL_IDENTITY, IDENTITY);
        meta.set_label(LABEL_HOSTNAME, &self.hostname);
        lease
    }
}

/// Deletes the leases of servers that have not renewed them in time.
pub(super) async fn collect(objects: &dyn Objects, clock: &dyn Clock) -> Result<(), Status> {
    let place = Place { api_version: API_VERSION, kind: KIND, namespace: NAMESPACE, name: "" };
    for lease in objects.list(place).await? {
        let meta = Meta::of(&lease);
        let is_server = meta.label(LABEL_IDENTITY) == Some(IDENTITY);
        if is_server && is_expired(&lease, clock.now()) {
            objects.delete(Place { name: meta.name(), ..place }).await.or_else(unless_gone)?;
        }
    }
    Ok(())
}

fn is_expired(lease: &Value, now: Duration) -> bool {
    let spec = lease.at("spec");
    let renewed = MicroTime::from_str(spec.at("renewTime").str());
    let (Ok(renewed), Some(seconds)) = (renewed, spec.at("leaseDurationSeconds").as_int()) else {
        return true;
    };
    let (now, renewed) = (to_micro_time(now).unix(), renewed.unix());
    (renewed.0.saturating_add(seconds), renewed.1) < now
}

/// `apiserver-` and the first half of a hash of the machine's name, in base 32.
fn name_of(hostname: &str) -> String {
    let mut hash = Sha256::new();
    for part in [hostname, IDENTITY] {
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
        hash.update(length.to_be_bytes());
        hash.update(part);
    }
    format!("apiserver-{}", to_base32(&hash.finalize()[..16]))
}

/// In lower case, without padding.
fn to_base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = String::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in bytes {
        bits = (bits << 8 | u32::from(*byte)) & 0xffff;
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(char::from(DIGITS[(bits >> count & 31) as usize]));
        }
    }
    if count > 0 {
        text.push(char::from(DIGITS[(bits << (5 - count) & 31) as usize]));
    }
    text
}

fn is_race(status: &Status) -> bool {
    [Reason::Conflict, Reason::AlreadyExists, Reason::NotFound].iter().any(|it| status.is(it))
}

fn unless_gone(status: Status) -> Result<(), Status> {
    if status.is(&Reason::NotFound) { Ok(()) } else { Err(status) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::yaml;

    use super::*;

    #[test]
    fn base_32_is_that_of_the_rfc() {
        for (text, expect) in
            [("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foobar", "mzxw6ytboi")]
        {
            assert_eq!(to_base32(text.as_bytes()), expect);
        }
        assert_eq!(name_of("a").len(), "apiserver-".len() + 26);
    }

    #[test]
    fn a_lease_expires_when_it_is_not_renewed() {
        let check = |spec: &str, expect: bool| {
            let lease = Value::from([("spec", yaml::parse(spec.as_bytes()).unwrap())]);
            assert_eq!(is_expired(&lease, Duration::from_secs(3600)), expect, "{spec}");
        };
        check("{renewTime: '1970-01-01T00:00:00.000000Z', leaseDurationSeconds: 3600}", false);
        check("{renewTime: '1970-01-01T00:00:00.000000Z', leaseDurationSeconds: 3599}", true);
        check("{renewTime: '1970-01-01T00:00:00.000000Z'}", true);
        check("{leaseDurationSeconds: 3600}", true);
    }
}
