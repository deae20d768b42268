//! Where the pods of services are: `discovery.k8s.io/v1`.

kinds![endpoint_slice];

const GROUP_VERSION: (&str, &str) = ("discovery.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.discovery.v1";
