//! ResourceSlice: some of the devices of a pool.
//!
//! After `pkg/registry/resource/resourceslice`, `ValidateResourceSlice` in
//! `pkg/apis/resource/validation/validation.go` and `SetDefaults_DeviceTaint` in
//! `pkg/apis/resource/v1/defaults.go`. That default is the present time, so it is set where an
//! object is prepared and not with the others.

use std::collections::BTreeMap;

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules, Selectable};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::time::Time;
use orlop_machinery::{Str, Value, meta};

use super::collection::validate_set;
use super::device::{
    validate_counters, validate_device, validate_node_name, validate_one_set, validate_truth,
};
use super::device_attribute::{LISTS, has_list};
use super::device_identity::{validate_driver_name, validate_pool_name};
use super::{GROUP_VERSION, PACKAGE};
use crate::rules::generation;
use crate::rules::node_selector::validate_node_selector;
use crate::rules::scalar::validate_positive;

pub(crate) static KIND: ResourceSlice = ResourceSlice;

/// The kind.
pub(crate) struct ResourceSlice;

const DEVICES_MAX: usize = 128;
const COMPLEX_DEVICES_MAX: usize = 64;
const COUNTER_SETS_MAX: usize = 8;
const MAPPINGS: &str = "nodeAllocatableResourceMappings";

impl Kind for ResourceSlice {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "ResourceSlice", "resourceslices", PACKAGE)
            .returns_deleted()
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.resource.v1.NodeAllocatableResourceMapping", |mapping| {
            mapping.set_default("allocationMultiplier", "1");
        })]
    }

    fn selectable_fields(&self) -> &'static [Selectable] {
        &[
            Selectable {
                name: "spec.driver",
                get: |slice| Str::new(slice.path(&["spec", "driver"]).str()),
            },
            Selectable {
                name: "spec.nodeName",
                get: |slice| Str::new(slice.path(&["spec", "nodeName"]).str()),
            },
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Node"),
                Column::text("Driver"),
                Column::text("Pool"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let spec = object.at("spec");
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            spec.at("nodeName").str().into(),
            spec.at("driver").str().into(),
            spec.path(&["pool", "name"]).str().into(),
            context.age(object).into(),
        ])
    }
}

impl Rules for ResourceSlice {
    fn prepare_create(&self, context: &Context<'_>, object: &mut Value) {
        date_taints(context, object);
        generation::start(object);
        drop_disabled_fields(object, &Value::Null);
    }

    fn prepare_update(&self, context: &Context<'_>, new: &mut Value, old: &Value) {
        date_taints(context, new);
        generation::count_change(new, old, &["spec"]);
        drop_disabled_fields(new, old);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_spec(&object.at("spec"), None, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        validate_spec(&new.at("spec"), Some(&old.at("spec")), errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        let spec = object.at("spec");
        let driver = spec.at("driver").str();
        if driver != driver.to_lowercase() {
            warnings.push(format!(
                "spec.driver: driver names should be lowercase; {} contains uppercase characters",
                quote(driver)
            ));
        }
    }
}

/// A taint without a time was added now.
fn date_taints(context: &Context<'_>, slice: &mut Value) {
    let devices = slice.path_mut(&["spec", "devices"]).map(Value::list_mut).unwrap_or_default();
    let taints = devices.iter_mut().filter_map(|device| device.get_mut("taints"));
    for taint in taints.flat_map(Value::list_mut) {
        taint.set_default("timeAdded", Time::from_unix(context.now_seconds).to_string());
    }
}

/// Takes out what is off: unless the slice had it before.
fn drop_disabled_fields(new: &mut Value, old: &Value) {
    let old_devices = old.path(&["spec", "devices"]).list();
    let had_mappings = old_devices.iter().any(|device| !device.at(MAPPINGS).is_empty());
    let had_lists =
        old_devices.iter().any(|device| device.at("attributes").map().values().any(has_list));
    let devices = new.path_mut(&["spec", "devices"]).map(Value::list_mut).unwrap_or_default();
    for device in devices {
        if !had_mappings {
            device.remove(MAPPINGS);
        }
        if let Some(Value::Map(attributes)) = device.get_mut("attributes").filter(|_| !had_lists) {
            for (_, attribute) in attributes.iter_mut() {
                for field in LISTS {
                    attribute.remove(field);
                }
            }
        }
    }
}

fn validate_spec(spec: &Node<'_>, old: Option<&Node<'_>>, errors: &mut Errors) {
    let (driver, pool) = (spec.at("driver"), spec.at("pool"));
    validate_driver_name(&driver, errors);
    validate_pool(&pool, errors);
    if let Some(old) = old {
        meta::validate_immutable(&pool.at("name"), &old.at("pool").at("name"), errors);
        meta::validate_immutable(&driver, &old.at("driver"), errors);
        meta::validate_immutable(&spec.at("nodeName"), &old.at("nodeName"), errors);
    }
    validate_nodes(spec, errors);
    let (devices, counters) = (spec.at("devices"), spec.at("sharedCounters"));
    if devices.is_set() && counters.is_set() {
        let detail = "only one of `sharedCounters` or `devices` is allowed";
        errors.invalid_value(spec, "", detail);
    }
    validate_devices(spec, old, errors);
    let validate_counter_set = &mut |set: &Node<'_>, errors: &mut Errors| {
        validate_counters(set, "name", errors);
    };
    validate_set(&counters, COUNTER_SETS_MAX, "name", validate_counter_set, errors);
}

fn validate_pool(pool: &Node<'_>, errors: &mut Errors) {
    validate_pool_name(&pool.at("name"), errors);
    validate_positive(&pool.at("resourceSliceCount"), errors);
    let generation = pool.at("generation");
    if generation.int() < 0 {
        errors.invalid(&generation, "must be greater than or equal to zero");
    }
}

/// On which nodes the devices are.
fn validate_nodes(spec: &Node<'_>, errors: &mut Errors) {
    let empty = "must be either unset or set to a non-empty string";
    let has_name = validate_node_name(&spec.at("nodeName"), empty, errors);
    let selector = spec.at("nodeSelector");
    if selector.is_set() {
        validate_node_selector(&selector, false, errors);
        let terms = selector.at("nodeSelectorTerms");
        if terms.len() != 1 {
            errors.invalid(&terms, "must have exactly one node selector term");
        }
    }
    let has_all = validate_truth(&spec.at("allNodes"), errors);
    let is_per_device = validate_truth(&spec.at("perDeviceNodeSelection"), errors);
    let set = [
        (has_name, "`nodeName`"),
        (selector.is_set(), "`nodeSelector`"),
        (has_all, "`allNodes`"),
        (is_per_device, "`perDeviceNodeSelection`"),
    ];
    let none = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` \
                is required";
    let several = format!("{none}, but multiple fields are set");
    validate_one_set(spec, &set, (none, &several), errors);
}

fn validate_devices(spec: &Node<'_>, old: Option<&Node<'_>>, errors: &mut Errors) {
    let mut old_devices: BTreeMap<&str, &Value> = BTreeMap::new();
    for device in old.map(|old| old.value().at("devices").list()).unwrap_or_default() {
        old_devices.entry(device.at("name").str()).or_insert(device);
    }
    let selects_nodes = spec.at("perDeviceNodeSelection").bool();
    let validate_one = &mut |device: &Node<'_>, errors: &mut Errors| {
        let old = old_devices.get(device.value().at("name").str()).copied();
        validate_device(device, old, selects_nodes, errors);
    };
    let devices = spec.at("devices");
    let is_complex = devices.list().iter().any(|device| {
        !device.at("taints").is_empty()
            || !device.at("consumesCounters").is_empty()
            || device.at("attributes").map().values().any(has_list)
    });
    let max = if is_complex { COMPLEX_DEVICES_MAX } else { DEVICES_MAX };
    validate_set(&devices, max, "name", validate_one, errors);
}
