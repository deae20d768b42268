//! The names of those who sign certificates, and of the bundles of their roots.
//!
//! After `pkg/apis/core/validation/names.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::names::{self, DNS_LABEL_MAX, DNS_SUBDOMAIN_MAX};
use orlop_machinery::text::quote;

/// A domain and a path; the path has room for a namespace, a dot and a name.
const SIGNER_NAME_MAX: usize = DNS_SUBDOMAIN_MAX + 1 + DNS_LABEL_MAX + 1 + DNS_SUBDOMAIN_MAX;

/// A name such as `example.com/signer`.
pub(crate) fn validate_signer_name(at: &impl At, name: &str, errors: &mut Errors) {
    if name.is_empty() {
        errors.required(at, "");
        return;
    }
    let parts = name.split_once('/').filter(|(_, path)| !path.contains('/'));
    let Some((domain, path)) = parts else {
        let detail =
            "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.invalid_value(at, name, detail);
        return;
    };
    if domain.len() > DNS_SUBDOMAIN_MAX {
        errors.too_long(at, DNS_SUBDOMAIN_MAX);
    }
    validate_labels(at, domain, names::dns_label, errors);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.invalid_value(at, domain, detail);
    }
    validate_labels(at, path, names::dns_subdomain, errors);
    if name.len() > SIGNER_NAME_MAX {
        errors.too_long(at, SIGNER_NAME_MAX);
    }
}

/// Whether the signer is one of Kubernetes itself.
pub(crate) fn is_kubernetes_signer(name: &str) -> bool {
    let domain = name.split_once('/').map_or(name, |(domain, _)| domain);
    domain == "kubernetes.io" || domain.ends_with(".kubernetes.io")
}

/// What is wrong with the name of a ClusterTrustBundle: that of a signer's bundle starts with the
/// signer's name, with colons for slashes.
pub(crate) fn cluster_trust_bundle_name(name: &str) -> Vec<String> {
    match name.rsplit_once(':') {
        None => names::dns_subdomain(name),
        Some(("", _)) => {
            vec![r#"ClusterTrustBundle without signer name must not have ":" in its name"#.into()]
        }
        Some((signer, _)) if signer.contains('/') => {
            let (signer, prefix) = (signer.replace(':', "/"), signer.replace('/', ":"));
            vec![format!(
                "ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}:"
            )]
        }
        Some((_, own)) => names::dns_subdomain(own),
    }
}

/// Only the first label that is wrong is reported.
fn validate_labels(at: &impl At, text: &str, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
    let messages = text.split('.').map(|label| (label, rule(label)));
    let Some((label, messages)) = messages.into_iter().find(|(_, found)| !found.is_empty()) else {
        return;
    };
    for message in messages {
        errors.invalid_value(at, text, format!("validating label {}: {message}", quote(label)));
    }
}

#[cfg(test)]
mod tests {
    use orlop_machinery::field::Path;

    use super::*;

    fn check(name: &str, expect: &[&str]) {
        let mut errors = Errors::new();
        validate_signer_name(&Path::field("x"), name, &mut errors);
        let found: Vec<String> = errors.list().iter().map(ToString::to_string).collect();
        let starts = |(found, expect): (&String, &&str)| found.starts_with(expect);
        let is_as_expected = found.len() == expect.len() && found.iter().zip(expect).all(starts);
        assert!(is_as_expected, "{name}: {found:?}");
    }

    #[test]
    fn a_signer_has_a_domain_and_a_path() {
        check("example.com/signer", &[]);
        check("example.com/namespace.name", &[]);
        check("", &["x: Required value"]);
        let form = "must be a fully qualified domain and path of the form";
        check("example.com", &[&format!("x: Invalid value: \"example.com\": {form}")]);
        check("a.b/c/d", &[&format!("x: Invalid value: \"a.b/c/d\": {form}")]);
        check(
            "example/signer",
            &["x: Invalid value: \"example\": should be a domain with at least"],
        );
        check(
            "A.B.c/d_e.F",
            &[
                "x: Invalid value: \"A.B.c\": validating label \"A\": a lowercase RFC 1123 label",
                "x: Invalid value: \"d_e.F\": validating label \"d_e\": a lowercase RFC 1123 sub",
            ],
        );
    }

    #[test]
    fn a_signer_is_not_too_long() {
        let domain = format!("{0}.{0}.{0}.{0}", "a".repeat(63));
        check(&format!("{domain}/b"), &["x: Too long: may not be more than 253 bytes"]);
        let path = vec!["b"; 161].join(".");
        check(&format!("{}/{path}", &domain[..251]), &["x: Too long: may not be more than 571"]);
    }

    #[test]
    fn kubernetes_signs_in_its_own_domain() {
        for (name, expect) in [
            ("kubernetes.io/kubelet-serving", true),
            ("a.kubernetes.io/b", true),
            ("akubernetes.io/b", false),
            ("example.com/kubernetes.io", false),
        ] {
            assert_eq!(is_kubernetes_signer(name), expect, "{name}");
        }
    }

    #[test]
    fn a_bundle_of_a_signer_starts_with_its_name() {
        let check = |name: &str, expect: &str| {
            let found = cluster_trust_bundle_name(name).join("; ");
            assert!(found.starts_with(expect) && found.is_empty() == expect.is_empty(), "{found}");
        };
        check("roots", "");
        check("example.com:signer:roots", "");
        check("example.com:signer:Roots", "a lowercase RFC 1123 subdomain");
        check("example.com:signer:", "a lowercase RFC 1123 subdomain");
        check(":roots", "ClusterTrustBundle without signer name must not have \":\" in its name");
        let wanted = "for signerName a.b/c must be named with prefix a.b:c:";
        check("a.b/c:roots", &format!("ClusterTrustBundle {wanted}"));
    }
}
