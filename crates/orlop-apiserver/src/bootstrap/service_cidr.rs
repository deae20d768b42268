//! The default ServiceCIDR: the networks of cluster IPs that this server was started with.
//!
//! After `pkg/controlplane/controller/defaultservicecidr`. It is made when it is missing and says
//! that it is ready; it is changed only from one family to two. A difference to the options is
//! reported once, not mended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orlop_machinery::meta::{Meta, find_condition};
use orlop_machinery::status::{Reason, Status};
use orlop_machinery::{Str, Value};
use orlop_storage::Clock;

use super::BootstrapOptions;
use super::ensure::ensure;
use crate::event_recorder::{EventRecorder, Happening};
use crate::objects::{FIELD_MANAGER, Objects, Place};
use crate::time::to_time;

const CONTROLLER: &str = "kubernetes-service-cidr-controller";
const API_VERSION: &str = "networking.k8s.io/v1";
const KIND: &str = "ServiceCIDR";
const NAME: &str = "kubernetes";
const PLACE: Place<'static> =
    Place { api_version: API_VERSION, kind: KIND, namespace: "", name: NAME };

/// See the module's documentation.
pub(super) struct DefaultServiceCidr {
    objects: Arc<dyn Objects>,
    recorder: EventRecorder,
    cidrs: Vec<Str>,
    is_mismatch_reported: AtomicBool,
    is_unready_reported: AtomicBool,
}

impl DefaultServiceCidr {
    pub(super) fn new(
        options: &BootstrapOptions,
        objects: Arc<dyn Objects>,
        clock: Arc<dyn Clock>,
    ) -> DefaultServiceCidr {
        let recorder = EventRecorder {
            objects: objects.clone(),
            clock,
            controller: CONTROLLER,
            hostname: options.hostname.clone(),
        };
        DefaultServiceCidr {
            objects,
            recorder,
            cidrs: options.service_cidrs.clone(),
            is_mismatch_reported: AtomicBool::new(false),
            is_unready_reported: AtomicBool::new(false),
        }
    }

    /// Makes it, if it is not there.
    pub(super) async fn ensure(&self) -> Result<(), Status> {
        ensure(&*self.objects, self.object("spec", self.spec()), FIELD_MANAGER).await
    }

    /// Makes it and looks after its status.
    pub(super) async fn sync(&self) -> Result<(), Status> {
        self.ensure().await?;
        self.sync_status().await
    }

    /// Says that it is ready, or that it is not what this server was started with.
    pub(super) async fn sync_status(&self) -> Result<(), Status> {
        let Some(mut found) = self.objects.get(PLACE).await? else { return Ok(()) };
        if Meta::of(&found).deletion_timestamp().is_some() {
            return Ok(());
        }
        let cidrs: Vec<&str> =
            found.path(&["spec", "cidrs"]).list().iter().map(Value::str).collect();
        let (found_cidrs, cidrs_wanted) = (cidrs.as_slice(), self.cidrs.as_slice());
        if matches!((found_cidrs, cidrs_wanted), ([only], [first, _]) if first == only) {
            tracing::info!(cidrs = ?self.cidrs, "the default ServiceCIDR gets a second family");
            found.set("spec", self.spec());
            return match self.objects.update(found, FIELD_MANAGER).await {
                // Another server was quicker; the next round looks at what it wrote.
                Err(status) if status.is(&Reason::Conflict) => Ok(()),
                updated => updated.map(drop),
            };
        }
        if self.cidrs.iter().map(Str::as_str).ne(cidrs.iter().copied()) {
            let note = format!(
                "The default ServiceCIDR [{}] does not match the controller flag configurations \
                 [{}]",
                cidrs.join(" "),
                self.cidrs.iter().map(Str::as_str).collect::<Vec<_>>().join(" "),
            );
            let reason = "KubernetesDefaultServiceCIDRInconsistent";
            self.report_once(&self.is_mismatch_reported, &found, reason, note).await;
            return Ok(());
        }
        let ready = find_condition(found.path(&["status", "conditions"]), "Ready");
        match ready.map(|condition| condition.at("status").str()) {
            Some("True") => Ok(()),
            Some("False") => {
                let message = ready.map(|condition| condition.at("message").str());
                let message = message.unwrap_or_default();
                let note = format!("Configuration matches, but {message}");
                let reason = "KubernetesDefaultServiceCIDRNotReady";
                self.report_once(&self.is_unready_reported, &found, reason, note).await;
                Ok(())
            }
            _ => self.set_ready().await,
        }
    }

    async fn set_ready(&self) -> Result<(), Status> {
        let condition = Value::from([
            ("type", Value::from("Ready")),
            ("status", "True".into()),
            ("message", "Kubernetes default Service CIDR is ready".into()),
            ("lastTransitionTime", to_time(self.recorder.clock.now()).to_string().into()),
        ]);
        let status = Value::from([("conditions", vec![condition])]);
        self.objects.apply_status(self.object("status", status), CONTROLLER).await?;
        Ok(())
    }

    async fn report_once(
        &self,
        is_reported: &AtomicBool,
        found: &Value,
        reason: &'static str,
        note: String,
    ) {
        if !is_reported.swap(true, Ordering::Relaxed) {
            tracing::warn!("{note}");
            let happening = Happening { reason, action: "Sync", note };
            self.recorder.warn(found, &happening).await;
        }
    }

    fn object(&self, field: &str, value: Value) -> Value {
        Value::from([
            ("apiVersion", Value::from(API_VERSION)),
            ("kind", KIND.into()),
            ("metadata", Value::from([("name", NAME)])),
            (field, value),
        ])
    }

    fn spec(&self) -> Value {
        Value::from([("cidrs", self.cidrs.clone())])
    }
}
