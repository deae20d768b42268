//! Events about objects that the server looks after itself.
//!
//! After `staging/src/k8s.io/client-go/tools/events/event_recorder.go`. An event that cannot be
//! written is logged and forgotten. Repeated events are not joined into series.

use std::sync::Arc;
use std::time::Duration;

use orlop_machinery::meta::Meta;
use orlop_machinery::names;
use orlop_machinery::{Str, Value};
use orlop_storage::Clock;

use crate::objects::{FIELD_MANAGER, Objects};
use crate::random::random_uid;
use crate::time::to_micro_time;

/// Writes events in the name of one part of the server.
#[derive(Clone)]
pub(crate) struct EventRecorder {
    /// Who writes them down.
    pub objects: Arc<dyn Objects>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Which part of the server it is.
    pub controller: &'static str,
    /// On which machine.
    pub hostname: Str,
}

/// Something that happened to an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Happening {
    /// Why, for programs.
    pub reason: &'static str,
    /// What was being done.
    pub action: &'static str,
    /// For people.
    pub note: String,
}

impl EventRecorder {
    /// Writes a warning about an object.
    pub(crate) async fn warn(&self, regarding: &Value, happening: &Happening) {
        let event = self.event(regarding, happening, self.clock.now());
        if let Err(error) = self.objects.create(event, FIELD_MANAGER).await {
            tracing::warn!(%error, reason = happening.reason, "an event could not be written");
        }
    }

    fn event(&self, regarding: &Value, happening: &Happening, now: Duration) -> Value {
        let meta = Meta::of(regarding);
        let namespace = if meta.namespace().is_empty() { "default" } else { meta.namespace() };
        let metadata = Value::from([
            ("name", event_name(meta.name(), now).as_str()),
            ("namespace", namespace),
        ]);
        let object = Value::from([
            ("apiVersion", regarding.at("apiVersion").str()),
            ("kind", regarding.at("kind").str()),
            ("namespace", meta.namespace()),
            ("name", meta.name()),
            ("uid", meta.uid()),
            ("resourceVersion", meta.resource_version()),
        ]);
        let instance = format!("{}-{}", self.controller, self.hostname);
        Value::from([
            ("apiVersion", Value::from("events.k8s.io/v1")),
            ("kind", "Event".into()),
            ("metadata", metadata),
            ("eventTime", to_micro_time(now).to_string().into()),
            ("reportingController", self.controller.into()),
            ("reportingInstance", instance.into()),
            ("action", happening.action.into()),
            ("reason", happening.reason.into()),
            ("regarding", object),
            ("note", happening.note.as_str().into()),
            ("type", "Warning".into()),
        ])
    }
}

/// A name that tells the object and the time, where the object's name can be part of one.
fn event_name(name: &str, now: Duration) -> String {
    let made = format!("{name}.{:x}", now.as_nanos());
    if names::dns_subdomain(&made).is_empty() {
        return made;
    }
    // Whatever is wrong with the randomness will show elsewhere; the time alone is a name too.
    random_uid().map_or_else(|_| format!("{:x}", now.as_nanos()), |uid| uid.to_string())
}
