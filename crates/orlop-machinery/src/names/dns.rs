//! Names that can stand in DNS.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go` and
//! `.../pkg/api/validate/content/dns.go`.

use super::{DNS_LABEL_MAX, DNS_SUBDOMAIN_MAX, max_bytes_error, max_len_error, regex_error};

const LABEL_FORMAT: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_MESSAGE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
                             characters or '-', and must start and end with an alphanumeric \
                             character";
const SUBDOMAIN_FORMAT: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
                                 alphanumeric characters, '-' or '.', and must start and end \
                                 with an alphanumeric character";
const CASELESS_MESSAGE: &str = "an RFC 1123 subdomain must consist of alphanumeric characters, \
                                '-' or '.', and must start and end with an alphanumeric character";
const UNDERSCORE_FORMAT: &str =
    r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
const UNDERSCORE_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
                                  alphanumeric characters, '_', '-' or '.', and must start and \
                                  end with an alphanumeric character";
const LABEL_1035_FORMAT: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_1035_MESSAGE: &str = "a DNS-1035 label must consist of lower case alphanumeric \
                                  characters or '-', start with an alphabetic character, and end \
                                  with an alphanumeric character";
const WILDCARD_FORMAT: &str =
    r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const WILDCARD_MESSAGE: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by \
                                a valid DNS subdomain, which must consist of lower case \
                                alphanumeric characters, '-' or '.' and end with an alphanumeric \
                                character";

/// A label of a DNS name (RFC 1123) in lower case: `my-name`, `123-abc`.
#[must_use]
pub fn dns_label(value: &str) -> Vec<String> {
    check_label(value, max_len_error)
}

/// The same in the words of declarative validation (`k8s-short-name`).
#[must_use]
pub fn short_name(value: &str) -> Vec<String> {
    check_label(value, max_bytes_error)
}

/// A DNS name (RFC 1123) in lower case: `example.com`.
#[must_use]
pub fn dns_subdomain(value: &str) -> Vec<String> {
    check(value, DNS_SUBDOMAIN_MAX, max_len_error, is_subdomain(value), || {
        regex_error(SUBDOMAIN_MESSAGE, SUBDOMAIN_FORMAT, &["example.com"])
    })
}

/// The same in the words of declarative validation (`k8s-long-name`).
#[must_use]
pub fn long_name(value: &str) -> Vec<String> {
    check(value, DNS_SUBDOMAIN_MAX, max_bytes_error, is_subdomain(value), || {
        regex_error(SUBDOMAIN_MESSAGE, SUBDOMAIN_FORMAT, &["example.com"])
    })
}

/// The same in any case (`k8s-long-name-caseless`).
#[must_use]
pub fn long_name_caseless(value: &str) -> Vec<String> {
    let is_fine = value.split('.').all(is_caseless_label);
    check(value, DNS_SUBDOMAIN_MAX, max_bytes_error, is_fine, || {
        regex_error(CASELESS_MESSAGE, SUBDOMAIN_FORMAT, &["Example.com"])
    })
}

/// A DNS name whose labels may start with an underscore and have them inside.
#[must_use]
pub fn dns_subdomain_with_underscore(value: &str) -> Vec<String> {
    let is_fine = value.split('.').all(is_underscore_label);
    check(value, DNS_SUBDOMAIN_MAX, max_len_error, is_fine, || {
        regex_error(UNDERSCORE_MESSAGE, UNDERSCORE_FORMAT, &["example.com"])
    })
}

/// A label of a DNS name that starts with a letter (RFC 1035).
#[must_use]
pub fn dns1035_label(value: &str) -> Vec<String> {
    let is_fine = is_label(value) && value.as_bytes()[0].is_ascii_lowercase();
    check(value, DNS_LABEL_MAX, max_len_error, is_fine, || {
        regex_error(LABEL_1035_MESSAGE, LABEL_1035_FORMAT, &["my-name", "abc-123"])
    })
}

/// A DNS name after `*.`.
#[must_use]
pub fn wildcard_dns_subdomain(value: &str) -> Vec<String> {
    let is_fine = value.strip_prefix("*.").is_some_and(is_subdomain);
    check(value, DNS_SUBDOMAIN_MAX, max_len_error, is_fine, || {
        regex_error(WILDCARD_MESSAGE, WILDCARD_FORMAT, &["*.example.com"])
    })
}

fn check_label(value: &str, too_long: fn(usize) -> String) -> Vec<String> {
    check(value, DNS_LABEL_MAX, too_long, is_label(value), || {
        if is_subdomain(value) {
            return "must not contain dots".to_owned();
        }
        regex_error(LABEL_MESSAGE, LABEL_FORMAT, &["my-name", "123-abc"])
    })
}

fn check(
    value: &str,
    max: usize,
    too_long: fn(usize) -> String,
    is_fine: bool,
    malformed: impl FnOnce() -> String,
) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > max {
        wrong.push(too_long(max));
    }
    if !is_fine {
        wrong.push(malformed());
    }
    wrong
}

fn is_subdomain(value: &str) -> bool {
    value.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_inner = |byte: u8| is_alphanumeric(byte) || byte == b'-';
    is_enclosed(label, is_inner)
}

fn is_underscore_label(label: &str) -> bool {
    let label = label.strip_prefix('_').unwrap_or(label);
    is_enclosed(label, |byte| is_alphanumeric(byte) || byte == b'-' || byte == b'_')
}

/// Starts and ends with a letter or digit.
fn is_enclosed(label: &str, is_inner: impl Fn(u8) -> bool) -> bool {
    match label.as_bytes() {
        [] => false,
        [only] => is_alphanumeric(*only),
        [first, inner @ .., last] => {
            is_alphanumeric(*first)
                && is_alphanumeric(*last)
                && inner.iter().all(|byte| is_inner(*byte))
        }
    }
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_caseless_label(label: &str) -> bool {
    // Without case, Go's [a-z] also has the two other letters that fold to k and s.
    let is_end = |c: char| c.is_ascii_alphanumeric() || c == '\u{212a}' || c == '\u{17f}';
    label.starts_with(is_end)
        && label.ends_with(is_end)
        && label.chars().all(|c| is_end(c) || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_all(rule: fn(&str) -> Vec<String>, fine: &[&str], bad: &[&str], expect: &str) {
        for value in fine {
            assert_eq!(rule(value), Vec::<String>::new(), "{value:?}");
        }
        for value in bad {
            assert_eq!(rule(value), [expect], "{value:?}");
        }
    }

    const LABELS: [&str; 8] = ["a", "ab", "a1", "a-1", "a--1--2--b", "0", "01", "1-a"];
    const NO_NAMES: [&str; 15] = [
        "", "A", "aBc", "A1", "-", "a-", "-a", "_", "a_", "a_b", " ", "a b", "a$", "a\n", "\u{e4}",
    ];

    #[test]
    fn a_label_is_of_lower_case_letters_digits_and_inner_dashes() {
        let pattern = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
                       characters or '-', and must start and end with an alphanumeric character \
                       (e.g. 'my-name',  or '123-abc', regex used for validation is \
                       '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
        for rule in [dns_label, short_name] {
            check_all(rule, &LABELS, &NO_NAMES, pattern);
            check_all(rule, &[], &["a.b", "1.2.3"], "must not contain dots");
            check_all(rule, &[], &["a..b", ".a", "a."], pattern);
        }
    }

    #[test]
    fn a_label_is_not_longer_than_63() {
        let at_most = "a".repeat(63);
        let longer = "a".repeat(64);
        check_all(dns_label, &[&at_most], &[&longer], "must be no more than 63 characters");
        check_all(dns1035_label, &[&at_most], &[&longer], "must be no more than 63 characters");
        check_all(short_name, &[&at_most], &[&longer], "must be no more than 63 bytes");
    }

    #[test]
    fn a_subdomain_is_labels_with_dots_between() {
        let pattern = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                       characters, '-' or '.', and must start and end with an alphanumeric \
                       character (e.g. 'example.com', regex used for validation is \
                       '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
        for rule in [dns_subdomain, long_name] {
            check_all(rule, &LABELS, &NO_NAMES, pattern);
            check_all(rule, &["a.b", "0.1.a-b"], &["a..b", ".a", "a.", ".", "a.-b"], pattern);
        }
    }

    #[test]
    fn a_subdomain_is_not_longer_than_253() {
        let at_most = "a".repeat(253);
        let longer = "a".repeat(254);
        for rule in [dns_subdomain, dns_subdomain_with_underscore] {
            check_all(rule, &[&at_most], &[&longer], "must be no more than 253 characters");
        }
        for rule in [long_name, long_name_caseless] {
            check_all(rule, &[&at_most], &[&longer], "must be no more than 253 bytes");
        }
        let wildcard = format!("*.{}", "a".repeat(252));
        let expect = "must be no more than 253 characters";
        check_all(wildcard_dns_subdomain, &[&wildcard[..253]], &[&wildcard], expect);
    }

    #[test]
    fn a_value_that_is_too_long_and_malformed_gets_both_errors() {
        let wrong = dns_label(&"A".repeat(64));
        assert_eq!(wrong.len(), 2);
        assert_eq!(wrong[0], "must be no more than 63 characters");
        assert!(wrong[1].starts_with("a lowercase RFC 1123 label must"));
    }

    #[test]
    fn a_caseless_subdomain_may_have_upper_case() {
        let pattern = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', \
                       and must start and end with an alphanumeric character (e.g. 'Example.com', \
                       regex used for validation is \
                       '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
        let fine = ["A", "aBc", "Example.COM", "\u{212a}8s", "\u{17f}"];
        check_all(long_name_caseless, &fine, &["", "A_b", "A..B", "-A", "\u{e4}"], pattern);
    }

    #[test]
    fn underscores_may_start_a_label_and_stand_inside() {
        let pattern = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                       characters, '_', '-' or '.', and must start and end with an alphanumeric \
                       character (e.g. 'example.com', regex used for validation is \
                       '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
        let fine = ["a", "_a", "_a._b", "a_b.c-d", "_1"];
        let bad = ["", "_", "__a", "a_", "A", "a._", "a..b", "-a"];
        check_all(dns_subdomain_with_underscore, &fine, &bad, pattern);
    }

    #[test]
    fn a_1035_label_starts_with_a_letter() {
        let pattern = "a DNS-1035 label must consist of lower case alphanumeric characters or \
                       '-', start with an alphabetic character, and end with an alphanumeric \
                       character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
                       '[a-z]([-a-z0-9]*[a-z0-9])?')";
        check_all(dns1035_label, &["a", "a1", "a-1"], &["0", "01", "1-a", "a.b"], pattern);
        check_all(dns1035_label, &[], &NO_NAMES, pattern);
    }

    #[test]
    fn a_wildcard_is_one_star_before_a_subdomain() {
        let pattern = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid \
                       DNS subdomain, which must consist of lower case alphanumeric characters, \
                       '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', \
                       regex used for validation is \
                       '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
        let bad = ["", "*", "*.", "*.*.a", "a.*.b", "*a", "a*.b", "*.A", "bar.com"];
        check_all(wildcard_dns_subdomain, &["*.bar.com", "*.a"], &bad, pattern);
    }
}
