//! Keys and values of labels, and keys of config maps.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/api/validate/content/kube.go` and
//! `.../pkg/util/validation/validation.go`.

use super::word::change_directory_error;
use super::{
    DNS_SUBDOMAIN_MAX, LABEL_VALUE_MAX, empty_error, long_name, max_bytes_error, max_len_error,
    prefix, regex_error,
};

const KEY_FORMAT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_MESSAGE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must \
                           start and end with an alphanumeric character";
const KEY_EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
const KEY_NAME_MAX: usize = 63;
const VALUE_FORMAT: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const VALUE_MESSAGE: &str = "a valid label must be an empty string or consist of alphanumeric \
                             characters, '-', '_' or '.', and must start and end with an \
                             alphanumeric character";
const CONFIG_FORMAT: &str = "[-._a-zA-Z0-9]+";
const CONFIG_MESSAGE: &str =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";

/// The key of a label: a name, and before it an optional DNS name and `/`.
#[must_use]
pub fn label_key(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let name = match value.split_once('/') {
        None => value,
        Some((_, rest)) if rest.contains('/') => {
            let pattern = regex_error(KEY_MESSAGE, KEY_FORMAT, &KEY_EXAMPLES);
            return vec![format!(
                "a valid label key {pattern} with an optional DNS subdomain prefix and '/' \
                 (e.g. 'example.com/MyName')"
            )];
        }
        Some(("", name)) => {
            wrong.push(format!("prefix part {}", empty_error()));
            name
        }
        Some((domain, name)) => {
            wrong.extend(prefix(long_name(domain), "prefix part "));
            name
        }
    };
    if name.is_empty() {
        wrong.push(format!("name part {}", empty_error()));
    } else if name.len() > KEY_NAME_MAX {
        wrong.push(format!("name part {}", max_bytes_error(KEY_NAME_MAX)));
    }
    if !is_name(name) {
        let pattern = regex_error(KEY_MESSAGE, KEY_FORMAT, &KEY_EXAMPLES);
        wrong.push(format!("name part {pattern}"));
    }
    wrong
}

/// What Kubernetes calls a qualified name: the same as the key of a label.
#[must_use]
pub fn qualified_name(value: &str) -> Vec<String> {
    label_key(value)
}

/// The value of a label.
#[must_use]
pub fn label_value(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > LABEL_VALUE_MAX {
        wrong.push(max_bytes_error(LABEL_VALUE_MAX));
    }
    if !value.is_empty() && !is_name(value) {
        wrong.push(regex_error(VALUE_MESSAGE, VALUE_FORMAT, &["MyValue", "my_value", "12345"]));
    }
    wrong
}

/// A key of a config map or secret, which becomes a file name.
#[must_use]
pub fn config_map_key(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > DNS_SUBDOMAIN_MAX {
        wrong.push(max_len_error(DNS_SUBDOMAIN_MAX));
    }
    if value.is_empty() || !value.bytes().all(is_inner) {
        let examples = ["key.name", "KEY_NAME", "key-name"];
        wrong.push(regex_error(CONFIG_MESSAGE, CONFIG_FORMAT, &examples));
    }
    wrong.extend(change_directory_error(value));
    wrong
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| is_inner(*byte))
}

fn is_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and \
                        must start and end with an alphanumeric character (e.g. 'MyName',  or \
                        'my.name',  or '123-abc', regex used for validation is \
                        '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

    fn check(rule: fn(&str) -> Vec<String>, value: &str, expect: &[&str]) {
        assert_eq!(rule(value), expect, "{value:?}");
    }

    #[test]
    fn a_key_is_a_name_with_an_optional_domain() {
        let longest = format!("{}/{}", "a".repeat(253), "b".repeat(63));
        for key in ["simple", "now-with-dashes", "1-starts", "1234", "a/b", "a.com/B_c.D-1"] {
            check(label_key, key, &[]);
            check(qualified_name, key, &[]);
        }
        check(label_key, &longest, &[]);
        for key in ["no-$", "-a", "a-", ".a", "a.", "_a", "a b", "\u{e4}", "a.com/-"] {
            check(label_key, key, &[NAME]);
        }
        check(label_key, "", &["name part must be non-empty", NAME]);
        check(label_key, "a/", &["name part must be non-empty", NAME]);
        check(label_key, "/a", &["prefix part must be non-empty"]);
        check(
            label_key,
            "/",
            &["prefix part must be non-empty", "name part must be non-empty", NAME],
        );
        check(label_key, &"a".repeat(64), &["name part must be no more than 63 bytes"]);
        let domain = "prefix part a lowercase RFC 1123 subdomain must consist of lower case \
                      alphanumeric characters, '-' or '.', and must start and end with an \
                      alphanumeric character (e.g. 'example.com', regex used for validation is \
                      '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
        check(label_key, "A/b", &[domain]);
        let long = format!("{}/a", "a".repeat(254));
        check(label_key, &long, &["prefix part must be no more than 253 bytes"]);
    }

    #[test]
    fn a_key_has_at_most_one_slash() {
        let expect = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', \
                      and must start and end with an alphanumeric character (e.g. 'MyName',  or \
                      'my.name',  or '123-abc', regex used for validation is \
                      '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain \
                      prefix and '/' (e.g. 'example.com/MyName')";
        for key in ["a/b/c", "//", "a//b"] {
            check(label_key, key, &[expect]);
        }
    }

    #[test]
    fn the_value_of_a_label_may_be_empty() {
        let pattern = "a valid label must be an empty string or consist of alphanumeric \
                       characters, '-', '_' or '.', and must start and end with an alphanumeric \
                       character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
                       validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
        for value in ["", "a", "A-b_c.1", &"x".repeat(63)] {
            check(label_value, value, &[]);
        }
        for value in ["-a", "a-", "a/b", " ", ".", "a b"] {
            check(label_value, value, &[pattern]);
        }
        check(label_value, &"x".repeat(64), &["must be no more than 63 bytes"]);
        check(label_value, &"/".repeat(64), &["must be no more than 63 bytes", pattern]);
    }

    #[test]
    fn the_key_of_a_config_map_is_a_file_name() {
        let pattern = "a valid config key must consist of alphanumeric characters, '-', '_' or \
                       '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for \
                       validation is '[-._a-zA-Z0-9]+')";
        for key in ["a", ".a", "a.", "a..b", "_", "-", &"a".repeat(253)] {
            check(config_map_key, key, &[]);
        }
        for key in ["", "a/b", " ", "\u{e4}"] {
            check(config_map_key, key, &[pattern]);
        }
        check(config_map_key, ".", &["must not be '.'"]);
        check(config_map_key, "..", &["must not be '..'"]);
        check(config_map_key, "..a", &["must not start with '..'"]);
        check(config_map_key, "../", &[pattern, "must not start with '..'"]);
        check(config_map_key, &"a".repeat(254), &["must be no more than 253 characters"]);
    }
}
