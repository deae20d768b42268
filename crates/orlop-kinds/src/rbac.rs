//! Who may do what: `rbac.authorization.k8s.io/v1`.

kinds![cluster_role, cluster_role_binding, role, role_binding];

mod binding;
mod policy_rule;

const GROUP: &str = "rbac.authorization.k8s.io";
const GROUP_VERSION: (&str, &str) = (GROUP, "v1");
const PACKAGE: &str = "io.k8s.api.rbac.v1";
