//! MutatingWebhookConfiguration: asks webhooks to change requests.
//!
//! After `pkg/registry/admissionregistration/mutatingwebhookconfiguration`; the rules of webhooks
//! stand in `webhook`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::reserved_name::warn_about_reserved_name;
use super::webhook::{self, Purpose};
use super::{CATEGORIES, GROUP_VERSION, PACKAGE};
use crate::rules::generation;

pub(crate) static KIND: MutatingWebhookConfiguration = MutatingWebhookConfiguration;

/// The kind.
pub(crate) struct MutatingWebhookConfiguration;

impl Kind for MutatingWebhookConfiguration {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations");
        Resource::cluster(GROUP_VERSION, kind, plural, PACKAGE).categories(CATEGORIES)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[("io.k8s.api.admissionregistration.v1.MutatingWebhook", set_defaults)]
    }

    fn allows_unconditional_update(&self) -> bool {
        false
    }

    fn columns(&self) -> &'static [Column] {
        webhook::COLUMNS
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        webhook::row(context, object)
    }
}

fn set_defaults(hook: &mut Value) {
    webhook::set_webhook_defaults(hook);
    hook.set_default("reinvocationPolicy", "Never");
}

impl Rules for MutatingWebhookConfiguration {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["webhooks"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        webhook::validate_webhooks(object, Purpose::Mutating, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        webhook::validate_webhooks_update(new, old, Purpose::Mutating, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_reserved_name(object, warnings);
    }
}
