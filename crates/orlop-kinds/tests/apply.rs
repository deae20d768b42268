//! What becomes of built-in kinds and of their managers when several write them.
//!
//! `apply/kinds.txt` has cases: a title, writes (with options `/SUBRESOURCE`, `-RESET.FIELD`,
//! `+ONLY.FIELD`, `force`), after `!` why the write above fails, after `=` the object in the end,
//! and then its managers: name, operation, subresource, which write was the last (from 0, or
//! never), and the fields as text. All of it is what upstream does with the same writes; the text
//! of the fields is the same to the byte.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use orlop_kinds::schema::schema;
use orlop_machinery::apply::{
    ApplyOptions, FieldFilter, FieldManager, OnConflict, ResetFields, Typing, fields_v1,
};
use orlop_machinery::decode::decode;
use orlop_machinery::schema::StructId;
use orlop_machinery::time::Time;
use orlop_machinery::{Value, json};

/// When the first write happens. Each later one is a second later.
const START: i64 = 1_700_000_000;

#[test]
fn kinds() {
    let text = include_str!("apply/kinds.txt");
    for case in text.split("\ncase ").skip(1) {
        let (title, lines) = case.split_once('\n').unwrap();
        let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
        let (mut live, mut second, mut seen) = (Value::Null, 0, Vec::new());
        for line in &lines {
            let is_write = line.starts_with("apply ") || line.starts_with("update ");
            if is_write {
                seen.extend(write(&mut live, line, second));
                second += 1;
            }
        }
        if !live.is_null() {
            seen.extend(show(&live));
        }
        let is_result = |line: &&&str| !line.starts_with("apply ") && !line.starts_with("update ");
        let expect: Vec<&str> = lines.iter().filter(is_result).copied().collect();
        assert_eq!(seen, expect, "{title}");
    }
}

/// Makes a write as a line says; returns why it failed.
fn write(live: &mut Value, line: &str, second: i64) -> Option<String> {
    let (words, object) = line.split_at(line.find('{').unwrap());
    let words: Vec<&str> = words.split_whitespace().collect();
    let [operation, manager, api_version, kind, options @ ..] = words.as_slice() else { panic!() };
    let mut object = json::parse(object.as_bytes()).unwrap();
    object.set_default("apiVersion", *api_version);
    object.set_default("kind", *kind);
    let id = find(api_version, kind);
    let fields = field_manager(id, api_version, kind, options);
    let now = Time::from_unix(START + second);
    if *operation == "update" {
        let mut object = decode(schema(), id, object).unwrap().object;
        if let Some(uid) = live.at("metadata").get("uid") {
            object.entry("metadata").set("uid", uid.clone());
        }
        let result = fields.try_update(live, &mut object, manager, now);
        store(live, object);
        return result.err().map(|error| format!("! {error}"));
    }
    let is_forced = options.contains(&"force");
    let on_conflict = if is_forced { OnConflict::Force } else { OnConflict::Fail };
    match fields.apply(live, &object, manager, &ApplyOptions { on_conflict, now }) {
        Ok(outcome) => {
            store(live, decode(schema(), id, outcome.object).unwrap().object);
            None
        }
        Err(error) => Some(format!("! {}", error.to_string().replace('\n', "\\n"))),
    }
}

fn find(api_version: &str, kind: &str) -> StructId {
    let (group, version) = api_version.split_once('/').unwrap_or(("core", api_version));
    let group = group.trim_end_matches(".k8s.io");
    schema().find(&format!("io.k8s.api.{group}.{version}.{kind}")).unwrap()
}

fn field_manager(
    id: StructId,
    api_version: &str,
    kind: &str,
    options: &[&str],
) -> FieldManager<'static> {
    let with = |sign: char| -> Vec<&str> {
        options.iter().filter_map(|option| option.strip_prefix(sign)).collect()
    };
    let subresource = with('/').first().copied().unwrap_or_default();
    let reset = match (with('-'), with('+')) {
        (excluded, included) if included.is_empty() => FieldFilter::exclude(&excluded),
        (_, included) => FieldFilter::include(&included),
    };
    FieldManager::new(Typing::Struct(schema(), id), api_version, kind)
        .for_subresource(subresource)
        .with_reset_fields(ResetFields::new(&[api_version], &reset))
}

/// What is stored has an identity.
fn store(live: &mut Value, mut object: Value) {
    object.entry("metadata").set("uid", "u");
    *live = object;
}

/// The object and its managers.
fn show(live: &Value) -> Vec<String> {
    let mut object = live.clone();
    object.remove("apiVersion");
    object.remove("kind");
    object.entry("metadata").remove("uid");
    let managers = object.entry("metadata").remove("managedFields").unwrap_or_default();
    let mut lines = vec![format!("= {}", json::to_string(&object))];
    for entry in managers.list() {
        let text = |field: &str| entry.at(field).str();
        let mut line = format!("{} {}", text("manager"), text("operation").to_ascii_lowercase());
        if !text("subresource").is_empty() {
            line += &format!(" /{}", text("subresource"));
        }
        line += &match text("time") {
            "" => " never ".to_owned(),
            time => format!(" {:02} ", time.parse::<Time>().unwrap().unix_seconds() - START),
        };
        line += &fields_v1::to_text(&fields_v1::from_value(entry.at("fieldsV1")).unwrap());
        lines.push(line);
    }
    lines
}
