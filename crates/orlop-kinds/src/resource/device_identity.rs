//! How devices, their pools and their properties are named.
//!
//! After `validatePoolName`, `validateUID` and `validateQualifiedName` in
//! `pkg/apis/resource/validation/validation.go`.

use orlop_machinery::field::{At, Errors};
use orlop_machinery::names;
use orlop_machinery::node::Node;
use orlop_machinery::text::quote;
use orlop_machinery::{Str, Value, json};

use crate::rules::scalar::validate_text;
use crate::rules::volume::driver::validate_csi_driver_name;

const POOL_NAME_MAX: usize = 253;
const IDENTIFIER_MAX: usize = 32;

/// A driver has a name like one for volumes.
pub(super) fn validate_driver_name(name: &Node<'_>, errors: &mut Errors) {
    validate_csi_driver_name(name, errors);
}

/// DNS names with slashes between them.
pub(super) fn validate_pool_name(name: &Node<'_>, errors: &mut Errors) {
    if name.is_empty() {
        errors.required(name, "");
        return;
    }
    if name.str().len() > POOL_NAME_MAX {
        errors.too_long(name, POOL_NAME_MAX);
    }
    // Each part can be an error: of a name that is far too long only the first ones are told.
    for part in name.str().split('/').take(POOL_NAME_MAX) {
        for message in names::dns_subdomain(part) {
            errors.invalid_value(name, part, message);
        }
    }
}

/// A UUID in its plain form.
pub(super) fn validate_uid(uid: &Node<'_>, errors: &mut Errors) {
    if let Some(wrong) = uuid_error(uid.str()) {
        errors.invalid(uid, format!("error validating uid: {wrong}"));
    } else if !names::uuid(uid.str()).is_empty() {
        let detail = "uid must be in RFC 4122 normalized form, \
                      `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
        errors.invalid(uid, detail);
    }
}

/// The name of an attribute or capacity, with or without a domain. As upstream, more than one
/// slash is not noticed.
pub(super) fn validate_qualified_name(name: &Node<'_>, errors: &mut Errors) {
    match name.str().split_once('/') {
        None => validate_identifier(name, name.str(), errors),
        Some((_, rest)) if rest.contains('/') => {}
        Some((domain, identifier)) => {
            if domain.is_empty() {
                errors.invalid_value(name, "", "the domain must not be empty");
            } else {
                let domain = Value::from(domain);
                validate_driver_name(&Node::new(&domain, *name.path()), errors);
            }
            if identifier.is_empty() {
                errors.invalid_value(name, "", "the name must not be empty");
            } else {
                validate_identifier(name, identifier, errors);
            }
        }
    }
}

/// The same, and there must be a domain.
pub(super) fn validate_fully_qualified_name(name: &Node<'_>, errors: &mut Errors) {
    validate_qualified_name(name, errors);
    if !name.str().contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.invalid(name, detail);
    }
}

/// The key of a counter, of a set of counters, of a request, of a device: a DNS label.
pub(super) fn validate_label(name: &Node<'_>, errors: &mut Errors) {
    validate_text(name, names::dns_label, errors);
}

/// One share of one device, of an allocation or of its status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SharedDevice {
    driver: Str,
    pool: Str,
    device: Str,
    share: Str,
}

impl SharedDevice {
    /// The one that a result of an allocation, or an entry of the status, is about.
    pub(super) fn of(entry: &Value) -> SharedDevice {
        let text = |field: &str| Str::new(entry.at(field).str());
        SharedDevice {
            driver: text("driver"),
            pool: text("pool"),
            device: text("device"),
            share: text("shareID"),
        }
    }

    /// As errors show it.
    pub(super) fn to_json(&self) -> String {
        let text = |text: &Str| json::to_string(&Value::String(text.clone()));
        format!(
            r#"{{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}}"#,
            text(&self.driver),
            text(&self.pool),
            text(&self.device),
            text(&self.share)
        )
    }
}

fn validate_identifier(at: &Node<'_>, identifier: &str, errors: &mut Errors) {
    if identifier.len() > IDENTIFIER_MAX {
        errors.too_long(at, IDENTIFIER_MAX);
    }
    for message in names::c_identifier(identifier) {
        errors.invalid_value(at, identifier, message);
    }
}

/// What upstream's parser of UUIDs says, which also knows other forms of them.
fn uuid_error(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let malformed = || Some("invalid UUID format".to_owned());
    let plain = match bytes.len() {
        36 => bytes,
        45 if bytes[..9].eq_ignore_ascii_case(b"urn:uuid:") => &bytes[9..],
        45 => {
            let prefix = String::from_utf8_lossy(&bytes[..9]);
            return Some(format!("invalid urn prefix: {}", quote(&prefix)));
        }
        38 if bytes[0] == b'{' && bytes[37] == b'}' => &bytes[1..37],
        38 => return Some("invalid bracketed UUID format".to_owned()),
        32 if bytes.iter().all(u8::is_ascii_hexdigit) => return None,
        32 => return malformed(),
        length => return Some(format!("invalid UUID length: {length}")),
    };
    let is_fine = plain.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    if is_fine { None } else { malformed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_forms_of_uuids_are_known() {
        let plain = "0f0e0d0c-0b0a-4908-8706-050403020100";
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(uuid_error(text).as_deref(), expect, "{text}");
        };
        check(plain, None);
        check(&format!("URN:uuid:{plain}"), None);
        check(&format!("urn:guid:{plain}"), Some(r#"invalid urn prefix: "urn:guid:""#));
        check(&format!("{{{plain}}}"), None);
        check(&format!("({plain})"), Some("invalid bracketed UUID format"));
        check(&plain.replace('-', ""), None);
        check(&plain.replace('-', "g")[..32], Some("invalid UUID format"));
        check(&plain.replace('-', "_"), Some("invalid UUID format"));
        check("", Some("invalid UUID length: 0"));
    }
}
