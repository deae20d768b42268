//! Which write made a state of an object.
//!
//! For clients it is opaque text; for a server it is a number that grows with every write. After
//! `staging/src/k8s.io/apiserver/pkg/storage/api_object_versioner.go`; comparing texts after
//! `staging/src/k8s.io/apimachinery/pkg/util/resourceversion/resourceversion.go`.

use std::cmp::Ordering;
use std::fmt;

use crate::field::{Errors, Path};
use crate::meta::{Meta, MetaMut};
use crate::text::quote;
use crate::value::Value;

/// A resource version as a number. Zero is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceVersion(u64);

/// Why a text is no resource version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It has something else than digits.
    #[error("strconv.ParseUint: parsing {}: invalid syntax", quote(.0))]
    Syntax(String),
    /// It is too large.
    #[error("strconv.ParseUint: parsing {}: value out of range", quote(.0))]
    Range(String),
}

/// Why texts cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("resource version is not well formed: {0}")]
pub struct MalformedError(pub String);

impl ResourceVersion {
    /// From a number.
    #[must_use]
    pub const fn new(number: u64) -> ResourceVersion {
        ResourceVersion(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Whether it is none.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Reads text; the empty text is none.
    ///
    /// # Errors
    ///
    /// When it is not a number or too large.
    pub fn parse(text: &str) -> Result<ResourceVersion, ParseError> {
        if text.is_empty() {
            return Ok(ResourceVersion(0));
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseError::Syntax(text.to_owned()));
        }
        text.parse().map(ResourceVersion).map_err(|_| ParseError::Range(text.to_owned()))
    }

    /// Reads the parameter `resourceVersion` of a request.
    ///
    /// # Errors
    ///
    /// When it is not a number or too large: as the answer shows it.
    pub fn parse_parameter(text: &str) -> Result<ResourceVersion, Errors> {
        ResourceVersion::parse(text).map_err(|error| {
            let mut errors = Errors::new();
            errors.invalid_value(&Path::field("resourceVersion"), text, error.to_string());
            errors
        })
    }

    /// That of an object.
    ///
    /// # Errors
    ///
    /// When it is not a number or too large.
    pub fn of(object: &Value) -> Result<ResourceVersion, ParseError> {
        ResourceVersion::parse(Meta::of(object).resource_version())
    }

    /// Writes it into an object, or into a list.
    pub fn set(self, object: &mut Value) {
        let text = if self.is_zero() { String::new() } else { self.to_string() };
        MetaMut::of(object).set_resource_version(&text);
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// Compares the resource versions of two states of objects of one resource, of any size.
///
/// # Errors
///
/// When one of them is not a number without leading zeros.
pub fn compare(a: &str, b: &str) -> Result<Ordering, MalformedError> {
    for text in [a, b] {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || text.starts_with('0') {
            return Err(MalformedError(text.to_owned()));
        }
    }
    Ok(a.len().cmp(&b.len()).then_with(|| a.cmp(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_number() {
        let check = |text: &str, expect: Result<u64, &str>| {
            let seen = ResourceVersion::parse(text).map(ResourceVersion::number);
            assert_eq!(seen.map_err(|error| error.to_string()), expect.map_err(str::to_owned));
        };
        check("", Ok(0));
        check("0", Ok(0));
        check("007", Ok(7));
        check("18446744073709551615", Ok(u64::MAX));
        check(
            "18446744073709551616",
            Err("strconv.ParseUint: parsing \"18446744073709551616\": value out of range"),
        );
        check("+1", Err("strconv.ParseUint: parsing \"+1\": invalid syntax"));
        check("-1", Err("strconv.ParseUint: parsing \"-1\": invalid syntax"));
        check("a\n", Err("strconv.ParseUint: parsing \"a\\n\": invalid syntax"));
    }

    #[test]
    fn a_bad_parameter_is_an_invalid_value() {
        let errors = ResourceVersion::parse_parameter("x").unwrap_err();
        let expect = "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": \
                      invalid syntax\n";
        assert_eq!(errors.to_string(), expect);
        assert_eq!(ResourceVersion::parse_parameter("3"), Ok(ResourceVersion::new(3)));
    }

    #[test]
    fn an_object_keeps_its_version_and_none_is_no_field() {
        let mut object = Value::Null;
        ResourceVersion::new(3).set(&mut object);
        assert_eq!(object.path(&["metadata", "resourceVersion"]).str(), "3");
        assert_eq!(ResourceVersion::of(&object), Ok(ResourceVersion::new(3)));
        ResourceVersion::default().set(&mut object);
        assert!(object.path(&["metadata", "resourceVersion"]).is_null());
        assert!(ResourceVersion::of(&object).unwrap().is_zero());
    }

    #[test]
    fn texts_compare_as_numbers_of_any_size() {
        let check = |a: &str, b: &str, expect: Result<Ordering, &str>| {
            let seen = compare(a, b).map_err(|error| error.to_string());
            assert_eq!(seen, expect.map_err(str::to_owned));
        };
        check("9", "10", Ok(Ordering::Less));
        check("10", "9", Ok(Ordering::Greater));
        check("12", "12", Ok(Ordering::Equal));
        check("99999999999999999999999998", "99999999999999999999999999", Ok(Ordering::Less));
        check("", "1", Err("resource version is not well formed: "));
        check("1", "0", Err("resource version is not well formed: 0"));
        check("01", "1", Err("resource version is not well formed: 01"));
        check("1", "1a", Err("resource version is not well formed: 1a"));
    }
}
