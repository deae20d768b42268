//! JSON patches, held against the public collection of test cases for RFC 6902.
//!
//! Where upstream's library is laxer than the RFC so are we; every such case is listed here with
//! what upstream makes of it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a test, and where the cases lie may be said by the environment"
)]

use std::path::{Path, PathBuf};
use std::{env, fs};

use orlop_machinery::patch::json::JsonPatch;
use orlop_machinery::{Value, json};

/// Documents and patches for which the collection wants an error, and what upstream makes of them.
const LAX: [(&str, &str, &str); 7] = [
    // An index may be negative, and have leading zeros.
    (r#"{"bar":[1,2]}"#, r#"[{"op":"add","path":"/bar/-1","value":"5"}]"#, r#"{"bar":[1,2,"5"]}"#),
    (r#"["foo","bar"]"#, r#"[{"op":"test","path":"/00","value":"foo"}]"#, r#"["foo","bar"]"#),
    (r#"["foo","bar"]"#, r#"[{"op":"test","path":"/01","value":"bar"}]"#, r#"["foo","bar"]"#),
    // A value that is missing is null.
    ("[1]", r#"[{"op":"add","path":"/-"}]"#, "[1,null]"),
    ("[1]", r#"[{"op":"replace","path":"/0"}]"#, "[null]"),
    ("[null]", r#"[{"op":"test","path":"/0"}]"#, "[null]"),
    // So is a field that is missing, when it is read.
    (r#"{"foo":1}"#, r#"[{"from":"/bar","op":"copy","path":"/foo"}]"#, r#"{"foo":null}"#),
];

/// Operations for which the collection wants a result, and upstream's error.
const STRICT: [(&str, &str); 3] = [
    // The whole document can be replaced, but nothing can be added in its place.
    (r#"[{"op":"add","path":"","value":[]}]"#, NO_DOCUMENT),
    (r#"[{"op":"add","path":"","value":{}}]"#, NO_DOCUMENT),
    (r#"[{"op":"add","path":"","value":{"baz":"qux"}}]"#, NO_DOCUMENT),
];
const NO_DOCUMENT: &str = r#"add operation does not apply: doc is missing path: "": missing value"#;

#[test]
fn the_cases_of_the_rfc_pass() {
    check("spec_tests.json", 15);
}

#[test]
fn the_collected_cases_pass() {
    check("tests.json", 85);
}

fn check(file: &str, at_least: usize) {
    let Some(folder) = folder() else { return };
    let cases = json::parse(&fs::read(folder.join(file)).unwrap()).unwrap();
    let mut count = 0;
    for case in cases.list().iter().filter(|case| !case.at("disabled").bool()) {
        let (document, patch) = (case.at("doc"), json::to_string(case.at("patch")));
        let found = JsonPatch::parse(patch.as_bytes())
            .and_then(|patch| patch.apply(document.clone()))
            .map(|document| json::to_string(&document))
            .map_err(|error| error.to_string());
        let document = json::to_string(document);
        let lax = LAX.iter().find(|known| known.0 == document && known.1 == patch);
        let strict = STRICT.iter().find(|known| known.0 == patch);
        match (strict, lax, case.at("error")) {
            (Some((_, expect)), ..) => assert_eq!(found, Err((*expect).to_owned()), "{patch}"),
            (None, Some((.., expect)), _) => assert_eq!(found, Ok((*expect).to_owned()), "{patch}"),
            (None, None, Value::Null) => {
                assert_eq!(found, Ok(json::to_string(case.at("expected"))), "{patch}");
            }
            _ => assert!(found.is_err(), "{patch} made {found:?} of {document}"),
        }
        count += 1;
    }
    assert!(count >= at_least, "only {count} cases of {file}");
}

/// The folder of the collection; none, with a line that says so, where it does not exist.
fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("ORLOP_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("data/json-patch");
    if !folder.is_dir() {
        println!("skipped: there are no cases in {}", folder.display());
        return None;
    }
    Some(folder)
}
