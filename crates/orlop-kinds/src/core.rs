//! The core group, `v1`.

kinds![
    binding,
    component_status,
    config_map,
    endpoints,
    event,
    limit_range,
    namespace,
    node,
    persistent_volume,
    persistent_volume_claim,
    pod,
    pod_template,
    replication_controller,
    resource_quota,
    secret,
    service,
    service_account,
];

const GROUP_VERSION: (&str, &str) = ("", "v1");
const PACKAGE: &str = "io.k8s.api.core.v1";
