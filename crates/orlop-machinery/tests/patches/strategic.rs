//! Strategic merge patches, held against `apimachinery/pkg/util/strategicpatch`.

use orlop_machinery::patch::strategic::{
    PatchError, ThreeWay, create_three_way_merge_patch, create_two_way_merge_patch, strategic_merge,
};
use orlop_machinery::patch::{Precondition, Refusal};
use orlop_machinery::schema::{Schema, StructId};
use orlop_machinery::{Map, Value, json};

use super::{cases, check, parse, thing};

#[test]
fn patches_do_what_upstream_does() {
    let (schema, id) = thing();
    let mut count = 0;
    for (about, case) in cases(include_str!("strategic_apply.txt")) {
        let (original, patch) = (case.at("original").clone(), case.at("patch").clone());
        let found = strategic_merge(&schema, id, original, patch);
        check(about, &case, "result", found.as_ref());
        count += 1;
    }
    assert!(count > 140, "only {count} cases were found");
}

#[test]
fn patches_are_what_upstream_makes() {
    let (schema, id) = thing();
    let mut count = 0;
    for (about, case) in cases(include_str!("strategic_create.txt")) {
        let (original, modified) = (case.at("original"), case.at("modified"));
        let patch = match case.get("current") {
            Some(_) => three_way(&schema, id, about, &case),
            None => create_two_way_merge_patch(&schema, id, original, modified, &[]),
        };
        check(about, &case, "patch", patch.as_ref());
        if let Ok(patch) = patch {
            let before = case.get("current").unwrap_or(original).clone();
            let result = strategic_merge(&schema, id, before, patch);
            let word = if case.get("result").is_some() { "result" } else { "modified" };
            check(about, &case, word, result.as_ref());
        }
        count += 1;
    }
    assert!(count > 60, "only {count} cases were found");
}

fn three_way(
    schema: &Schema,
    id: StructId,
    about: &str,
    case: &Value,
) -> Result<Value, PatchError> {
    let input = ThreeWay {
        original: case.at("original"),
        modified: case.at("modified"),
        current: case.at("current"),
        overwrites: true,
        preconditions: &[],
    };
    let patch = create_three_way_merge_patch(schema, id, &input);
    let gentle = create_three_way_merge_patch(schema, id, &ThreeWay { overwrites: false, ..input });
    match (case.at("conflict"), gentle) {
        (Value::Bool(true), Err(PatchError::Conflict { patch: found, .. })) => {
            assert_eq!(Ok(found), patch, "{about}: conflict");
        }
        (Value::Bool(false), gentle) => assert_eq!(gentle, patch, "{about}: conflict"),
        (Value::String(expect), Err(error)) => {
            assert_eq!(error.to_string(), expect.as_str(), "{about}: conflict");
        }
        (expect, gentle) => assert!(patch.is_err(), "{about}: {gentle:?} instead of {expect:?}"),
    }
    patch
}

#[test]
fn documents_must_be_maps() {
    let (schema, id) = thing();
    let list = || Value::List(Vec::new());
    let empty = || Value::Map(Map::new());
    let apply = |original, patch| strategic_merge(&schema, id, original, patch);
    assert_eq!(apply(Value::Null, Value::Null), Ok(empty()));
    assert_eq!(apply(empty(), Value::Null), Ok(empty()));
    assert_eq!(apply(list(), empty()), Err(PatchError::InvalidDocument));
    let error = apply(empty(), list()).unwrap_err();
    let expect = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    assert_eq!((error.to_string().as_str(), error.refusal()), (expect, Refusal::BadRequest));
    let create = |a, b| create_two_way_merge_patch(&schema, id, &a, &b, &[]);
    assert_eq!(create(Value::Null, Value::Null), Ok(empty()));
    assert_eq!(create(list(), empty()), Err(PatchError::InvalidDocument));
    assert_eq!(create(empty(), list()), Err(PatchError::InvalidDocument));
}

#[test]
fn errors_tell_whose_fault_it_is() {
    let (schema, id) = thing();
    for (original, patch, expect) in [
        (r#"{}"#, r#"{"$retainKeys":1}"#, Refusal::BadRequest),
        (r#"{}"#, r#"{"$setElementOrder":[]}"#, Refusal::BadRequest),
        (r#"{}"#, r#"{"$deleteFromPrimitiveList":[]}"#, Refusal::BadRequest),
        (r#"{"items":[]}"#, r#"{"items":[[]]}"#, Refusal::Unprocessable),
        (r#"{"items":[]}"#, r#"{"items":[{}]}"#, Refusal::Internal),
        (r#"{"x":{}}"#, r#"{"x":{}}"#, Refusal::Internal),
    ] {
        let error = strategic_merge(&schema, id, parse(original), parse(patch)).unwrap_err();
        assert_eq!(error.refusal(), expect, "{original} {patch}");
    }
}

#[test]
fn a_patch_that_changes_what_it_must_not_is_refused() {
    let (schema, id) = thing();
    let before = parse(r#"{"name":"x","metadata":{"name":"a"}}"#);
    let name = [Precondition::KeyUnchanged("name")];
    let metadata_name = [Precondition::MetadataKeyUnchanged("name")];
    let create = |after: &str, preconditions| {
        let after = parse(after);
        create_two_way_merge_patch(&schema, id, &before, &after, preconditions)
            .map(|patch| json::to_string(&patch))
            .map_err(|error| error.to_string())
    };
    let same = r#"{"name":"x","count":1,"metadata":{"name":"a"}}"#;
    assert_eq!(create(same, &name), Ok(r#"{"count":1}"#.into()));
    assert_eq!(create(same, &metadata_name), Ok(r#"{"count":1}"#.into()));
    let renamed = r#"{"name":"y","metadata":{"name":"a"}}"#;
    assert_eq!(create(renamed, &name), Err("precondition failed for: map[name:y]".into()));
    assert_eq!(create(renamed, &metadata_name), Ok(r#"{"name":"y"}"#.into()));
}

#[test]
fn a_conflict_shows_both_sides() {
    let (schema, id) = thing();
    let input = ThreeWay {
        original: &parse(r#"{"name":"x"}"#),
        modified: &parse(r#"{"name":"y"}"#),
        current: &parse(r#"{"name":"z","labels":{"a":"b"}}"#),
        overwrites: false,
        preconditions: &[],
    };
    let error = create_three_way_merge_patch(&schema, id, &input).unwrap_err();
    let expect = "patch:\nname: \"y\"\n\nconflicts with changes made from original to current:\n\
        labels:\n  a: b\nname: z\n\n";
    assert_eq!(error.to_string(), expect);
}
