//! JSON patches, held against `gopkg.in/evanphx/json-patch.v4` and against the public collection of
//! test cases for RFC 6902.
//!
//! Where upstream's library is laxer than the RFC so are we; every such case of the collection is
//! listed here with what upstream makes of it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use orlop_machinery::patch::Refusal;
use orlop_machinery::patch::json::{COPY_BYTES_MAX, JsonPatch, JsonPatchError, OPERATIONS_MAX};
use orlop_machinery::{Value, json};

use super::{cases, check, parse};

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
    check_collection("spec_tests.json", 15);
}

#[test]
fn the_collected_cases_pass() {
    check_collection("tests.json", 85);
}

fn check_collection(file: &str, at_least: usize) {
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
#[allow(clippy::disallowed_methods, reason = "where the cases lie may be said by the environment")]
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

#[test]
fn operations_do_what_upstream_does() {
    let mut count = 0;
    for (about, case) in cases(include_str!("json.txt")) {
        let found = JsonPatch::from_value(case.at("patch").clone())
            .and_then(|patch| patch.apply(case.at("document").clone()));
        if let Err(error) = &found {
            assert_eq!(error.refusal(), Refusal::Unprocessable, "{about}");
        }
        check(about, &case, "result", found.as_ref());
        count += 1;
    }
    assert!(count > 45, "only {count} cases were found");
}

#[test]
fn an_error_names_its_operation() {
    let patch = r#"[{"op":"test","path":"/a","value":1},{"op":"remove","path":"/b"}]"#;
    let error = JsonPatch::parse(patch.as_bytes()).unwrap().apply(parse(r#"{"a":1}"#));
    let message =
        "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value";
    let expect =
        JsonPatchError::Inapplicable { operation: 1, path: "/b".into(), message: message.into() };
    assert_eq!(error, Err(expect));
}

#[test]
fn what_is_no_patch_is_a_bad_request() {
    for (text, expect) in [
        ("", "unexpected end of JSON input"),
        ("[", "unexpected end of JSON input"),
        ("{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        ("1", "json: cannot unmarshal number into Go value of type jsonpatch.Patch"),
        (r#""a""#, "json: cannot unmarshal string into Go value of type jsonpatch.Patch"),
        ("[1]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
        ("[[]]", "json: cannot unmarshal array into Go value of type jsonpatch.Operation"),
    ] {
        let error = JsonPatch::parse(text.as_bytes()).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.refusal()), (expect, Refusal::BadRequest));
    }
    for text in ["null", "[]"] {
        let patch = JsonPatch::parse(text.as_bytes()).unwrap();
        assert!(patch.is_empty());
        assert_eq!(patch.apply(parse(r#"{"a":1}"#)), Ok(parse(r#"{"a":1}"#)));
    }
}

#[test]
fn too_many_operations_are_too_large() {
    let patch = |count: usize| {
        let operation = parse(r#"{"op":"test","path":"/a"}"#);
        JsonPatch::from_value(Value::List(vec![operation; count]))
    };
    assert_eq!(patch(OPERATIONS_MAX).unwrap().len(), OPERATIONS_MAX);
    let error = patch(OPERATIONS_MAX + 1).unwrap_err();
    let expect = "The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!((error.to_string().as_str(), error.refusal()), (expect, Refusal::TooLarge));
}

#[test]
fn copies_are_limited_all_together() {
    let document = || Value::from([("a", "x".repeat(COPY_BYTES_MAX / 2 - 2))]);
    let copy = r#"{"op":"copy","from":"/a","path":"/b"}"#;
    let apply = |text: String| JsonPatch::parse(text.as_bytes()).unwrap().apply(document());
    assert!(apply(format!("[{copy},{copy}]")).is_ok());
    let error = apply(format!("[{copy},{copy},{copy}]")).unwrap_err();
    let expect = "Unable to complete the copy, the accumulated size increase of copy is 4718592, \
        exceeding the limit 3145728";
    assert_eq!((error.to_string().as_str(), error.refusal()), (expect, Refusal::Unprocessable));
}

#[test]
fn a_document_gets_no_deeper_than_can_be_read() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let apply = |operations: &str| {
        let document = parse(&format!(r#"{{"a":{},"b":{{"c":[]}}}}"#, deep(500)));
        let text = format!("[{operations}]");
        let result = JsonPatch::parse(text.as_bytes()).unwrap().apply(document);
        result.map(|result| parse(&json::to_string(&result))).map_err(|error| error.to_string())
    };
    let add = |depth: usize| format!(r#"{{"op":"add","path":"/b/c/0","value":{}}}"#, deep(depth));
    assert!(apply(&add(509)).is_ok());
    assert_eq!(apply(&add(510)), Err("exceeded max depth".into()));
    let end = "/0".repeat(499);
    let nest =
        |op: &str, from: &str| format!(r#"{{"op":"{op}","from":"{from}","path":"/a{end}/-"}}"#);
    assert!(apply(&nest("move", "/b/c")).is_ok());
    assert_eq!(apply(&nest("copy", "/a")), Err("exceeded max depth".into()));
    let long = format!(r#"{{"op":"add","path":"/a{}/-","value":1}}"#, "/0".repeat(600));
    assert!(apply(&long).is_err());
}

#[test]
fn moved_items_are_limited_all_together() {
    let document = Value::from([("a", Value::List(vec![Value::Null; 200_000]))]);
    let patch = |path: &str| {
        let operation = parse(&format!(r#"{{"op":"add","path":"{path}","value":1}}"#));
        JsonPatch::from_value(Value::List(vec![operation; 5_000])).unwrap()
    };
    assert!(patch("/a/-").apply(document.clone()).is_ok());
    let error = patch("/a/0").apply(document).unwrap_err();
    let expect = "the patch moves more than 536870912 items of lists and maps";
    assert_eq!((error.to_string().as_str(), error.refusal()), (expect, Refusal::Unprocessable));
}
