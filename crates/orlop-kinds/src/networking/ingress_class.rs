//! IngressClass: which controller serves an Ingress.
//!
//! After `pkg/registry/networking/ingressclass` and `pkg/apis/networking/validation`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta, names};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::generation;
use crate::rules::scalar::{validate_required_text, validate_text};

pub(crate) static KIND: IngressClass = IngressClass;

/// The kind.
pub(crate) struct IngressClass;

static COLUMNS: &[Column] =
    &[Column::NAME, Column::text("Controller"), Column::text("Parameters"), Column::AGE];
const CONTROLLER_BYTES_MAX: usize = 250;
const DEFAULT_ANNOTATION: &str = "ingressclass.kubernetes.io/is-default-class";

impl Kind for IngressClass {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "IngressClass", "ingressclasses", PACKAGE)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.networking.v1.IngressClass", |class| {
            if let Some(parameters) = class.path_mut(&["spec", "parameters"]) {
                parameters.set_default("scope", "Cluster");
            }
        })]
    }

    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let metadata = object.at("metadata");
        let is_default = metadata.at("annotations").at(DEFAULT_ANNOTATION).str() == "true";
        let suffix = if is_default { " (default)" } else { "" };
        let parameters = match object.path(&["spec", "parameters"]) {
            Value::Null => "<none>".to_owned(),
            found => {
                let group = match found.at("apiGroup") {
                    Value::Null => String::new(),
                    group => format!(".{}", group.str()),
                };
                format!("{}{group}/{}", found.at("kind").str(), found.at("name").str())
            }
        };
        Row::new(vec![
            format!("{}{suffix}", metadata.at("name").str()).into(),
            object.path(&["spec", "controller"]).str().into(),
            parameters.into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for IngressClass {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        let controller = spec.at("controller");
        if controller.str().len() > CONTROLLER_BYTES_MAX {
            errors.too_long(&controller, CONTROLLER_BYTES_MAX);
        }
        names::domain_prefixed_path(&controller, controller.str(), errors);
        let parameters = spec.at("parameters");
        if parameters.is_set() {
            validate_parameters(&parameters, errors);
        }
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (spec, old_spec) = (new.at("spec"), old.at("spec"));
        meta::validate_immutable(&spec.at("controller"), &old_spec.at("controller"), errors);
        self.validate(context, new, errors);
    }
}

fn validate_parameters(parameters: &Node<'_>, errors: &mut Errors) {
    let group = parameters.at("apiGroup");
    if group.is_set() {
        validate_text(&group, names::dns_subdomain, errors);
    }
    validate_required_text(&parameters.at("kind"), names::path_segment_name, errors);
    validate_required_text(&parameters.at("name"), names::path_segment_name, errors);
    let (scope, namespace) = (parameters.at("scope"), parameters.at("namespace"));
    match scope.str() {
        _ if !scope.is_set() => errors.required(&scope, ""),
        "Namespace" if namespace.is_set() => {
            validate_text(&namespace, names::dns_label, errors);
        }
        "Namespace" => errors.required(&namespace, "`parameters.scope` is set to 'Namespace'"),
        "Cluster" if namespace.is_set() => {
            errors.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
        }
        "Cluster" => {}
        _ => errors.not_supported(&scope, &["Cluster", "Namespace"]),
    }
}
