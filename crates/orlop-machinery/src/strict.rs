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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::sample::{schema, thing};
    use crate::encode;

    fn show(read: Result<Read, ReadError>) -> String {
        match read {
            Ok(read) => {
                let mut lines = vec![json::to_string(read.object.at("spec"))];
                lines.extend(read.warnings);
                lines.join("\n")
            }
            Err(error) => error.to_string(),
        }
    }

    /// What a lenient request gets, the first line being the spec, and what a strict one gets.
    #[track_caller]
    fn check(text: &str, lenient: &str, strict: &str) {
        let read = |validation| read_json(schema(), thing(), text.as_bytes(), validation);
        let zero =
            r#""at":null,"items":null,"owner":null,"port":0,"raw":null,"size":0,"wait":"0s""#;
        assert_eq!(show(read(FieldValidation::Warn)).replace(zero, "..."), lenient, "{text}");
        assert_eq!(show(read(FieldValidation::Strict)).replace(zero, "..."), strict, "{text}");
        let spec = lenient.lines().next().unwrap_or_default();
        assert_eq!(show(read(FieldValidation::Ignore)).replace(zero, "..."), spec, "{text}");
    }

    #[test]
    fn a_request_says_what_happens_to_unknown_fields() {
        assert_eq!(FieldValidation::parse(""), Some(FieldValidation::Warn));
        assert_eq!(FieldValidation::parse("Strict"), Some(FieldValidation::Strict));
        assert_eq!(FieldValidation::parse("strict"), None);
        check(r#"{"spec":{}}"#, "{...}", "{...}");
        check(
            r#"{"z":1,"spec":{"foo":[{"x":1,"x":2}]}}"#,
            "{...}\nunknown field \"z\"\nunknown field \"spec.foo\"",
            r#"strict decoding error: unknown field "z", unknown field "spec.foo""#,
        );
    }

    #[test]
    fn findings_come_in_the_order_of_the_text_and_once() {
        check(
            r#"{"spec":{"b":1,"b":2,"paused":true,"paused":false,
                "items":[{"name":"x","name":"y","u":1}],"a":1,"limits":{"k":1,"k":2}},
                "metadata":{"labels":{"l\"":"1","l\"":"2"}}}"#,
            concat!(
                r#"{"at":null,"items":[{"name":"y","value":"0"}],"limits":{"k":"2"},"#,
                r#""owner":null,"port":0,"raw":null,"size":0,"wait":"0s"}"#,
                "\nunknown field \"spec.b\"\nduplicate field \"spec.paused\"",
                "\nduplicate field \"spec.items[0].name\"\nunknown field \"spec.items[0].u\"",
                "\nunknown field \"spec.a\"\nduplicate field \"spec.limits.k\"",
                "\nduplicate field \"metadata.labels.l\\\"\"",
            ),
            concat!(
                r#"strict decoding error: unknown field "spec.b", duplicate field "spec.paused", "#,
                r#"duplicate field "spec.items[0].name", unknown field "spec.items[0].u", "#,
                r#"unknown field "spec.a", duplicate field "spec.limits.k", "#,
                r#"duplicate field "metadata.labels.l\"""#,
            ),
        );
    }

    #[test]
    fn fields_that_stand_twice_are_read_into_each_other() {
        let lenient = |text: &str, expect: &str| {
            let read = read_json(schema(), thing(), text.as_bytes(), FieldValidation::Ignore);
            let object = read.expect("it is fine").object;
            let text = String::from_utf8(encode::to_vec(schema(), thing(), &object));
            assert!(text.as_ref().is_ok_and(|text| text.contains(expect)), "{text:?}");
        };
        lenient(r#"{"spec":{"size":1},"spec":{"paused":true}}"#, r#"{"size":1,"paused":true,"#);
        lenient(r#"{"spec":{"size":1,"size":null}}"#, r#""size":1"#);
        lenient(r#"{"spec":{"replicas":1,"replicas":null}}"#, r#"{"size":0"#);
        lenient(
            r#"{"spec":{"items":[{"name":"a","value":1},{}],"items":[{"name":"b"}]}}"#,
            r#""items":[{"name":"b","value":"1"}]"#,
        );
        lenient(r#"{"spec":{"limits":{"a":1},"limits":{"b":2}}}"#, r#""limits":{"a":"1","b":"2"}"#);
        lenient(r#"{"spec":{"raw":{"a":1},"raw":{"b":2}}}"#, r#""raw":{"b":2}"#);
    }

    #[test]
    fn numbers_are_what_was_written() {
        let object = concat!(
            r#"{"at":null,"items":null,"limits":{"a":"1e3","b":"1E3"},"#,
            r#""owner":null,"port":0,"raw":null,"size":0,"wait":"0s"}"#,
        );
        check(r#"{"spec":{"limits":{"a":1e3,"b":1E3}}}"#, object, object);
        let wrong = |field: &str, number: &str, expect: &str| {
            let text = format!(r#"{{"spec":{{"{field}":{number}}}}}"#);
            let place = format!("Go struct field Spec.spec.{field} of type {expect}");
            let message = format!("json: cannot unmarshal number {number} into {place}");
            check(&text, &message, &message);
        };
        wrong("size", "1.00", "int64");
        wrong("size", "1e400", "int64");
        wrong("ratio", "1e400", "float64");
        check(
            r#"{"foo":1e400}"#,
            "{...}\nunknown field \"foo\"",
            r#"strict decoding error: unknown field "foo""#,
        );
    }

    #[test]
    fn of_several_faults_the_first_one_in_the_text_counts() {
        let text = r#"{"spec":{"size":"x","paused":5,"foo":1}}"#;
        let message =
            "json: cannot unmarshal string into Go struct field Spec.spec.size of type int64";
        check(text, message, message);
        let text = r#"{"spec":{"size":"x","wait":"y","at":"z"}}"#;
        let message = r#"time: invalid duration "y""#;
        check(text, message, message);
        let message = "invalid character '}' looking for beginning of value";
        check(r#"{"spec":}"#, message, message);
    }

    #[test]
    fn yaml_complains_about_lines() {
        let text = b"foo: 1\nspec:\n  size: 1e3\n  paused: yes\n  paused: no\nspec: {size: 1.0}\n";
        let read = |validation| show(read_yaml(schema(), thing(), text, validation));
        let warnings = read(FieldValidation::Warn);
        assert_eq!(
            warnings.split_once('\n').map(|(_, warnings)| warnings),
            Some(concat!(
                "line 5: key \"paused\" already set in map\n",
                "line 6: key \"spec\" already set in map\n",
                "unknown field \"foo\"",
            )),
        );
        assert!(warnings.contains(r#""size":1,"#), "{warnings}");
        assert_eq!(
            read(FieldValidation::Strict),
            concat!(
                "strict decoding error: yaml: unmarshal errors:\n",
                "  line 5: key \"paused\" already set in map\n",
                "  line 6: key \"spec\" already set in map, unknown field \"foo\"",
            ),
        );
    }
}
