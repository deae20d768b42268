//! The cases that are left out, and why.

use super::case::{Case, Kind};

/// Cases that are left out.
#[derive(Debug)]
pub(crate) struct Exclusion {
    /// The file.
    pub(crate) file: &'static str,
    /// The section; `*` for all.
    section: &'static str,
    /// The beginning of the name of the case, with `*` behind it; or the whole name.
    name: &'static str,
    /// Why.
    reason: &'static str,
}

/// Kubernetes has JSON and the types that schemas declare.
const MESSAGES: &str = "there are no protobuf messages, enums or wrappers";
/// Nothing is evaluated that was not checked.
const UNCHECKED: &str = "expressions are always checked";
/// A variable of the namespace comes before one of a comprehension in the cel-go of 1.36, which
/// Kubernetes does not notice: it has no namespaces.
const NAMESPACES: &str = "names of the namespace come first, as in the cel-go of Kubernetes 1.36";
/// Kubernetes has version 2 of the library of strings.
const STRINGS: &str = "newer than the library of strings in Kubernetes 1.36";
/// cel-go keeps the last.
const REPEATED: &str = "a key may be written twice, as in cel-go";
/// Kubernetes does not turn on that option of cel-go.
const PRESENCE: &str = "what has no fields has no field, as in Kubernetes";
/// Kubernetes does.
const MAPPED: &str = "addresses of IPv4 inside IPv6 are refused, as in Kubernetes";
/// Types of libraries have no parameters, but for optional.
const PARAMETERS: &str = "there are no other types with parameters";
/// Only optimizers write it.
const BLOCKS: &str = "there is no cel.block, as in Kubernetes";

/// What names a protobuf message, enum or wrapper.
const MESSAGE_NAMES: &[&str] = &[
    "TestAllTypes",
    "google.protobuf.Any{",
    "google.protobuf.BoolValue",
    "google.protobuf.BytesValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.FloatValue",
    "google.protobuf.Int32Value",
    "google.protobuf.Int64Value",
    "google.protobuf.ListValue",
    "google.protobuf.StringValue",
    "google.protobuf.Struct",
    "google.protobuf.UInt32Value",
    "google.protobuf.UInt64Value",
    "google.protobuf.Value",
];

/// What is left out.
pub(crate) const EXCLUDED: &[Exclusion] = &[
    all("block_ext", BLOCKS),
    all("dynamic", MESSAGES),
    all("enums", MESSAGES),
    all("proto2", MESSAGES),
    all("proto2_ext", MESSAGES),
    all("proto3", MESSAGES),
    all("wrappers", MESSAGES),
    one("bindings_ext", "bind", "shadowing_namespace_resolution*", NAMESPACES),
    one("namespace", "namespace_shadowing", "comprehension_shadowing*", NAMESPACES),
    one("fields", "qualified_identifier_resolution", "map_value_repeat_key*", REPEATED),
    one("network_ext", "ipv4", "ipv4_equals_ipv6", MAPPED),
    one("network_ext", "ipv4", "ipv4_not_equals_ipv6", MAPPED),
    one("optionals", "optionals", "map_null_entry_no_such_key", PRESENCE),
    one("optionals", "optionals", "map_present_key_invalid_field", PRESENCE),
    one("string_ext", "format", "scientific notation formatting clause*", STRINGS),
    one("string_ext", "format", "default precision for fixed-point clause with*", STRINGS),
    one("string_ext", "format", "default precision for scientific notation*", STRINGS),
    one("string_ext", "format", "NaN support for scientific notation", STRINGS),
    one("string_ext", "format", "NaN support for decimal", STRINGS),
    one("string_ext", "format", "positive infinity support for*", STRINGS),
    one("string_ext", "format", "negative infinity support for*", STRINGS),
    one("string_ext", "format", "list support for string", STRINGS),
    one("string_ext", "format", "map support*", STRINGS),
    one("string_ext", "format", "dyntype support for scientific notation", STRINGS),
    one("string_ext", "format", "dyntype NaN/infinity support", STRINGS),
    one("string_ext", "format", "dyntype support for lists", STRINGS),
    one("string_ext", "format", "dyntype support for maps", STRINGS),
    one("string_ext", "value_errors", "indexof_out_of_range", STRINGS),
    one("string_ext", "value_errors", "lastindexof_out_of_range", STRINGS),
    one("type_deduction", "type_parameters", "multiple_parameters_*", PARAMETERS),
    one("type_deduction", "legacy_nullable_types", "null_assignable_to_abstract*", PARAMETERS),
];

const fn all(file: &'static str, reason: &'static str) -> Exclusion {
    one(file, "*", "*", reason)
}

const fn one(
    file: &'static str,
    section: &'static str,
    name: &'static str,
    reason: &'static str,
) -> Exclusion {
    Exclusion { file, section, name, reason }
}

/// Why a case is left out, if it is.
pub(crate) fn find_exclusion(case: &Case) -> Option<&'static str> {
    let found = EXCLUDED.iter().find(|exclusion| exclusion.is_about(case));
    let names = |text: &str| MESSAGE_NAMES.iter().any(|name| text.contains(name));
    let is_message = |(_, kind): &(String, Kind)| matches!(kind, Kind::Message(_));
    if let Some(found) = found {
        return Some(found.reason);
    }
    if names(&case.expression) || case.variables.iter().any(is_message) {
        return Some(MESSAGES);
    }
    case.is_unchecked.then_some(UNCHECKED)
}

impl Exclusion {
    /// Whether it is about a case.
    pub(crate) fn is_about(&self, case: &Case) -> bool {
        let is_name = match self.name.strip_suffix('*') {
            Some(beginning) => case.name.starts_with(beginning),
            None => self.name == case.name,
        };
        self.file == case.file && (self.section == "*" || self.section == case.section) && is_name
    }
}
