//! The table of built-in kinds, held against how Go declares the types of the API.
//!
//! The generator reads the same declarations; this test walks them on its own, from the kinds that
//! are served, and looks only at names and their order.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a test")]

mod recorded;

use std::collections::BTreeSet;

use orlop_kinds::schema;
use orlop_machinery::Value;

#[test]
fn every_declared_field_is_in_the_table_in_its_place() {
    let Some(folder) = recorded::folder() else { return };
    let declared = recorded::json(&folder.join("types.json"));
    let mut waiting: Vec<(String, String)> = kinds(&declared);
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    while let Some((package, name)) = waiting.pop() {
        if !seen.insert((package.clone(), name.clone())) {
            continue;
        }
        let mut fields = Vec::new();
        collect(&declared, &package, &name, &mut fields, &mut waiting);
        let full = format!("io.k8s.{}.{name}", package.replace('/', "."));
        let Some(id) = schema().find(&full) else {
            wrong.push(format!("{full} is missing"));
            continue;
        };
        let have: Vec<&str> =
            schema().get(id).in_order().map(|field| field.name.as_str()).collect();
        if have != fields {
            wrong.push(format!("{full}\n  have   {have:?}\n  expect {fields:?}"));
        }
    }
    println!("{} structs compared", seen.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() > 500, "only {} structs were compared", seen.len());
}

/// The declared types that have a kind and a stable version.
fn kinds(declared: &Value) -> Vec<(String, String)> {
    let mut kinds = Vec::new();
    for (package, types) in declared.map().iter() {
        let version = package.rsplit('/').next().unwrap();
        let is_api = package.starts_with("api/") || package.contains("/pkg/apis/");
        let is_stable = version.starts_with('v') && version[1..].parse::<u8>().is_ok();
        for (name, found) in types.map().iter() {
            let mut fields = found.at("fields").list().iter();
            let has_kind = fields.any(|field| {
                field.at("inline").bool() && field.at("type").str().ends_with("TypeMeta")
            });
            if is_api && is_stable && has_kind {
                kinds.push((package.to_owned(), name.to_owned()));
            }
        }
    }
    kinds
}

/// The JSON names of a struct, embedded ones in their place, and the structs that it refers to.
fn collect<'a>(
    declared: &'a Value,
    package: &str,
    name: &str,
    fields: &mut Vec<&'a str>,
    waiting: &mut Vec<(String, String)>,
) {
    for field in declared.at(package).at(name).at("fields").list() {
        let (json, go) = (field.at("json").str(), field.at("type").str());
        let word = go.rsplit([']', '*']).next().unwrap();
        let target = locate(declared, package, word);
        if field.at("inline").bool() {
            let (package, name) = target.unwrap();
            collect(declared, &package, &name, fields, waiting);
        } else if !json.is_empty() && json != "-" {
            fields.push(json);
            waiting.extend(target.filter(|(package, name)| is_struct(declared, package, name)));
        }
    }
}

/// Where a word is declared: in the same package, or in one that is imported.
fn locate(declared: &Value, package: &str, word: &str) -> Option<(String, String)> {
    let meta = "apimachinery/pkg/apis/meta/v1";
    let (places, name): (Vec<&str>, &str) = match word.split_once('.') {
        None => (vec![package], word),
        Some(("authenticationv1", name)) => (vec!["api/authentication/v1"], name),
        Some(("metav1", name)) => (vec![meta], name),
        Some((_, name)) => (vec!["api/core/v1", meta], name),
    };
    let found = places.into_iter().find(|place| declared.at(place).get(name).is_some())?;
    Some((found.to_owned(), name.to_owned()))
}

/// Whether it travels as its fields: the table has words for the types that do not.
fn is_struct(declared: &Value, package: &str, name: &str) -> bool {
    let words = ["Time", "MicroTime", "Duration", "FieldsV1", "JSON"];
    let is_either = name.starts_with("JSONSchemaPropsOr");
    let has_fields = !declared.at(package).at(name).at("fields").is_null();
    has_fields && !words.contains(&name) && !is_either
}
