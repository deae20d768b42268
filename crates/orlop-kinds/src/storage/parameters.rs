//! What classes say to a driver: its name, and parameters that only it understands.
//!
//! After `validateProvisioner` and `validateParameters` in
//! `pkg/apis/storage/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

const COUNT_MAX: usize = 512;
const SIZE_MAX: usize = 256 * 1024;

/// The name of a driver, in letters of any case.
pub(super) fn validate_driver_name(name: &Node<'_>, errors: &mut Errors) {
    if name.is_empty() {
        errors.required(name, "");
        return;
    }
    let lower = name.str().to_lowercase();
    for message in names::qualified_name(&lower) {
        errors.invalid_value(name, lower.as_str(), message);
    }
}

/// Not too many parameters, and not too large ones.
pub(super) fn validate_parameters(parameters: &Node<'_>, errors: &mut Errors) {
    if parameters.len() > COUNT_MAX {
        errors.too_long(parameters, COUNT_MAX);
        return;
    }
    let mut size = 0;
    for (key, value) in parameters.map().iter() {
        if key.is_empty() {
            errors.invalid_value(parameters, key, "field can not be empty.");
        }
        size += key.len() + value.str().len();
    }
    if size > SIZE_MAX {
        errors.too_long(parameters, SIZE_MAX);
    }
}
