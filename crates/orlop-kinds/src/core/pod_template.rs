//! PodTemplate: a template of pods that belongs to no controller.
//!
//! After `pkg/registry/core/podtemplate` and `ValidatePodTemplate` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::pod_spec::warnings::warn_about_pod_template;
use crate::rules::pod_spec::{PodOptions, validate_pod_template_spec};
use crate::rules::{generation, meaning, pod_template};

pub(crate) static KIND: PodTemplate = PodTemplate;

/// The kind.
pub(crate) struct PodTemplate;

const TEMPLATE: &[&str] = &["template"];
const TEMPLATE_STRUCT: &str = "io.k8s.api.core.v1.PodTemplateSpec";

impl Kind for PodTemplate {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "PodTemplate", "podtemplates", PACKAGE)
            .returns_deleted()
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Containers"),
                Column::text("Images"),
                Column::text("Pod Labels"),
            ]
        }
    }

    fn row(&self, _context: &Context<'_>, object: &Value) -> Row {
        let template = object.at("template");
        let [containers, images] = pod_template::container_cells(template);
        let labels = pod_template::label_cell(template.path(&["metadata", "labels"]));
        let name = object.path(&["metadata", "name"]).clone();
        Row::new(vec![name, containers, images, labels])
    }
}

impl Rules for PodTemplate {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
        pod_template::drop_disabled_fields(object, None, TEMPLATE);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        pod_template::drop_disabled_fields(new, Some(old), TEMPLATE);
        if !meaning::is_same(TEMPLATE_STRUCT, new.at("template"), old.at("template")) {
            generation::count(new, old);
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_pod_template_spec(&object.at("template"), &PodOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let options = pod_template::options_from_old(old.value().at("template"));
        validate_pod_template_spec(&new.at("template"), &options, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_pod_template(&object.at("template"), None, warnings);
    }

    fn warn_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        warnings: &mut Vec<String>,
    ) {
        if generation::differs(new.value(), old.value()) {
            warn_about_pod_template(&new.at("template"), Some(&old.at("template")), warnings);
        }
    }
}
