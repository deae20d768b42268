//! Words of other worlds: environment variables, HTTP headers and paths, ports, C.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go` and
//! `.../pkg/api/validate/content/{identifier,path}.go`.

use super::{empty_error, max_len_error, regex_error};

const IDENTIFIER_FORMAT: &str = "[A-Za-z_][A-Za-z0-9_]*";
const IDENTIFIER_MESSAGE: &str = "a valid C identifier must start with alphabetic character or \
                                  '_', followed by a string of alphanumeric characters or '_'";
const ENV_VAR_FORMAT: &str = "[-._a-zA-Z][-._a-zA-Z0-9]*";
const ENV_VAR_MESSAGE: &str = "a valid environment variable name must consist of alphabetic \
                               characters, digits, '_', '-', or '.', and must not start with a \
                               digit";
const RELAXED_ENV_VAR_MESSAGE: &str = "a valid environment variable name must consist only of \
                                       printable ASCII characters other than '='";
const HEADER_FORMAT: &str = "[-A-Za-z0-9]+";
const HEADER_MESSAGE: &str = "a valid HTTP header must consist of alphanumeric characters or '-'";
const PATH_FORMAT: &str = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+";
const PORT_NAME_MAX: usize = 15;

/// An identifier of the language C.
#[must_use]
pub fn c_identifier(value: &str) -> Vec<String> {
    let is_fine = !value.starts_with(|c: char| c.is_ascii_digit())
        && is_of(value, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    report(is_fine, || {
        regex_error(IDENTIFIER_MESSAGE, IDENTIFIER_FORMAT, &["my_name", "MY_NAME", "MyName"])
    })
}

/// The name of an environment variable that every shell can take.
#[must_use]
pub fn env_var_name(value: &str) -> Vec<String> {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_fine = !value.starts_with(|c: char| c.is_ascii_digit()) && is_of(value, is_inner);
    let mut wrong = report(is_fine, || {
        let examples = ["my.env-name", "MY_ENV.NAME", "MyEnvName1"];
        regex_error(ENV_VAR_MESSAGE, ENV_VAR_FORMAT, &examples)
    });
    wrong.extend(change_directory_error(value));
    wrong
}

/// The name of an environment variable.
#[must_use]
pub fn relaxed_env_var_name(value: &str) -> Vec<String> {
    if value.is_empty() {
        return vec![format!("environment variable name {}", empty_error())];
    }
    let is_fine = is_of(value, |byte| matches!(byte, b' '..=b'~') && byte != b'=');
    report(is_fine, || RELAXED_ENV_VAR_MESSAGE.to_owned())
}

/// The name of an HTTP header.
#[must_use]
pub fn http_header_name(value: &str) -> Vec<String> {
    let is_fine = is_of(value, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    report(is_fine, || regex_error(HEADER_MESSAGE, HEADER_FORMAT, &["X-Header-Name"]))
}

/// A path in a URL (RFC 3986).
#[must_use]
pub fn http_path(value: &str) -> Vec<String> {
    let is_fine =
        is_of(value, |byte| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte));
    report(is_fine, || regex_error("Invalid path", PATH_FORMAT, &[]))
}

/// The name of a port (RFC 6335, in lower case).
#[must_use]
pub fn port_name(value: &str) -> Vec<String> {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let mut wrong = Vec::new();
    if value.len() > PORT_NAME_MAX {
        wrong.push(max_len_error(PORT_NAME_MAX));
    }
    let mut refuse = |message: &str| wrong.push(message.to_owned());
    if !is_of(value, is_inner) {
        refuse("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !value.bytes().any(|byte| byte.is_ascii_lowercase()) {
        refuse("must contain at least one letter (a-z)");
    }
    if value.contains("--") {
        refuse("must not contain consecutive hyphens");
    }
    if value.starts_with('-') || value.ends_with('-') {
        refuse("must not begin or end with a hyphen");
    }
    wrong
}

/// A name that can be a segment of a path. May be empty, may be of any length.
#[must_use]
pub fn path_segment_name(value: &str) -> Vec<String> {
    match value {
        "." | ".." => vec![format!("may not be '{value}'")],
        value => path_segment_name_prefix(value),
    }
}

/// What such a name may start with.
#[must_use]
pub fn path_segment_name_prefix(value: &str) -> Vec<String> {
    let illegal = ['/', '%'].into_iter().filter(|c| value.contains(*c));
    illegal.map(|c| format!("may not contain '{c}'")).collect()
}

/// A UUID in lower case.
#[must_use]
pub fn uuid(value: &str) -> Vec<String> {
    let is_fine = value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        });
    report(is_fine, || "must be a lowercase UUID in 8-4-4-4-12 format".to_owned())
}

/// That a name would lead out of its folder.
pub(super) fn change_directory_error(value: &str) -> Option<String> {
    match value {
        "." | ".." => Some(format!("must not be '{value}'")),
        value if value.starts_with("..") => Some("must not start with '..'".to_owned()),
        _ => None,
    }
}

fn is_of(value: &str, is_allowed: impl Fn(u8) -> bool) -> bool {
    !value.is_empty() && value.bytes().all(is_allowed)
}

fn report(is_fine: bool, message: impl FnOnce() -> String) -> Vec<String> {
    if is_fine { Vec::new() } else { vec![message()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&str) -> Vec<String>, value: &str, expect: &[&str]) {
        assert_eq!(rule(value), expect, "{value:?}");
    }

    fn check_all(rule: fn(&str) -> Vec<String>, fine: &[&str], bad: &[&str], expect: &str) {
        fine.iter().for_each(|value| check(rule, value, &[]));
        bad.iter().for_each(|value| check(rule, value, &[expect]));
    }

    #[test]
    fn an_identifier_is_of_letters_digits_and_underscores() {
        let expect = "a valid C identifier must start with alphabetic character or '_', followed \
                      by a string of alphanumeric characters or '_' (e.g. 'my_name',  or \
                      'MY_NAME',  or 'MyName', regex used for validation is \
                      '[A-Za-z_][A-Za-z0-9_]*')";
        let fine = ["a", "A", "_", "a1", "_1", "MY_NAME"];
        check_all(c_identifier, &fine, &["", "1", "1a", "a-b", "a.b", " ", "\u{e4}"], expect);
    }

    #[test]
    fn an_environment_variable_does_not_start_with_a_digit() {
        let expect = "a valid environment variable name must consist of alphabetic characters, \
                      digits, '_', '-', or '.', and must not start with a digit (e.g. \
                      'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for \
                      validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')";
        check_all(
            env_var_name,
            &["a", "_", "-", ".a", "A.b-C_1"],
            &["", "1", "a=b", "a b"],
            expect,
        );
        check(env_var_name, ".", &["must not be '.'"]);
        check(env_var_name, "..", &["must not be '..'"]);
        check(env_var_name, "..a", &["must not start with '..'"]);
        check(env_var_name, "..=", &[expect, "must not start with '..'"]);
    }

    #[test]
    fn a_relaxed_environment_variable_is_printable() {
        let expect = "a valid environment variable name must consist only of printable ASCII \
                      characters other than '='";
        let fine = ["a", "1", " ", "~", "..", "a b", "-"];
        let bad = ["=", "a=b", "\n", "\u{7f}", "\u{e4}"];
        check_all(relaxed_env_var_name, &fine, &bad, expect);
        check(relaxed_env_var_name, "", &["environment variable name must be non-empty"]);
    }

    #[test]
    fn a_header_is_of_letters_digits_and_dashes() {
        let expect = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. \
                      'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
        check_all(http_header_name, &["X-1", "-"], &["", "a:b", "a b", "a_b"], expect);
    }

    #[test]
    fn a_path_is_of_the_characters_of_urls() {
        let expect =
            r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
        check_all(
            http_path,
            &["/", "a/b-c", "~!$&'()*+,;=:%"],
            &["", "a b", "?", "#", "\\"],
            expect,
        );
    }

    #[test]
    fn the_name_of_a_port_has_a_letter_and_no_loose_hyphen() {
        let only = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
        let letter = "must contain at least one letter (a-z)";
        let twice = "must not contain consecutive hyphens";
        let ends = "must not begin or end with a hyphen";
        for name in ["telnet", "re-mail-ck", "a", "a1", "0a", "123456789abcdef"] {
            check(port_name, name, &[]);
        }
        check(port_name, "", &[only, letter]);
        check(port_name, "80", &[letter]);
        check(port_name, "A", &[only, letter]);
        check(port_name, "a--b", &[twice]);
        check(port_name, "-a", &[ends]);
        check(port_name, "a-", &[ends]);
        check(port_name, "--", &[letter, twice, ends]);
        check(port_name, "1234567890abcdef", &["must be no more than 15 characters"]);
    }

    #[test]
    fn a_segment_of_a_path_has_no_slash_and_no_percent() {
        for name in ["", "a", "...", "a b", "\u{e4}", "..a"] {
            check(path_segment_name, name, &[]);
        }
        check(path_segment_name, ".", &["may not be '.'"]);
        check(path_segment_name, "..", &["may not be '..'"]);
        check(path_segment_name, "a/b", &["may not contain '/'"]);
        check(path_segment_name, "%/", &["may not contain '/'", "may not contain '%'"]);
        check(path_segment_name_prefix, ".", &[]);
        check(path_segment_name_prefix, "..", &[]);
        check(path_segment_name_prefix, "a%", &["may not contain '%'"]);
    }

    #[test]
    fn a_uuid_is_in_lower_case_with_dashes() {
        let fine = "123e4567-e89b-12d3-a456-426614174000";
        let upper = fine.to_uppercase();
        let bad = ["", &fine[1..], "123e4567e89b-12d3-a456-4266141740000-", &upper];
        check_all(uuid, &[fine], &bad, "must be a lowercase UUID in 8-4-4-4-12 format");
    }
}
