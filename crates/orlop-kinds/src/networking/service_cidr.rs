//! ServiceCIDR: from which networks Services get their addresses.
//!
//! After `pkg/registry/networking/servicecidr` and `pkg/apis/networking/validation`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{Value, names};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::scalar::validate_text;
use crate::rules::status;

pub(crate) static KIND: ServiceCidr = ServiceCidr;
static STATUS: ServiceCidrStatus = ServiceCidrStatus;

/// The kind.
pub(crate) struct ServiceCidr;

/// Its status.
struct ServiceCidrStatus;

const IMMUTABLE: &str = "field is immutable";

impl Kind for ServiceCidr {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "ServiceCIDR", "servicecidrs", PACKAGE).status(&STATUS)
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("CIDRs"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let cidrs: Vec<&str> =
            object.path(&["spec", "cidrs"]).list().iter().map(Value::str).collect();
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            cidrs.join(",").into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for ServiceCidr {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_cidrs(&object.at("spec"), errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (spec, old_spec) = (new.at("spec"), old.at("spec"));
        let (cidrs, old_cidrs) = (spec.at("cidrs"), old_spec.at("cidrs").list());
        // A second family may come later; all else stays.
        let is_second_added = old_cidrs.len() == 1 && cidrs.len() == 2;
        if cidrs.len() != old_cidrs.len() && !is_second_added {
            errors.invalid(&cidrs, IMMUTABLE);
            return;
        }
        for (cidr, old) in cidrs.items().zip(old_cidrs) {
            if cidr.value() != old {
                errors.invalid(&cidr, IMMUTABLE);
            }
        }
        if is_second_added {
            validate_cidrs(&spec, errors);
        }
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for ServiceCidrStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep(new, old, "spec");
        status::keep_common_metadata(new, old);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "metadata"]
    }
}

fn validate_cidrs(spec: &Node<'_>, errors: &mut Errors) {
    let cidrs = spec.at("cidrs");
    if cidrs.is_empty() {
        errors.required(&cidrs, "at least one CIDR required");
        return;
    }
    if cidrs.len() > 2 {
        errors.invalid_value(&cidrs, spec.value().clone(), "may only hold up to 2 values");
        return;
    }
    for cidr in cidrs.items() {
        validate_text(&cidr, names::cidr, errors);
    }
    let family =
        |at: usize| cidrs.list().get(at).and_then(|cidr| names::family_of_cidr(cidr.str()));
    if cidrs.len() == 2 && family(0).is_some() && family(0) == family(1) {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and \
                      2001:db8::/64";
        errors.invalid(&cidrs, detail);
    }
}
