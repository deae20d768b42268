//! Lease: a lock with a holder and a time.
//!
//! After `pkg/registry/coordination/lease` and `pkg/apis/coordination/validation`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: Lease = Lease;

/// The kind.
pub(crate) struct Lease;

/// Fields of coordinated leader election, which is off by default.
const DISABLED: [&str; 2] = ["preferredHolder", "strategy"];

impl Kind for Lease {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "Lease", "leases", PACKAGE)
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Holder"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.path(&["spec", "holderIdentity"]).str().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for Lease {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        for field in DISABLED {
            object.entry("spec").remove(field);
        }
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        for field in DISABLED {
            if old.at("spec").at(field).is_null() {
                new.entry("spec").remove(field);
            }
        }
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        let (seconds, transitions) = (spec.at("leaseDurationSeconds"), spec.at("leaseTransitions"));
        if seconds.is_set() && seconds.int() <= 0 {
            errors.invalid(&seconds, "must be greater than 0");
        }
        if transitions.is_set() && transitions.int() < 0 {
            errors.invalid(&transitions, "must be greater than or equal to 0");
        }
        let strategy = spec.at("strategy");
        if strategy.is_set() {
            validate_strategy(&strategy, errors);
        }
        if !spec.at("preferredHolder").is_empty() && strategy.is_empty() {
            let detail = "may only be specified if `strategy` is defined";
            errors.forbidden(&spec.at("preferredHolder"), detail);
        }
    }
}

fn validate_strategy(strategy: &Node<'_>, errors: &mut Errors) {
    // Upstream names the field twice in the path.
    let at = orlop_machinery::field::At::path(strategy).child("strategy");
    if !strategy.str().contains('/') {
        if strategy.str() != "OldestEmulationVersion" {
            errors.not_supported_value(&at, strategy.str(), &["OldestEmulationVersion"]);
        }
        return;
    }
    for message in names::qualified_name(strategy.str()) {
        errors.invalid_value(&at, strategy.str(), message);
    }
}
