//! Reading an object from text, and what is said about fields that nobody asked for.
//!
//! A request says whether fields that are unknown or stand twice are ignored, reported as warnings
//! or refused. The messages and their order are upstream's: `NewStrictDecodingError` of
//! `staging/src/k8s.io/apimachinery/pkg/runtime/error.go` and `addStrictDecodingWarnings` of
//! `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/rest.go`.
//!
//! Deliberately not here: which struct the text is of. Who knows the kind knows that.

use std::fmt;

use crate::decode::{self, DecodeError, Decoded, decode};
use crate::json::{self, SyntaxError};
use crate::schema::{Schema, StructId};
use crate::text::quote;
use crate::value::Value;
use crate::yaml::{self, YamlError};

/// What happens to fields that are unknown or stand twice: `fieldValidation` of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped without a word.
    Ignore,
    /// They are dropped, and the answer has a warning for each.
    #[default]
    Warn,
    /// The request is refused.
    Strict,
}

impl FieldValidation {
    /// From the parameter of a request; none when it is no such word.
    #[must_use]
    pub fn parse(text: &str) -> Option<FieldValidation> {
        match text {
            "" | "Warn" => Some(FieldValidation::Warn),
            "Ignore" => Some(FieldValidation::Ignore),
            "Strict" => Some(FieldValidation::Strict),
            _ => None,
        }
    }
}

/// An object that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The object in normal form.
    pub object: Value,
    /// What the answer should warn of.
    pub warnings: Vec<String>,
}

/// Why a text is no object.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not JSON.
    #[error(transparent)]
    Json(#[from] SyntaxError),
    /// It is not YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// It is not of its struct.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// It has fields that it should not have, and the request wanted to know.
    #[error(transparent)]
    Strict(#[from] StrictError),
}

/// Fields that are unknown or stand twice, each as upstream describes it.
///
/// ```
/// use orlop_machinery::strict::StrictError;
///
/// let error = StrictError::new(&["spec.paused".into()], &["spec.foo".into()]);
/// let text = r#"strict decoding error: duplicate field "spec.paused", unknown field "spec.foo""#;
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StrictError {
    findings: Vec<String>,
}

impl StrictError {
    /// From the paths of fields that stand twice and of fields that are unknown.
    #[must_use]
    pub fn new(duplicates: &[String], unknown: &[String]) -> StrictError {
        let name =
            |what: &'static str| move |path: &String| format!("{what} field {}", quote(path));
        let duplicates = duplicates.iter().map(name("duplicate"));
        StrictError { findings: duplicates.chain(unknown.iter().map(name("unknown"))).collect() }
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// A warning for each. What YAML complains of comes as one text of several lines.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let lines = |finding: &String| -> Vec<String> {
            match finding.strip_prefix(yaml::DUPLICATES_PREFIX) {
                Some(lines) => lines.lines().map(|line| line.trim().to_owned()).collect(),
                None => vec![finding.clone()],
            }
        };
        self.findings.iter().flat_map(lines).collect()
    }

    /// What a request gets that asked for this: warnings, an error, or nothing.
    ///
    /// # Errors
    ///
    /// When something was found and the request is strict.
    pub fn judge(self, validation: FieldValidation) -> Result<Vec<String>, StrictError> {
        match validation {
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Warn => Ok(self.warnings()),
            FieldValidation::Strict if self.is_empty() => Ok(Vec::new()),
            FieldValidation::Strict => Err(self),
        }
    }
}

impl std::error::Error for StrictError {}

impl fmt::Display for StrictError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "strict decoding error: {}", self.findings.join(", "))
    }
}

/// Reads an object of a struct from JSON text.
///
/// # Errors
///
/// When the text is not JSON, or not of the struct, or has fields that a strict request refuses.
pub fn read_json(
    schema: &Schema,
    id: StructId,
    text: &[u8],
    validation: FieldValidation,
) -> Result<Read, ReadError> {
    let document = json::read(text).map_err(SyntaxError::from)?;
    if !document.has_duplicates && !document.has_rounded {
        let is_fine =
            |unknown: &[String]| unknown.is_empty() || validation == FieldValidation::Ignore;
        match decode(schema, id, document.value) {
            Ok(Decoded { object, unknown }) if is_fine(&unknown) => {
                return Ok(Read { object, warnings: Vec::new() });
            }
            // Only the text tells what upstream would say.
            _ => {}
        }
    }
    let document = decode::read(schema, id, text).map_err(SyntaxError::from)??;
    let object = decode(schema, id, document.value)?.object;
    let warnings = StrictError { findings: document.findings }.judge(validation)?;
    Ok(Read { object, warnings })
}

/// Reads an object of a struct from YAML text.
///
/// # Errors
///
/// When the text is not YAML, or not of the struct, or has fields that a strict request refuses.
pub fn read_yaml(
    schema: &Schema,
    id: StructId,
    text: &[u8],
    validation: FieldValidation,
) -> Result<Read, ReadError> {
    let (value, duplicates) = yaml::parse_with_duplicates(text)?;
    let Decoded { object, unknown } = decode(schema, id, value)?;
    let mut error = StrictError::new(&[], &unknown);
    if !duplicates.is_empty() {
        error.findings.insert(0, yaml::describe_duplicates(&duplicates));
    }
    let warnings = error.judge(validation)?;
    Ok(Read { object, warnings })
}
