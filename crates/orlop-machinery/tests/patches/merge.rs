//! JSON merge patches, held against `gopkg.in/evanphx/json-patch.v4` and
//! `apimachinery/pkg/util/jsonmergepatch`.

use orlop_machinery::patch::merge::{self, MergePatchError};
use orlop_machinery::patch::{Precondition, Refusal};
use orlop_machinery::{Value, json};

use super::{cases, check, parse};

#[test]
fn patches_do_what_upstream_does() {
    let mut count = 0;
    for (about, case) in cases(include_str!("merge_apply.txt")) {
        let found = merge::apply(case.at("document").clone(), case.at("patch").clone());
        check(about, &case, "result", found.as_ref());
        count += 1;
    }
    assert!(count > 20, "only {count} cases were found");
}

#[test]
fn patches_are_what_upstream_makes() {
    let mut count = 0;
    for (about, case) in cases(include_str!("merge_create.txt")) {
        let (original, modified) = (case.at("original"), case.at("modified"));
        let patch = match case.get("current") {
            Some(current) => merge::create_three_way(original, modified, current, &[]),
            None => merge::create_two_way(original, modified),
        };
        check(about, &case, "patch", patch.as_ref());
        if let Ok(patch) = patch {
            let before = case.get("current").unwrap_or(original).clone();
            check(about, &case, "result", merge::apply(before, patch).as_ref());
        }
        count += 1;
    }
    assert!(count > 25, "only {count} cases were found");
}

#[test]
fn errors_tell_whose_fault_it_is() {
    let patch = merge::apply(parse("{}"), parse("1")).unwrap_err();
    assert_eq!(patch.refusal(), Refusal::BadRequest);
    let document = merge::apply(Value::Null, parse("{}")).unwrap_err();
    assert_eq!(document.refusal(), Refusal::Internal);
    assert_eq!(merge::parse(b"{"), Err(MergePatchError::InvalidPatch));
}

#[test]
fn a_strict_reader_says_more() {
    let read = |text: &str| merge::parse_strict(text.as_bytes()).map_err(|error| error.to_string());
    let (patch, twice) = read(r#"{"a":{"b":1,"b":2}}"#).unwrap();
    assert_eq!(json::to_string(&patch), r#"{"a":{"b":2}}"#);
    assert_eq!(twice, [r#"duplicate field "a.b""#]);
    assert_eq!(read("null"), Ok((Value::Null, Vec::new())));
    for (text, expect) in [
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("{", "unexpected end of JSON input"),
    ] {
        assert_eq!(read(text), Err(format!("error decoding patch: {expect}")));
    }
}

#[test]
fn whole_numbers_are_not_damaged() {
    let (a, b) = (parse(r#"{"a":9007199254740992}"#), parse(r#"{"a":9007199254740993}"#));
    let patch = merge::create_two_way(&a, &b).unwrap();
    assert_eq!(json::to_string(&patch), r#"{"a":9007199254740993}"#);
    let same =
        merge::create_two_way(&parse(r#"{"a":1,"b":[1.0]}"#), &parse(r#"{"a":1.0,"b":[1]}"#));
    assert_eq!(same, Ok(parse("{}")));
}

#[test]
fn documents_must_be_maps() {
    let list = parse("[]");
    assert_eq!(merge::create_two_way(&list, &Value::Null), Err(MergePatchError::InvalidDocument));
    let three = merge::create_three_way(&Value::Null, &Value::Null, &list, &[]);
    assert_eq!(three, Err(MergePatchError::InvalidDocument));
    let empty = merge::create_three_way(&Value::Null, &Value::Null, &Value::Null, &[]);
    assert_eq!(empty, Ok(parse("{}")));
}

#[test]
fn a_patch_that_changes_what_it_must_not_is_refused() {
    let (before, after) = (parse(r#"{"kind":"A"}"#), parse(r#"{"kind":"B"}"#));
    let kind = [Precondition::KeyUnchanged("kind")];
    let found = merge::create_three_way(&before, &after, &before, &kind);
    assert_eq!(found.unwrap_err().to_string(), "precondition failed for: map[kind:B]");
    let same = merge::create_three_way(&before, &before, &before, &kind);
    assert_eq!(same, Ok(parse("{}")));
}
