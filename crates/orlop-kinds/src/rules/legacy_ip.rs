//! Addresses and networks in fields that once took any form of them.
//!
//! After `IsValidIPForLegacyField`, `IsValidCIDRForLegacyField` and `ValidateEndpointIP` in
//! `pkg/apis/core/validation/validation.go`. What an object already has stays allowed.

use std::collections::BTreeSet;

// Addresses are only values here: nothing is sent to them.
use core::net::IpAddr;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::names;
use orlop_machinery::node::Node;

use super::scalar::validate_text;

/// What a list of text has, to look it up.
pub(crate) fn set_of(list: &Value) -> BTreeSet<&str> {
    list.list().iter().map(Value::str).collect()
}

/// An address, unless the object had it before.
pub(crate) fn validate_ip(address: &Node<'_>, before: &BTreeSet<&str>, errors: &mut Errors) {
    if !before.contains(address.str()) {
        validate_text(address, names::ip_legacy_strict, errors);
    }
}

/// A network, unless the object had it before.
pub(crate) fn validate_cidr(
    at: &impl At,
    network: &str,
    before: &BTreeSet<&str>,
    errors: &mut Errors,
) {
    if !before.contains(network) {
        for message in names::cidr_legacy_strict(network) {
            errors.invalid_value(at, network, message);
        }
    }
}

/// An address that traffic can be sent to from elsewhere.
pub(crate) fn validate_endpoint_ip(address: &Node<'_>, errors: &mut Errors) {
    let Some(parsed) = names::parse_ip(address.str()) else {
        errors.invalid(address, "must be a valid IP address");
        return;
    };
    if parsed.is_unspecified() {
        errors.invalid(address, format!("may not be unspecified ({})", address.str()));
    }
    if parsed.is_loopback() {
        errors.invalid(address, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (is_link_local, is_link_local_multicast) = match parsed {
        IpAddr::V4(v4) => (v4.is_link_local(), v4.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(v6) => (v6.is_unicast_link_local(), v6.segments()[0] & 0xff0f == 0xff02),
    };
    if is_link_local {
        let detail = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
        errors.invalid(address, detail);
    }
    if is_link_local_multicast {
        let detail = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
        errors.invalid(address, detail);
    }
}
