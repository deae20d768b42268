//! Paths to fields of a schema: `.spec.ports` and `.spec['a.b']`.
//!
//! After `ValidFieldPath` in
//! `staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`. The schema
//! is whatever knows its properties: JSON as it was written, or [`Structural`].

use std::sync::LazyLock;

use orlop_machinery::Value;
use orlop_machinery::structural::{Additional, Shape, Structural};

/// The schema of what `additionalProperties: true` allows.
static ANYTHING: LazyLock<Structural> = LazyLock::new(Structural::default);

/// A schema as paths see it.
pub trait FieldSchema: Copy {
    /// What is behind a name.
    fn step(self, name: &str) -> Step<Self>;
}

/// Where a name leads.
pub enum Step<S> {
    /// To a property.
    Property(S),
    /// To an entry of a map.
    Entry(S),
    /// Nowhere.
    Nowhere,
}

/// A field that a path leads to.
#[derive(Debug)]
pub struct FieldAt<S> {
    /// The first step.
    pub root: String,
    /// All steps, in one way of writing them.
    pub path: String,
    /// The schema of the field.
    pub schema: S,
}

/// Follows a path.
///
/// # Errors
///
/// Why that cannot be done, in upstream's words.
pub fn find_field<S: FieldSchema>(
    path: &str,
    schema: S,
    brackets: Brackets,
) -> Result<FieldAt<S>, String> {
    let mut field = FieldAt { root: String::new(), path: String::new(), schema };
    let mut tokens = tokens(path).into_iter();
    let end = || "unexpected end of JSON path".to_owned();
    while let Some(token) = tokens.next() {
        match token {
            "[" if brackets == Brackets::Forbidden => {
                return Err("array notation is not allowed".to_owned());
            }
            "[" => {
                let token = tokens.next().ok_or_else(end)?;
                let name = token.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                let name =
                    name.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
                field.step(&unescape(name)?)?;
                let token = tokens.next().ok_or_else(end)?;
                if token != "]" {
                    return Err(format!("expected ] but got {token}"));
                }
            }
            "." => field.step(tokens.next().ok_or_else(end)?)?,
            token => return Err(format!("expected [ or . but got: {token}")),
        }
    }
    Ok(field)
}

/// Whether a path may have steps like `['a.b']`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brackets {
    /// Yes.
    Allowed,
    /// No.
    Forbidden,
}

impl<S: FieldSchema> FieldAt<S> {
    /// Goes on to a property, or to an entry of a map.
    fn step(&mut self, name: &str) -> Result<(), String> {
        self.schema = match self.schema.step(name) {
            Step::Property(schema) => {
                if !self.path.is_empty() {
                    self.path.push('.');
                }
                self.path.push_str(name);
                schema
            }
            Step::Entry(schema) => {
                self.path += &format!("[{name}]");
                schema
            }
            Step::Nowhere => return Err("does not refer to a valid field".to_owned()),
        };
        if self.root.is_empty() {
            self.root.clone_from(&self.path);
        }
        Ok(())
    }
}

impl FieldSchema for &Value {
    fn step(self, name: &str) -> Step<Self> {
        let properties = self.at("properties");
        let additional = self.at("additionalProperties");
        if !properties.map().is_empty() {
            return properties.get(name).map_or(Step::Nowhere, Step::Property);
        }
        match additional {
            Value::Null => Step::Nowhere,
            additional => Step::Entry(additional),
        }
    }
}

impl FieldSchema for &Structural {
    fn step(self, name: &str) -> Step<Self> {
        match &self.shape {
            Some(Shape::Object { properties, additional, .. }) => match properties.get(name) {
                Some(property) => Step::Property(property),
                None if properties.is_empty() && *additional == Additional::Allowed => {
                    Step::Entry(&ANYTHING)
                }
                None => Step::Nowhere,
            },
            Some(Shape::Map { values, .. }) => Step::Entry(values),
            _ => Step::Nowhere,
        }
    }
}

/// Dots, brackets, quoted text, and what is between those.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let bytes = rest.as_bytes();
        let end = match bytes[0] {
            b'.' | b'[' | b']' => Some(1),
            b'\'' => {
                let mut places = 1..bytes.len();
                let end = places.find(|&at| bytes[at] == b'\'' && bytes[at - 1] != b'\\');
                end.map(|at| at + 1)
            }
            _ => rest.find(['.', '[', ']']),
        };
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        found.push(token);
        rest = after;
    }
    found
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('v') => out.push('\u{b}'),
            Some(same @ ('\'' | '\\')) => out.push(same),
            Some(other) => {
                return Err(format!("invalid string literal: invalid escape char \\{other}"));
            }
            None => out.push('\\'),
        }
    }
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use orlop_machinery::json;

    use super::*;

    fn check(path: &str, expect: Result<&str, &str>) {
        let schema = json::parse(
            br#"{"type": "object", "properties": {
                "spec": {"type": "object", "properties": {"a.b": {"type": "string"}}},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "any": {"type": "object", "additionalProperties": true},
                "leaf": {"type": "string"}}}"#,
        )
        .unwrap();
        let found = find_field(path, &schema, Brackets::Allowed);
        let seen = found.as_ref().map(|field| field.path.as_str()).map_err(String::as_str);
        assert_eq!(seen, expect, "{path}");
        let structural = Structural::read(&schema).unwrap();
        let found = find_field(path, &structural, Brackets::Allowed);
        let seen = found.as_ref().map(|field| field.path.as_str()).map_err(String::as_str);
        assert_eq!(seen, expect, "{path} of a structural schema");
    }

    #[test]
    fn paths_lead_to_fields() {
        check(".spec['a.b']", Ok("spec.a.b"));
        check("['spec']['a.b']", Ok("spec.a.b"));
        check(".map.x", Ok("map[x]"));
        check(".map['it\\'s']", Ok("map[it's]"));
        check(".any.x", Ok("any[x]"));
    }

    #[test]
    fn other_paths_lead_nowhere() {
        let missing = Err("does not refer to a valid field");
        check(".x", missing);
        check(".leaf.x", missing);
        check(".any.x.y", missing);
        check("..spec", missing);
        check(".", Err("unexpected end of JSON path"));
        check("spec", Err("expected [ or . but got: spec"));
        check("[", Err("unexpected end of JSON path"));
        check("[spec]", Err("expected single quoted string but got spec"));
        check("['spec'", Err("unexpected end of JSON path"));
        check("['spec'x", Err("expected ] but got x"));
        check("['\\q']", Err("invalid string literal: invalid escape char \\q"));
    }
}
