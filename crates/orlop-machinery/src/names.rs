//! What is wrong with a name or a small value, in upstream's words.
//!
//! Every rule takes a value and returns what is wrong with it, each as the detail of an `Invalid`
//! error: nothing, and without an allocation, when the value is fine. Rules whose errors show only
//! a part of the value take a place and collect into [`Errors`](crate::field::Errors) themselves.
//!
//! Texts after `staging/src/k8s.io/apimachinery/pkg/util/validation/{validation,ip}.go`,
//! `.../pkg/api/validate/content/*.go` and `.../pkg/api/validate/strfmt.go`. Upstream has two
//! families that say the same in other words: hand-written validation counts "characters"
//! ([`dns_label`], [`dns_subdomain`]), declarative validation counts "bytes" ([`short_name`],
//! [`long_name`]). Both count bytes. Name rules of whole objects are in [`object`].
//!
//! Not here: rules that know a kind; they stand with their kind.

mod dns;
mod domain;
mod ip;
mod key;
mod number;
pub mod object;
mod word;

pub use dns::{
    dns_label, dns_subdomain, dns_subdomain_with_underscore, dns1035_label, long_name,
    long_name_caseless, short_name, wildcard_dns_subdomain,
};
pub use domain::{
    domain_prefixed_key, domain_prefixed_path, extended_resource_name, fully_qualified_domain_name,
    fully_qualified_name, resource_fully_qualified_name, resource_pool_name,
};
pub use ip::{
    Cidr, IpFamily, cidr, cidr_legacy, cidr_legacy_strict, cidr_warnings, family_of_cidr,
    family_of_ip, interface_address, ip, ip_legacy, ip_legacy_strict, ip_warnings, parse_cidr,
    parse_ip,
};
pub use key::{config_map_key, label_key, label_value, qualified_name};
pub use number::{
    decimal_integer, group_id, in_range, non_negative, percent, port_number, port_number_or_zero,
    user_id,
};
pub use object::{
    NameRule, mask_trailing_dash, name_is_dns_label, name_is_dns_subdomain, name_is_dns1035_label,
    name_is_path_segment,
};
pub use word::{
    c_identifier, env_var_name, http_header_name, http_path, path_segment_name,
    path_segment_name_prefix, port_name, relaxed_env_var_name, uuid,
};

/// The longest label of a DNS name.
pub const DNS_LABEL_MAX: usize = 63;
/// The longest DNS name.
pub const DNS_SUBDOMAIN_MAX: usize = 253;
/// The longest value of a label.
pub const LABEL_VALUE_MAX: usize = 63;

/// That a text is too long, as hand-written validation says it.
#[must_use]
pub fn max_len_error(max: usize) -> String {
    format!("must be no more than {max} characters")
}

/// That a text is too long, as declarative validation says it.
#[must_use]
pub fn max_bytes_error(max: usize) -> String {
    format!("must be no more than {max} bytes")
}

/// That a value must not be empty.
#[must_use]
pub fn empty_error() -> String {
    "must be non-empty".to_owned()
}

/// That a number is outside of its bounds.
#[must_use]
pub fn inclusive_range_error(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

/// That a number is too small.
#[must_use]
pub fn min_error(min: i64) -> String {
    format!("must be greater than or equal to {min}")
}

/// That a number is too large.
#[must_use]
pub fn max_error(max: i64) -> String {
    format!("must be less than or equal to {max}")
}

/// That a text is not of a pattern, with examples of what is.
#[must_use]
pub fn regex_error(message: &str, pattern: &str, examples: &[&str]) -> String {
    let mut text = format!("{message} (");
    for (at, example) in examples.iter().enumerate() {
        text += if at == 0 { "e.g. '" } else { " or '" };
        text += example;
        text += "', ";
    }
    text + "regex used for validation is '" + pattern + "')"
}

/// Every message with the same words before it.
#[must_use]
pub fn prefix(messages: Vec<String>, words: &str) -> Vec<String> {
    messages.into_iter().map(|message| format!("{words}{message}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_shown_with_and_without_examples() {
        let check = |examples: &[&str], expect: &str| {
            assert_eq!(regex_error("no", "x+", examples), expect);
        };
        check(&[], "no (regex used for validation is 'x+')");
        check(&["a"], "no (e.g. 'a', regex used for validation is 'x+')");
        check(&["a", "b"], "no (e.g. 'a',  or 'b', regex used for validation is 'x+')");
    }

    #[test]
    fn texts_are_upstreams() {
        assert_eq!(max_len_error(63), "must be no more than 63 characters");
        assert_eq!(max_bytes_error(63), "must be no more than 63 bytes");
        assert_eq!(empty_error(), "must be non-empty");
        assert_eq!(inclusive_range_error(1, 9), "must be between 1 and 9, inclusive");
        assert_eq!(min_error(3), "must be greater than or equal to 3");
        assert_eq!(max_error(3), "must be less than or equal to 3");
        assert_eq!(prefix(vec!["a".into(), "b".into()], "x "), ["x a", "x b"]);
    }
}
