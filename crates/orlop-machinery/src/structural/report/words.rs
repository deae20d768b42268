//! The words of errors, and what becomes of them.
//!
//! After `kube-openapi/pkg/validation/errors/schema.go` and `kubeOpenAPIResultToFieldErrors` in
//! `pkg/apiserver/validation/validation.go` of apiextensions.

use super::super::fault::TextFault;
use super::super::number::{Number, NumberFault};
use super::super::{Shape, Structural, ValueRules};
use crate::field::{ErrorKind, FieldError};
use crate::text::quote;
use crate::value::Value;
use crate::{go_text, json};

/// How Go prints a path that is none.
const NO_PATH: &str = "<nil>";

/// An error about a value.
pub(super) struct Fault {
    /// The path of the value; none for errors that name it in their message only.
    name: Option<String>,
    /// The whole message. Two with the same one are one.
    pub(super) message: String,
    what: What,
}

/// The kind of an error, and what it shows.
pub(super) enum What {
    Required,
    /// A value, and the only ones.
    Unsupported(Value, Vec<String>),
    TooLong(i64),
    /// How many, and how many at most.
    TooMany(i64, i64),
    Type(Value),
    Invalid(Value),
}

impl Fault {
    /// An error whose message begins with the path.
    pub(super) fn new(path: &str, words: &str, what: What) -> Fault {
        Fault { name: Some(path.to_owned()), message: format!("{path} in body {words}"), what }
    }

    /// An error that shows nothing.
    pub(super) fn plain(path: &str, words: &str) -> Fault {
        Fault::nameless(format!("{} {words}", quote(path)))
    }

    fn nameless(message: String) -> Fault {
        Fault { name: None, message, what: What::Invalid(Value::from("")) }
    }

    pub(super) fn missing(path: &str, name: &str) -> Fault {
        Fault::new(&format!("{path}.{name}"), "is required", What::Required)
    }

    pub(super) fn refused_field(path: &str, name: &str) -> Fault {
        Fault {
            name: Some(path.to_owned()),
            message: format!("{path}.{name} in body is a forbidden property"),
            what: What::Invalid(Value::from(name)),
        }
    }

    pub(super) fn wrong_type(path: &str, wanted: &str, found: &str) -> Fault {
        let words = format!("must be of type {wanted}: {}", quote(found));
        Fault::new(path, &words, What::Type(Value::from(found)))
    }

    pub(super) fn wrong_choice(path: &str, choices: &[Value], value: &Value) -> Fault {
        let words = format!("should be one of {}", go_text::show_list(choices));
        let shown = choices.iter().map(|choice| match choice {
            Value::String(text) => text.to_string(),
            other => json::to_string(other),
        });
        Fault::new(path, &words, What::Unsupported(value.clone(), shown.collect()))
    }

    pub(super) fn wrong_text(
        path: &str,
        rules: &ValueRules,
        (text, fault): (&str, &TextFault<'_>),
    ) -> Fault {
        let shown = Value::from(text);
        let pattern = rules.pattern.as_str();
        match fault {
            TextFault::TooLong(max) => {
                let words = format!("should be at most {max} chars long");
                Fault::new(path, &words, What::TooLong(*max))
            }
            TextFault::TooShort(min) => {
                let words = format!("should be at least {min} chars long");
                Fault::new(path, &words, What::Invalid(shown))
            }
            TextFault::NoMatch => {
                let words = format!("should match '{pattern}'");
                Fault::new(path, &words, What::Invalid(shown))
            }
            TextFault::BadPattern(error) => {
                let words = format!("should match '{pattern}, but pattern is invalid: {error}'");
                Fault::new(path, &words, What::Invalid(shown))
            }
            TextFault::Format => {
                let words = format!("must be of type {}: {}", rules.format, quote(text));
                Fault::new(path, &words, What::Type(shown))
            }
        }
    }

    pub(super) fn wrong_number(path: &str, schema: &Structural, fault: NumberFault) -> Fault {
        let beyond = |words: &str, pair: Number| {
            let (limit, value) = show(pair);
            Fault::new(path, &format!("should be {words} {limit}"), What::Invalid(value))
        };
        match fault {
            NumberFault::Range(name) => {
                let is_integer = matches!(schema.shape, Some(Shape::Integer));
                let ty = if is_integer { "integer" } else { "number" };
                let format = match schema.rules.known_format {
                    Some(_) => format!("with format {}", schema.rules.format),
                    None => "(default format)".to_owned(),
                };
                Fault::nameless(format!("{name} value must be of type {ty} {format} in {path}"))
            }
            NumberFault::Multiple(pair) => beyond("a multiple of", pair),
            NumberFault::BadMultiple(pair) => {
                let (limit, shown) = match pair {
                    Number::Int { limit, .. } => (limit.to_string(), Value::Int(limit)),
                    Number::Float { limit, .. } => (show(pair).0, Value::Float(limit)),
                };
                Fault {
                    name: Some(path.to_owned()),
                    message: format!(
                        "factor MultipleOf declared for {path} must be positive: {limit}"
                    ),
                    what: What::Invalid(shown),
                }
            }
            NumberFault::Below(pair, true) => beyond("greater than", pair),
            NumberFault::Below(pair, false) => beyond("greater than or equal to", pair),
            NumberFault::Above(pair, true) => beyond("less than", pair),
            NumberFault::Above(pair, false) => beyond("less than or equal to", pair),
        }
    }

    /// The error about the field of an object; the path is that of the value at the top.
    pub(super) fn into_error(self, path: &str) -> FieldError {
        let name = self.name.as_deref().unwrap_or_default();
        let name = name.strip_prefix('.').unwrap_or(name);
        let field = match (path, name) {
            ("", "") => NO_PATH.to_owned(),
            ("", name) => name.to_owned(),
            (path, "") => path.to_owned(),
            (path, name) => format!("{path}.{name}"),
        };
        let (kind, bad_value, detail) = match self.what {
            What::Required => (ErrorKind::Required, None, String::new()),
            What::Unsupported(value, choices) => {
                let quoted: Vec<String> = choices.iter().map(|choice| quote(choice)).collect();
                let detail = format!("supported values: {}", quoted.join(", "));
                (ErrorKind::NotSupported, Some(value), detail)
            }
            What::TooLong(max) => (ErrorKind::TooLong, None, too_long(max)),
            What::TooMany(count, max) => {
                (ErrorKind::TooMany, Some(Value::Int(count)), too_many(max))
            }
            What::Type(value) => (ErrorKind::TypeInvalid, Some(value), self.message),
            What::Invalid(value) => (ErrorKind::Invalid, Some(value), self.message),
        };
        FieldError { kind, field, bad_value, detail }
    }
}

fn too_long(max: i64) -> String {
    match max {
        max if max < 0 => "value is too long".to_owned(),
        1 => "may not be more than 1 byte".to_owned(),
        max => format!("may not be more than {max} bytes"),
    }
}

fn too_many(max: i64) -> String {
    match max {
        max if max < 0 => "has too many items".to_owned(),
        1 => "must have at most 1 item".to_owned(),
        max => format!("must have at most {max} items"),
    }
}

/// A bound as Go prints it, and the value.
fn show(pair: Number) -> (String, Value) {
    match pair {
        Number::Int { limit, value } => (limit.to_string(), Value::Int(value)),
        Number::Float { limit, value } => {
            (go_text::show(&Value::Float(limit)), Value::Float(value))
        }
    }
}
