//! CSIStorageCapacity: how much storage of a class there is for some nodes.
//!
//! After `pkg/registry/storage/csistoragecapacity`, `pkg/apis/storage/validation/validation.go`
//! and `pkg/api/storage/util.go`. Upstream can print the kind but its storage does not: a table
//! has what every kind has.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Kind, Resource, Rules};
use orlop_machinery::meta::{self, SelectorOptions};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::deprecated_node_label::warn_of_label_selector;
use crate::rules::resource_requirements::validate_non_negative_quantity;
use crate::rules::scalar::validate_text;

pub(crate) static KIND: CsiStorageCapacity = CsiStorageCapacity;

/// The kind.
pub(crate) struct CsiStorageCapacity;

impl Kind for CsiStorageCapacity {
    fn resource(&self) -> Resource {
        let plural = "csistoragecapacities";
        Resource::namespaced(GROUP_VERSION, "CSIStorageCapacity", plural, PACKAGE)
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }
}

impl Rules for CsiStorageCapacity {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_capacity(object, SelectorOptions::default(), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        // A selector that was bad before may stay as it is.
        let mut old_errors = Errors::new();
        let old_topology = old.at("nodeTopology");
        meta::validate_label_selector(&old_topology, SelectorOptions::default(), &mut old_errors);
        let allows_invalid_values = !old_errors.is_empty();
        let options = SelectorOptions { allows_invalid_values, ..SelectorOptions::default() };
        validate_capacity(new, options, errors);
        for field in ["nodeTopology", "storageClassName"] {
            meta::validate_immutable(&new.at(field), &old.at(field), errors);
        }
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_of_label_selector(&object.at("nodeTopology"), warnings);
    }
}

fn validate_capacity(object: &Node<'_>, options: SelectorOptions, errors: &mut Errors) {
    meta::validate_label_selector(&object.at("nodeTopology"), options, errors);
    validate_text(&object.at("storageClassName"), names::dns_subdomain, errors);
    validate_non_negative_quantity(&object.at("capacity"), errors);
}
