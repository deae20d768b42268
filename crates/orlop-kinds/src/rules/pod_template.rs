//! The template of pods that a controller holds, and the selector by which it knows its pods.
//!
//! After `pkg/apis/apps/validation/validation.go`, `ValidatePodTemplateSpecForRC` in
//! `pkg/apis/core/validation/validation.go` and the strategies in `pkg/registry`. What holds for
//! every template stands in `rules/pod_spec.rs`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::generation;
use super::pod_spec::warnings::warn_about_pod_template;
use super::pod_spec::{self, PodOptions};

/// Takes out of the template at a path what belongs to features that are off, unless the old
/// template has it.
pub(crate) fn drop_disabled_fields(new: &mut Value, old: Option<&Value>, path: &[&str]) {
    let old_spec = old.and_then(|old| old.path(path).get("spec"));
    let spec = new.path_mut(path).and_then(|template| template.get_mut("spec"));
    if let Some(spec) = spec {
        pod_spec::drop_disabled_fields(spec, old_spec);
    }
}

/// What the new template may break because the old one does.
pub(crate) fn options_from_old(template: &Value) -> PodOptions {
    PodOptions::from_old(template.at("spec"), template.at("metadata"))
}

/// The selector of a controller is there, well-formed, and not empty.
pub(crate) fn validate_selector(selector: &Node<'_>, kind: &str, errors: &mut Errors) {
    if !selector.is_set() {
        errors.required(selector, "");
        return;
    }
    meta::validate_label_selector(selector, SelectorOptions::default(), errors);
    validate_selector_selects(selector, kind, errors);
}

/// The selector of a controller is not empty.
pub(crate) fn validate_selector_selects(selector: &Node<'_>, kind: &str, errors: &mut Errors) {
    let fields = ["matchLabels", "matchExpressions"];
    if selector.is_set() && fields.iter().all(|field| selector.at(field).is_empty()) {
        errors.invalid(selector, format!("empty selector is invalid for {kind}"));
    }
}

/// The pods of the template are pods of the selector. An empty selector does not ask for anything.
pub(crate) fn validate_selector_matches(
    selector: &LabelSelector,
    template: &Node<'_>,
    errors: &mut Errors,
) {
    let metadata = template.at("metadata");
    let labels = metadata.at("labels");
    if !selector.is_everything() && !selector.matches(labels.map()) {
        errors.invalid(&labels, "`selector` does not match template `labels`");
    }
}

/// The pods of the template start again whenever they end. `kind` is whose template it is.
pub(crate) fn validate_restarts_always(template: &Node<'_>, kind: &str, errors: &mut Errors) {
    let spec = template.at("spec");
    let policy = spec.at("restartPolicy");
    if policy.str() != "Always" {
        errors.not_supported(&policy, &["Always"]);
    }
    let deadline = spec.at("activeDeadlineSeconds");
    if deadline.is_set() {
        errors.forbidden(&deadline, format!("activeDeadlineSeconds in {kind} is not Supported"));
    }
}

/// Tells of a name that pods cannot have as their hostname.
pub(crate) fn warn_about_name(object: &Node<'_>, warnings: &mut Vec<String>) {
    let messages = names::dns_label(object.value().path(&["metadata", "name"]).str());
    if !messages.is_empty() {
        let messages = messages.join(" ");
        warnings.push(format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in \
             surprising behavior; a DNS label is recommended: [{messages}]"
        ));
    }
}

/// Tells about the template of an object whose spec was changed.
pub(crate) fn warn_about_change(new: &Node<'_>, old: &Node<'_>, warnings: &mut Vec<String>) {
    if generation::differs(new.value(), old.value()) {
        let (new, old) = (new.at("spec"), old.at("spec"));
        warn_about_pod_template(&new.at("template"), Some(&old.at("template")), warnings);
    }
}

/// The cells with the names and the images of the containers of a template.
pub(crate) fn container_cells(template: &Value) -> [Value; 2] {
    let containers = template.path(&["spec", "containers"]).list();
    ["name", "image"].map(|field| {
        let texts: Vec<&str> = containers.iter().map(|found| found.at(field).str()).collect();
        texts.join(",").into()
    })
}

/// Labels as a cell.
pub(crate) fn label_cell(labels: &Value) -> Value {
    match LabelSelector::from_labels(labels.map()).to_string() {
        text if text.is_empty() => "<none>".into(),
        text => text.into(),
    }
}
