//! The group `batch`, `v1`: pods that do their work and end.

kinds![cron_job, job];

const GROUP_VERSION: (&str, &str) = ("batch", "v1");
const PACKAGE: &str = "io.k8s.api.batch.v1";
