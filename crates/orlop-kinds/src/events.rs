//! Events under their newer names: `events.k8s.io/v1`.

kinds![event];

const GROUP_VERSION: (&str, &str) = ("events.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.events.v1";
