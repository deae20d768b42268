//! Names with a domain in them, whose errors show the part that is wrong.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go` and
//! `.../pkg/api/validate/strfmt.go`.

use super::{
    DNS_LABEL_MAX, DNS_SUBDOMAIN_MAX, c_identifier, dns_label, dns_subdomain, http_path, label_key,
    long_name, prefix,
};
use crate::field::{At, Errors};
use crate::text::quote;

/// The longest name of a device attribute or capacity.
const RESOURCE_NAME_MAX: usize = 32;
const QUOTA_PREFIX: &str = "requests.";
const NATIVE_PREFIX: &str = "kubernetes.io/";

/// A DNS name of at least three labels.
pub fn fully_qualified_name(at: &impl At, name: &str, errors: &mut Errors) {
    if name.is_empty() {
        return errors.required(at, "");
    }
    let wrong = dns_subdomain(name);
    if !wrong.is_empty() {
        errors.invalid_value(at, name, wrong.join(","));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.invalid_value(at, name, detail);
    }
}

/// A DNS name of at least two labels, and perhaps a dot at its end.
pub fn fully_qualified_domain_name(at: &impl At, name: &str, errors: &mut Errors) {
    if name.is_empty() {
        return errors.required(at, "");
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let wrong = dns_subdomain(name);
    if !wrong.is_empty() {
        return errors.invalid_value(at, name, wrong.join(","));
    }
    if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        return errors.invalid_value(at, name, detail);
    }
    for label in name.split('.') {
        let wrong = dns_label(label);
        if !wrong.is_empty() {
            return errors.invalid_value(at, label, wrong.join(","));
        }
    }
}

/// A DNS name, `/`, and a path: `acme.io/foo`.
pub fn domain_prefixed_path(at: &impl At, value: &str, errors: &mut Errors) {
    if value.is_empty() {
        return errors.required(at, "");
    }
    let parts = value.split_once('/').filter(|(host, path)| !host.is_empty() && !path.is_empty());
    let Some((host, path)) = parts else {
        let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        return errors.invalid_value(at, value, detail);
    };
    invalid(at, host, dns_subdomain(host), errors);
    invalid(at, path, http_path(path), errors);
}

/// The key of a label that has a domain: `acme.io/foo`.
pub fn domain_prefixed_key(at: &impl At, key: &str, errors: &mut Errors) {
    if key.is_empty() {
        return errors.required(at, "");
    }
    let wrong = label_key(key);
    if wrong.is_empty() && !key.contains('/') {
        let detail = "must be a domain-prefixed key (such as \"acme.io/foo\")";
        return errors.invalid_value(at, key, detail);
    }
    invalid(at, key, wrong, errors);
}

/// The name of a pool of devices: DNS names with `/` between them (`k8s-resource-pool-name`).
pub fn resource_pool_name(at: &impl At, value: &str, errors: &mut Errors) {
    // Errors show the value: of one that is too long anyway, few segments are looked at.
    let mut segments_max = DNS_SUBDOMAIN_MAX;
    if value.len() > DNS_SUBDOMAIN_MAX {
        errors.too_long(at, DNS_SUBDOMAIN_MAX);
        segments_max = 8;
    }
    for (number, part) in value.split('/').enumerate().take(segments_max) {
        if part.is_empty() {
            errors.invalid_value(at, value, format!("segment {number}: must not be empty"));
            continue;
        }
        invalid(at, part, prefix(long_name(part), &format!("segment {number}: ")), errors);
    }
}

/// The name of a resource that is not Kubernetes' own (`k8s-extended-resource-name`).
pub fn extended_resource_name(at: &impl At, value: &str, errors: &mut Errors) {
    if !value.contains('/') {
        let detail = "a name must be a domain-prefixed path, such as 'example.com/my-prop'";
        errors.invalid_value(at, value, detail);
    } else if value.contains(NATIVE_PREFIX) {
        let detail = format!("must not have {} domain", quote(NATIVE_PREFIX));
        errors.invalid_value(at, value, detail);
    }
    if value.starts_with(QUOTA_PREFIX) {
        errors.invalid_value(at, value, format!("must not have {} prefix", quote(QUOTA_PREFIX)));
    }
    // A quota must be able to name it too.
    invalid(at, value, label_key(&format!("{QUOTA_PREFIX}{value}")), errors);
}

/// The name of an attribute or capacity of a device with its domain
/// (`k8s-resource-fully-qualified-name`).
pub fn resource_fully_qualified_name(at: &impl At, value: &str, errors: &mut Errors) {
    match value.split_once('/') {
        None => {
            resource_identifier(at, value, errors);
            let detail = "a fully qualified name must be a domain and a name separated by a slash";
            errors.invalid_value(at, value, detail);
        }
        // Upstream has nothing to say about more slashes than one.
        Some((_, name)) if name.contains('/') => {}
        Some((domain, name)) => {
            resource_domain(at, domain, errors);
            if name.is_empty() {
                errors.invalid_value(at, "", "name must not be empty");
            } else {
                resource_identifier(at, name, errors);
            }
        }
    }
}

fn resource_domain(at: &impl At, domain: &str, errors: &mut Errors) {
    if domain.is_empty() {
        return errors.invalid_value(at, "", "prefix must not be empty");
    }
    if domain.len() > DNS_LABEL_MAX {
        errors.too_long(at, DNS_LABEL_MAX);
    }
    invalid(at, domain, prefix(long_name(domain), "prefix: "), errors);
}

fn resource_identifier(at: &impl At, name: &str, errors: &mut Errors) {
    if name.len() > RESOURCE_NAME_MAX {
        errors.too_long(at, RESOURCE_NAME_MAX);
    }
    invalid(at, name, c_identifier(name), errors);
}

fn invalid(at: &impl At, value: &str, wrong: Vec<String>, errors: &mut Errors) {
    for detail in wrong {
        errors.invalid_value(at, value, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Path;

    type Rule = fn(&Path<'static>, &str, &mut Errors);

    fn check(rule: Rule, value: &str, expect: &[&str]) {
        let mut errors = Errors::new();
        rule(&Path::field("f"), value, &mut errors);
        let seen = errors.to_string();
        assert_eq!(seen.lines().collect::<Vec<_>>(), expect, "{value:?}");
    }

    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
                             alphanumeric characters, '-' or '.', and must start and end with an \
                             alphanumeric character (e.g. 'example.com', regex used for validation \
                             is '[a-z0-9]([-a-z0-9]*[a-z0-9])?\
                             (\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

    #[test]
    fn a_fully_qualified_name_has_three_labels() {
        check(fully_qualified_name, "a.b.c", &[]);
        check(fully_qualified_name, "", &["f: Required value"]);
        let few = "should be a domain with at least three segments separated by dots";
        check(fully_qualified_name, "a.b", &[&format!("f: Invalid value: \"a.b\": {few}")]);
        let bad = format!("f: Invalid value: \"a.b.c.\": {SUBDOMAIN}");
        check(fully_qualified_name, "a.b.c.", &[&bad]);
    }

    #[test]
    fn a_fully_qualified_domain_name_has_two_labels_and_may_end_with_a_dot() {
        for name in ["a.b", "a.b.", "a.b.c.d"] {
            check(fully_qualified_domain_name, name, &[]);
        }
        check(fully_qualified_domain_name, "", &["f: Required value"]);
        let few = "should be a domain with at least two segments separated by dots";
        check(fully_qualified_domain_name, "a.", &[&format!("f: Invalid value: \"a\": {few}")]);
        let bad = format!("f: Invalid value: \"A.b\": {SUBDOMAIN}");
        check(fully_qualified_domain_name, "A.b.", &[&bad]);
        let label = "x".repeat(64);
        let long = format!("f: Invalid value: \"{label}\": must be no more than 63 characters");
        check(fully_qualified_domain_name, &format!("a.{label}"), &[&long]);
    }

    #[test]
    fn a_domain_prefixed_path_has_a_domain_and_a_path() {
        check(domain_prefixed_path, "acme.io/foo/b-A~r", &[]);
        check(domain_prefixed_path, "", &["f: Required value"]);
        for value in ["a", "/a", "a/"] {
            let expect = format!(
                "f: Invalid value: \"{value}\": must be a domain-prefixed path (such as \
                 \"acme.io/foo\")"
            );
            check(domain_prefixed_path, value, &[&expect]);
        }
        let host = format!("f: Invalid value: \"A\": {SUBDOMAIN}");
        let path = "f: Invalid value: \"?\": Invalid path (regex used for validation is \
                    '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        check(domain_prefixed_path, "A/?", &[&host, path]);
    }

    #[test]
    fn a_domain_prefixed_key_is_a_label_key_with_a_domain() {
        check(domain_prefixed_key, "acme.io/foo", &[]);
        check(domain_prefixed_key, "", &["f: Required value"]);
        let expect = "f: Invalid value: \"foo\": must be a domain-prefixed key (such as \
                      \"acme.io/foo\")";
        check(domain_prefixed_key, "foo", &[expect]);
        check(
            domain_prefixed_key,
            "/a",
            &["f: Invalid value: \"/a\": prefix part must be non-empty"],
        );
    }

    #[test]
    fn a_pool_is_named_by_segments() {
        check(resource_pool_name, "a/b.c", &[]);
        let empty = "f: Invalid value: \"a/\": segment 1: must not be empty";
        check(resource_pool_name, "a/", &[empty]);
        let bad = format!("f: Invalid value: \"B\": segment 1: {SUBDOMAIN}");
        check(resource_pool_name, "a/B", &[&bad]);
        let long = vec!["a"; 128].join("/");
        check(resource_pool_name, &long, &["f: Too long: may not be more than 253 bytes"]);
    }

    #[test]
    fn an_extended_resource_has_a_foreign_domain() {
        check(extended_resource_name, "example.com/gpu", &[]);
        let plain = "f: Invalid value: \"cpu\": a name must be a domain-prefixed path, such as \
                     'example.com/my-prop'";
        check(extended_resource_name, "cpu", &[plain]);
        let native =
            "f: Invalid value: \"kubernetes.io/a\": must not have \"kubernetes.io/\" domain";
        check(extended_resource_name, "kubernetes.io/a", &[native]);
        let quota = "f: Invalid value: \"requests.a/b\": must not have \"requests.\" prefix";
        check(extended_resource_name, "requests.a/b", &[quota]);
    }

    #[test]
    fn an_attribute_is_a_domain_and_an_identifier() {
        check(resource_fully_qualified_name, "a.com/b_C1", &[]);
        let none = "a fully qualified name must be a domain and a name separated by a slash";
        check(resource_fully_qualified_name, "b", &[&format!("f: Invalid value: \"b\": {none}")]);
        let empty = [
            "f: Invalid value: \"\": prefix must not be empty",
            "f: Invalid value: \"\": name must not be empty",
        ];
        check(resource_fully_qualified_name, "/", &empty);
        let name = format!("a/{}", "b".repeat(33));
        let long = "f: Too long: may not be more than 32 bytes";
        check(resource_fully_qualified_name, &name, &[long]);
        let domain = format!("{}/b", "a".repeat(64));
        check(
            resource_fully_qualified_name,
            &domain,
            &["f: Too long: may not be more than 63 bytes"],
        );
        let bad = format!("f: Invalid value: \"A\": prefix: {SUBDOMAIN}");
        check(resource_fully_qualified_name, "A/b", &[&bad]);
    }
}
