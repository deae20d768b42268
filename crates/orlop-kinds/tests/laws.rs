//! What holds for every kind, shown on the recorded object of each with every field set.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use orlop_kinds::catalog::{Entry, catalog};
use orlop_kinds::schema;
use orlop_machinery::apply::{ApplyOptions, FieldManager, OnConflict, Typing};
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, User};
use orlop_machinery::patch::strategic;
use orlop_machinery::time::Time;
use orlop_machinery::{Value, decode, encode, json};

const NOW: Time = Time::from_unix(1_767_312_000);

/// Every kind with its recorded object, decoded.
fn objects() -> Vec<(&'static Entry, Value)> {
    let Some(folder) = recorded::folder() else { return Vec::new() };
    let mut objects = Vec::new();
    for entry in catalog().iter() {
        let known = &entry.resource;
        let group = if known.group.is_empty() { "core" } else { &known.group };
        let name = format!("{group}.{}.{}.json", known.version, known.kind);
        let path = folder.join("api-testdata").join(&name);
        if !path.exists() {
            println!("no recorded {name}");
            continue;
        }
        let decoded = decode::decode(schema(), entry.id, recorded::json(&path)).unwrap();
        assert!(decoded.unknown.is_empty(), "{name}: {:?}", decoded.unknown);
        objects.push((entry, decoded.object));
    }
    assert!(objects.len() > 55, "only {} kinds", objects.len());
    objects
}

fn defaulted(entry: &Entry, object: &Value) -> Value {
    let mut object = object.clone();
    catalog().set_defaults(entry, &mut object);
    object
}

#[test]
fn defaults_are_set_once_and_fit_the_schema() {
    for (entry, object) in objects() {
        for object in [object, bare(entry)] {
            let once = defaulted(entry, &object);
            assert_eq!(defaulted(entry, &once), once, "{}", entry.resource.kind);
            let again = decode::decode(schema(), entry.id, once.clone()).unwrap();
            assert_eq!(again.object, once, "{}: not in normal form", entry.resource.kind);
        }
    }
}

/// An object that says nothing.
fn bare(entry: &Entry) -> Value {
    let mut object = Value::from([("kind", entry.resource.kind.clone())]);
    object.set("apiVersion", entry.resource.api_version());
    decode::decode(schema(), entry.id, object).unwrap().object
}

#[test]
fn rules_take_any_object_and_leave_it_in_normal_form() {
    let user = User { name: "jane", ..User::default() };
    let context = Context { now_seconds: NOW.unix_seconds(), user };
    for (entry, object) in objects() {
        for object in [defaulted(entry, &object), defaulted(entry, &bare(entry))] {
            let subresources = entry.resource.subresources.iter();
            let others = subresources.filter(|known| known.kind.is_none());
            let endpoints = others.filter_map(|known| known.rules.as_deref());
            for rules in endpoints.chain([entry.kind as _]) {
                let mut errors = Errors::new();
                let mut new = object.clone();
                rules.prepare_create(&context, &mut new);
                rules.validate(&context, &entry.node(&new), &mut errors);
                rules.warn(&context, &entry.node(&new), &mut Vec::new());
                rules.prepare_update(&context, &mut new, &object);
                let (node, old) = (entry.node(&new), entry.node(&object));
                rules.validate_update(&context, &node, &old, &mut errors);
                rules.warn_update(&context, &node, &old, &mut Vec::new());
                drop(errors.to_string());
                let again = decode::decode(schema(), entry.id, new.clone()).unwrap();
                assert_eq!(again.object, new, "{}: not in normal form", entry.resource.kind);
            }
            let row = entry.kind.row(&context, &object);
            assert_eq!(row.cells.len(), entry.kind.columns().len(), "{}", entry.resource.kind);
            for field in entry.kind.selectable_fields() {
                drop((field.get)(&object));
            }
        }
    }
}

/// What passes through another version once may lose what that version cannot say; after that
/// nothing more is lost.
#[test]
fn an_object_that_is_stored_and_read_again_is_the_same() {
    let pass = |entry: &Entry, object: &Value| {
        let mut object = object.clone();
        entry.kind.to_storage(&mut object);
        entry.kind.from_storage(&mut object);
        object
    };
    for (entry, object) in objects() {
        let once = pass(entry, &object);
        assert_eq!(pass(entry, &once), once, "{}", entry.resource.kind);
        let text = encode::to_vec(schema(), entry.id, &once);
        assert_eq!(json::parse(&text).unwrap(), once, "{}", entry.resource.kind);
    }
}

#[test]
fn applying_twice_changes_nothing_the_second_time() {
    let options = ApplyOptions { on_conflict: OnConflict::Force, now: NOW };
    for (entry, mut object) in objects() {
        if !entry.kind.is_stored() {
            continue;
        }
        object.entry("metadata").remove("managedFields");
        let typing = Typing::Struct(schema(), entry.id);
        let kind = &entry.resource.kind;
        let manager = FieldManager::new(typing, &entry.resource.api_version(), kind);
        let Ok(once) = manager.apply(&Value::Null, &object, "test", &options) else {
            println!("{kind}: its recorded object cannot be applied");
            continue;
        };
        let twice = manager.apply(&once.object, &object, "test", &options).unwrap();
        assert!(!twice.is_changed, "{kind}");
        assert_eq!(twice.object, once.object, "{kind}");
    }
}

#[test]
fn the_patch_between_two_objects_leads_from_one_to_the_other() {
    for (entry, object) in objects() {
        let (from, to) = (bare(entry), object);
        for (from, to) in [(&from, &to), (&to, &from)] {
            // A patch cannot say that something shall be null.
            if json::to_string(to).contains("null") {
                continue;
            }
            let patch =
                strategic::create_two_way_merge_patch(schema(), entry.id, from, to, &[]).unwrap();
            let there =
                strategic::strategic_merge(schema(), entry.id, from.clone(), patch).unwrap();
            let there = decode::decode(schema(), entry.id, there).unwrap().object;
            let to = decode::decode(schema(), entry.id, to.clone()).unwrap().object;
            assert_eq!(there, to, "{}", entry.resource.kind);
        }
    }
}
