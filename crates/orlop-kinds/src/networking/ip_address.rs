//! IPAddress: an address that somebody uses, such as the cluster IP of a Service.
//!
//! After `pkg/registry/networking/ipaddress` and `pkg/apis/networking/validation`.

use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Kind, Resource, Row, Rules};
use orlop_machinery::names::NameRule;
use orlop_machinery::node::Node;
use orlop_machinery::{Value, meta, names};

use super::{GROUP_VERSION, PACKAGE};
use crate::rules::scalar::{validate_optional_text, validate_required_text};

pub(crate) static KIND: IpAddress = IpAddress;

/// The kind.
pub(crate) struct IpAddress;

impl Kind for IpAddress {
    fn resource(&self) -> Resource {
        Resource::cluster(GROUP_VERSION, "IPAddress", "ipaddresses", PACKAGE).short(&["ip"])
    }

    fn name_rule(&self) -> NameRule {
        |name, _is_prefix| names::ip(name)
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::NAME, Column::text("ParentRef")] }
    }

    fn row(&self, _context: &Context<'_>, object: &Value) -> Row {
        let parent = match object.path(&["spec", "parentRef"]) {
            Value::Null => "<none>".to_owned(),
            found => parent_text(found),
        };
        Row::new(vec![object.path(&["metadata", "name"]).clone(), parent.into()])
    }
}

impl Rules for IpAddress {
    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let spec = object.at("spec");
        let parent = spec.at("parentRef");
        if !parent.is_set() {
            errors.required(&parent, "");
            return;
        }
        // The group of Services is empty.
        validate_optional_text(&parent.at("group"), names::dns_subdomain, errors);
        validate_required_text(&parent.at("resource"), names::path_segment_name, errors);
        validate_required_text(&parent.at("name"), names::path_segment_name, errors);
        validate_optional_text(&parent.at("namespace"), names::path_segment_name, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        let (spec, old_spec) = (new.at("spec"), old.at("spec"));
        meta::validate_immutable(&spec.at("parentRef"), &old_spec.at("parentRef"), errors);
    }
}

fn parent_text(parent: &Value) -> String {
    let mut text = parent.at("resource").str().to_lowercase();
    let group = parent.at("group").str().to_lowercase();
    if !group.is_empty() {
        text = format!("{text}.{group}");
    }
    let namespace = parent.at("namespace").str();
    if !namespace.is_empty() {
        text = format!("{text}/{namespace}");
    }
    format!("{text}/{}", parent.at("name").str())
}
