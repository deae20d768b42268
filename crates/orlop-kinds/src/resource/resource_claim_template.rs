//! ResourceClaimTemplate: what claims are made of, one for each pod.
//!
//! After `pkg/registry/resource/resourceclaimtemplate` and `ValidateResourceClaimTemplate` in
//! `pkg/apis/resource/validation/validation.go`. Whether the namespace allows access as an
//! administrator is not asked here: that is no property of the template.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::meta;
use orlop_machinery::node::Node;

use super::device_claim::validate_claim_spec;
use super::{GROUP_VERSION, PACKAGE};
use crate::rules::claim_template_metadata::validate_claim_template_metadata;

pub(crate) static KIND: ResourceClaimTemplate = ResourceClaimTemplate;

/// The kind.
pub(crate) struct ResourceClaimTemplate;

impl Kind for ResourceClaimTemplate {
    fn resource(&self) -> Resource {
        let names = ("ResourceClaimTemplate", "resourceclaimtemplates");
        Resource::namespaced(GROUP_VERSION, names.0, names.1, PACKAGE).returns_deleted()
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let name = object.path(&["metadata", "name"]).clone();
        Row::new(vec![name, context.age(object).into()])
    }
}

impl Rules for ResourceClaimTemplate {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        validate_claim_template_metadata(&spec.at("metadata"), errors);
        validate_claim_spec(&spec.at("spec"), errors);
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
        meta::validate_immutable(&new.at("spec"), &old.at("spec"), errors);
    }
}
