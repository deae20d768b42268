//! How traffic comes in and where it may go: `networking.k8s.io/v1`.

kinds![ingress, ingress_class, ip_address, network_policy, service_cidr,];

const GROUP_VERSION: (&str, &str) = ("networking.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.networking.v1";
