//! What is known of a device: one value under each name.
//!
//! After `validateDeviceAttribute` in `pkg/apis/resource/validation/validation.go`. Lists of values
//! are off: only slices that had some keep them.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::node::Node;

const VALUE_MAX: usize = 64;

/// The fields with one value, and those with many.
const SINGLE: [&str; 4] = ["bool", "int", "string", "version"];
/// Those with many.
pub(super) const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];

/// Reports all that is wrong with an attribute.
pub(super) fn validate_attribute(attribute: &Node<'_>, errors: &mut Errors) {
    validate_value(&attribute.at("string"), errors);
    validate_version(&attribute.at("version"), errors);
    for text in attribute.at("strings").items() {
        validate_value(&text, errors);
    }
    for version in attribute.at("versions").items() {
        validate_version(&version, errors);
    }
    let fields = SINGLE.into_iter().chain(LISTS);
    let shown = match fields.filter(|field| attribute.at(field).is_set()).count() {
        0 => Value::from(""),
        1 => return,
        _ => attribute.value().clone(),
    };
    errors.invalid_value(attribute, shown, "exactly one value must be specified");
}

/// Whether an attribute has many values.
pub(super) fn has_list(attribute: &Value) -> bool {
    LISTS.into_iter().any(|field| !attribute.at(field).is_null())
}

/// How many values there are; a list without any counts as one.
pub(super) fn count_values(attribute: &Value) -> usize {
    let many = LISTS.into_iter().map(|field| attribute.at(field).list().len()).sum();
    usize::max(many, 1)
}

fn validate_value(value: &Node<'_>, errors: &mut Errors) {
    if value.str().len() > VALUE_MAX {
        errors.too_long(value, VALUE_MAX);
    }
}

fn validate_version(version: &Node<'_>, errors: &mut Errors) {
    if version.is_set() && !is_semantic_version(version.str()) {
        errors.invalid(version, "must be a string compatible with semver.org spec 2.0.0");
    }
    validate_value(version, errors);
}

/// `1.2.3-alpha.1+build.5`.
fn is_semantic_version(text: &str) -> bool {
    let (text, build) = text.split_once('+').map_or((text, None), |(text, it)| (text, Some(it)));
    let (core, pre) = text.split_once('-').map_or((text, None), |(core, it)| (core, Some(it)));
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = |number: &str| number == "0" || !number.starts_with('0');
    core.split('.').count() == 3
        && core.split('.').all(|number| is_digits(number) && is_plain(number))
        && pre.is_none_or(|pre| {
            pre.split('.').all(|word| is_word(word) && (!is_digits(word) || is_plain(word)))
        })
        && build.is_none_or(|build| build.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_semver_org() {
        for fine in ["0.0.0", "1.20.3", "1.0.0-alpha.1", "1.0.0-0a.--", "1.0.0+001.a", "1.2.3-a+b"]
        {
            assert!(is_semantic_version(fine), "{fine}");
        }
        for bad in ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3+", "v1.2.3"] {
            assert!(!is_semantic_version(bad), "{bad}");
        }
    }
}
