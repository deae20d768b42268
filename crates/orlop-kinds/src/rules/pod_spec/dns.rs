//! How a pod resolves names.
//!
//! After `validateDNSPolicy`, `validatePodDNSConfig` and `ValidateHostAliases` in
//! `pkg/apis/core/validation/validation.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::names;
use orlop_machinery::node::Node;

use crate::rules::scalar::{validate_required_choice, validate_text};

/// In the order in which an error lists them.
const POLICIES: &[&str] = &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

/// What the resolvers of Linux can hold.
const NAMESERVERS_MAX: usize = 3;
const SEARCHES_MAX: usize = 32;
const SEARCHES_LEN_MAX: usize = 2048;

/// Where names come from.
pub(super) fn validate_policy(policy: &Node<'_>, errors: &mut Errors) {
    validate_required_choice(policy, POLICIES, errors);
}

/// What the spec says itself; needed when names come from nowhere else.
pub(super) fn validate_config(config: &Node<'_>, policy: &str, errors: &mut Errors) {
    let nameservers = config.at("nameservers");
    if policy == "None" && !config.is_set() {
        errors.required(config, "must provide `dnsConfig` when `dnsPolicy` is None");
        return;
    }
    if policy == "None" && nameservers.is_empty() {
        let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
        errors.required(&nameservers, detail);
        return;
    }
    if nameservers.len() > NAMESERVERS_MAX {
        let detail = format!("must not have more than {NAMESERVERS_MAX} nameservers");
        errors.invalid(&nameservers, detail);
    }
    for nameserver in nameservers.items() {
        validate_text(&nameserver, names::ip_legacy_strict, errors);
    }
    validate_searches(&config.at("searches"), errors);
    for option in config.at("options").items() {
        if option.at("name").is_empty() {
            errors.required(&option, "must not be empty");
        }
    }
}

/// Lines for the file of hosts.
pub(super) fn validate_host_aliases(aliases: &Node<'_>, errors: &mut Errors) {
    for alias in aliases.items() {
        validate_text(&alias.at("ip"), names::ip_legacy_strict, errors);
        for name in alias.at("hostnames").items() {
            validate_text(&name, names::dns_subdomain, errors);
        }
    }
}

fn validate_searches(searches: &Node<'_>, errors: &mut Errors) {
    if searches.len() > SEARCHES_MAX {
        let detail = format!("must not have more than {SEARCHES_MAX} search paths");
        errors.invalid(searches, detail);
    }
    let texts: usize = searches.list().iter().map(|search| search.str().len()).sum();
    if texts + searches.len().saturating_sub(1) > SEARCHES_LEN_MAX {
        let detail = format!(
            "must not have more than {SEARCHES_LEN_MAX} characters (including spaces) in the \
             search list"
        );
        errors.invalid(searches, detail);
    }
    for search in searches.items().filter(|search| search.str() != ".") {
        // The dot at the end of a whole name does not count.
        let name = search.str().strip_suffix('.').unwrap_or(search.str());
        for message in names::dns_subdomain_with_underscore(name) {
            errors.invalid_value(&search, name, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use orlop_machinery::Value;
    use orlop_machinery::field::Path;

    use super::*;

    #[test]
    fn searches_are_not_too_long_together() {
        let check = |names: usize, last: usize, expect: &[&str]| {
            let name = ["a".repeat(63), "b".repeat(63)].join(".");
            let mut searches = vec![name; names];
            searches.push("c".repeat(last));
            let searches = Value::from(searches);
            let mut errors = Errors::new();
            validate_searches(&Node::new(&searches, Path::root()), &mut errors);
            let found: Vec<&str> =
                errors.list().iter().map(|error| error.detail.as_str()).collect();
            assert_eq!(found, expect);
        };
        // Each name and the space behind it are 128 bytes.
        check(15, 63, &[]);
        let expect =
            "must not have more than 2048 characters (including spaces) in the search list";
        check(16, 1, &[expect]);
    }
}
