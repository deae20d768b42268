//! The core group, `v1`.

kinds![config_map, pod];

const GROUP_VERSION: (&str, &str) = ("", "v1");
const PACKAGE: &str = "io.k8s.api.core.v1";
