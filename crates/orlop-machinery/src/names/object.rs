//! What the objects of a kind may be called.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/api/validation/generic.go` and `.../path/name.go`.

use std::borrow::Cow;

use super::{dns_label, dns_subdomain, dns1035_label, path_segment_name, path_segment_name_prefix};

/// What is wrong with the name of an object. A `generateName` is checked as a prefix: as what a
/// name will start with.
pub type NameRule = fn(name: &str, is_prefix: bool) -> Vec<String>;

/// The name is a DNS name: what most kinds ask for.
#[must_use]
pub fn name_is_dns_subdomain(name: &str, is_prefix: bool) -> Vec<String> {
    dns_subdomain(&masked(name, is_prefix))
}

/// The name is a label of a DNS name: namespaces.
#[must_use]
pub fn name_is_dns_label(name: &str, is_prefix: bool) -> Vec<String> {
    dns_label(&masked(name, is_prefix))
}

/// The name is a label of a DNS name and starts with a letter: services.
#[must_use]
pub fn name_is_dns1035_label(name: &str, is_prefix: bool) -> Vec<String> {
    dns1035_label(&masked(name, is_prefix))
}

/// The name is whatever can be a segment of a path: roles and role bindings.
#[must_use]
pub fn name_is_path_segment(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix { path_segment_name_prefix(name) } else { path_segment_name(name) }
}

/// A prefix as it is checked: a dash at its end is no fault, for letters will follow it.
///
/// Upstream takes away the letter before the dash too; so does this, for the same verdicts.
#[must_use]
pub fn mask_trailing_dash(name: &str) -> Cow<'_, str> {
    let Some(rest) = name.strip_suffix('-').filter(|rest| !rest.is_empty()) else {
        return Cow::Borrowed(name);
    };
    // Upstream cuts a byte. A cut character is as illegal as a whole one: keep it instead.
    let kept = rest.is_char_boundary(rest.len() - 1).then(|| &rest[..rest.len() - 1]);
    Cow::Owned(format!("{}a", kept.unwrap_or(rest)))
}

fn masked(name: &str, is_prefix: bool) -> Cow<'_, str> {
    if is_prefix { mask_trailing_dash(name) } else { Cow::Borrowed(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_at_the_end_of_a_prefix_is_masked() {
        let check = |name: &str, expect: &str| assert_eq!(mask_trailing_dash(name), expect);
        check("", "");
        check("-", "-");
        check("a", "a");
        check("a-", "a");
        check("ab-", "aa");
        check("a--", "aa");
        check("a.-", "aa");
        check("\u{e4}-", "\u{e4}a");
    }

    #[test]
    fn a_prefix_may_end_with_a_dash_and_a_name_may_not() {
        for rule in [name_is_dns_subdomain, name_is_dns_label, name_is_dns1035_label] {
            assert!(rule("web-", true).is_empty());
            assert!(rule("web", true).is_empty());
            assert_eq!(rule("web-", false).len(), 1);
            assert_eq!(rule("-", true).len(), 1);
            assert_eq!(rule("\u{e4}-", true).len(), 1);
        }
        assert_eq!(name_is_dns_label("a.b", false), ["must not contain dots"]);
        assert!(name_is_dns_subdomain("a.b", false).is_empty());
        assert!(name_is_dns_label("1a", false).is_empty());
        assert_eq!(name_is_dns1035_label("1a", false).len(), 1);
    }

    #[test]
    fn a_path_segment_may_start_with_dots_but_not_be_them() {
        assert!(name_is_path_segment("system:node", false).is_empty());
        assert!(name_is_path_segment("..", true).is_empty());
        assert_eq!(name_is_path_segment("..", false), ["may not be '..'"]);
        assert_eq!(name_is_path_segment("a/", true), ["may not contain '/'"]);
    }
}
