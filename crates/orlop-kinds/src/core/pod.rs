//! Pod: containers that run together on a node.
//!
//! After `pkg/registry/core/pod` and `ValidatePodCreate` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Defaulter, Kind, Resource, Rules};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::pod_spec::{self, PodOptions, annotations};

pub(crate) static KIND: Pod = Pod;

/// The kind.
pub(crate) struct Pod;

impl Kind for Pod {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Pod", "pods", PACKAGE)
            .short(&["po"])
            .categories(&["all"])
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        pod_spec::DEFAULTERS
    }
}

impl Rules for Pod {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        if let Some(spec) = object.get_mut("spec") {
            pod_spec::drop_disabled_fields(spec, None);
        }
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        if let Some(spec) = new.get_mut("spec") {
            pod_spec::drop_disabled_fields(spec, old.get("spec"));
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_metadata_and_spec(object, &PodOptions::default().of_pod(), errors);
        let spec = object.at("spec");
        let ephemeral_containers = spec.at("ephemeralContainers");
        if !ephemeral_containers.is_empty() {
            errors.forbidden(&ephemeral_containers, "cannot be set on create");
        }
        let node_name = spec.at("nodeName");
        if !node_name.is_empty() && !spec.at("schedulingGates").is_empty() {
            let detail = "cannot be set until all schedulingGates have been cleared";
            errors.forbidden(&node_name, detail);
        }
        let annotations = object.value().path(&["metadata", "annotations"]);
        annotations::validate_profiles_match_annotations(annotations, &spec, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = PodOptions::from_old(old.value().at("spec"), old.value().at("metadata"));
        validate_metadata_and_spec(new, &options.of_pod(), errors);
    }
}

fn validate_metadata_and_spec(pod: &Node<'_>, options: &PodOptions, errors: &mut Errors) {
    let (metadata, spec) = (pod.at("metadata"), pod.at("spec"));
    let annotations = metadata.at("annotations");
    annotations::validate_pod_annotations(&annotations, spec.value(), options, errors);
    pod_spec::validate_pod_spec(&spec, &metadata, options, errors);
    pod_spec::validate_pod_spec_beyond_template(&spec, errors);
}
