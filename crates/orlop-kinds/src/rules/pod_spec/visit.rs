//! Going through the containers of a pod, of all three kinds.
//!
//! After `VisitContainersWithPath` in `pkg/apis/core/pods/helpers.go`; the order is that of its
//! errors.

use orlop_machinery::Value;
use orlop_machinery::node::Node;

/// The fields of a pod spec that hold containers.
const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Does something with each container: init containers, containers, ephemeral containers.
pub(crate) fn for_each_container(spec: &Node<'_>, mut visit: impl FnMut(&Node<'_>)) {
    for list in LISTS {
        for container in spec.at(list).items() {
            visit(&container);
        }
    }
}

/// All containers of a pod spec.
pub(crate) fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    LISTS.into_iter().flat_map(|list| spec.at(list).list())
}

/// All containers of a pod spec, to change them.
pub(crate) fn for_each_container_mut(spec: &mut Value, mut change: impl FnMut(&mut Value)) {
    for list in LISTS {
        if let Some(containers) = spec.get_mut(list) {
            containers.list_mut().iter_mut().for_each(&mut change);
        }
    }
}

/// Whether an init container is a sidecar: it goes on while the pod runs.
pub(crate) fn is_sidecar(init_container: &Value) -> bool {
    init_container.at("restartPolicy").str() == "Always"
}
