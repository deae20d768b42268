//! Rules about one text or one number, whatever it is for.
//!
//! Each takes the node of the value, so that the error shows the value and its path.

use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

/// Says what is wrong with a text; nothing when it is fine.
pub(crate) type TextRule = fn(&str) -> Vec<String>;

/// Says what is wrong with a number; nothing when it is fine.
pub(crate) type NumberRule = fn(i64) -> Vec<String>;

/// A text that a rule of names finds fine.
pub(crate) fn validate_text(text: &Node<'_>, rule: TextRule, errors: &mut Errors) {
    for message in rule(text.str()) {
        errors.invalid(text, message);
    }
}

/// The same, and it must be there.
pub(crate) fn validate_required_text(text: &Node<'_>, rule: TextRule, errors: &mut Errors) {
    if text.is_empty() {
        errors.required(text, "");
    } else {
        validate_text(text, rule, errors);
    }
}

/// The same, but it may be empty.
pub(crate) fn validate_optional_text(text: &Node<'_>, rule: TextRule, errors: &mut Errors) {
    if !text.is_empty() {
        validate_text(text, rule, errors);
    }
}

/// A number that a rule finds fine; a missing one is.
pub(crate) fn validate_number(number: &Node<'_>, rule: NumberRule, errors: &mut Errors) {
    if number.is_set() {
        for message in rule(number.int()) {
            errors.invalid(number, message);
        }
    }
}

/// One of a few texts (in the order to show them); a missing one is fine.
pub(crate) fn validate_choice(text: &Node<'_>, allowed: &[&str], errors: &mut Errors) {
    if text.is_set() && !allowed.contains(&text.str()) {
        errors.not_supported(text, allowed);
    }
}

/// One of a few texts, and it must be there.
pub(crate) fn validate_required_choice(text: &Node<'_>, allowed: &[&str], errors: &mut Errors) {
    if text.is_empty() {
        errors.required(text, "");
    } else {
        validate_choice(text, allowed, errors);
    }
}

/// A number that is not below 0.
pub(crate) fn validate_non_negative(number: &Node<'_>, errors: &mut Errors) {
    if number.int() < 0 {
        errors.invalid(number, "must be greater than or equal to 0");
    }
}

/// A number above 0.
pub(crate) fn validate_positive(number: &Node<'_>, errors: &mut Errors) {
    if number.int() <= 0 {
        errors.invalid(number, "must be greater than zero");
    }
}
