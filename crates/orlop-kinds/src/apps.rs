//! The group `apps`, `v1`: controllers that keep pods running.

mod number_annotation;

kinds![controller_revision, daemon_set, deployment, replica_set, stateful_set];

const GROUP_VERSION: (&str, &str) = ("apps", "v1");
const PACKAGE: &str = "io.k8s.api.apps.v1";
