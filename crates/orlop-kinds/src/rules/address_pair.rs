//! Lists of addresses or networks with at most one of each family, in fields that are older than
//! the strict rules for them.
//!
//! After `validatePodIPs` and `ValidateNode` in `pkg/apis/core/validation/validation.go` and
//! `k8s.io/utils/net`, which they ask for the families.

use std::collections::BTreeSet;

use orlop_machinery::field::{At, Errors};
use orlop_machinery::names::{self, IpFamily};
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;

use super::scalar::TextRule;

/// What a list is of, and the words for it.
pub(crate) struct AddressKind {
    noun: &'static str,
    rule: TextRule,
    family: fn(&str) -> Option<IpFamily>,
    /// Comes before what cannot be read when it is asked for its family.
    cannot_tell: &'static str,
    cannot_read: fn(usize, &str) -> String,
}

/// Addresses.
pub(crate) static IP: AddressKind = AddressKind {
    noun: "IP",
    rule: names::ip_legacy_strict,
    family: names::family_of_ip,
    cannot_tell: "failed to check for dual stack with error:",
    cannot_read: |index, text| format!("invalid IP[{index}]: {text}"),
};

/// Networks.
pub(crate) static CIDR: AddressKind = AddressKind {
    noun: "CIDR",
    rule: names::cidr_legacy_strict,
    family: names::family_of_cidr,
    cannot_tell: "invalid PodCIDRs. failed to check with dual stack with error:",
    cannot_read: |_, text| {
        let quoted = quote(text);
        format!("failed to parse cidr value:{quoted} with error:invalid CIDR address: {text}")
    },
};

impl AddressKind {
    /// Reports all that is wrong with the texts of a list, but for those that were there before.
    pub(crate) fn validate(
        &self,
        list: &Node<'_>,
        texts: &[&str],
        known: &BTreeSet<&str>,
        errors: &mut Errors,
    ) {
        for (index, text) in texts.iter().enumerate().filter(|(_, text)| !known.contains(*text)) {
            for message in (self.rule)(text) {
                errors.invalid_value(&list.path().index(index), *text, message);
            }
        }
        if texts.len() < 2 {
            return;
        }
        let families: Vec<Option<IpFamily>> =
            texts.iter().map(|text| (self.family)(text)).collect();
        if let Some(index) = families.iter().position(Option::is_none) {
            let why = (self.cannot_read)(index, texts[index]);
            errors.internal(list, format!("{}{why}", self.cannot_tell));
        }
        let is_pair = matches!(families[..], [Some(first), Some(second)] if first != second);
        if !is_pair {
            let noun = self.noun;
            errors.invalid(list, format!("may specify no more than one {noun} for each IP family"));
        }
    }
}
