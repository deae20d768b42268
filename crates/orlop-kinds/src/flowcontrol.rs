//! Which requests wait: `flowcontrol.apiserver.k8s.io/v1`.

kinds![flow_schema, priority_level_configuration];

mod conditions;
mod mandatory;

const GROUP_VERSION: (&str, &str) = ("flowcontrol.apiserver.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.flowcontrol.v1";
