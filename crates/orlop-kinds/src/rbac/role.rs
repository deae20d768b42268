//! Role: what one may do in a namespace.
//!
//! After `pkg/registry/rbac/role` and `pkg/apis/rbac/validation`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Kind, Resource, Rules, Scope};
use orlop_machinery::names::{self, NameRule};
use orlop_machinery::node::Node;

use super::policy_rule::validate_rules;
use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: Role = Role;

/// The kind.
pub(crate) struct Role;

impl Kind for Role {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Role", "roles", PACKAGE)
    }

    fn name_rule(&self) -> NameRule {
        names::name_is_path_segment
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }
}

impl Rules for Role {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_rules(&object.at("rules"), Scope::Namespaced, errors);
    }
}
