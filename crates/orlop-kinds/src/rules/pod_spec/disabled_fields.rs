//! Fields of features that are not on.
//!
//! After `dropDisabledFields` in `pkg/api/pod/util.go`, with the features of Kubernetes 1.36 as
//! they are when nobody switches any. A field that the old object has stays: the object was made
//! when the feature was on.

use orlop_machinery::Value;

use super::visit::{containers, for_each_container_mut};

/// Takes out fields of features that are off, unless the old spec has them.
pub(crate) fn drop_disabled_fields(spec: &mut Value, old_spec: Option<&Value>) {
    let is_in_use = |is_used: fn(&Value) -> bool| old_spec.is_some_and(is_used);
    if !is_in_use(|old| !old.at("schedulingGroup").is_null()) {
        spec.remove("schedulingGroup");
    }
    for source in ["clusterTrustBundle", "podCertificate"] {
        if !old_spec.is_some_and(|old| has_projection(old, source)) {
            drop_projection(spec, source);
        }
    }
    if !is_in_use(has_stop_signal) {
        for_each_container_mut(spec, drop_stop_signal);
    }
}

fn projections(volume: &Value) -> &[Value] {
    volume.path(&["projected", "sources"]).list()
}

fn has_projection(spec: &Value, source: &str) -> bool {
    let mut sources = spec.at("volumes").list().iter().flat_map(projections);
    sources.any(|known| !known.at(source).is_null())
}

fn drop_projection(spec: &mut Value, source: &str) {
    let Some(volumes) = spec.get_mut("volumes") else { return };
    for volume in volumes.list_mut() {
        if let Some(sources) = volume.path_mut(&["projected", "sources"]) {
            for known in sources.list_mut() {
                known.remove(source);
            }
        }
    }
}

fn has_stop_signal(spec: &Value) -> bool {
    containers(spec).any(|container| !container.path(&["lifecycle", "stopSignal"]).is_null())
}

/// A lifecycle that had nothing else goes too.
fn drop_stop_signal(container: &mut Value) {
    let Some(lifecycle) = container.get_mut("lifecycle") else { return };
    if lifecycle.remove("stopSignal").is_some() && lifecycle.is_empty() {
        container.remove("lifecycle");
    }
}
