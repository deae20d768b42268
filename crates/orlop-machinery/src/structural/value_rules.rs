//! What a value may be, beside its shape.

use std::ops::Deref;
use std::sync::OnceLock;

use regex::Regex;

use super::Structural;
use super::format::Format;
use crate::regular_expression::{self, SyntaxError};
use crate::value::{Str, Value};

/// The rules of a schema, read as [`ValueRules`]. Most schemas have none, and those take one word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    some: Option<Box<ValueRules>>,
}

/// What a value may be. Everything is optional.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueRules {
    /// What kind of text or number it is, such as `date-time`, as it was written.
    pub format: Str,
    /// The format, if it is one that is known for the type.
    pub(super) known_format: Option<Format>,
    /// Bounds of a number, and whether the bounds themselves are out.
    pub minimum: Option<(f64, bool)>,
    /// The same upwards.
    pub maximum: Option<(f64, bool)>,
    /// A number divides by it.
    pub multiple_of: Option<f64>,
    /// Bounds of the length of a text, in characters.
    pub length: (Option<i64>, Option<i64>),
    /// A regular expression that a text matches.
    pub pattern: Pattern,
    /// Bounds of the number of items.
    pub items: (Option<i64>, Option<i64>),
    /// Bounds of the number of fields.
    pub properties: (Option<i64>, Option<i64>),
    /// The only values.
    pub choices: Vec<Value>,
    /// Fields that must be there.
    pub required: Vec<Str>,
    /// The value also fits all of these.
    pub all_of: Vec<Structural>,
    /// The value also fits one of these, at least.
    pub any_of: Vec<Structural>,
    /// The value also fits exactly one of these.
    pub one_of: Vec<Structural>,
    /// The value does not fit this.
    pub not: Option<Box<Structural>>,
}

static NO_RULES: ValueRules = ValueRules {
    format: Str::const_new(""),
    known_format: None,
    minimum: None,
    maximum: None,
    multiple_of: None,
    length: (None, None),
    pattern: Pattern { text: Str::const_new(""), compiled: OnceLock::new() },
    items: (None, None),
    properties: (None, None),
    choices: Vec::new(),
    required: Vec::new(),
    all_of: Vec::new(),
    any_of: Vec::new(),
    one_of: Vec::new(),
    not: None,
};

impl Rules {
    /// The rules, if there are some.
    pub(super) fn get(&self) -> Option<&ValueRules> {
        self.some.as_deref()
    }
}

impl From<ValueRules> for Rules {
    fn from(rules: ValueRules) -> Rules {
        Rules { some: (rules != NO_RULES).then(|| Box::new(rules)) }
    }
}

impl Deref for Rules {
    type Target = ValueRules;

    fn deref(&self) -> &ValueRules {
        self.get().unwrap_or(&NO_RULES)
    }
}

/// A regular expression in Go's syntax, compiled when it is needed first.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    text: Str,
    compiled: OnceLock<Result<Regex, Box<SyntaxError>>>,
}

impl Pattern {
    /// The expression; empty when there is none.
    #[must_use]
    pub fn new(text: &str) -> Pattern {
        Pattern { text: Str::new(text), compiled: OnceLock::new() }
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether a text has a part that matches.
    ///
    /// # Errors
    ///
    /// When the expression is none.
    pub fn is_match(&self, text: &str) -> Result<bool, &SyntaxError> {
        let compile = || regular_expression::compile(&self.text).map_err(Box::new);
        match self.compiled.get_or_init(compile) {
            Ok(regex) => Ok(regex.is_match(text)),
            Err(error) => Err(error),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl PartialEq<str> for Pattern {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}
