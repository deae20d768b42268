//! Who leads: `coordination.k8s.io/v1`.

kinds![lease];

const GROUP_VERSION: (&str, &str) = ("coordination.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.coordination.v1";
