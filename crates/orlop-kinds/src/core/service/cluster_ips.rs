//! The addresses of a service in the cluster and their families.
//!
//! After `ValidateServiceClusterIPsRelatedFields`, `validateUpgradeDowngradeClusterIPs` and
//! `validateUpgradeDowngradeIPFamilies` in `pkg/apis/core/validation/validation.go`. A service has
//! no address (headless), one, or one of each family; the first never changes.

use std::collections::BTreeSet;

use orlop_machinery::Value;
use orlop_machinery::field::{At, Errors};
use orlop_machinery::names::{self, IpFamily};
use orlop_machinery::node::Node;

use super::spec::{NO_ADDRESS, has_type, is_headless};
use crate::rules::legacy_ip;
use crate::rules::scalar::validate_choice;

const FAMILIES: &[&str] = &["IPv4", "IPv6"];
const FAMILY_POLICIES: &[&str] = &["PreferDualStack", "RequireDualStack", "SingleStack"];

const MAY_NOT_CHANGE: &str = "may not change once set";

/// The addresses, their families and the policy fit together. What the old spec has stays allowed.
pub(super) fn validate_cluster_ips(spec: &Node<'_>, old: &Value, errors: &mut Errors) {
    if has_type(spec.value(), "ExternalName") {
        return;
    }
    validate_first_address(spec, errors);
    let mut seen = BTreeSet::new();
    for family in spec.at("ipFamilies").items() {
        validate_choice(&family, FAMILIES, errors);
        if !seen.insert(family.value().str()) {
            errors.duplicate(&family);
        }
    }
    validate_choice(&spec.at("ipFamilyPolicy"), FAMILY_POLICIES, errors);
    if validate_each_address(&spec.at("clusterIPs"), old, errors) {
        validate_families_of_addresses(spec, errors);
    }
}

/// The list of addresses starts with the one that older clients know.
fn validate_first_address(spec: &Node<'_>, errors: &mut Errors) {
    let (first, all) = (spec.at("clusterIP"), spec.at("clusterIPs"));
    match (first.str(), all.list()) {
        ("", []) => {}
        ("", _) => errors.invalid(&all, "must be empty when `clusterIP` is not specified"),
        (_, []) => errors.required(&all, ""),
        (first, [listed, ..]) if listed.str() == first => {}
        _ => errors.invalid(&all, "first value must match `clusterIP`"),
    }
}

/// Whether all are addresses, so that it makes sense to look at their families.
fn validate_each_address(addresses: &Node<'_>, old: &Value, errors: &mut Errors) -> bool {
    let before = legacy_ip::set_of(old.at("clusterIPs"));
    let mut are_valid = true;
    for (index, address) in addresses.items().enumerate() {
        let count = errors.len();
        if index == 0 && address.str() == NO_ADDRESS {
            if addresses.len() > 1 {
                errors.invalid(addresses, "'None' must be the first and only value");
            }
        } else {
            legacy_ip::validate_ip(&address, &before, errors);
        }
        are_valid &= errors.len() == count;
    }
    if addresses.len() > 2 {
        errors.invalid(addresses, "may only hold up to 2 values");
    }
    are_valid
}

fn validate_families_of_addresses(spec: &Node<'_>, errors: &mut Errors) {
    let (addresses, families) = (spec.at("clusterIPs"), spec.at("ipFamilies"));
    if addresses.len() > 1 {
        let found: Vec<Option<IpFamily>> =
            addresses.list().iter().map(|address| names::family_of_ip(address.str())).collect();
        if let Some(index) = found.iter().position(Option::is_none) {
            let address = addresses.list()[index].str();
            let detail =
                format!("failed to check for dual stack with error:invalid IP[{index}]: {address}");
            errors.internal(&addresses, detail);
        }
        let found: BTreeSet<Option<IpFamily>> = found.into_iter().collect();
        if found.len() != 2 || found.contains(&None) {
            errors.invalid(&addresses, "may specify no more than one IP for each IP family");
        }
    }
    if is_headless(spec.value()) {
        return;
    }
    for (index, (address, family)) in addresses.items().zip(families.list()).enumerate() {
        let is_v6 = names::family_of_ip(address.str()) == Some(IpFamily::V6);
        let wanted = family.str();
        if (wanted == "IPv4" && is_v6) || (wanted == "IPv6" && !is_v6) {
            let detail =
                format!("expected an {wanted} value as indicated by `ipFamilies[{index}]`");
            errors.invalid(&address, detail);
        }
    }
}

/// A second address may come and go, the first stays; services without addresses are free.
pub(super) fn validate_change_of_cluster_ips(spec: &Node<'_>, old: &Value, errors: &mut Errors) {
    if is_external_name(spec, old) || (is_headless(spec.value()) && is_headless(old)) {
        return;
    }
    let addresses = spec.at("clusterIPs");
    let (new, old) = (addresses.list(), old.at("clusterIPs").list());
    // What is compared: all of them, or the first when one has come or gone.
    let compared = if new.len() == old.len() { new.len() } else { new.len().min(old.len()).min(1) };
    if new.is_empty() && !old.is_empty() {
        let detail = "primary clusterIP can not be unset";
        errors.invalid_value(&addresses.path().index(0), addresses.shown(), detail);
    }
    for index in (0..compared).filter(|index| new[*index] != old[*index]) {
        let at = addresses.path().index(index);
        errors.invalid_value(&at, addresses.shown(), MAY_NOT_CHANGE);
    }
    if new.len() == 1 && old.len() > 1 {
        validate_policy_of_release(spec, "clusterIP", errors);
    }
}

/// The same for families. As upstream, errors are about the first family, and where one has come
/// or gone they show the addresses.
pub(super) fn validate_change_of_ip_families(spec: &Node<'_>, old: &Value, errors: &mut Errors) {
    if is_external_name(spec, old) || is_headless(spec.value()) || is_headless(old) {
        return;
    }
    let (families, addresses) = (spec.at("ipFamilies"), spec.at("clusterIPs"));
    let at = families.path().index(0);
    let (new, old) = (families.list(), old.at("ipFamilies").list());
    if new.len() == old.len() {
        for _ in new.iter().zip(old).filter(|(new, old)| new != old) {
            errors.invalid_value(&at, families.shown(), MAY_NOT_CHANGE);
        }
        return;
    }
    let is_released = new.len() < old.len();
    if is_released && addresses.is_empty() {
        errors.invalid_value(&at, families.shown(), "primary ipFamily can not be unset");
    }
    if new.iter().zip(old).next().is_some_and(|(new, old)| new != old) {
        errors.invalid_value(&at, addresses.shown(), MAY_NOT_CHANGE);
    }
    if is_released && new.len() == 1 {
        validate_policy_of_release(spec, "ipFamily", errors);
    }
}

fn validate_policy_of_release(spec: &Node<'_>, what: &str, errors: &mut Errors) {
    let policy = spec.at("ipFamilyPolicy");
    if policy.str() != "SingleStack" {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        errors.invalid(&policy, detail);
    }
}

fn is_external_name(spec: &Node<'_>, old: &Value) -> bool {
    has_type(spec.value(), "ExternalName") || has_type(old, "ExternalName")
}
