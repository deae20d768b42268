//! The spec of a pod, and the template of pods that controllers hold.
//!
//! After `ValidatePodSpec` and `ValidatePodTemplateSpec` in
//! `pkg/apis/core/validation/validation.go`, the defaults of `pkg/apis/core/v1/defaults.go` and
//! `pkg/api/pod/util.go`. One topic stands in one file below. Not here: volumes
//! (`rules/volume.rs`), and what only the kind Pod knows, such as its updates and its status.

pub(crate) mod annotations;
pub(crate) mod env;
pub(crate) mod ports;
pub(crate) mod visit;
pub(crate) mod warnings;

mod affinity;
mod containers;
mod defaults;
mod disabled_fields;
mod dns;
mod host;
mod lifecycle;
mod options;
mod probes;
mod resources;
mod restart_policy;
mod scheduling;
mod security_context;
mod topology_spread;
mod volume_mounts;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::field::{At, Errors, FieldError};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta, names, value};

use containers::Pod;
pub(crate) use containers::validate_image_without_space;
pub(crate) use defaults::DEFAULTERS;
pub(crate) use disabled_fields::drop_disabled_fields;
pub(crate) use options::PodOptions;

use super::preemption_policy::validate_preemption_policy;
use super::resource_requirements::validate_overhead;
use super::scalar::{
    validate_number, validate_optional_text, validate_required_choice, validate_text,
};
use super::tolerations::validate_tolerations;
use super::volume::validate_volumes;

/// What is said about a claim that the pod makes itself.
const CREATED_CLAIM: &str = "must not reference a PVC that gets created for an ephemeral volume";

/// Reports all that is wrong with the spec of a pod. `metadata` is that of the pod, or null for a
/// template.
pub(crate) fn validate_pod_spec(
    spec: &Node<'_>,
    metadata: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    let grace_period = spec.at("terminationGracePeriodSeconds");
    if !grace_period.is_set() {
        errors.required(&grace_period, "");
    }
    let before = errors.len();
    let volumes = spec.at("volumes");
    validate_volumes(&volumes, metadata.at("name").str(), options, errors);
    let pod = Pod {
        volumes: fine_volumes(&volumes, &errors.list()[before..]),
        claim_names: resources::claim_names(spec.value()),
        grace_period: grace_period.value().as_int(),
        os: spec.value().get("os").map(|os| os.at("name").str()),
        restart_policy: spec.value().at("restartPolicy").str(),
        host_users: spec.at("hostUsers").value().as_bool() != Some(false),
        options,
    };
    resources::validate_claims(&spec.at("resourceClaims"), metadata, errors);
    validate_all_containers(spec, &pod, errors);
    resources::validate_pod_resources(spec, &pod, errors);
    ports::validate_host_network_ports(spec, options.resource_is_pod, errors);
    validate_placement(spec, options, errors);
    windows::validate_host_process(spec, errors);
    host::validate_host_users(spec, options, errors);
    host::validate_hostname_override(spec, errors);
    validate_plain_fields(spec, options, errors);
    let (overhead, allow) = (spec.at("overhead"), options.allow_indivisible_huge_pages_values);
    validate_overhead(&overhead, overhead.path(), allow, errors);
    windows::validate_os(spec, errors);
    scheduling::validate_scheduling_group(&spec.at("schedulingGroup"), errors);
    env::validate_file_key_volumes(spec, errors);
}

/// Reports what holds for pods and, because it once did not, not for templates.
pub(crate) fn validate_pod_spec_beyond_template(spec: &Node<'_>, errors: &mut Errors) {
    if spec.at("serviceAccountName").is_empty() {
        for volume in spec.at("volumes").items() {
            let projected = volume.at("projected");
            for source in projected.at("sources").items() {
                let token = source.at("serviceAccountToken");
                if token.is_set() {
                    let detail = "must not be specified when serviceAccountName is not set";
                    errors.forbidden(&token, detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for container in spec.at(list).items() {
            containers::validate_image_without_space(&container, errors);
        }
    }
}

/// Reports all that is wrong with a template of pods, with its labels and annotations.
pub(crate) fn validate_pod_template_spec(
    template: &Node<'_>,
    options: &PodOptions,
    errors: &mut Errors,
) {
    let (metadata, spec) = (template.at("metadata"), template.at("spec"));
    // As upstream, errors about these do not speak of the metadata that they are in.
    let labels = Node::new(metadata.value().at("labels"), template.path().child("labels"));
    meta::validate_labels(&labels, errors);
    let at = template.path().child("annotations");
    let annotations = Node::new(metadata.value().at("annotations"), at);
    meta::validate_annotations(&annotations, errors);
    annotations::validate_pod_annotations(&annotations, spec.value(), options, errors);
    let no_metadata = Node::new(&value::NULL, *metadata.path());
    validate_pod_spec(&spec, &no_metadata, options, errors);
    annotations::validate_profiles_match_annotations(annotations.value(), &spec, errors);
    let ephemeral_containers = spec.at("ephemeralContainers");
    if !ephemeral_containers.is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(&ephemeral_containers, detail);
    }
}

/// The volumes about which there is no error, by name: others do not exist for containers.
fn fine_volumes<'a>(volumes: &Node<'a>, problems: &[FieldError]) -> BTreeMap<&'a str, &'a Value> {
    let prefix = format!("{}[", volumes.path());
    let position = |problem: &FieldError| -> Option<usize> {
        problem.field.strip_prefix(&prefix)?.split_once(']')?.0.parse().ok()
    };
    // That a claim is one that the pod makes itself does not make a volume a bad one.
    let of_volumes = problems.iter().filter(|problem| problem.detail != CREATED_CLAIM);
    let bad: BTreeSet<usize> = of_volumes.filter_map(position).collect();
    let all = volumes.value().list().iter().enumerate();
    let fine = all.filter(|(at, _)| !bad.contains(at));
    fine.map(|(_, volume)| (volume.at("name").str(), volume)).collect()
}

fn validate_all_containers(spec: &Node<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    let (regular, init) = (spec.at("containers"), spec.at("initContainers"));
    containers::validate_containers(&regular, pod, errors);
    containers::validate_init_containers(&init, &regular, pod, errors);
    let ephemeral = spec.at("ephemeralContainers");
    containers::validate_ephemeral_containers(&ephemeral, spec.value(), pod, errors);
}

/// Where the pod runs, how it is protected, and what it waits for.
fn validate_placement(spec: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let policies = &["Always", "OnFailure", "Never"];
    validate_required_choice(&spec.at("restartPolicy"), policies, errors);
    dns::validate_policy(&spec.at("dnsPolicy"), errors);
    meta::validate_labels(&spec.at("nodeSelector"), errors);
    security_context::validate_pod(spec, options, errors);
    affinity::validate_affinity(&spec.at("affinity"), options, errors);
    let dns_policy = spec.at("dnsPolicy");
    dns::validate_config(&spec.at("dnsConfig"), dns_policy.str(), errors);
    scheduling::validate_readiness_gates(&spec.at("readinessGates"), errors);
    scheduling::validate_scheduling_gates(&spec.at("schedulingGates"), errors);
    let constraints = spec.at("topologySpreadConstraints");
    topology_spread::validate_constraints(&constraints, options, errors);
}

fn validate_plain_fields(spec: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    validate_optional_text(&spec.at("serviceAccountName"), names::dns_subdomain, errors);
    validate_optional_text(&spec.at("nodeName"), names::dns_subdomain, errors);
    let deadline = |seconds| names::in_range(seconds, 1, i32::MAX.into());
    validate_number(&spec.at("activeDeadlineSeconds"), deadline, errors);
    host::validate_hostname(spec, errors);
    let allow_comparison = options.allow_toleration_comparison_operators;
    validate_tolerations(&spec.at("tolerations"), allow_comparison, errors);
    dns::validate_host_aliases(&spec.at("hostAliases"), errors);
    validate_optional_text(&spec.at("priorityClassName"), names::dns_subdomain, errors);
    let runtime_class = spec.at("runtimeClassName");
    if runtime_class.is_set() {
        validate_text(&runtime_class, names::dns_subdomain, errors);
    }
    validate_preemption_policy(&spec.at("preemptionPolicy"), errors);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::defaults::Defaults;
    use orlop_machinery::json;

    use super::*;
    use crate::schema;

    const CONTAINERS: &str = r#""containers":[{"name":"a","image":"a:1"}]"#;

    /// A template with this metadata and this spec besides a container, defaulted.
    fn template(metadata: &str, spec: &str) -> Value {
        let comma = if spec.is_empty() { "" } else { "," };
        let text = format!(r#"{{"metadata":{{{metadata}}},"spec":{{{CONTAINERS}{comma}{spec}}}}}"#);
        let mut template = json::parse(text.as_bytes()).unwrap();
        let id = schema().find("io.k8s.api.core.v1.PodTemplateSpec").unwrap();
        let defaults = Defaults::new(schema(), DEFAULTERS.iter().copied());
        defaults.set(schema(), id, &mut template);
        template
    }

    fn check(metadata: &str, spec: &str, expect: &[&str]) {
        assert_eq!(errors_of(metadata, spec), expect);
    }

    fn errors_of(metadata: &str, spec: &str) -> Vec<String> {
        let template = template(metadata, spec);
        let id = schema().find("io.k8s.api.core.v1.PodTemplateSpec").unwrap();
        let mut errors = Errors::new();
        let node = Node::of(&template, schema(), id);
        validate_pod_template_spec(&node, &PodOptions::default(), &mut errors);
        errors.list().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_template_needs_no_name() {
        check("", "", &[]);
        check(r#""labels":{"app":"a"}"#, r#""restartPolicy":"OnFailure""#, &[]);
    }

    #[test]
    fn labels_and_annotations_of_a_template_are_named_without_metadata() {
        let annotations = r#""annotations":{"controller.kubernetes.io/pod-deletion-cost":"x"}"#;
        let cost = "annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \
                    \"x\": must be a 32bit integer";
        check(annotations, "", &[cost]);
        let label = "labels: Invalid value: \"a/\": name part must be non-empty";
        let found = errors_of(r#""labels":{"a/":"c"}"#, "");
        assert_eq!(found[0], label);
    }

    #[test]
    fn a_template_has_no_ephemeral_containers() {
        let spec = r#""ephemeralContainers":[{"name":"b","image":"b"}]"#;
        let expect = "spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod \
                      template";
        check("", spec, &[expect]);
    }

    #[test]
    fn a_template_may_leave_out_what_is_set_when_a_pod_is_made() {
        let containers = |port: &str| {
            format!(
                r#""hostNetwork":true,"containers":[{{"name":"a","image":" a","resources":
                {{"limits":{{"cpu":"1"}}}},"ports":[{{"containerPort":80{port}}}]}}]"#
            )
        };
        check("", &containers(""), &[]);
        let expect = "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match \
                      `containerPort` when `hostNetwork` is true";
        check("", &containers(r#","hostPort":81"#), &[expect]);
        let template = template("", &containers(""));
        let container = &template.path(&["spec", "containers"]).list()[0];
        assert!(container.path(&["resources", "requests"]).is_null());
        assert!(container.at("ports").list()[0].at("hostPort").is_null());
        assert!(template.path(&["spec", "enableServiceLinks"]).is_null());
    }

    #[test]
    fn a_template_keeps_a_negative_time_to_end() {
        let template = template("", r#""terminationGracePeriodSeconds":-1"#);
        assert_eq!(template.path(&["spec", "terminationGracePeriodSeconds"]).int(), -1);
    }

    #[test]
    fn a_template_may_have_a_token_without_an_account() {
        let spec = r#""volumes":[{"name":"t","projected":{"defaultMode":420,"sources":[
            {"serviceAccountToken":{"path":"t","expirationSeconds":3600}}]}}]"#;
        check("", spec, &[]);
    }

    #[test]
    fn profiles_of_a_template_match_its_annotations() {
        let metadata = r#""annotations":
            {"container.apparmor.security.beta.kubernetes.io/a":"unconfined"}"#;
        let spec =
            |kind: &str| format!(r#""securityContext":{{"appArmorProfile":{{"type":"{kind}"}}}}"#);
        check(metadata, &spec("Unconfined"), &[]);
        let expect = "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor \
                      type in annotation and field must match";
        check(metadata, &spec("RuntimeDefault"), &[expect]);
        let windows = format!(r#"{},"os":{{"name":"windows"}}"#, spec("RuntimeDefault"));
        let expect =
            "spec.securityContext.appArmorProfile: Forbidden: cannot be set for a windows pod";
        check(metadata, &windows, &[expect]);
    }
}
