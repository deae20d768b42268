//! ConfigMap: settings for pods.
//!
//! After `pkg/registry/core/configmap` and `ValidateConfigMap` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::Value;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;
use orlop_machinery::{bytes, names};

use super::{GROUP_VERSION, PACKAGE};

pub(crate) static KIND: ConfigMap = ConfigMap;

/// The kind.
pub(crate) struct ConfigMap;

/// Keys and values together; the same bound as for secrets.
const SIZE_MAX: usize = 1024 * 1024;

impl Kind for ConfigMap {
    fn resource(&self) -> Resource {
        Resource::namespaced(GROUP_VERSION, "ConfigMap", "configmaps", PACKAGE).short(&["cm"])
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("Data"), Column::AGE] }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let count = object.at("data").map().len() + object.at("binaryData").map().len();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let name = object.path(&["metadata", "name"]).clone();
        Row::new(vec![name, count.into(), context.age(object).into()])
    }
}

impl Rules for ConfigMap {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let binary = object.at("binaryData");
        let mut size = 0;
        for (key, value) in object.at("data").entries() {
            validate_key(key, &value, errors);
            if binary.map().contains_key(key) {
                errors.invalid_value(&value, key, "duplicate of key present in binaryData");
            }
            size += value.str().len();
        }
        for (key, value) in binary.entries() {
            validate_key(key, &value, errors);
            size += bytes::decoded_len(value.str());
        }
        if size > SIZE_MAX {
            // Upstream's path here has a part without a name.
            errors.too_long(&Path::root().key(""), SIZE_MAX);
        }
    }

    fn validate_update(
        &self,
        context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        if old.at("immutable").bool() {
            let detail = "field is immutable when `immutable` is set";
            if !new.at("immutable").bool() {
                errors.forbidden(&new.at("immutable"), detail);
            }
            for field in ["data", "binaryData"] {
                if new.at(field).map() != old.at(field).map() {
                    errors.forbidden(&new.at(field), detail);
                }
            }
        }
        self.validate(context, new, errors);
    }
}

fn validate_key(key: &str, value: &Node<'_>, errors: &mut Errors) {
    for message in names::config_map_key(key) {
        errors.invalid_value(value, key, message);
    }
}
