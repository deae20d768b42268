//! What an `Accept` header says: clauses, the most wanted first.
//!
//! After `vendor/github.com/munnerz/goautoneg/autoneg.go`. Clauses are sorted as Go sorts a short
//! list, odd ones too. What a clause means is for its reader.

use std::cmp::Ordering;

/// The most clauses of one header that are read.
const CLAUSES_MAX: usize = 32;

/// One clause: `application/json;as=Table;q=0.5`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clause<'a> {
    /// What stands before the slash.
    pub ty: &'a str,
    /// What stands after the slash.
    pub subtype: &'a str,
    /// The parameters but `q`, in their order.
    pub parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

impl Clause<'_> {
    /// Whether it stands for this media type.
    pub(crate) fn matches(&self, media_type: &str) -> bool {
        let (ty, subtype) = media_type.split_once('/').unwrap_or_default();
        match (self.ty, self.subtype) {
            ("*", "*") => true,
            (wanted, "*") => wanted == ty,
            wanted => wanted == (ty, subtype),
        }
    }

    /// The value of a parameter; of several, the last.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// The clauses of a header, the most wanted first. What is no clause is passed over.
pub(crate) fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> =
        header.split(',').take(CLAUSES_MAX).filter_map(clause).collect();
    // Go's order is none, so how it is sorted matters.
    for end in 1..clauses.len() {
        let mut at = end;
        while at > 0 && is_better(&clauses[at], &clauses[at - 1]) {
            clauses.swap(at, at - 1);
            at -= 1;
        }
    }
    clauses
}

fn is_better(a: &Clause<'_>, b: &Clause<'_>) -> bool {
    a.quality.partial_cmp(&b.quality) == Some(Ordering::Greater)
        || a.ty != "*" && b.ty == "*"
        || a.subtype != "*" && b.subtype == "*"
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let mut parts = text.split(';');
    let media_type = parts.next().unwrap_or_default().trim_matches(' ');
    let (ty, subtype) = match media_type.split_once('/') {
        Some((_, subtype)) if subtype.contains('/') => return None,
        Some((ty, subtype)) if !subtype.is_empty() => (ty.trim_matches(' '), subtype),
        _ if media_type.trim_end_matches('/') == "*" => ("*", "*"),
        _ => return None,
    };
    let mut clause =
        Clause { ty, subtype: subtype.trim_matches(' '), parameters: Vec::new(), quality: 1.0 };
    for part in parts {
        let Some((name, value)) = part.split_once('=') else { continue };
        if value.is_empty() || value.contains('=') {
            continue;
        }
        match name.trim_matches(' ') {
            // What is no number is the least wanted.
            "q" => clause.quality = value.parse().unwrap_or_default(),
            name => clause.parameters.push((name, value.trim_matches(' '))),
        }
    }
    Some(clause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, expect: &[&str]) {
        let have: Vec<String> = clauses(header)
            .iter()
            .map(|clause| {
                let parameters: Vec<String> = clause
                    .parameters
                    .iter()
                    .map(|(name, value)| format!(";{name}={value}"))
                    .collect();
                format!("{}/{}{}", clause.ty, clause.subtype, parameters.concat())
            })
            .collect();
        assert_eq!(have, expect, "{header}");
    }

    #[test]
    fn the_most_wanted_comes_first() {
        check("a/b;q=0.5, c/d", &["c/d", "a/b"]);
        check("*/*, a/*, a/b", &["a/b", "a/*", "*/*"]);
        check("a/b;x=1;q=0.1,a/b;x=2;q=0.9", &["a/b;x=2", "a/b;x=1"]);
        check("a/b;q=nonsense,c/d;q=0.1", &["c/d", "a/b"]);
    }

    #[test]
    fn what_is_no_clause_is_passed_over() {
        check("", &[]);
        check("a", &[]);
        check("a/b/c", &[]);
        check("*", &["*/*"]);
        check(",,a/b;x;y=;z=1=2; w = 3", &["a/b;w=3"]);
    }

    #[test]
    fn stars_stand_for_everything() {
        let matches = |clause: &str, media_type| clauses(clause)[0].matches(media_type);
        assert!(matches("*/*", "a/b"));
        assert!(matches("a/*", "a/b"));
        assert!(!matches("a/*", "b/b"));
        assert!(!matches("a/c", "a/b"));
    }
}
