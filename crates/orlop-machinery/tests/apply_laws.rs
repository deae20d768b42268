//! Laws that every apply obeys, whatever is applied.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::sync::LazyLock;

use orlop_machinery::apply::{
    ApplyOptions, FieldManager, OnConflict, Typing, check_managed_fields, fields_v1,
    keep_times_if_unchanged,
};
use orlop_machinery::schema::{Schema, parse};
use orlop_machinery::time::Time;
use orlop_machinery::{Map, Value};
use proptest::prelude::*;

const TEXT: &str = "\
package p
Widget
 apiVersion string - omit
 kind string - omit
 metadata *Metadata - omit
 text *string - omit
 number *int64 - omit
 list [Item] - omit list=map:name
 words [string] - omit list=set
 plain [string] - omit
 map {string} - omit
 whole {string} - omit atomic
 struct *Item - omit
 structs {Item} - omit
 any *any - omit
Metadata
 name *string - omit
 uid *string - omit
 labels {string} - omit
 managedFields [any] - omit list=atomic
Item
 name *string - omit
 value *int64 - omit
 words [string] - omit list=set
 inner {string} - omit
";

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| parse(&[TEXT]).unwrap());

fn fields() -> FieldManager<'static> {
    let typing = Typing::Struct(&SCHEMA, SCHEMA.find("p.Widget").unwrap());
    FieldManager::new(typing, "example.com/v1", "Widget")
}

fn apply(live: &Value, applied: &Value, manager: &str, second: i64) -> (Value, bool) {
    let now = Time::from_unix(second);
    let options = ApplyOptions { on_conflict: OnConflict::Force, now };
    let outcome = fields().apply(live, applied, manager, &options).unwrap();
    (outcome.object, outcome.is_changed)
}

/// Something that fits the schema. Null appears only where `nulls` says so.
fn widget() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(vec!["a", "b", "c"]).prop_map(Value::from);
    let words = || {
        prop::sample::subsequence(vec!["a", "b", "c", "d"], 0..=4)
            .prop_shuffle()
            .prop_map(|words| Value::from(words.clone()))
    };
    let map = move || {
        prop::collection::btree_map("[xyz]", word(), 0..3).prop_map(|map| {
            Value::Map(map.into_iter().map(|(key, value)| (key.into(), value)).collect())
        })
    };
    let number = || (0..3_i64).prop_map(Value::from);
    let parts = move || {
        (prop::option::of(number()), prop::option::of(words()), prop::option::of(map())).prop_map(
            |(value, words, inner)| object([("value", value), ("words", words), ("inner", inner)]),
        )
    };
    let list = prop::collection::btree_map("[abcd]", parts(), 0..4).prop_map(|items| {
        Value::List(
            items
                .into_iter()
                .map(|(name, mut item)| {
                    item.set("name", name);
                    item
                })
                .collect(),
        )
    });
    let structs = prop::collection::btree_map("[abc]", parts(), 0..3).prop_map(|map| {
        Value::Map(map.into_iter().map(|(key, value)| (key.into(), value)).collect())
    });
    let any = prop_oneof![word(), number(), map(), words()];
    let first = (
        prop::option::of(word()),
        prop::option::of(number()),
        prop::option::of(list),
        prop::option::of(words()),
        prop::option::of(words()),
    );
    let second = (
        prop::option::of(map()),
        prop::option::of(map()),
        prop::option::of(parts()),
        prop::option::of(structs),
        prop::option::of(any),
    );
    (first, second).prop_map(
        |((text, number, list, words, plain), (map, whole, one, structs, any))| {
            object([
                ("apiVersion", Some("example.com/v1".into())),
                ("kind", Some("Widget".into())),
                ("text", text),
                ("number", number),
                ("list", list),
                ("words", words),
                ("plain", plain),
                ("map", map),
                ("whole", whole),
                ("struct", one),
                ("structs", structs),
                ("any", any),
            ])
        },
    )
}

fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let mut object = Value::Map(Map::new());
    for (name, value) in fields {
        if let Some(value) = value {
            object.set(name, value);
        }
    }
    object
}

fn nothing() -> Value {
    object([("apiVersion", Some("example.com/v1".into())), ("kind", Some("Widget".into()))])
}

/// Without managers, nulls, and what is empty.
fn content(value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            let entries = map.entries().iter().filter(|(key, _)| key != "managedFields");
            let entries = entries.map(|(key, value)| (key.clone(), content(value)));
            let map: Map = entries.filter(|(_, value)| !value.is_null()).collect();
            if map.is_empty() { Value::Null } else { Value::Map(map) }
        }
        Value::List(items) if items.is_empty() => Value::Null,
        Value::List(items) => Value::List(items.iter().map(content).collect()),
        other => other.clone(),
    }
}

/// Any JSON.
fn any_value() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "apiVersion",
        "kind",
        "metadata",
        "managedFields",
        "list",
        "name",
        "words",
        "any",
        "map",
        "f:list",
        "k:{\"name\":\"a\"}",
        "v:1",
        "i:0",
        ".",
        "fieldsV1",
        "operation",
        "manager",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e30..1e30_f64).prop_map(Value::Float),
        prop::sample::select(vec![
            "",
            "a",
            "Apply",
            "Update",
            "FieldsV1",
            "example.com/v1",
            "Widget"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|entries| {
                Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn to_apply_the_same_again_changes_nothing(first in widget(), second in widget()) {
        let (live, _) = apply(&Value::Null, &first, "other", 1);
        let (once, _) = apply(&live, &second, "me", 2);
        let (twice, is_changed) = apply(&once, &second, "me", 3);
        prop_assert!(!is_changed);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn an_update_to_the_same_changes_nothing(first in widget()) {
        let (live, _) = apply(&Value::Null, &first, "me", 1);
        let updated = fields().update(&live, live.clone(), "you", Time::from_unix(2));
        prop_assert_eq!(live, updated);
    }

    #[test]
    fn what_an_applier_alone_has_goes_with_it(first in widget()) {
        let (live, _) = apply(&Value::Null, &first, "me", 1);
        let (rest, _) = apply(&live, &nothing(), "me", 2);
        prop_assert_eq!(content(&rest), content(&nothing()));
    }

    #[test]
    fn what_another_applier_has_stays(mine in widget(), others in widget()) {
        let (live, _) = apply(&Value::Null, &mine, "me", 1);
        let (live, _) = apply(&live, &others, "other", 2);
        let (rest, _) = apply(&live, &nothing(), "me", 3);
        prop_assert_eq!(content(&rest), content(&others));
    }

    #[test]
    fn what_was_applied_is_there(mine in widget(), others in widget()) {
        let (live, _) = apply(&Value::Null, &others, "other", 1);
        let (live, _) = apply(&live, &mine, "me", 2);
        let extracted = fields().extract(&live, "me").unwrap().unwrap_or_else(nothing);
        prop_assert_eq!(content(&extracted), content(&mine));
    }

    #[test]
    fn managed_fields_can_be_read_again(mine in widget(), others in widget(), third in widget()) {
        let (live, _) = apply(&Value::Null, &mine, "me", 1);
        let live = fields().update(&live, others, "other", Time::from_unix(2));
        let (mut live, _) = apply(&live, &third, "me", 3);
        prop_assert!(check_managed_fields(&live).is_ok());
        for entry in live.at("metadata").at("managedFields").list() {
            let set = fields_v1::from_value(entry.at("fieldsV1")).unwrap();
            prop_assert!(!set.is_empty());
            prop_assert_eq!(fields_v1::parse(&fields_v1::to_text(&set)).unwrap(), set);
        }
        let again = live.clone();
        keep_times_if_unchanged(&mut live, &again);
        prop_assert_eq!(live, again);
    }

    #[test]
    fn nothing_panics(live in any_value(), new in any_value(), force in any::<bool>()) {
        let on_conflict = if force { OnConflict::Force } else { OnConflict::Fail };
        let options = ApplyOptions { on_conflict, now: Time::from_unix(1) };
        let deduced = FieldManager::new(Typing::Deduced, "example.com/v1", "Widget");
        for fields in [fields(), deduced] {
            let mut applied = new.clone();
            applied.set("apiVersion", "example.com/v1");
            applied.set("kind", "Widget");
            for live in [&live, &Value::Null] {
                _ = fields.apply(live, &new, "kubectl", &options);
                if let Ok(outcome) = fields.apply(live, &applied, "kubectl", &options) {
                    _ = fields.apply(&outcome.object, &nothing(), "kubectl", &options);
                    _ = fields.extract(&outcome.object, "kubectl");
                }
                _ = fields.update(live, new.clone(), "me", options.now);
            }
        }
        let mut times = new;
        keep_times_if_unchanged(&mut times, &live);
    }
}
