//! What a pod spec may have only because it already had it.
//!
//! After `GetValidationOptionsFromPodSpecAndMeta` in `pkg/api/pod/util.go`. An update must not be
//! refused for something that an older rule let in, so some rules look away when the old spec
//! breaks them. Switches of features that are always on do not stand here.

use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::node::Node;

use super::visit::{containers, is_sidecar};
use super::{affinity, annotations, security_context, topology_spread};
use crate::rules::resource_list::quantity;
use crate::rules::{local_path, node_selector, resource_name};

/// Which rules look away. The default is for new objects: none does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    pub(crate) allow_invalid_topology_spread_label_selector: bool,
    /// The keys that topology spread constraints match follow the rules of older versions.
    pub(crate) use_legacy_rules_for_match_label_keys: bool,
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
    pub(crate) fn from_old(spec: &Value, metadata: &Value) -> PodOptions {
        let constraint_breaks =
            |rule: fn(&Node<'_>, &mut Errors)| breaks(spec.at("topologySpreadConstraints"), rule);
        PodOptions {
            resource_is_pod: false,
            allow_invalid_deletion_cost: annotations::has_invalid_deletion_cost(
                metadata.at("annotations"),
            ),
            allow_invalid_label_value_in_selector: has_invalid_affinity_selector(spec),
            allow_invalid_label_value_in_required_node_affinity:
                has_invalid_label_value_in_required_node_affinity(spec),
            allow_indivisible_huge_pages_values: has_indivisible_huge_pages(spec),
            allow_invalid_topology_spread_label_selector: constraint_breaks(
                |constraint, errors| {
                    let selector = constraint.at("labelSelector");
                    meta::validate_label_selector(&selector, SelectorOptions::default(), errors);
                },
            ),
            use_legacy_rules_for_match_label_keys: constraint_breaks(
                topology_spread::validate_match_label_keys,
            ),
            allow_non_local_projected_token_path: has_non_local_token_path(spec),
            allow_namespaced_sysctls_of_host: has_sysctl_of_host(spec),
            allow_restart_for_resize_of_init_containers: has_restart_for_resize(spec),
            allow_user_namespaces_with_volume_devices: has_user_namespaces(spec)
                && containers(spec).any(|container| !container.at("volumeDevices").is_empty()),
            allow_user_namespaces_with_host_network: has_user_namespaces(spec)
                && spec.at("hostNetwork").bool(),
            allow_toleration_comparison_operators: has_comparison_operator(spec),
            allow_all_se_linux_change_policies: !spec
                .path(&["securityContext", "seLinuxChangePolicy"])
                .is_null(),
        }
    }

    /// The same for the kind Pod itself.
    #[must_use]
    pub(crate) fn of_pod(self) -> PodOptions {
        PodOptions { resource_is_pod: true, ..self }
    }
}

/// Whether an item of a list breaks a rule.
fn breaks(list: &Value, rule: fn(&Node<'_>, &mut Errors)) -> bool {
    let mut errors = Errors::new();
    for item in list.list() {
        rule(&Node::new(item, Path::root()), &mut errors);
    }
    !errors.is_empty()
}

fn has_invalid_affinity_selector(spec: &Value) -> bool {
    ["podAffinity", "podAntiAffinity"].into_iter().any(|kind| {
        let affinity = spec.path(&["affinity", kind]);
        let required = affinity.at("requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = affinity.at("preferredDuringSchedulingIgnoredDuringExecution");
        breaks(required, |term, errors| {
            affinity::validate_term_selectors(term, SelectorOptions::default(), errors);
        }) || breaks(preferred, |weighted, errors| {
            let term = weighted.at("podAffinityTerm");
            affinity::validate_term_selectors(&term, SelectorOptions::default(), errors);
        })
    })
}

fn has_invalid_label_value_in_required_node_affinity(spec: &Value) -> bool {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = spec.path(&["affinity", "nodeAffinity", required, "nodeSelectorTerms"]);
    node_selector::has_invalid_label_value(terms)
}

fn has_indivisible_huge_pages(spec: &Value) -> bool {
    let lists = containers(spec).flat_map(|container| {
        let resources = container.at("resources");
        [resources.at("limits"), resources.at("requests")]
    });
    lists.chain([spec.at("overhead")]).flat_map(|list| list.map().iter()).any(|(name, amount)| {
        resource_name::is_huge_page(name)
            && !resource_name::is_divisible_into_huge_pages(name, quantity(amount))
    })
}

fn has_non_local_token_path(spec: &Value) -> bool {
    let sources = spec.at("volumes").list().iter().flat_map(|volume| {
        let sources = volume.path(&["projected", "sources"]);
        sources.list()
    });
    let mut tokens = sources.filter_map(|source| source.get("serviceAccountToken"));
    tokens.any(|token| {
        let mut errors = Errors::new();
        let path = Node::new(token.at("path"), Path::root());
        local_path::validate_local_non_reserved_path(&path, &mut errors);
        !errors.is_empty()
    })
}

fn has_sysctl_of_host(spec: &Value) -> bool {
    let sysctls = spec.path(&["securityContext", "sysctls"]).list();
    sysctls.iter().any(|sysctl| {
        security_context::reason_against_sysctl_of_host(sysctl.at("name").str(), spec).is_some()
    })
}

fn has_restart_for_resize(spec: &Value) -> bool {
    let init_containers = spec.at("initContainers").list().iter();
    let mut policies = init_containers
        .filter(|container| !is_sidecar(container))
        .flat_map(|container| container.at("resizePolicy").list());
    policies.any(|policy| policy.at("restartPolicy").str() == "RestartContainer")
}

fn has_user_namespaces(spec: &Value) -> bool {
    spec.at("hostUsers").as_bool() == Some(false)
}

fn has_comparison_operator(spec: &Value) -> bool {
    let mut tolerations = spec.at("tolerations").list().iter();
    tolerations.any(|toleration| matches!(toleration.at("operator").str(), "Lt" | "Gt"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;

    fn check(spec: &str, metadata: &str, expect: PodOptions) {
        let read = |text: &str| json::parse(text.as_bytes()).unwrap();
        assert_eq!(PodOptions::from_old(&read(spec), &read(metadata)), expect, "{spec}");
    }

    fn check_spec(spec: &str, expect: PodOptions) {
        check(spec, "{}", expect);
    }

    const NONE: PodOptions = PodOptions {
        resource_is_pod: false,
        allow_invalid_deletion_cost: false,
        allow_invalid_label_value_in_selector: false,
        allow_invalid_label_value_in_required_node_affinity: false,
        allow_indivisible_huge_pages_values: false,
        allow_invalid_topology_spread_label_selector: false,
        use_legacy_rules_for_match_label_keys: false,
        allow_non_local_projected_token_path: false,
        allow_namespaced_sysctls_of_host: false,
        allow_restart_for_resize_of_init_containers: false,
        allow_user_namespaces_with_volume_devices: false,
        allow_user_namespaces_with_host_network: false,
        allow_toleration_comparison_operators: false,
        allow_all_se_linux_change_policies: false,
    };

    #[test]
    fn a_spec_that_breaks_nothing_lets_nothing_through() {
        check_spec("{}", NONE);
        let spec = r#"{"hostUsers":true,"hostNetwork":true,"securityContext":{"sysctls":
            [{"name":"kernel.shmmax"}]},"tolerations":[{"operator":"Exists"}],"containers":
            [{"volumeDevices":[{}],"resources":{"limits":{"hugepages-2Mi":"2Mi"}}}]}"#;
        let metadata = r#"{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1"}}"#;
        check(spec, metadata, NONE);
        assert!(NONE.of_pod().resource_is_pod);
    }

    #[test]
    fn a_cost_of_deletion_that_is_no_number_is_let_through() {
        let metadata = r#"{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"x"}}"#;
        check("{}", metadata, PodOptions { allow_invalid_deletion_cost: true, ..NONE });
    }

    #[test]
    fn bad_selectors_of_affinity_are_let_through() {
        let selector = r#"{"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}"#;
        let expect = PodOptions { allow_invalid_label_value_in_selector: true, ..NONE };
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        let affinity = |kind: &str, when: &str, what: &str| {
            format!(r#"{{"affinity":{{"{kind}":{{"{when}":{what}}}}}}}"#)
        };
        let term = format!(r#"[{{"labelSelector":{selector}}}]"#);
        check_spec(&affinity("podAffinity", required, &term), expect);
        let term = format!(r#"[{{"podAffinityTerm":{{"namespaceSelector":{selector}}}}}]"#);
        check_spec(&affinity("podAntiAffinity", preferred, &term), expect);
        let expect =
            PodOptions { allow_invalid_label_value_in_required_node_affinity: true, ..NONE };
        let terms = format!(r#"{{"nodeSelectorTerms":[{selector}]}}"#);
        check_spec(&affinity("nodeAffinity", required, &terms), expect);
    }

    #[test]
    fn parts_of_huge_pages_are_let_through() {
        let expect = PodOptions { allow_indivisible_huge_pages_values: true, ..NONE };
        check_spec(r#"{"overhead":{"hugepages-2Mi":"3Mi"}}"#, expect);
        let container = r#"{"resources":{"requests":{"hugepages-2Mi":"3Mi"}}}"#;
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            check_spec(&format!(r#"{{"{list}":[{container}]}}"#), expect);
        }
    }

    #[test]
    fn bad_spreads_are_let_through() {
        check_spec(
            r#"{"topologySpreadConstraints":[{"labelSelector":{"matchLabels":{"a":"b c"}}}]}"#,
            PodOptions { allow_invalid_topology_spread_label_selector: true, ..NONE },
        );
        check_spec(
            r#"{"topologySpreadConstraints":[{"matchLabelKeys":["a"]}]}"#,
            PodOptions { use_legacy_rules_for_match_label_keys: true, ..NONE },
        );
    }

    #[test]
    fn tokens_outside_of_their_volume_are_let_through() {
        check_spec(
            r#"{"volumes":[{"projected":{"sources":[{"serviceAccountToken":{"path":"../t"}}]}}]}"#,
            PodOptions { allow_non_local_projected_token_path: true, ..NONE },
        );
    }

    #[test]
    fn what_does_not_go_with_the_host_is_let_through() {
        check_spec(
            r#"{"hostIPC":true,"securityContext":{"sysctls":[{"name":"kernel.shm*"}]}}"#,
            PodOptions { allow_namespaced_sysctls_of_host: true, ..NONE },
        );
        check_spec(
            r#"{"hostUsers":false,"containers":[{"volumeDevices":[{}]}]}"#,
            PodOptions { allow_user_namespaces_with_volume_devices: true, ..NONE },
        );
        check_spec(
            r#"{"hostUsers":false,"hostNetwork":true}"#,
            PodOptions { allow_user_namespaces_with_host_network: true, ..NONE },
        );
    }

    #[test]
    fn what_belongs_to_features_that_are_off_is_let_through() {
        check_spec(
            r#"{"tolerations":[{"operator":"Gt"}]}"#,
            PodOptions { allow_toleration_comparison_operators: true, ..NONE },
        );
        check_spec(
            r#"{"securityContext":{"seLinuxChangePolicy":"MountOption"}}"#,
            PodOptions { allow_all_se_linux_change_policies: true, ..NONE },
        );
    }

    #[test]
    fn init_containers_that_restart_for_a_resize_are_let_through() {
        let policy = r#""resizePolicy":[{"restartPolicy":"RestartContainer"}]"#;
        check_spec(
            &format!(r#"{{"initContainers":[{{{policy}}}]}}"#),
            PodOptions { allow_restart_for_resize_of_init_containers: true, ..NONE },
        );
        let sidecar = format!(r#"{{"initContainers":[{{"restartPolicy":"Always",{policy}}}]}}"#);
        check_spec(&sidecar, NONE);
    }
}
