//! Disks behind iSCSI.
//!
//! After `validateISCSIVolumeSource` and `validateISCSIPersistentVolumeSource` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::source::{require, require_of_secret};

const LUN_MAX: i64 = 255;

/// The name of a volume and the portal with a colon between them are the name of an interface.
const NAME_WITH_PORTAL_MAX: usize = 64;
const NAME_WITH_PORTAL_TOO_LONG: &str = "Total length of <volume name>:<iscsi.targetPortal> must \
                                         be under 64 characters if iscsi.initiatorName is \
                                         specified.";

const WRONG_START: &str = "must be valid format starting with iqn, eui, or naa";
const WRONG_FORM: &str = "must be valid format";

/// A disk as a volume of a pod.
pub(super) fn validate_iscsi(source: &Node<'_>, errors: &mut Errors) {
    require(source, &["targetPortal"], errors);
    validate_target(source, WRONG_START, errors);
    validate_initiator(source, WRONG_START, errors);
}

/// The volume of a pod, which has the disk: its name is not too long for its portal.
pub(super) fn validate_name_with_portal(volume: &Node<'_>, errors: &mut Errors) {
    if is_name_with_portal_too_long(volume.at("name").str(), &volume.at("iscsi")) {
        errors.invalid(&volume.at("name"), NAME_WITH_PORTAL_TOO_LONG);
    }
}

/// A disk as a persistent volume.
pub(crate) fn validate_persistent_iscsi(source: &Node<'_>, volume_name: &str, errors: &mut Errors) {
    require(source, &["targetPortal"], errors);
    if is_name_with_portal_too_long(volume_name, source) {
        let at = source.path().child("targetportal");
        errors.invalid_value(&at, source.at("targetPortal").str(), NAME_WITH_PORTAL_TOO_LONG);
    }
    validate_target(source, WRONG_FORM, errors);
    require_of_secret(source, &["name"], errors);
    validate_initiator(source, WRONG_FORM, errors);
}

fn is_name_with_portal_too_long(name: &str, source: &Node<'_>) -> bool {
    let length = name.len() + 1 + source.at("targetPortal").str().len();
    source.at("initiatorName").is_set() && length > NAME_WITH_PORTAL_MAX
}

fn validate_target(source: &Node<'_>, wrong_start: &str, errors: &mut Errors) {
    let (target, lun) = (source.at("iqn"), source.at("lun"));
    if target.is_empty() {
        errors.required(&target, "");
    } else if let Some(problem) = problem_of_name(target.str(), wrong_start) {
        errors.invalid(&target, problem);
    }
    if !(0..=LUN_MAX).contains(&lun.int()) {
        errors.invalid(&lun, names::inclusive_range_error(0, LUN_MAX));
    }
    let needs_secret = source.at("chapAuthDiscovery").bool() || source.at("chapAuthSession").bool();
    if needs_secret && !source.at("secretRef").is_set() {
        errors.required(&source.at("secretRef"), "");
    }
}

fn validate_initiator(source: &Node<'_>, wrong_start: &str, errors: &mut Errors) {
    let initiator = source.at("initiatorName");
    if !initiator.is_set() {
        return;
    }
    if let Some(problem) = problem_of_name(initiator.str(), wrong_start) {
        errors.invalid_value(&source.path().child("initiatorname"), initiator.str(), problem);
    }
}

/// What is wrong with the name of a target or an initiator.
fn problem_of_name<'a>(name: &str, wrong_start: &'a str) -> Option<&'a str> {
    let is_well_formed = if name.starts_with("iqn") {
        has_dated_name(name)
    } else if let Some(rest) = name.strip_prefix("eui") {
        is_separator_and_digits(rest, 16)
    } else if let Some(rest) = name.strip_prefix("naa") {
        is_separator_and_digits(rest, 32)
    } else {
        return Some(wrong_start);
    };
    (!is_well_formed).then_some(WRONG_FORM)
}

/// Any character and then so many letters and digits.
fn is_separator_and_digits(text: &str, count: usize) -> bool {
    let mut characters = text.chars();
    let has_separator = characters.next().is_some_and(|separator| separator != '\n');
    let rest = characters.as_str();
    has_separator && rest.len() == count && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether it ends with the like of `iqn.2015-02.example.com:disk`. As upstream, what is before
/// that does not matter.
fn has_dated_name(text: &str) -> bool {
    let forbidden = [',', ';', '*', '&', '$', '|', '\t', '\n', '\u{c}', '\r', ' '];
    let free_from = text.rfind(forbidden).map_or(0, |at| at + 1);
    let mut colons = text.match_indices(':').map(|(at, _)| at);
    colons.any(|at| (free_from..text.len()).contains(&(at + 1)) && ends_with_date(&text[..at]))
}

/// Whether the letters, digits, dashes and dots at the end have a date and a name in them.
fn ends_with_date(text: &str) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let name = text.as_bytes();
    let start = name.iter().rposition(|byte| !is_of_name(byte)).map_or(0, |at| at + 1);
    let is_digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    // `iqn.2015-02.` and at least one letter more.
    name[start..].windows(13).any(|window| {
        window.starts_with(b"iqn.")
            && is_digits(&window[4..8])
            && window[8] == b'-'
            && is_digits(&window[9..11])
            && window[11] == b'.'
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: Option<&str>) {
        assert_eq!(problem_of_name(name, WRONG_START), expect, "{name}");
    }

    #[test]
    fn names_have_one_of_three_forms() {
        check("iqn.2015-02.example.com:test", None);
        check("iqn.2015-02.example.com:a:b", None);
        check("iqn-x iqn.2015-02.a:b", None);
        check("eui.0123456789abcdef", None);
        check("naa.62004567ba64678d0123456789abcdef", None);
        check("abc.2015-02.example.com:test", Some(WRONG_START));
        for name in [
            "iqn",
            "iqn.2015.example.com:test",
            "iqn.2015-02.example.com",
            "iqn.2015-02.example.com:",
            "iqn.2015-02.:test",
            "iqn.2015-02.exa_mple.com:test",
            "iqn.2015-02.example.com:te st",
            "iqn.2015-02.example.com:test,",
            "eui.0123456789abcde",
            "eui.0123456789abcdef0",
            "eui0123456789abcdef",
            "eui.0123456789abcd_f",
            "naa.0123456789abcdef",
        ] {
            check(name, Some(WRONG_FORM));
        }
    }
}
