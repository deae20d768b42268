//! RoleBinding: who has a role in a namespace.
//!
//! After `pkg/registry/rbac/rolebinding` and `pkg/apis/rbac/validation`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules, Scope};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;

use super::binding;
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: RoleBinding = RoleBinding;

/// The kind.
pub(crate) struct RoleBinding;

impl Kind for RoleBinding {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "RoleBinding", "rolebindings", PACKAGE)
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_path_segment
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.rbac.v1.RoleBinding", binding::set_defaults),
            ("io.k8s.api.rbac.v1.Subject", binding::set_subject_defaults),
        ]
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    fn columns(&self) -> &'static [Column] {
        binding::COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        binding::row(context, object)
    }
}

impl Rules for RoleBinding {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        binding::validate(object, Scope::Namespaced, &["Role", "ClusterRole"], errors);
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
        binding::validate_role_unchanged(new, old, errors);
    }
}
