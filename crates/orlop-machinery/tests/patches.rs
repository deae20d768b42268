//! Patches, held against what upstream does, against public test cases, and against laws.
//!
//! The tables in `tests/patches` say what the libraries of Kubernetes 1.36 make of documents and
//! patches. A case is a line that says what it is about and lines of a word and a JSON value; an
//! empty line ends it, a line that starts with `#` is a heading.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

#[path = "patches/json.rs"]
mod json_patch;
#[path = "patches/laws.rs"]
mod laws;
#[path = "patches/merge.rs"]
mod merge_patch;
#[path = "patches/strategic.rs"]
mod strategic_patch;

use orlop_machinery::schema::{self, Schema, StructId};
use orlop_machinery::{Map, Value, json};

/// The cases of a table: what each is about, and its values by word.
fn cases(table: &'static str) -> impl Iterator<Item = (&'static str, Value)> {
    let is_case = |text: &&str| !text.starts_with('#') && !text.is_empty();
    table.split("\n\n").filter(is_case).map(|text| {
        let (about, lines) = text.split_once('\n').unwrap();
        let values = lines.lines().map(|line| {
            let (word, value) = line.split_once(' ').unwrap();
            (word.into(), parse(value))
        });
        (about, Value::Map(values.collect::<Map>()))
    })
}

/// Compares a result with the `word` of the case, or its error with `error`.
fn check<E: ToString>(about: &str, case: &Value, word: &str, found: Result<&Value, &E>) {
    let (found, expect) = match found {
        Ok(value) => (json::to_string(value), case.get(word)),
        Err(error) => (json::to_string(&error.to_string().into()), case.get("error")),
    };
    let expect = expect.unwrap_or_else(|| panic!("{about}: {word} is {found}"));
    assert_eq!(found, json::to_string(expect), "{about}: {word}");
}

/// The schema of the tables.
fn thing() -> (Schema, StructId) {
    let schema = schema::parse(&[include_str!("patches/schema.txt")]).unwrap();
    let id = schema.find("test.Thing").unwrap();
    (schema, id)
}

fn parse(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}
