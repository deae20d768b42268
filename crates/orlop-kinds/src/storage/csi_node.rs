//! CSINode: which drivers for volumes a node has.
//!
//! After `pkg/registry/storage/csinode` and `pkg/apis/storage/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use orlop_machinery::Value;
use orlop_machinery::equality::equal_without_schema;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::meta;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::scalar::validate_non_negative;
use crate::rules::volume::driver::validate_csi_driver_name;

pub(crate) static KIND: CsiNode = CsiNode;

/// The kind.
pub(crate) struct CsiNode;

const NODE_ID_MAX: usize = 256;

impl Kind for CsiNode {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "CSINode", "csinodes", PACKAGE).returns_deleted()
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::integer("Drivers"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let drivers = object.path(&["spec", "drivers"]).list().len();
        let drivers = i64::try_from(drivers).unwrap_or(i64::MAX);
        let name = object.path(&["metadata", "name"]).clone();
        Row::new(vec![name, drivers.into(), context.age(object).into()])
    }
}

impl Rules for CsiNode {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let mut known = BTreeSet::new();
        let spec = object.at("spec");
        for driver in spec.at("drivers").items() {
            let name = driver.at("name");
            validate_csi_driver_name(&name, errors);
            validate_node_id(&driver.at("nodeID"), errors);
            validate_non_negative(&driver.at("allocatable").at("count"), errors);
            if !known.insert(name.str().to_owned()) {
                errors.duplicate(&name);
            }
            validate_topology_keys(&driver, errors);
        }
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        self.validate(context, new, errors);
        let path = ["spec", "drivers"];
        let mut by_name: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for driver in new.value().path(&path).list() {
            by_name.entry(driver.at("name").str()).or_default().push(driver);
        }
        let spec = new.at("spec");
        for old_driver in old.value().path(&path).list() {
            for new_driver in by_name.get(old_driver.at("name").str()).into_iter().flatten() {
                validate_driver_update(&spec.at("drivers"), (new_driver, old_driver), errors);
            }
        }
    }
}

fn validate_node_id(id: &Node<'_>, errors: &mut Errors) {
    if id.is_empty() {
        errors.required(id, "");
    }
    if id.str().len() > NODE_ID_MAX {
        errors.invalid(id, format!("must be {NODE_ID_MAX} characters or less"));
    }
}

/// As upstream, errors are about the driver as a whole.
fn validate_topology_keys(driver: &Node<'_>, errors: &mut Errors) {
    let mut known = BTreeSet::new();
    for key in driver.at("topologyKeys").list() {
        if key.is_empty() {
            errors.required(driver, "");
        }
        if !known.insert(key.str().to_owned()) {
            errors.duplicate_value(driver, key.str());
        }
        for message in names::qualified_name(key.str()) {
            errors.invalid_value(driver, key.str(), message);
        }
    }
}

/// Nothing about a driver changes but how many volumes it can have.
fn validate_driver_update(drivers: &Node<'_>, (new, old): (&Value, &Value), errors: &mut Errors) {
    let without_count = |driver: &Value| {
        let mut driver = driver.clone();
        driver.remove("allocatable");
        driver
    };
    let (new, old) = (without_count(new), without_count(old));
    if !equal_without_schema(&new, &old) {
        errors.invalid_value(drivers, new, meta::FIELD_IMMUTABLE);
    }
}
