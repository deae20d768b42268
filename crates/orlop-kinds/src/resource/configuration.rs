//! How devices are chosen, and what their drivers are told.
//!
//! After `validateSelector`, `validateDeviceConfiguration` and `validateRawExtension` in
//! `pkg/apis/resource/validation/validation.go`. Expressions are not compiled yet.

use orlop_machinery::field::Errors;
use orlop_machinery::json;
use orlop_machinery::node::Node;

use super::collection::validate_list;
use super::device_identity::validate_driver_name;

/// How long the JSON of somebody else's may be.
pub(super) const RAW_MAX: usize = 10 * 1024;
const SELECTORS_MAX: usize = 32;
const EXPRESSION_MAX: usize = 10 * 1024;

/// The selectors of a class or request.
pub(super) fn validate_selectors(selectors: &Node<'_>, errors: &mut Errors) {
    let validate_selector = &mut |selector: &Node<'_>, errors: &mut Errors| {
        let cel = selector.at("cel");
        if cel.is_set() {
            validate_expression(&cel.at("expression"), errors);
        } else {
            errors.required(&cel, "");
        }
    };
    validate_list(selectors, SELECTORS_MAX, validate_selector, errors);
}

/// A CEL expression about a device. This is where compiling it, and a bound on its cost, will go;
/// for now only its length is known.
fn validate_expression(expression: &Node<'_>, errors: &mut Errors) {
    if expression.str().len() > EXPRESSION_MAX {
        errors.too_long(expression, EXPRESSION_MAX);
    }
}

/// What a driver is told. Parameters that are `stored` already may be of any length.
pub(super) fn validate_configuration(config: &Node<'_>, stored: bool, errors: &mut Errors) {
    let opaque = config.at("opaque");
    if !opaque.is_set() {
        errors.required(&opaque, "");
        return;
    }
    validate_driver_name(&opaque.at("driver"), errors);
    let max = if stored { usize::MAX } else { RAW_MAX };
    validate_raw(&opaque.at("parameters"), max, errors);
}

/// An object of somebody else's. Its length is that of its shortest JSON: how it was written is
/// not known any more.
pub(super) fn validate_raw(raw: &Node<'_>, max: usize, errors: &mut Errors) {
    if !raw.is_set() {
        errors.required(raw, "");
    } else if json::to_string(raw.value()).len() > max {
        errors.too_long(raw, max);
    } else if raw.value().as_map().is_none() {
        errors.invalid_value(raw, "<value omitted>", "must be a valid JSON object");
    }
}
