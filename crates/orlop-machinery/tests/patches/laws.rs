//! Laws that patches keep, whatever the documents.
//!
//! - A patch that was made of two documents makes the second one of the first.
//! - A patch that was made of three brings the current one to the modified one, and what others
//!   added stays.
//! - No document and no patch makes any of it panic, or take long.

use std::time::{Duration, Instant};

use orlop_machinery::patch::json::JsonPatch;
use orlop_machinery::patch::merge;
use orlop_machinery::patch::strategic::{
    ThreeWay, create_three_way_merge_patch, create_two_way_merge_patch, strategic_merge,
};
use orlop_machinery::{Map, Str, Value, json};
use proptest::prelude::*;

use super::{parse, thing};

fn word() -> impl Strategy<Value = Value> {
    "[a-d]".prop_map(Value::from)
}

fn map_of(entries: Vec<(&'static str, Option<Value>)>) -> Value {
    let entries = entries.into_iter().filter_map(|(key, value)| Some((Str::new(key), value?)));
    Value::Map(entries.collect())
}

fn labels() -> impl Strategy<Value = Value> {
    let entries = prop::collection::btree_map("[a-c]", word(), 0..3);
    entries.prop_map(|entries| {
        Value::Map(entries.into_iter().map(|(key, value)| (Str::from(key), value)).collect())
    })
}

/// A list without duplicates, in any order.
fn set(item: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let items = prop::collection::vec(item, 0..5).prop_shuffle();
    items.prop_map(|mut items| {
        let mut seen = Vec::new();
        items.retain(|item| {
            let is_new = !seen.contains(item);
            seen.push(item.clone());
            is_new
        });
        Value::List(items)
    })
}

/// A list of maps with different keys.
fn keyed(item: impl Strategy<Value = Value>, key: &'static str) -> impl Strategy<Value = Value> {
    let items = prop::collection::vec(item, 0..5);
    items.prop_map(move |mut items| {
        let mut seen = Vec::new();
        items.retain(|item| {
            let is_new = !seen.contains(item.at(key));
            seen.push(item.at(key).clone());
            is_new
        });
        Value::List(items)
    })
}

fn maybe(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Option<Value>> {
    prop::option::weighted(0.5, value)
}

fn choice() -> impl Strategy<Value = Value> {
    let leaf = (maybe(word()), maybe((0i64..3).prop_map(Value::from)))
        .prop_map(|(ty, size)| map_of(vec![("type", ty), ("size", size)]));
    leaf.prop_recursive(2, 6, 2, |inner| {
        (maybe(word()), maybe(inner.clone()), maybe(inner), maybe(set(word()))).prop_map(
            |(ty, a, b, words)| map_of(vec![("type", ty), ("a", a), ("b", b), ("words", words)]),
        )
    })
}

fn item() -> impl Strategy<Value = Value> {
    let leaf = (word(), maybe(word()), maybe(word())).prop_map(|(name, value, other)| {
        map_of(vec![("name", Some(name)), ("value", value), ("other", other)])
    });
    leaf.prop_recursive(2, 12, 4, |inner| {
        let lists = (maybe(set(word())), maybe(keyed(inner.clone(), "name")), maybe(set(inner)));
        (word(), maybe(word()), lists, maybe(labels()), maybe(choice())).prop_map(
            |(name, value, (words, items, plain), labels, choice)| {
                map_of(vec![
                    ("name", Some(name)),
                    ("value", value),
                    ("words", words),
                    ("items", items),
                    ("plain", plain),
                    ("labels", labels),
                    ("choice", choice),
                ])
            },
        )
    })
}

/// A document that is as the schema says, without nulls and without duplicates.
fn document() -> impl Strategy<Value = Value> {
    (flat_document(), maybe(flat_document())).prop_map(|(mut document, nested)| {
        if let Some(nested) = nested {
            document.set("nested", nested);
        }
        document
    })
}

fn flat_document() -> impl Strategy<Value = Value> {
    let number = || (0i64..12).prop_map(Value::from);
    let port = (number(), maybe(word()))
        .prop_map(|(port, name)| map_of(vec![("port", Some(port)), ("name", name)]));
    let leaf = (
        (maybe(word()), maybe(number()), maybe(keyed(item(), "name")), maybe(set(item()))),
        (maybe(keyed(port, "port")), maybe(keyed(item(), "name")), maybe(set(word()))),
        (maybe(set(number())), maybe(set(word())), maybe(labels())),
        (maybe(choice()), maybe(choice())),
    );
    leaf.prop_map(|(first, second, third, fourth)| {
        map_of(vec![
            ("name", first.0),
            ("count", first.1),
            ("items", first.2),
            ("plain", first.3),
            ("ports", second.0),
            ("volumes", second.1),
            ("words", second.2),
            ("numbers", third.0),
            ("arguments", third.1),
            ("labels", third.2),
            ("strategy", fourth.0),
            ("selector", fourth.1),
        ])
    })
}

/// Any JSON, with keys and words that mean something to a patch.
fn anything() -> impl Strategy<Value = Value> {
    let words =
        ["a", "b", "replace", "delete", "merge", "name", "items", "words", "/items/0", "/words/-"];
    let keys = [
        "name",
        "items",
        "words",
        "numbers",
        "nested",
        "labels",
        "strategy",
        "selector",
        "data",
        "unkeyed",
        "op",
        "path",
        "from",
        "value",
        "$patch",
        "$retainKeys",
        "$deleteFromPrimitiveList/words",
        "$deleteFromPrimitiveList/items",
        "$setElementOrder/items",
        "$setElementOrder/words",
        "$setElementOrder/numbers",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0i64..3).prop_map(Value::from),
        Just(Value::Float(1.5)),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let entries = (prop::sample::select(keys.to_vec()), inner.clone())
            .prop_map(|(key, value)| (Str::new(key), value));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::List),
            prop::collection::vec(entries, 0..6)
                .prop_map(|entries| Value::Map(Map::from_unsorted(entries))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_strategic_patch_of_two_makes_the_second_of_the_first(
        original in document(), modified in document(),
    ) {
        let (schema, id) = thing();
        let patch =
            create_two_way_merge_patch(&schema, id, &original, &modified, &[]).unwrap();
        let found = strategic_merge(&schema, id, original, patch.clone()).unwrap();
        prop_assert_eq!(found, modified, "{}", json::to_string(&patch));
    }

    #[test]
    fn a_strategic_patch_of_three_is_one_of_two_when_nobody_changed_anything(
        original in document(), modified in document(),
    ) {
        let (schema, id) = thing();
        let input = ThreeWay {
            original: &original,
            modified: &modified,
            current: &original,
            overwrites: true,
            preconditions: &[],
        };
        let patch = create_three_way_merge_patch(&schema, id, &input).unwrap();
        let found = strategic_merge(&schema, id, original, patch.clone()).unwrap();
        prop_assert_eq!(found, modified, "{}", json::to_string(&patch));
    }

    #[test]
    fn a_strategic_patch_of_three_sets_its_fields_and_leaves_those_of_others(
        original in document(), modified in document(), current in document(),
    ) {
        let (schema, id) = thing();
        let input = ThreeWay {
            original: &original,
            modified: &modified,
            current: &current,
            overwrites: true,
            preconditions: &[],
        };
        let patch = create_three_way_merge_patch(&schema, id, &input).unwrap();
        let found = strategic_merge(&schema, id, current.clone(), patch).unwrap();
        for key in ["name", "count", "plain", "arguments", "selector"] {
            let expect = match (modified.get(key), original.get(key)) {
                (Some(modified), _) => Some(modified),
                (None, Some(_)) => None,
                (None, None) => current.get(key),
            };
            prop_assert_eq!(found.get(key), expect, "{}", key);
        }
        for name in names(&modified) {
            prop_assert!(names(&found).contains(&name), "{} is missing", name);
        }
        for name in names(&current) {
            let is_deleted = names(&original).contains(&name) && !names(&modified).contains(&name);
            let is_there = names(&found).contains(&name);
            let list_goes = modified.get("items").is_none() && original.get("items").is_some();
            prop_assert_eq!(is_there, !is_deleted && !list_goes, "{}", name);
        }
    }

    #[test]
    fn what_was_applied_is_not_changed_again(
        original in document(), modified in document(), current in document(),
    ) {
        let (schema, id) = thing();
        let apply = |original, current: &Value| {
            let modified = &modified;
            let input =
                ThreeWay { original, modified, current, overwrites: true, preconditions: &[] };
            let patch = create_three_way_merge_patch(&schema, id, &input).unwrap();
            decode(strategic_merge(&schema, id, current.clone(), patch).unwrap())
        };
        let once = apply(&original, &current);
        prop_assert_eq!(apply(&modified, &once), once);
    }

    #[test]
    fn a_merge_patch_of_two_makes_the_second_of_the_first(
        original in document(), modified in document(),
    ) {
        let patch = merge::create_two_way(&original, &modified).unwrap();
        prop_assert_eq!(merge::apply(original, patch).unwrap(), modified);
    }

    #[test]
    fn a_merge_patch_of_three_is_one_of_two_when_nobody_changed_anything(
        original in document(), modified in document(),
    ) {
        let patch = merge::create_three_way(&original, &modified, &original, &[]).unwrap();
        prop_assert_eq!(merge::apply(original, patch).unwrap(), modified);
    }

    #[test]
    fn a_merge_patch_does_the_same_twice(original in document(), patch in document()) {
        let once = merge::apply(original, patch.clone()).unwrap();
        prop_assert_eq!(merge::apply(once.clone(), patch).unwrap(), once);
    }

    #[test]
    fn nothing_panics(a in anything(), b in anything(), c in anything()) {
        let (schema, id) = thing();
        let _ = strategic_merge(&schema, id, a.clone(), b.clone());
        let _ = create_two_way_merge_patch(&schema, id, &a, &b, &[]);
        let overwrites = false;
        let (original, modified, current) = (&a, &b, &c);
        let input = ThreeWay { original, modified, current, overwrites, preconditions: &[] };
        let _ = create_three_way_merge_patch(&schema, id, &input);
        let _ = merge::create_three_way(&a, &b, &c, &[]);
        if let Ok(patch) = JsonPatch::from_value(Value::List(vec![b.clone(), c])) {
            let _ = patch.apply(a.clone());
        }
        let _ = merge::apply(a, b);
    }
}

/// What a decoder makes of a result: it drops nulls, and what the structs do not have.
fn decode(mut value: Value) -> Value {
    match &mut value {
        Value::Map(map) => {
            map.retain(|key, value| !key.starts_with('$') && !value.is_null());
            map.iter_mut().for_each(|(_, value)| *value = decode(value.take()));
        }
        value => value.list_mut().iter_mut().for_each(|item| *item = decode(item.take())),
    }
    value
}

fn names(document: &Value) -> Vec<String> {
    document.at("items").list().iter().map(|item| item.at("name").str().to_owned()).collect()
}

/// Runs something that must not take time that grows with the square of its input.
fn check_time<T>(about: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(10), "{about} took {took:?}");
    result
}

fn items(names: impl Iterator<Item = usize>) -> Value {
    let item = |name: usize| Value::from([("name", format!("item-{name}"))]);
    Value::List(names.map(item).collect())
}

#[test]
fn long_lists_are_merged_in_time() {
    const COUNT: usize = 100_000;
    let (schema, id) = thing();
    let original = Value::from([("items", items(0..COUNT))]);
    let modified = Value::from([("items", items((COUNT / 2..COUNT * 3 / 2).rev()))]);
    let patch = check_time("making the patch", || {
        create_two_way_merge_patch(&schema, id, &original, &modified, &[]).unwrap()
    });
    let result =
        check_time("applying the patch", || strategic_merge(&schema, id, original, patch).unwrap());
    assert_eq!(result, modified);
}

#[test]
fn long_sets_are_merged_in_time() {
    const COUNT: i64 = 100_000;
    let (schema, id) = thing();
    let numbers = |numbers: Vec<i64>| Value::from([("numbers", Value::from(numbers))]);
    let original = numbers((0..COUNT).collect());
    let modified = numbers((COUNT / 2..COUNT * 3 / 2).rev().collect());
    let patch = check_time("making the patch", || {
        create_two_way_merge_patch(&schema, id, &original, &modified, &[]).unwrap()
    });
    let result =
        check_time("applying the patch", || strategic_merge(&schema, id, original, patch).unwrap());
    assert_eq!(result, modified);
}

#[test]
fn large_maps_are_merged_in_time() {
    const COUNT: usize = 100_000;
    let labels = |names: std::ops::Range<usize>| {
        let entry = |name: usize| (Str::from(format!("{name:06}")), Value::from("x"));
        Value::from([("labels", Value::Map(names.map(entry).collect()))])
    };
    let (schema, id) = thing();
    let (original, modified) = (labels(COUNT / 2..COUNT), labels(0..COUNT * 3 / 4));
    let patch = create_two_way_merge_patch(&schema, id, &original, &modified, &[]).unwrap();
    let result = check_time("the strategic patch", || {
        strategic_merge(&schema, id, original.clone(), patch.clone()).unwrap()
    });
    assert_eq!(result, modified);
    let result = check_time("the merge patch", || merge::apply(original, patch).unwrap());
    assert_eq!(result, modified);
}

#[test]
fn ten_thousand_operations_are_applied_in_time() {
    let operations = (0..10_000).map(|at| match at % 4 {
        0 => r#"{"op":"add","path":"/a/0","value":{"b":[1]}}"#.to_owned(),
        1 => r#"{"op":"move","from":"/a/0","path":"/a/-"}"#.to_owned(),
        2 => r#"{"op":"copy","from":"/a/0","path":"/b"}"#.to_owned(),
        _ => format!(r#"{{"op":"replace","path":"/c/{at}","value":"x"}}"#),
    });
    let text = format!("[{}]", operations.collect::<Vec<_>>().join(","));
    let document = parse(r#"{"a":[],"b":0,"c":{}}"#);
    let result = check_time("the patch", || {
        JsonPatch::parse(text.as_bytes()).unwrap().apply(document).unwrap()
    });
    assert_eq!(result.at("a").list().len(), 2500);
    assert_eq!(result.at("c").map().len(), 2500);
}

#[test]
fn deep_documents_are_patched() {
    let deep =
        |depth: usize| parse(&format!("{}1{}", r#"{"nested":"#.repeat(depth), "}".repeat(depth)));
    let (schema, id) = thing();
    let (original, modified) = (deep(500), deep(499));
    let patch = create_two_way_merge_patch(&schema, id, &original, &modified, &[]).unwrap();
    let result = strategic_merge(&schema, id, original, patch).unwrap();
    assert_eq!(result, modified);
}
