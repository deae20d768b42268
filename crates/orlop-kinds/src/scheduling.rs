//! Which pods go first: `scheduling.k8s.io/v1`.

kinds![priority_class];

const GROUP_VERSION: (&str, &str) = ("scheduling.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.scheduling.v1";
