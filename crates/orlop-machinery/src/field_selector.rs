//! Choosing objects by their fields: `metadata.name=web,status.phase!=Running`.
//!
//! Behaviour follows `staging/src/k8s.io/apimachinery/pkg/fields/selector.go`. A selector is a list
//! of terms that all have to hold. A field that an object does not have is empty text. Which fields
//! can be asked for is the business of a kind, which sees each term in
//! [`FieldSelector::transform`].

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::str::FromStr;

use crate::value::Str;

/// Requirements on fields, or a selector that never matches.
///
/// ```
/// use orlop_machinery::field_selector::FieldSelector;
///
/// let selector: FieldSelector = "spec.nodeName=a,metadata.name!=b".parse().unwrap();
/// assert_eq!(selector.to_string(), "metadata.name!=b,spec.nodeName=a");
/// assert!(selector.matches(|field| (field == "spec.nodeName").then_some("a")));
/// assert_eq!(selector.requires_exact_match("spec.nodeName"), Some("a"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    requirements: Vec<FieldRequirement>,
    /// Then there are no requirements.
    is_nothing: bool,
}

/// One requirement on one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    /// Its name, as the kind calls it.
    pub field: Str,
    /// What it has to be, or must not be.
    pub value: Str,
    /// Whether it must not be the value.
    pub is_negated: bool,
}

/// Why a text is no selector. In upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldSelectorError {
    /// A part has no operator.
    #[error("invalid selector: '{selector}'; can't understand '{part}'")]
    NoOperator {
        /// The whole text.
        selector: String,
        /// The part.
        part: String,
    },
    /// A backslash stands before something that needs none.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    InvalidEscape(String),
    /// A sign stands in a value without a backslash. Shown as its number, as upstream does.
    #[error("invalid field selector: unescaped character in value: {}", *.0 as u32)]
    Unescaped(char),
}

impl FieldSelector {
    /// Matches all fields.
    #[must_use]
    pub const fn everything() -> FieldSelector {
        FieldSelector { requirements: Vec::new(), is_nothing: false }
    }

    /// Matches no fields.
    #[must_use]
    pub const fn nothing() -> FieldSelector {
        FieldSelector { requirements: Vec::new(), is_nothing: true }
    }

    /// All requirements have to hold.
    #[must_use]
    pub fn new(requirements: Vec<FieldRequirement>) -> FieldSelector {
        FieldSelector { requirements, is_nothing: false }
    }

    /// Matches where a field has a value.
    #[must_use]
    pub fn equals(field: &str, value: &str) -> FieldSelector {
        let (field, value) = (Str::new(field), Str::new(value));
        FieldSelector::new(vec![FieldRequirement { field, value, is_negated: false }])
    }

    /// Reads a selector and lets a kind rename, refuse or drop each requirement at once.
    ///
    /// # Errors
    ///
    /// When the text is no selector, or `change` refuses a requirement.
    pub fn parse_and_transform<E: From<FieldSelectorError>>(
        text: &str,
        change: impl FnMut(&str, &str) -> Result<(Str, Str), E>,
    ) -> Result<FieldSelector, E> {
        FieldSelector::new(parse_terms(text)?).transform(change)
    }

    /// Another selector, with field and value of each requirement replaced. Where both become empty
    /// the requirement is dropped.
    ///
    /// # Errors
    ///
    /// When `change` refuses a requirement.
    pub fn transform<E>(
        &self,
        mut change: impl FnMut(&str, &str) -> Result<(Str, Str), E>,
    ) -> Result<FieldSelector, E> {
        let mut requirements = Vec::with_capacity(self.requirements.len());
        for term in &self.requirements {
            let (field, value) = change(&term.field, &term.value)?;
            if !field.is_empty() || !value.is_empty() {
                requirements.push(FieldRequirement { field, value, is_negated: term.is_negated });
            }
        }
        Ok(FieldSelector { requirements, is_nothing: self.is_nothing })
    }

    /// Whether fields match, wherever they are kept. One that is not there is empty.
    #[must_use]
    pub fn matches<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        let holds = |term: &FieldRequirement| {
            (lookup(&term.field).unwrap_or_default() == term.value) != term.is_negated
        };
        !self.is_nothing && self.requirements.iter().all(holds)
    }

    /// Whether it matches all fields because it requires nothing.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty() && !self.is_nothing
    }

    /// Whether it was made to match nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.is_nothing
    }

    /// What has to hold.
    #[must_use]
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// Both selectors have to match.
    #[must_use]
    pub fn and(mut self, other: FieldSelector) -> FieldSelector {
        if self.is_nothing || other.is_nothing {
            return FieldSelector::nothing();
        }
        self.requirements.extend(other.requirements);
        self
    }

    /// The one value that a field must have, if there is one.
    #[must_use]
    pub fn requires_exact_match(&self, field: &str) -> Option<&str> {
        let is_wanted = |term: &&FieldRequirement| !term.is_negated && term.field == field;
        self.requirements.iter().find(is_wanted).map(|term| term.value.as_str())
    }
}

impl FromStr for FieldSelector {
    type Err = FieldSelectorError;

    fn from_str(text: &str) -> Result<FieldSelector, FieldSelectorError> {
        FieldSelector::parse_and_transform(text, |field, value| {
            Ok((Str::new(field), Str::new(value)))
        })
    }
}

/// Reads all terms, sorted as they are written.
fn parse_terms(text: &str) -> Result<Vec<FieldRequirement>, FieldSelectorError> {
    let mut parts = split_at_commas(text);
    parts.sort_unstable();
    let mut terms = Vec::with_capacity(parts.len());
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let Some((field, is_negated, value)) = split_at_operator(part) else {
            let (selector, part) = (text.to_owned(), part.to_owned());
            return Err(FieldSelectorError::NoOperator { selector, part });
        };
        let value = Str::from(unescape_value(value)?);
        terms.push(FieldRequirement { field: Str::new(field), value, is_negated });
    }
    Ok(terms)
}

/// Splits at commas that have no backslash before them.
fn split_at_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if byte == b',' && !is_escaped {
            parts.push(&text[start..at]);
            start = at + 1;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    parts.push(&text[start..]);
    parts
}

/// Splits at the first operator; fields cannot escape theirs.
fn split_at_operator(part: &str) -> Option<(&str, bool, &str)> {
    let equals = part.find('=')?;
    let after = &part[equals + 1..];
    match part[..equals].strip_suffix('!') {
        Some(field) => Some((field, true, after)),
        None => Some((&part[..equals], false, after.strip_prefix('=').unwrap_or(after))),
    }
}

/// A text as the value of a field selector: with a backslash before `\`, `,` and `=`.
///
/// ```
/// assert_eq!(orlop_machinery::field_selector::escape_value("a,b"), r"a\,b");
/// ```
#[must_use]
pub fn escape_value(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', ',', '=']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        if matches!(c, '\\' | ',' | '=') {
            out.push('\\');
        }
        out.push(c);
    }
    Cow::Owned(out)
}

/// The text that a value of a field selector stands for.
///
/// # Errors
///
/// When something else has a backslash, or `,` or `=` has none.
pub fn unescape_value(value: &str) -> Result<Cow<'_, str>, FieldSelectorError> {
    if !value.contains(['\\', ',', '=']) {
        return Ok(Cow::Borrowed(value));
    }
    let mut out = String::with_capacity(value.len());
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                Some(c) => return Err(FieldSelectorError::InvalidEscape(format!("\\{c}"))),
                None => return Err(FieldSelectorError::InvalidEscape("\\".to_owned())),
            },
            ',' | '=' => return Err(FieldSelectorError::Unescaped(c)),
            c => out.push(c),
        }
    }
    Ok(Cow::Owned(out))
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.requirements.iter().enumerate() {
            if at > 0 {
                out.write_char(',')?;
            }
            let operator = if term.is_negated { "!=" } else { "=" };
            write!(out, "{}{operator}{}", term.field, escape_value(&term.value))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        let seen = match text.parse::<FieldSelector>() {
            Ok(selector) => selector.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect, "{text}");
    }

    fn parse(text: &str) -> FieldSelector {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn text_becomes_sorted_text() {
        check("", "");
        check(",,", "");
        check("=", "");
        check("x=a,y=b,z=c", "x=a,y=b,z=c");
        check("z==c,x!=a", "x!=a,z=c");
        check("x=", "x=");
        check("=a", "=a");
        check("x!=", "x!=");
        check(r"x=a\,b\=c\\", r"x=a\,b\=c\\");
        check(r"x\=a", r"x\=a");
        check(" x = a ", " x = a ");
    }

    #[test]
    fn what_is_no_selector_says_so_in_upstreams_words() {
        check("x", "invalid selector: 'x'; can't understand 'x'");
        check("x=a||y=b", "invalid field selector: unescaped character in value: 61");
        check("x==a==b", "invalid field selector: unescaped character in value: 61");
        check("x=a,b", "invalid selector: 'x=a,b'; can't understand 'b'");
        check(r"x=\a", r"invalid field selector: invalid escape sequence: \a");
        check(r"x=\", r"invalid field selector: invalid escape sequence: \");
    }

    #[test]
    fn fields_that_are_missing_are_empty() {
        let lookup = |field: &str| (field == "x").then_some("a");
        let table = [
            ("", true),
            ("x=a", true),
            ("x=b", false),
            ("x!=b", true),
            ("x!=a", false),
            ("y=", true),
            ("y!=", false),
            ("x=a,y=b", false),
        ];
        for (text, expect) in table {
            assert_eq!(parse(text).matches(lookup), expect, "{text}");
        }
        assert!(!FieldSelector::nothing().matches(lookup));
        assert!(!FieldSelector::equals("x", "a").and(FieldSelector::nothing()).matches(lookup));
    }

    #[test]
    fn a_kind_renames_refuses_and_drops() {
        let change = |field: &str, value: &str| match field {
            "name" => Ok((Str::const_new("metadata.name"), Str::new(value))),
            "old" => Ok((Str::const_new(""), Str::const_new(""))),
            field => Err(format!("field label not supported: {field}")),
        };
        let transform =
            |text: &str| parse(text).transform(change).map(|selector| selector.to_string());
        assert_eq!(transform("name=a,old=b"), Ok("metadata.name=a".to_owned()));
        assert_eq!(transform("name!=a"), Ok("metadata.name!=a".to_owned()));
        assert_eq!(transform("x=a"), Err("field label not supported: x".to_owned()));
        assert!(parse("old=b").transform(change).unwrap().is_everything());
    }

    #[test]
    fn an_exact_match_is_that_of_an_equals() {
        assert_eq!(parse("x=a").requires_exact_match("x"), Some("a"));
        assert_eq!(parse("x!=a,x=b").requires_exact_match("x"), Some("b"));
        assert_eq!(parse("x!=a").requires_exact_match("x"), None);
        assert_eq!(FieldSelector::nothing().requires_exact_match("x"), None);
    }

    proptest! {
        #[test]
        fn escaped_values_read_as_the_same(value in "\\PC{0,20}|[\\\\,=a]{0,10}") {
            let escaped = escape_value(&value);
            prop_assert_eq!(unescape_value(&escaped).unwrap(), value.as_str());
            let selector = FieldSelector::equals("x", &value);
            prop_assert_eq!(parse(&selector.to_string()), selector);
        }

        #[test]
        fn no_text_is_a_panic(text in "[\\PC\\\\,=!]{0,40}") {
            let _ = text.parse::<FieldSelector>();
        }
    }
}
