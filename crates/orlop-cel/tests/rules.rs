//! Rules of custom resources: what they say about objects, and what they are estimated to cost.
//!
//! A case of `cases/rules.txt` is
//!
//! ```text
//! ### what the case shows
//! schema: (JSON, on one line; `new`, `old` the same)
//! new: {}
//! =>
//! error: spec: Invalid value: failed rule: ...
//! warning: (what is forgiven)
//! left: (of the budget)
//! ```
//!
//! with `old`, `ratcheting: true` and `budget` where they are needed. A line of
//! `cases/estimates.txt` is a rule and what it costs at most. All of it is what upstream says.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::collections::BTreeMap;

use orlop_cel::rules::{Extent, OBJECT_COST_MAX, Rules, Update, compile_rules, declare};
use orlop_machinery::field::{Errors, FieldError};
use orlop_machinery::structural::Structural;
use orlop_machinery::{Map, Value, json};

const RULES: &str = include_str!("cases/rules.txt");
const ESTIMATES: &str = include_str!("cases/estimates.txt");
const ESTIMATES_SCHEMA: &str = include_str!("cases/estimates_schema.json");

#[test]
fn objects_are_judged_as_upstream_judges_them() {
    let mut failed = Vec::new();
    let cases: Vec<&str> = RULES.split("\n### ").skip(1).collect();
    for case in &cases {
        let (title, rest) = case.split_once('\n').unwrap();
        let (given, expected) = rest.split_once("=>\n").unwrap();
        let actual = judge(given);
        if actual.trim() != expected.trim() {
            failed.push(format!("{title}\n-- expected\n{expected}-- actual\n{actual}"));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

fn judge(given: &str) -> String {
    let fields: BTreeMap<&str, &str> =
        given.lines().map(|line| line.split_once(": ").unwrap()).collect();
    let read = |name: &str| fields.get(name).map(|text| json::parse(text.as_bytes()).unwrap());
    let schema = Structural::read(&read("schema").unwrap()).unwrap();
    let (new, old) = (read("new").unwrap(), read("old"));
    let budget = fields.get("budget").map_or(OBJECT_COST_MAX, |text| text.parse().unwrap());
    let is_ratcheting = fields.contains_key("ratcheting");
    let update = Update { schema: &schema, new: &new, old: old.as_ref(), is_ratcheting };
    let mut errors = Errors::new();
    let evaluation =
        Rules::compile(&schema, Extent::Resource).validate(&update, budget, &mut errors);
    let mut lines: Vec<String> =
        errors.list().iter().map(|error| format!("error: {error}")).collect();
    lines.extend(evaluation.warnings.iter().map(|warning| format!("warning: {warning}")));
    for line in &mut lines {
        *line = line.replace('\n', "\\n");
    }
    // Upstream's order is random.
    lines.sort();
    lines.push(format!("left: {}", evaluation.budget_left));
    lines.join("\n")
}

#[test]
fn costs_are_estimated_as_upstream_estimates_them() {
    let schema = json::parse(ESTIMATES_SCHEMA.as_bytes()).unwrap();
    let mut schema = Structural::read(&schema).unwrap();
    let decl = declare(&schema, Extent::Part).unwrap();
    let mut expected = Vec::new();
    for line in ESTIMATES.lines().filter(|line| !line.starts_with('#')) {
        let (rule, cost) = line.rsplit_once(" => ").unwrap();
        schema.validations.push(Value::from([("rule", rule)]));
        expected.push((rule, cost.parse::<u64>().unwrap()));
    }
    let mut failed = Vec::new();
    for ((rule, cost), compiled) in expected.iter().zip(compile_rules(&schema, &decl)) {
        let error = compiled.error.unwrap_or_default();
        if compiled.cost_max != *cost || !error.is_empty() {
            failed.push(format!("{rule}: {} instead of {cost} {error}", compiled.cost_max));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), expected.len(), failed.join("\n"));
}

#[test]
fn objects_that_break_their_schema_are_not_judged() {
    let schema = json::parse(
        br#"{"type": "object", "x-kubernetes-validations": [{"rule": "self.kind == 'A'"}]}"#,
    );
    let schema = Structural::read(&schema.unwrap()).unwrap();
    let rules = Rules::compile(&schema, Extent::Resource);
    let new = Value::from(Map::new());
    let update = Update { schema: &schema, new: &new, old: None, is_ratcheting: false };
    let mut errors = Errors::new();
    errors.required(&orlop_machinery::field::Path::field("spec"), "");
    rules.validate_unless_blocked(&update, OBJECT_COST_MAX, &mut errors);
    let last = errors.list().last().map(FieldError::to_string);
    let expected = "<nil>: Invalid value: null: some validation rules were not checked because \
                    the object was invalid; correct the existing errors to complete validation";
    assert_eq!(last.as_deref(), Some(expected));
}

#[test]
fn a_schema_without_rules_costs_nothing() {
    let schema = json::parse(br#"{"type": "object", "properties": {"a": {"type": "string"}}}"#);
    let schema = Structural::read(&schema.unwrap()).unwrap();
    assert!(Rules::compile(&schema, Extent::Resource).is_empty());
}
