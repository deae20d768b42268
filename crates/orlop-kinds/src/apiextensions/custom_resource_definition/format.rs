//! Formats of values that nobody checks.
//!
//! After `getUnrecognizedFormatsInCRD` in the strategy and `pkg/apiserver/validation/formats.go`.

use std::collections::BTreeSet;

use orlop_machinery::text::quote;
use orlop_machinery::{Str, Value};

use super::lifted::schemas;
use super::schema_tree::walk;

/// Formats of text, without dashes: how upstream compares them.
const TEXT_FORMATS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// The unknown formats of a definition, in order; one that stands twice is there twice.
pub(super) struct UnknownFormats {
    list: Vec<Str>,
}

/// Finds them.
pub(super) fn unknown_formats(object: &Value) -> UnknownFormats {
    let all = schemas(object).into_iter().flat_map(walk);
    let unknown = all.filter(|schema| {
        let format = schema.at("format").str();
        let is_known = match schema.at("type").str() {
            _ if format.is_empty() => true,
            "" | "string" => TEXT_FORMATS.contains(&format.replace('-', "").as_str()),
            "integer" => matches!(format, "int32" | "int64"),
            "number" => matches!(format, "float" | "double"),
            _ => false,
        };
        !is_known
    });
    UnknownFormats { list: unknown.map(|schema| Str::new(schema.at("format").str())).collect() }
}

impl UnknownFormats {
    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Str> {
        self.list.iter()
    }

    /// Those that are not among the old ones.
    pub(super) fn difference_from(&self, old: &UnknownFormats) -> impl Iterator<Item = &Str> {
        let known: BTreeSet<Str> = old.list.iter().cloned().collect();
        self.list.iter().filter(move |format| !known.contains(*format))
    }
}

/// What to say about one.
pub(super) fn warning(format: &Str) -> String {
    format!("unrecognized format {}", quote(format))
}
