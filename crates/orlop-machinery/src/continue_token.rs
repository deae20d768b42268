//! The token with which a client asks for the next part of a list.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/continue.go`, and for tokens that are too old
//! `.../storage/etcd3/errors.go`. A token says where the last part ended and at which version of
//! the store the list is; it cannot lead out of the keys of its resource.

use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use crate::json;
use crate::status::Status;
use crate::value::Value;

const API_VERSION: &str = "meta.k8s.io/v1";

/// As Go reads it: without padding, and without a look at bits past the last byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// Where the next part of a list starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken {
    /// The first key of the next part.
    pub start_key: String,
    /// The version of the store that the list is of; -1 for the current one.
    pub resource_version: i64,
}

/// Why a token cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It is not one.
    #[error("continue key is not valid: {0}")]
    Malformed(String),
    /// It has no version of the store.
    #[error(
        "continue key is not valid: incorrect encoded start resourceVersion (version \
         meta.k8s.io/v1)"
    )]
    NoResourceVersion,
    /// It has no key.
    #[error("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")]
    NoStartKey,
    /// It is of a version that is not known here.
    #[error("continue key is not valid: server does not recognize this encoded version {0}")]
    UnknownVersion(String),
}

/// Why a token cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to encode next field: the key and key prefix do not match")]
pub struct EncodeError;

impl ContinueToken {
    /// The token for the part after the last key.
    ///
    /// # Errors
    ///
    /// When the key does not start with the prefix of its resource.
    pub fn after(
        last_key: &str,
        key_prefix: &str,
        resource_version: i64,
    ) -> Result<String, EncodeError> {
        let start_key = format!("{last_key}\0");
        ContinueToken { start_key, resource_version }.encode(key_prefix)
    }

    /// Writes a token.
    ///
    /// # Errors
    ///
    /// When the key does not start with the prefix of its resource.
    pub fn encode(&self, key_prefix: &str) -> Result<String, EncodeError> {
        let rest = self.start_key.strip_prefix(key_prefix).ok_or(EncodeError)?;
        if rest == self.start_key {
            return Err(EncodeError);
        }
        let start = json::to_string(&Value::from(rest));
        let version = self.resource_version;
        let text = format!(r#"{{"v":"{API_VERSION}","rv":{version},"start":{start}}}"#);
        Ok(BASE64.encode(text))
    }

    /// Reads a token of a resource whose keys have this prefix.
    ///
    /// # Errors
    ///
    /// When it is not one, or names a key that is not in its plain form.
    pub fn decode(token: &str, key_prefix: &str) -> Result<ContinueToken, DecodeError> {
        let value = json::parse(&decode_base64(token)?)
            .map_err(|error| DecodeError::Malformed(error.to_string()))?;
        let fields = Fields::read(&value).map_err(DecodeError::Malformed)?;
        if fields.version != API_VERSION {
            return Err(DecodeError::UnknownVersion(fields.version.to_owned()));
        }
        if fields.resource_version == 0 {
            return Err(DecodeError::NoResourceVersion);
        }
        if fields.start.is_empty() {
            return Err(DecodeError::NoStartKey);
        }
        // A key with `..` in it could lead to the objects of others.
        let rest = fields.start.strip_prefix('/').unwrap_or(fields.start);
        let is_plain = |step: &str| !matches!(step, "" | "." | "..");
        if !rest.is_empty() && !rest.split('/').all(is_plain) {
            return Err(DecodeError::Malformed(fields.start.to_owned()));
        }
        let start_key = format!("{key_prefix}{rest}");
        Ok(ContinueToken { start_key, resource_version: fields.resource_version })
    }
}

/// The answer to a list at a version that the store no longer has.
#[must_use]
pub fn list_expired() -> Status {
    Status::expired("The resourceVersion for the provided list is too old.")
}

/// The answer to a watch from a version that the store no longer has.
#[must_use]
pub fn watch_expired() -> Status {
    Status::expired("The resourceVersion for the provided watch is too old.")
}

/// The answer to a token that is too old, with one that continues at the current version.
#[must_use]
pub fn token_expired(start_key: &str, key_prefix: &str) -> Status {
    let token = ContinueToken { start_key: start_key.to_owned(), resource_version: -1 };
    let Ok(token) = token.encode(key_prefix) else {
        return Status::expired(
            "The provided continue parameter is too old to display a consistent list result. You \
             can start a new list without the continue parameter.",
        );
    };
    let mut status = Status::expired(
        "The provided continue parameter is too old to display a consistent list result. You can \
         start a new list without the continue parameter, or use the continue token in this \
         response to retrieve the remainder of the results. Continuing with the provided token \
         results in an inconsistent list - objects that were created, modified, or deleted \
         between the time the first chunk was returned and now may show up in the list.",
    );
    status.metadata.insert("continue", Value::from(token));
    status
}

/// The fields of a token; what is missing is zero.
struct Fields<'a> {
    version: &'a str,
    resource_version: i64,
    start: &'a str,
}

impl<'a> Fields<'a> {
    /// Errors are in the words of Go's decoder.
    fn read(value: &'a Value) -> Result<Fields<'a>, String> {
        if !matches!(value, Value::Map(_) | Value::Null) {
            let found = kind_of(value);
            return Err(format!(
                "json: cannot unmarshal {found} into Go value of type storage.continueToken"
            ));
        }
        let wrong = |field: &str, ty: &str| {
            let mut found = kind_of(value.at(field)).to_owned();
            if let (Value::Float(_), "int64") = (value.at(field), ty) {
                found = format!("number {}", json::to_string(value.at(field)));
            }
            format!(
                "json: cannot unmarshal {found} into Go struct field continueToken.{field} of \
                 type {ty}"
            )
        };
        let text = |field: &str| match value.at(field) {
            Value::Null => Ok(""),
            Value::String(text) => Ok(text.as_str()),
            _ => Err(wrong(field, "string")),
        };
        let resource_version = match value.at("rv") {
            Value::Null => 0,
            Value::Int(number) => *number,
            _ => return Err(wrong("rv", "int64")),
        };
        Ok(Fields { version: text("v")?, resource_version, start: text("start")? })
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}

fn decode_base64(token: &str) -> Result<Vec<u8>, DecodeError> {
    let corrupt =
        |at: usize| DecodeError::Malformed(format!("illegal base64 data at input byte {at}"));
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    // Go skips line ends anywhere.
    let is_break = |byte: u8| matches!(byte, b'\r' | b'\n');
    if let Some(at) = token.bytes().position(|byte| !is_digit(byte) && !is_break(byte)) {
        return Err(corrupt(at));
    }
    let digits: Vec<u8> = token.bytes().filter(|byte| !is_break(*byte)).collect();
    // One digit alone makes no byte; Go points at the end of the text before it.
    BASE64.decode(&digits).map_err(|_| corrupt(token.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(text: &str) -> String {
        BASE64.encode(text)
    }

    #[test]
    fn a_token_says_where_to_go_on() {
        let check = |key: &str, expect: Result<&str, &str>| {
            let token = ContinueToken { start_key: key.to_owned(), resource_version: 7 };
            let seen = token.encode("/pods/").map_err(|error| error.to_string());
            let expect = expect.map(encode).map_err(str::to_owned);
            assert_eq!(seen, expect);
        };
        check("/pods/a/b", Ok(r#"{"v":"meta.k8s.io/v1","rv":7,"start":"a/b"}"#));
        check("/pods/a\0", Ok(r#"{"v":"meta.k8s.io/v1","rv":7,"start":"a\u0000"}"#));
        let mismatch = "unable to encode next field: the key and key prefix do not match";
        check("/nodes/a", Err(mismatch));
        let after = ContinueToken::after("/pods/a", "/pods/", 7).unwrap();
        assert_eq!(after, encode(r#"{"v":"meta.k8s.io/v1","rv":7,"start":"a\u0000"}"#));
    }

    #[test]
    fn a_token_leads_into_its_own_keys_only() {
        let check = |text: &str, expect: Result<(&str, i64), &str>| {
            let seen = ContinueToken::decode(&encode(text), "/pods/");
            let seen = seen.map(|token| (token.start_key, token.resource_version));
            let expect = expect.map(|(key, version)| (key.to_owned(), version));
            assert_eq!(seen.map_err(|error| error.to_string()), expect.map_err(str::to_owned));
        };
        let token = |rv: &str, start: &str| {
            format!(r#"{{"v":"meta.k8s.io/v1","rv":{rv},"start":"{start}"}}"#)
        };
        check(&token("1", "a"), Ok(("/pods/a", 1)));
        check(&token("-1", "/a/b"), Ok(("/pods/a/b", -1)));
        check(&token("1", "/"), Ok(("/pods/", 1)));
        for start in ["../a", "/../a", "a/../b", "a//b", "a/", "//", "./a", "a/.", "."] {
            check(&token("1", start), Err(&format!("continue key is not valid: {start}")));
        }
        check(
            &token("0", "a"),
            Err("continue key is not valid: incorrect encoded start resourceVersion (version \
                 meta.k8s.io/v1)"),
        );
        check(
            &token("1", ""),
            Err("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"),
        );
        check(
            r#"{"v":"v9"}"#,
            Err("continue key is not valid: server does not recognize this encoded version v9"),
        );
        let start = "continue key is not valid: json: cannot unmarshal";
        check("[]", Err(&format!("{start} array into Go value of type storage.continueToken")));
        check(
            &token("1.5", "a"),
            Err(&format!("{start} number 1.5 into Go struct field continueToken.rv of type int64")),
        );
        check(
            r#"{"v":1}"#,
            Err(&format!("{start} number into Go struct field continueToken.v of type string")),
        );
        check("", Err("continue key is not valid: unexpected end of JSON input"));
    }

    #[test]
    fn what_is_not_base64_is_refused_where_it_is_not() {
        let check = |token: &str, at: usize| {
            let seen = ContinueToken::decode(token, "/").map_err(|error| error.to_string());
            let text = format!("continue key is not valid: illegal base64 data at input byte {at}");
            assert_eq!(seen, Err(text), "{token}");
        };
        check("!", 0);
        check("abc=", 3);
        check("ab+d", 2);
        check("abcde", 4);
        check("abcd*", 4);
    }

    #[test]
    fn an_old_token_is_answered_with_one_that_goes_on() {
        let status = token_expired("/pods/a", "/pods/");
        assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
        let next = status.metadata.get("continue").unwrap().str();
        let token = ContinueToken::decode(next, "/pods/").unwrap();
        let expect = ContinueToken { start_key: "/pods/a".to_owned(), resource_version: -1 };
        assert_eq!(token, expect);
        let status = token_expired("/nodes/a", "/pods/");
        assert!(status.metadata.is_empty());
        assert!(status.message.ends_with("without the continue parameter."));
    }

    proptest! {
        #[test]
        fn a_token_reads_as_it_writes(key in "[a-z0-9.\u{0}]{1,20}(/[a-z]{1,9})?", version: i64) {
            prop_assume!(version != 0 && !key.starts_with("./") && !key.starts_with("../"));
            prop_assume!(key != "." && key != "..");
            let token = ContinueToken { start_key: format!("/p/{key}"), resource_version: version };
            let text = token.encode("/p/").unwrap();
            prop_assert_eq!(ContinueToken::decode(&text, "/p/"), Ok(token));
        }

        #[test]
        fn no_text_makes_the_decoder_panic(text in ".*") {
            let _ = ContinueToken::decode(&text, "/p/");
            let _ = ContinueToken::decode(&encode(&text), "/p/");
        }
    }
}
