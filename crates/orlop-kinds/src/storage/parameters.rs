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

#[cfg(test)]
mod tests {
    use orlop_machinery::value::{Map, Str, Value};

    use super::*;

    fn check(parameters: impl Iterator<Item = (String, String)>, expect: &str) {
        let entries = parameters.map(|(key, value)| (Str::from(key), Value::from(value)));
        let parameters = Value::Map(entries.collect::<Map>());
        let mut errors = Errors::new();
        validate_parameters(&Node::root(&parameters), &mut errors);
        let found: Vec<String> = errors.list().iter().map(|error| error.body()).collect();
        assert_eq!(found.join("; "), expect);
    }

    #[test]
    fn parameters_have_bounds() {
        let many = |count: usize| (0..count).map(|at| (at.to_string(), String::new()));
        check(many(COUNT_MAX), "");
        check(many(COUNT_MAX + 1), "Too long: may not be more than 512 bytes");
        let large = |size: usize| std::iter::once(("a".to_owned(), "b".repeat(size - 1)));
        check(large(SIZE_MAX), "");
        check(large(SIZE_MAX + 1), "Too long: may not be more than 262144 bytes");
    }
}
