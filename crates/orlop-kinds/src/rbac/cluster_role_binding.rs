//! ClusterRoleBinding: who has a role everywhere.
//!
//! After `pkg/registry/rbac/clusterrolebinding` and `pkg/apis/rbac/validation`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules, Scope};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;

use super::binding;
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: ClusterRoleBinding = ClusterRoleBinding;

/// The kind.
pub(crate) struct ClusterRoleBinding;

impl Kind for ClusterRoleBinding {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "ClusterRoleBinding", "clusterrolebindings", PACKAGE)
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_path_segment
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.rbac.v1.ClusterRoleBinding", binding::set_defaults)]
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

impl Rules for ClusterRoleBinding {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        binding::validate(object, Scope::Cluster, &["ClusterRole"], errors);
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
