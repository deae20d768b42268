//! Names of properties as names that expressions can write: `a-b` is `a__dash__b`.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/escaping.go`.

/// Words that the language keeps for itself.
pub const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The name that expressions have for a property; none when they cannot have any.
#[must_use]
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '_' if rest.next_if_eq(&'_').is_some() => escaped.push_str("__underscores__"),
            '.' => escaped.push_str("__dot__"),
            '-' => escaped.push_str("__dash__"),
            '/' => escaped.push_str("__slash__"),
            character if character.is_ascii_alphanumeric() || character == '_' => {
                escaped.push(character);
            }
            _ => return None,
        }
    }
    Some(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: Option<&str>) {
        assert_eq!(escape(name).as_deref(), expect, "{name}");
    }

    #[test]
    fn names_become_identifiers() {
        check("replicas", Some("replicas"));
        check("a_b", Some("a_b"));
        check("a__b", Some("a__underscores__b"));
        check("a___b", Some("a__underscores___b"));
        check("app.kubernetes.io/a-b", Some("app__dot__kubernetes__dot__io__slash__a__dash__b"));
        check("namespace", Some("__namespace__"));
        check("int", Some("int"));
    }

    #[test]
    fn some_names_cannot() {
        check("", None);
        check("9lives", None);
        check("a b", None);
        check("\u{e9}t\u{e9}", None);
        check("$ref", None);
    }
}
