//! ValidatingWebhookConfiguration: asks webhooks to let requests pass.
//!
//! After `pkg/registry/admissionregistration/validatingwebhookconfiguration`; the rules of webhooks
//! stand in `webhook`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::reserved_name::warn_about_reserved_name;
use super::rule::set_rule_defaults;
use super::webhook::{self, Purpose};
use super::{CATEGORIES, GROUP_VERSION, PACKAGE};
use crate::rules::generation;

pub(crate) static KIND: ValidatingWebhookConfiguration = ValidatingWebhookConfiguration;

/// The kind.
pub(crate) struct ValidatingWebhookConfiguration;

impl Kind for ValidatingWebhookConfiguration {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
        Resource::cluster(GROUP_VERSION, kind, plural, PACKAGE).categories(CATEGORIES)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        // Rules and services of both kinds of configurations: once is enough.
        &[
            ("io.k8s.api.admissionregistration.v1.RuleWithOperations", set_rule_defaults),
            ("io.k8s.api.admissionregistration.v1.ServiceReference", |reference| {
                reference.set_default("port", 443);
            }),
            (
                "io.k8s.api.admissionregistration.v1.ValidatingWebhook",
                webhook::set_webhook_defaults,
            ),
        ]
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

impl Rules for ValidatingWebhookConfiguration {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["webhooks"]);
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        webhook::validate_webhooks(object, Purpose::Validating, errors);
    }

    fn validate_update(
        &self,
        _context: &Context<'_>,
        new: &Node<'_>,
        old: &Node<'_>,
        errors: &mut Errors,
    ) {
        webhook::validate_webhooks_update(new, old, Purpose::Validating, errors);
    }

    fn warn(&self, _context: &Context<'_>, object: &Node<'_>, warnings: &mut Vec<String>) {
        warn_about_reserved_name(object, warnings);
    }
}
