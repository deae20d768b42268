//! The form in which a client wants its answer.

use orlop_machinery::partial_object_metadata::MetaVersion;
use orlop_machinery::table::IncludeObject;

/// The form of an answer: what came of the `Accept` header and the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// How it is written.
    pub format: Format,
    /// What is written.
    pub shape: Shape,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON.
    Json,
    /// JSON for people: indented.
    PrettyJson,
    /// YAML.
    Yaml,
    /// Protobuf in its envelope.
    Protobuf,
}

/// What an answer shows of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Whole objects.
    Object,
    /// Rows and columns.
    Table(MetaVersion, IncludeObject),
    /// Metadata only.
    Metadata(MetaVersion),
}

impl Output {
    /// Whole objects in JSON.
    pub const JSON: Output = Output { format: Format::Json, shape: Shape::Object };
}

impl Format {
    /// What the `Content-Type` of such an answer is.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Json | Format::PrettyJson => "application/json",
            Format::Yaml => "application/yaml",
            Format::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }
}
