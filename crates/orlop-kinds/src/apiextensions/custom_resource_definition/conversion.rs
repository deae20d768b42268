//! How objects get from one version to another.
//!
//! After `validateCustomResourceConversion`. Errors are about fields as upstream has them inside:
//! `conversion.webhookClientConfig` and not `conversion.webhook.clientConfig`.

use std::collections::BTreeSet;

use orlop_machinery::field::{Errors, Path};
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::{Value, bytes};
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::options::Options;
use crate::rules::scalar::validate_required_choice;
use crate::rules::webhook_client_config::validate_webhook_client_config;

/// Versions of the review that the server speaks.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Reports all that is wrong with the conversion of a spec.
pub(super) fn validate_conversion(spec: &Node<'_>, options: &Options, errors: &mut Errors) {
    let conversion = spec.at("conversion");
    if !conversion.is_set() {
        return;
    }
    let strategy = conversion.at("strategy");
    if strategy.str() != "None" && spec.at("preserveUnknownFields").bool() {
        errors.invalid(&strategy, "must be None if spec.preserveUnknownFields is true");
    }
    validate_required_choice(&strategy, &["None", "Webhook"], errors);
    let webhook = conversion.value().at("webhook");
    // What is inside has names that the schema does not know.
    let at = Path::field("spec");
    let at = at.child("conversion");
    let config = Node::new(webhook.at("clientConfig"), at.child("webhookClientConfig"));
    let versions =
        Node::new(webhook.at("conversionReviewVersions"), at.child("conversionReviewVersions"));
    if strategy.str() == "Webhook" {
        validate_client_config(&config, options, errors);
        validate_review_versions(&versions, options, errors);
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if config.is_set() {
        errors.forbidden(&config, detail);
    }
    if !versions.is_empty() {
        errors.forbidden(&versions, detail);
    }
}

/// Whether a list of versions of the review has one that is known, or has none at all.
pub(super) fn has_known_review_version(versions: &Value) -> bool {
    versions.list().is_empty()
        || versions.list().iter().any(|version| REVIEW_VERSIONS.contains(&version.str()))
}

/// Why bytes are no certificates, if they are none. The words about a certificate that cannot be
/// read are our own.
pub(super) fn what_is_wrong_with_bundle(bundle: &Value) -> Option<String> {
    let data = bytes::decode(bundle.str()).unwrap_or_default();
    let mut reason = "unable to parse bytes as PEM block".to_owned();
    let mut is_read = true;
    for block in Pem::iter_from_buffer(&data).map_while(Result::ok) {
        if block.label == "CERTIFICATE" {
            match X509Certificate::from_der(&block.contents) {
                Ok(_) => return None,
                Err(error) if is_read => {
                    reason = format!("failed to parse certificate: {error}");
                    is_read = false;
                }
                Err(_) => {}
            }
        } else if is_read {
            "no valid certificate authority data seen".clone_into(&mut reason);
        }
    }
    Some(format!("unable to load root certificates: {reason}"))
}

fn validate_client_config(config: &Node<'_>, options: &Options, errors: &mut Errors) {
    if !config.is_set() {
        errors.required(config, "required when strategy is set to Webhook");
        return;
    }
    validate_webhook_client_config(config, errors);
    let bundle = config.at("caBundle");
    if bundle.is_empty() || options.allows_bad_ca_bundle {
        return;
    }
    if let Some(wrong) = what_is_wrong_with_bundle(bundle.value()) {
        errors.invalid(&bundle, wrong);
    }
}

fn validate_review_versions(versions: &Node<'_>, options: &Options, errors: &mut Errors) {
    if versions.is_empty() {
        errors.required(versions, "");
        return;
    }
    let mut known = BTreeSet::new();
    for version in versions.items() {
        if !known.insert(version.str().to_owned()) {
            errors.invalid(&version, "duplicate version");
            continue;
        }
        for message in names::dns1035_label(version.str()) {
            errors.invalid(&version, message);
        }
    }
    if !options.allows_unknown_review_versions && !has_known_review_version(versions.value()) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.invalid(versions, detail);
    }
}
