//! The cases that are left out, and why.

use super::case::Case;

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

const MESSAGES: &str = "Kubernetes has JSON and no protobuf messages, enums or wrappers";
const UNCHECKED: &str = "Kubernetes evaluates nothing that the checker refuses";
const CHECKED: &str = "the checker finds it, before anything is evaluated";
const CONTAINERS: &str = "expressions in Kubernetes stand in no namespace";
const BACKTICKS: &str = "Kubernetes does not turn on names in backticks: they are escaped";
const BLOCKS: &str = "Kubernetes does not have cel.block, which optimizers write";
const REPEATED_KEYS: &str = "cel-go keeps the last of equal keys";
const OPTIONAL_FIELDS: &str = "cel-go, as Kubernetes 1.36 has it, finds nothing there and no error";
const NULL_IN_LIST: &str = "Kubernetes refuses null beside optional values";
const TUPLES: &str = "no type of Kubernetes but optional has parameters";
const STRINGS_VERSION: &str = "Kubernetes has version 2 of the functions on text";
const MAPPED_ADDRESSES: &str = "Kubernetes refuses IPv4 addresses in the form of IPv6";

/// What is left out.
pub(crate) const EXCLUDED: &[Exclusion] = &[
    all("block_ext", BLOCKS),
    all("dynamic", MESSAGES),
    all("enums", MESSAGES),
    all("proto2", MESSAGES),
    all("proto2_ext", MESSAGES),
    all("proto3", MESSAGES),
    all("wrappers", MESSAGES),
    some("basic", "functions", "unbound_is_runtime_error", UNCHECKED),
    some("basic", "variables", "unbound_is_runtime_error", UNCHECKED),
    some("bindings_ext", "bind", "shadowing_*", CONTAINERS),
    some("comparisons", "eq_literal", "not_eq_list_length", UNCHECKED),
    some("comparisons", "eq_literal", "eq_mixed_types", UNCHECKED),
    some("comparisons", "eq_literal", "eq_list_elem_mixed_types", UNCHECKED),
    some("comparisons", "eq_literal", "eq_dyn_json_null", MESSAGES),
    some("comparisons", "eq_literal", "not_eq_dyn_p*", MESSAGES),
    some("comparisons", "eq_wrapper", "*", MESSAGES),
    some("comparisons", "ne_literal", "ne_mixed_types", UNCHECKED),
    some("comparisons", "ne_literal", "ne_p*", MESSAGES),
    some("fields", "qualified_identifier_resolution", "map_v*", REPEATED_KEYS),
    some("fields", "quoted_map_fields", "*", BACKTICKS),
    some("logic", "AND", "short_circuit_t*", UNCHECKED),
    some("logic", "OR", "short_circuit_t*", UNCHECKED),
    some("logic", "conditional", "mixed_type", UNCHECKED),
    some("namespace", "namespace_shadowing", "comprehension_shadowing", CONTAINERS),
    some("namespace", "namespace_shadowing", "comprehension_shadowing_disambiguation", CONTAINERS),
    some("namespace", "namespace_shadowing", "comprehension_shadowing_parse_only", CONTAINERS),
    some("namespace", "namespace_shadowing", "comprehension_shadowing_s*", CONTAINERS),
    some(
        "namespace",
        "namespace_shadowing",
        "comprehension_shadowing_namespaced_selector",
        CONTAINERS,
    ),
    some(
        "namespace",
        "namespace_shadowing",
        "comprehension_shadowing_namespaced_selector_parse_only",
        CONTAINERS,
    ),
    some("namespace", "namespace_shadowing", "comprehension_shadowing_nesting", CONTAINERS),
    some("network_ext", "ip_type", "is_ip_cidr_compile_error", CHECKED),
    some("network_ext", "ipv4", "ipv4_equals_ipv6", MAPPED_ADDRESSES),
    some("network_ext", "ipv4", "ipv4_not_equals_ipv6", MAPPED_ADDRESSES),
    some("optionals", "optionals", "map_null_entry_no_such_key", OPTIONAL_FIELDS),
    some("optionals", "optionals", "map_present_key_invalid_field", OPTIONAL_FIELDS),
    some(
        "optionals",
        "optionals",
        "has_optional_ofNonZeroValue_struct_optional_ofNonZeroValue_map_optindex_field",
        MESSAGES,
    ),
    some(
        "optionals",
        "optionals",
        "optional_ofNonZeroValue_struct_optional_ofNonZeroValue_map_optindex_field",
        MESSAGES,
    ),
    some("optionals", "optionals", "stru*", MESSAGES),
    some("optionals", "optionals", "empty_struct_optindex_hasValue", MESSAGES),
    some("optionals", "optionals", "optional_empty_struct_optindex_hasValue", MESSAGES),
    some("optionals", "optionals", "optional_s*", MESSAGES),
    some("parse", "comments", "*", MESSAGES),
    some("parse", "nest", "message_literal", MESSAGES),
    some("parse", "receiver_function_names", "*", UNCHECKED),
    some("parse", "repeat", "select", MESSAGES),
    some("parse", "repeat", "message_literal", MESSAGES),
    some("parse", "struct_field_names", "*", MESSAGES),
    some("parse", "whitespace", "*", MESSAGES),
    some("string_ext", "format", "scie*", STRINGS_VERSION),
    some("string_ext", "format", "default precision for fixed-point clause w*", STRINGS_VERSION),
    some("string_ext", "format", "default precision for s*", STRINGS_VERSION),
    some("string_ext", "format", "NaN support for scientific notation", STRINGS_VERSION),
    some("string_ext", "format", "posi*", STRINGS_VERSION),
    some("string_ext", "format", "nega*", STRINGS_VERSION),
    some("string_ext", "format", "NaN support for decimal", STRINGS_VERSION),
    some("string_ext", "format", "list support for string", STRINGS_VERSION),
    some("string_ext", "format", "map *", STRINGS_VERSION),
    some("string_ext", "format", "dyntype support for scientific notation", STRINGS_VERSION),
    some("string_ext", "format", "dyntype NaN/infinity support", STRINGS_VERSION),
    some("string_ext", "format", "dyntype support for lists", STRINGS_VERSION),
    some("string_ext", "format", "dyntype support for maps", STRINGS_VERSION),
    some("string_ext", "value_errors", "indexof_out_of_range", STRINGS_VERSION),
    some("string_ext", "value_errors", "lastindexof_out_of_range", STRINGS_VERSION),
    some("type_deduction", "complex_initializers", "struct", MESSAGES),
    some("type_deduction", "field_access", "*", MESSAGES),
    some(
        "type_deduction",
        "flexible_type_parameter_assignment",
        "comprehension_type_var_aliasing",
        MESSAGES,
    ),
    some(
        "type_deduction",
        "flexible_type_parameter_assignment",
        "overload_type_var_aliasing",
        MESSAGES,
    ),
    some(
        "type_deduction",
        "flexible_type_parameter_assignment",
        "list_parameters_do_not_unify",
        MESSAGES,
    ),
    some(
        "type_deduction",
        "legacy_nullable_types",
        "null_assignable_to_message_parameter_candidate",
        MESSAGES,
    ),
    some(
        "type_deduction",
        "legacy_nullable_types",
        "null_assignable_to_duration_parameter_candidate",
        MESSAGES,
    ),
    some(
        "type_deduction",
        "legacy_nullable_types",
        "null_assignable_to_timestamp_parameter_candidate",
        MESSAGES,
    ),
    some(
        "type_deduction",
        "legacy_nullable_types",
        "null_assignable_to_abstract_parameter_candidate",
        NULL_IN_LIST,
    ),
    some("type_deduction", "type_parameters", "*", TUPLES),
    some("type_deduction", "wrappers", "*", MESSAGES),
];

const fn all(file: &'static str, reason: &'static str) -> Exclusion {
    Exclusion { file, section: "*", name: "*", reason }
}

const fn some(
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
    found.map(|exclusion| exclusion.reason)
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
