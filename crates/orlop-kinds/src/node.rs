//! How nodes run pods: `node.k8s.io/v1`.

kinds![runtime_class];

const GROUP_VERSION: (&str, &str) = ("node.k8s.io", "v1");
const PACKAGE: &str = "io.k8s.api.node.v1";
