//! What becomes of custom resources on their way in, and what is said about those that are wrong.
//!
//! `structural/cases.txt` has cases: a title, a schema, perhaps an object and the old object that
//! it replaces, and then what upstream says and does with the same: what is wrong with default
//! values, which fields are unknown, what the object becomes, and what is wrong with it. Errors of
//! a step are sorted, as upstream has no order for fields. `CASES` names another file to run.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "which file to run is read from the environment")]

use orlop_kinds::schema::schema;
use orlop_machinery::field::{Errors, Path};
use orlop_machinery::structural::{
    DefaultRules, Malformed, Metadata, Position, Structural, coerce_metadata,
};
use orlop_machinery::{Value, json};

#[test]
fn objects_of_custom_resources() {
    let mut wrong = Vec::new();
    let other = std::env::var("CASES").ok().map(|path| std::fs::read_to_string(path).unwrap());
    let cases = other.as_deref().unwrap_or(include_str!("structural/cases.txt"));
    for case in cases.split("\n\n") {
        let case = case.trim();
        if case.is_empty() {
            continue;
        }
        let found = outcome(case);
        if found != case {
            wrong.push(format!("--- expected\n{case}\n--- found\n{found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ\n{}", wrong.len(), wrong.join("\n"));
}

/// The case again, with what was found.
fn outcome(case: &str) -> String {
    let is_given = |line: &&str| {
        ["# ", "schema: ", "object: ", "old: ", "  "].iter().any(|start| line.starts_with(start))
    };
    let given: Vec<&str> = case.lines().take_while(is_given).collect();
    let mut lines: Vec<String> = given.iter().map(|line| (*line).to_owned()).collect();
    let read = |name: &str| {
        let text = given.join("\n");
        let (_, rest) = text.split_once(&format!("\n{name}: "))?;
        let rest: Vec<&str> = rest.lines().collect();
        let more = rest.iter().skip(1).take_while(|line| line.starts_with("  ")).count();
        Some(json::parse(rest[..=more].join("\n").as_bytes()).unwrap())
    };
    run(&read("schema").unwrap(), read("object"), read("old"), &mut lines);
    lines.join("\n")
}

fn run(source: &Value, object: Option<Value>, old: Option<Value>, lines: &mut Vec<String>) {
    let id = schema().find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").unwrap();
    let metadata = Metadata { schema: schema(), id };
    let mut structural = match Structural::read(source) {
        Ok(structural) => structural,
        Err(error) => return lines.push(format!("unreadable: {error}")),
    };
    let mut errors = Errors::new();
    let mut rules =
        DefaultRules { metadata, allows_unknown_fields: false, check_rules: &mut |_, _, _, _| {} };
    structural.validate_defaults(&mut rules, &Path::field("schema"), &mut errors);
    show("default", &errors, lines);
    structural.prune_defaults(metadata);
    let Some(mut object) = object else { return };
    let mut unknown = match coerce_metadata(&mut object, metadata, Malformed::Refused) {
        Ok(unknown) => unknown,
        Err(error) => return lines.push(format!("metadata: {error}")),
    };
    unknown.extend(structural.prune(&mut object, Position::Root));
    structural.prune_nulls(&mut object);
    let coerced = structural.coerce_embedded(&mut object, metadata, Malformed::Refused);
    unknown.extend(coerced.iter().flatten().cloned());
    lines.extend(unknown.iter().map(|field| format!("unknown: {field}")));
    if let Err(error) = coerced {
        return lines.push(format!("coerce: {error}"));
    }
    structural.set_defaults(&mut object);
    lines.push(format!("becomes: {}", json::to_string(&object)));
    validate(&structural, metadata, &object, lines);
    if let Some(old) = old {
        let mut errors = Errors::new();
        structural.validate_update(&object, &old, &Path::root(), &mut errors);
        show("update", &errors, lines);
    }
}

fn validate(
    structural: &Structural,
    metadata: Metadata<'_>,
    object: &Value,
    lines: &mut Vec<String>,
) {
    let mut errors = Errors::new();
    structural.validate(object, &Path::root(), &mut errors);
    show("invalid", &errors, lines);
    let mut errors = Errors::new();
    structural.validate_embedded(object, metadata, &Path::root(), &mut errors);
    show("embedded", &errors, lines);
    let mut errors = Errors::new();
    structural.validate_lists(object, &Path::root(), &mut errors);
    show("duplicate", &errors, lines);
}

/// Errors with their reasons, sorted.
fn show(step: &str, errors: &Errors, lines: &mut Vec<String>) {
    let mut texts: Vec<String> = errors
        .list()
        .iter()
        .map(|error| {
            let text = error.to_string().replace('\n', "\\n");
            // The reason that upstream's list of errors has for it.
            format!("{step}: {} {text}", error.kind.reason())
        })
        .collect();
    texts.sort();
    lines.append(&mut texts);
}
