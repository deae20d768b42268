//! The group `policy`, `v1`: what may happen to pods that run.

pub mod eviction;

kinds![pod_disruption_budget];

const GROUP_VERSION: (&str, &str) = ("policy", "v1");
const PACKAGE: &str = "io.k8s.api.policy.v1";
