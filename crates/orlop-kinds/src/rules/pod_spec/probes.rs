//! Asking a container how it does, and what can be done to ask it.
//!
//! After `validateProbe` and `validateHandler` in `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::ports::validate_port_number_or_name;
use crate::rules::scalar::{validate_choice, validate_non_negative};

/// What a probe can do.
const HANDLERS: &[&str] = &["exec", "httpGet", "tcpSocket", "grpc"];

/// Whether a container has to start again.
pub(super) fn validate_liveness_probe(probe: &Node<'_>, errors: &mut Errors) {
    validate_probe(probe, errors);
    validate_single_success(probe, errors);
}

/// Whether a container has started.
pub(super) fn validate_startup_probe(probe: &Node<'_>, errors: &mut Errors) {
    validate_probe(probe, errors);
    validate_single_success(probe, errors);
}

/// Whether a container can do its work.
pub(super) fn validate_readiness_probe(probe: &Node<'_>, errors: &mut Errors) {
    validate_probe(probe, errors);
    let grace_period = probe.at("terminationGracePeriodSeconds");
    if grace_period.is_set() {
        errors.invalid(&grace_period, "must not be set for readinessProbes");
    }
}

/// Something that is done to a container: exactly one of the ways that `allowed` lists, in the
/// order of the rules. `None` of a grace period means that nobody knows it.
pub(super) fn validate_handler(
    handler: &Node<'_>,
    allowed: &[&str],
    grace_period: Option<i64>,
    errors: &mut Errors,
) {
    let mut is_first = true;
    for way in allowed {
        let action = handler.at(way);
        if !action.is_set() {
            continue;
        }
        if !is_first {
            errors.forbidden(&action, "may not specify more than 1 handler type");
            continue;
        }
        is_first = false;
        match *way {
            "exec" => validate_exec(&action, errors),
            "httpGet" => validate_http_get(&action, errors),
            "sleep" => validate_sleep(&action, grace_period, errors),
            _ => validate_port_number_or_name(&action.at("port"), errors),
        }
    }
    if is_first {
        errors.required(handler, "must specify a handler type");
    }
}

fn validate_probe(probe: &Node<'_>, errors: &mut Errors) {
    if !probe.is_set() {
        return;
    }
    validate_handler(probe, HANDLERS, None, errors);
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        validate_non_negative(&probe.at(field), errors);
    }
    let grace_period = probe.at("terminationGracePeriodSeconds");
    if grace_period.is_set() && grace_period.int() <= 0 {
        errors.invalid(&grace_period, "must be greater than 0");
    }
}

/// A container that lives or has started once does not need to say so again.
fn validate_single_success(probe: &Node<'_>, errors: &mut Errors) {
    let threshold = probe.at("successThreshold");
    if probe.is_set() && threshold.int() != 1 {
        errors.invalid(&threshold, "must be 1");
    }
}

fn validate_exec(action: &Node<'_>, errors: &mut Errors) {
    let command = action.at("command");
    if command.is_empty() {
        errors.required(&command, "");
    }
}

fn validate_http_get(action: &Node<'_>, errors: &mut Errors) {
    let path = action.at("path");
    if path.is_empty() {
        errors.required(&path, "");
    }
    validate_port_number_or_name(&action.at("port"), errors);
    validate_choice(&action.at("scheme"), &["HTTP", "HTTPS"], errors);
    let headers = action.at("httpHeaders");
    for header in headers.items() {
        let name = header.at("name");
        for message in names::http_header_name(name.str()) {
            errors.invalid_value(&headers, name.str(), message);
        }
    }
}

fn validate_sleep(action: &Node<'_>, grace_period: Option<i64>, errors: &mut Errors) {
    let seconds = action.at("seconds").int();
    let Some(grace_period) = grace_period else { return };
    if !(0..=grace_period).contains(&seconds) {
        let detail = format!(
            "must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
        );
        errors.invalid_value(action, seconds, detail);
    }
}
