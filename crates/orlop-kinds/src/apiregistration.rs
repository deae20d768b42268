//! API servers beside this one: `apiregistration.k8s.io/v1`.

kinds![api_service];

const GROUP_VERSION: (&str, &str) = ("apiregistration.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1";
