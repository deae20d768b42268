//! What becomes of objects and of their managers when several write them: tables of cases.
//!
//! A file of `apply/` starts with the fields of a `Widget`, in the form of schema texts, or with
//! the word `deduced`. `V` at the end of a name stands for the version: conversion renames such
//! fields. Then come cases: a title, writes, what the last of them leaves behind, and who manages
//! it. All of it is what upstream does.
//!
//! ```text
//! case TITLE
//! apply MANAGER [OPTION...] JSON     a write, with options force, v2, /SUBRESOURCE, -RESET.FIELD
//! update MANAGER [OPTION...] JSON
//! ! MESSAGE                          the write above fails
//! schema NAME                        from here on another schema holds
//! forget v2                          from here on a version is not served
//! store                              the object gets an identity
//! wipe                               the object loses its managers
//! extract MANAGER JSON               what the manager would apply again
//! = JSON                             the object
//! MANAGER apply v1 SECOND PATH...    an entry of its managed fields
//! ```
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use orlop_machinery::apply::{
    ApplyOptions, FieldFilter, FieldManager, OnConflict, ResetFields, Typing, Versions, fields_v1,
    path_text,
};
use orlop_machinery::schema::{Schema, parse};
use orlop_machinery::time::Time;
use orlop_machinery::{Map, Value, json};

/// Seconds of the first write. Each line of a case is a second.
const START: i64 = 1_700_000_000;

const METADATA: &str = "\
Metadata
 name *string - omit
 namespace *string - omit
 uid *string - omit
 labels {string} - omit
 annotations {string} - omit
 finalizers [string] - omit list=set
 managedFields [any] - omit list=atomic
";

macro_rules! files {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(include_str!(concat!("apply/", stringify!($name), ".txt")));
        })*
    };
}

files! {
    atomic
    before_first_apply
    conflicts
    deduced
    duplicates
    errors
    extract
    keyed_lists
    last_applied
    many_managers
    maps
    reset_fields
    reset_managers
    scalars
    schema_changes
    sets
    unknown_fields
    versions
}

/// Runs all cases of a file.
fn check(text: &str) {
    let (head, cases) = text.split_once("\ncase ").unwrap();
    let schemas = Schemas::read(head);
    for case in cases.split("\ncase ") {
        let (title, lines) = case.split_once('\n').unwrap();
        let mut world = World::new(&schemas);
        let mut seen = Vec::new();
        for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("apply", rest) => seen.extend(world.write(Write::parse(rest, true))),
                ("update", rest) => seen.extend(world.write(Write::parse(rest, false))),
                ("schema", name) => world.schema = name.to_owned(),
                ("forget", version) => world.versions.retain(|known| known != version),
                ("store", _) => world.live.entry("metadata").set("uid", "u"),
                ("wipe", _) => _ = world.live.entry("metadata").remove("managedFields"),
                ("extract", rest) => seen.push(world.extract(rest)),
                _ => continue,
            }
            world.second += 1;
        }
        seen.extend(world.show());
        let is_result = |line: &&str| {
            let word = line.split(' ').next().unwrap_or_default();
            !matches!(word, "apply" | "update" | "schema" | "forget" | "store" | "wipe" | "")
                && !line.starts_with('#')
        };
        let expect: Vec<&str> = lines.lines().filter(is_result).collect();
        assert_eq!(seen, expect, "{title}");
    }
}

/// The schemas of a file by name; none where types are deduced.
struct Schemas {
    list: Vec<(String, Option<Schema>)>,
}

impl Schemas {
    fn read(head: &str) -> Schemas {
        let mut list = Vec::new();
        for block in format!("\n{head}").split("\nschema").skip(1) {
            let (name, fields) = block.split_once('\n').unwrap();
            list.push((name.trim().to_owned(), Some(Schemas::build(fields))));
        }
        if head.lines().any(|line| line == "deduced") {
            list.push((String::new(), None));
        }
        Schemas { list }
    }

    fn build(fields: &str) -> Schema {
        let texts: Vec<&'static str> = ["v1", "v2", "v3"]
            .map(|version| {
                let text = format!(
                    "package {version}\nWidget\n apiVersion string - omit\n kind string - omit\n \
                     metadata *Metadata - omit\n{}\n{METADATA}",
                    fields.trim_end().replace("_V", &format!("_{version}"))
                );
                &*Box::leak(text.into_boxed_str())
            })
            .to_vec();
        parse(&texts).unwrap()
    }

    fn typing(&self, name: &str, version: &str) -> Typing<'_> {
        match &self.list.iter().find(|(known, _)| known == name).unwrap().1 {
            Some(schema) => {
                Typing::Struct(schema, schema.find(&format!("{version}.Widget")).unwrap())
            }
            None => Typing::Deduced,
        }
    }
}

/// A write of a case.
struct Write<'a> {
    manager: &'a str,
    version: &'a str,
    subresource: &'a str,
    reset: Vec<&'a str>,
    on_conflict: OnConflict,
    is_apply: bool,
    object: Value,
}

impl<'a> Write<'a> {
    fn parse(text: &'a str, is_apply: bool) -> Write<'a> {
        let (words, object) = text.split_at(text.find('{').unwrap());
        let mut words = words.split_whitespace();
        let mut write = Write {
            manager: words.next().unwrap(),
            version: "v1",
            subresource: "",
            reset: Vec::new(),
            on_conflict: OnConflict::Fail,
            is_apply,
            object: json::parse(object.as_bytes()).unwrap(),
        };
        for word in words {
            match word.split_at(1) {
                ("/", name) => write.subresource = name,
                ("-", field) => write.reset.push(field),
                ("v", _) => write.version = word,
                _ => write.on_conflict = OnConflict::Force,
            }
        }
        let version = format!("example.com/{}", write.version);
        write.object.set_default("apiVersion", version);
        write.object.set_default("kind", "Widget");
        write
    }
}

/// The object of a case, always in v1.
struct World<'a> {
    schemas: &'a Schemas,
    schema: String,
    versions: Vec<String>,
    live: Value,
    second: i64,
}

impl<'a> World<'a> {
    fn new(schemas: &'a Schemas) -> World<'a> {
        let versions = ["v1", "v2", "v3"].map(str::to_owned).to_vec();
        let schema = schemas.list[0].0.clone();
        World { schemas, schema, versions, live: Value::Null, second: 0 }
    }

    /// Makes a write; returns why it failed.
    fn write(&mut self, mut write: Write<'_>) -> Option<String> {
        let api_version = format!("example.com/{}", write.version);
        let mut reset = ResetFields::default();
        for version in &self.versions {
            let version = format!("example.com/{version}");
            reset.set(&version, FieldFilter::exclude(&write.reset));
        }
        let typing = self.schemas.typing(&self.schema, write.version);
        let fields = FieldManager::new(typing, &api_version, "Widget")
            .for_subresource(write.subresource)
            .with_reset_fields(reset)
            .with_versions(self);
        let live = rename(&self.live, "v1", write.version);
        let now = Time::from_unix(START + self.second);
        let result = if write.is_apply {
            let options = ApplyOptions { on_conflict: write.on_conflict, now };
            let outcome = fields.apply(&live, &write.object, write.manager, &options);
            outcome.map(|outcome| outcome.object).map_err(|error| error.to_string())
        } else {
            if let Some(uid) = live.at("metadata").get("uid") {
                write.object.entry("metadata").set("uid", uid.clone());
            }
            let result = fields.try_update(&live, &mut write.object, write.manager, now);
            let message = result.err().map(|error| format!("! {error}"));
            self.live = rename(&write.object, write.version, "v1");
            return message;
        };
        match result {
            Ok(object) => {
                self.live = rename(&object, write.version, "v1");
                None
            }
            Err(message) => Some(format!("! {}", message.replace('\n', "\\n"))),
        }
    }

    fn extract(&self, rest: &str) -> String {
        let manager = rest.split(' ').next().unwrap();
        let typing = self.schemas.typing(&self.schema, "v1");
        let fields = FieldManager::new(typing, "example.com/v1", "Widget");
        let extracted = fields.extract(&self.live, manager).unwrap().unwrap_or_default();
        format!("extract {manager} {}", json::to_string(&without_kind(&extracted)))
    }

    /// The object and its managers.
    fn show(&self) -> Vec<String> {
        let mut object = without_kind(&self.live);
        let managers =
            object.get_mut("metadata").and_then(|metadata| metadata.remove("managedFields"));
        if object.at("metadata").is_empty() {
            object.remove("metadata");
        }
        let mut lines = vec![format!("= {}", json::to_string(&object))];
        lines.extend(managers.unwrap_or_default().list().iter().map(show_manager));
        lines
    }
}

impl Versions for World<'_> {
    fn typing(&self, api_version: &str) -> Option<Typing<'_>> {
        let version = api_version.strip_prefix("example.com/")?;
        let is_served = self.versions.iter().any(|known| known == version);
        is_served.then(|| self.schemas.typing(&self.schema, version))
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        let version = |text: &str| text.trim_start_matches("example.com/").to_owned();
        Ok(rename(object, &version(object.at("apiVersion").str()), &version(api_version)))
    }
}

/// Converts an object: its version, and the fields that have it in their names.
fn rename(value: &Value, from: &str, to: &str) -> Value {
    fn walk(value: &Value, from: &str, to: &str) -> Value {
        match value {
            Value::Map(map) => Value::Map(
                map.entries()
                    .iter()
                    .map(|(key, value)| {
                        let stem = key.strip_suffix(from).filter(|stem| stem.ends_with('_'));
                        let key = stem.map_or(key.clone(), |stem| format!("{stem}{to}").into());
                        (key, walk(value, from, to))
                    })
                    .collect::<Map>(),
            ),
            Value::List(items) => {
                Value::List(items.iter().map(|item| walk(item, from, to)).collect())
            }
            other => other.clone(),
        }
    }
    if value.is_null() {
        return Value::Null;
    }
    let mut renamed = walk(value, from, to);
    if let Some(metadata) = value.get("metadata") {
        renamed.set("metadata", metadata.clone());
    }
    renamed.set("apiVersion", format!("example.com/{to}"));
    renamed
}

fn without_kind(object: &Value) -> Value {
    let mut object = object.clone();
    object.remove("apiVersion");
    object.remove("kind");
    object
}

fn show_manager(entry: &Value) -> String {
    let text = |field: &str| entry.at(field).str();
    let version = text("apiVersion").trim_start_matches("example.com/");
    let mut line =
        format!("{} {} {version}", text("manager"), text("operation").to_ascii_lowercase());
    if !text("subresource").is_empty() {
        line += &format!(" /{}", text("subresource"));
    }
    match text("time") {
        "" => line += " never",
        time => {
            let second = time.parse::<Time>().unwrap().unix_seconds() - START;
            line += &format!(" {second:02}");
        }
    }
    fields_v1::from_value(entry.at("fieldsV1")).unwrap().for_each(|path| {
        line.push(' ');
        line += &path_text(path);
    });
    line
}
