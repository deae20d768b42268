//! Reads the case files and does what they say.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use orlop_kinds::catalog::{Entry, catalog};
use orlop_kinds::schema;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Context, Rules, User};
use orlop_machinery::{Value, decode, json, meta, yaml};

/// What came of all cases.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) count: usize,
    pub(crate) failures: Vec<String>,
}

/// 2026-01-02T00:00:00Z.
const NOW_SECONDS: i64 = 1_767_312_000;

const USER: User<'_> =
    User { name: "jane", uid: "1", groups: &["system:authenticated"], extra: None };

/// A case as it stands in its file.
struct Case<'a> {
    action: &'a str,
    subresource: &'a str,
    base: &'a str,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    expect: Vec<&'a str>,
}

/// Runs all files below the folder.
pub(crate) fn run(folder: &Path) -> Report {
    let only = std::env::var("CASES").unwrap_or_default();
    let mut report = Report::default();
    for file in files(folder) {
        let name = file.strip_prefix(folder).unwrap().display().to_string();
        if name.contains(&only) {
            run_file(&name, &fs::read_to_string(&file).unwrap(), &mut report);
        }
    }
    report
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn run_file(name: &str, text: &str, report: &mut Report) {
    let mut bases: Vec<(&str, Value)> = Vec::new();
    for section in text.split("\n### ").map(|section| section.trim_start_matches("### ")) {
        let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
        if let Some(base) = heading.strip_prefix("base") {
            let object =
                yaml::parse(body.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
            bases.push((base.trim(), object));
        } else if heading.contains(':') {
            report.count += 1;
            let case = read_case(heading, body);
            let expect = case.expect.join("\n");
            match do_case(&case, &bases) {
                Ok(got) if got == expect => {}
                Ok(got) => report
                    .failures
                    .push(format!("--- {name}: {heading}\nexpected:\n{expect}\ngot:\n{got}\n")),
                Err(error) => report.failures.push(format!("--- {name}: {heading}\n{error}\n")),
            }
        }
    }
}

fn read_case<'a>(heading: &'a str, body: &'a str) -> Case<'a> {
    let (words, _title) = heading.split_once(':').unwrap_or((heading, ""));
    let (words, base) = words.split_once(" of ").unwrap_or((words, ""));
    let (action, subresource) = words.split_once(' ').unwrap_or((words, ""));
    let mut case = Case {
        action: action.trim(),
        subresource: subresource.trim(),
        base: base.trim(),
        old: Vec::new(),
        new: Vec::new(),
        expect: Vec::new(),
    };
    let mut lines = body.lines().map(str::trim_end);
    let input: Vec<&str> = lines.by_ref().take_while(|line| *line != "=>").collect();
    match input.iter().position(|line| *line == "to") {
        Some(at) => {
            case.old = input[..at].to_vec();
            case.new = input[at + 1..].to_vec();
        }
        None => case.new = input,
    }
    case.expect = lines.filter(|line| !line.is_empty()).collect();
    case
}

fn do_case(case: &Case<'_>, bases: &[(&str, Value)]) -> Result<String, String> {
    let empty = Value::Null;
    let base = bases.iter().find(|(name, _)| *name == case.base).map_or(&empty, |(_, base)| base);
    let old = changed(base, &case.old)?;
    let new = changed(&old, &case.new)?;
    let context = Context { now_seconds: NOW_SECONDS, user: USER };
    let (kind, api_version) = (new.at("kind").str(), new.at("apiVersion").str());
    let entry = catalog()
        .find_kind(api_version, kind)
        .ok_or_else(|| format!("no kind {kind} in {api_version}"))?;
    let (mut old, mut new) = (normal(entry, old)?, normal(entry, new)?);
    if case.action.contains("update") {
        stored(&mut old);
        stored(&mut new);
    }
    let rules = rules(entry, case.subresource)?;
    let text = match case.action {
        "create" => create(entry, rules, &context, new),
        "update" => update(entry, rules, &context, new, &old),
        "default" => return holds(&new, &case.expect),
        "prepare" => {
            rules.prepare_create(&context, &mut new);
            return holds(&new, &case.expect);
        }
        "prepare-update" => {
            rules.prepare_update(&context, &mut new, &old);
            return holds(&new, &case.expect);
        }
        "warn" => {
            rules.prepare_create(&context, &mut new);
            let mut warnings = Vec::new();
            rules.warn(&context, &entry.node(&new), &mut warnings);
            or_else(&warnings.join("\n"), "none")
        }
        "warn-update" => {
            rules.prepare_update(&context, &mut new, &old);
            let mut warnings = Vec::new();
            rules.warn_update(&context, &entry.node(&new), &entry.node(&old), &mut warnings);
            or_else(&warnings.join("\n"), "none")
        }
        "row" => row(entry, &context, &new),
        "select" => select(entry, &new),
        action => return Err(format!("unknown action {action:?}")),
    };
    Ok(text)
}

fn rules<'a>(entry: &'a Entry, subresource: &str) -> Result<&'a dyn Rules, String> {
    if subresource.is_empty() {
        return Ok(entry.kind);
    }
    let found = entry.resource.subresources.iter().find(|known| known.name == subresource);
    found
        .and_then(|known| known.rules.as_deref())
        .ok_or_else(|| format!("no rules of {subresource}"))
}

/// With the version that every stored object has.
fn stored(object: &mut Value) {
    object.entry("metadata").set_default("resourceVersion", "1");
}

/// Decoded and defaulted.
fn normal(entry: &Entry, object: Value) -> Result<Value, String> {
    let decoded = decode::decode(schema(), entry.id, object).map_err(|error| error.to_string())?;
    if !decoded.unknown.is_empty() {
        return Err(format!("unknown fields: {:?}", decoded.unknown));
    }
    let mut object = decoded.object;
    catalog().set_defaults(entry, &mut object);
    Ok(object)
}

fn create(entry: &Entry, rules: &dyn Rules, context: &Context<'_>, mut object: Value) -> String {
    rules.prepare_create(context, &mut object);
    let mut errors = Errors::new();
    let node = entry.node(&object);
    if entry.kind.is_stored() {
        let (scope, name_rule) = (entry.resource.scope, entry.kind.name_rule());
        meta::validate_object_meta(&node.at("metadata"), scope, name_rule, &mut errors);
    }
    rules.validate(context, &node, &mut errors);
    or_else(errors.to_string().trim_end(), "ok")
}

fn update(
    entry: &Entry,
    rules: &dyn Rules,
    context: &Context<'_>,
    mut new: Value,
    old: &Value,
) -> String {
    rules.prepare_update(context, &mut new, old);
    let mut errors = Errors::new();
    let (new, old) = (entry.node(&new), entry.node(old));
    meta::validate_object_meta_update(&new.at("metadata"), &old.at("metadata"), &mut errors);
    rules.validate_update(context, &new, &old, &mut errors);
    or_else(errors.to_string().trim_end(), "ok")
}

fn row(entry: &Entry, context: &Context<'_>, object: &Value) -> String {
    let row = entry.kind.row(context, object);
    assert_eq!(row.cells.len(), entry.kind.columns().len(), "one cell for each column");
    let cells: Vec<String> = row.cells.iter().map(cell).collect();
    cells.join(" | ").trim_end().to_owned()
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        value => json::to_string(value),
    }
}

fn select(entry: &Entry, object: &Value) -> String {
    let mut out = String::new();
    for field in entry.kind.selectable_fields() {
        writeln!(out, "{}: {}", field.name, (field.get)(object)).unwrap();
    }
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    or_else(&lines.join("\n"), "none")
}

/// Without empty lines, which cases do not have.
fn or_else(text: &str, empty: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { empty.to_owned() } else { lines.join("\n") }
}

/// Whether the object has the values; the text is the expectation with what is there instead.
fn holds(object: &Value, expect: &[&str]) -> Result<String, String> {
    let mut lines = Vec::new();
    for line in expect {
        let (path, wanted) = split_line(line)?;
        let found = find(object, &steps(path)?);
        let is_there = match wanted {
            "absent" => found.is_null(),
            wanted => {
                *found == yaml::parse(wanted.as_bytes()).map_err(|error| error.to_string())?
            }
        };
        let text = match found {
            Value::Null => "absent".to_owned(),
            found => json::to_string(found),
        };
        lines.push(if is_there { (*line).to_owned() } else { format!("{path}: {text}") });
    }
    Ok(lines.join("\n"))
}

fn changed(base: &Value, lines: &[&str]) -> Result<Value, String> {
    if lines.first().is_some_and(|line| line.starts_with("apiVersion:")) {
        return yaml::parse(lines.join("\n").as_bytes()).map_err(|error| error.to_string());
    }
    let mut object = base.clone();
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let (path, text) = split_line(line)?;
        let value = yaml::parse(text.as_bytes()).map_err(|error| format!("{line}: {error}"))?;
        place(&mut object, &steps(path)?, value);
    }
    Ok(object)
}

/// `path: value`; the path may have quoted keys with colons in them.
fn split_line(line: &str) -> Result<(&str, &str), String> {
    let mut is_quoted = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b':' if !is_quoted => return Ok((&line[..at], line[at + 1..].trim())),
            _ => {}
        }
    }
    Err(format!("not `path: value`: {line}"))
}

enum Step {
    Key(String),
    Index(usize),
}

fn steps(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.trim_start_matches('.');
        if let Some(after) = rest.strip_prefix("[\"") {
            let (key, after) = after.split_once("\"]").ok_or("an open quote")?;
            steps.push(Step::Key(key.to_owned()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']').ok_or("an open bracket")?;
            steps.push(Step::Index(index.parse().map_err(|_| format!("bad index in {path}"))?));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    Ok(steps)
}

fn find<'a>(object: &'a Value, steps: &[Step]) -> &'a Value {
    let missing = &orlop_machinery::value::NULL;
    steps.iter().fold(object, |value, step| match step {
        Step::Key(key) => value.at(key),
        Step::Index(at) => value.list().get(*at).unwrap_or(missing),
    })
}

/// Sets what is at the path. Null takes a field or an item out; an index one past the end appends.
fn place(object: &mut Value, steps: &[Step], value: Value) {
    match steps {
        [] => *object = value,
        [Step::Key(key)] if value.is_null() => {
            object.remove(key);
        }
        [Step::Index(at)] if value.is_null() => {
            object.make_list().remove(*at);
        }
        [Step::Key(key), rest @ ..] => place(object.entry(key), rest, value),
        [Step::Index(at), rest @ ..] => {
            let list = object.make_list();
            if list.len() <= *at {
                list.resize(*at + 1, Value::Null);
            }
            place(&mut list[*at], rest, value);
        }
    }
}
