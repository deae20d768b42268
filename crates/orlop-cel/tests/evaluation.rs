//! Expressions over an object with a schema: what comes out and what it costs, as upstream has it.
//!
//! The cases are in `cases/evaluation.txt`.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::sync::Arc;

use orlop_cel::environment::Functions;
use orlop_cel::library;
use orlop_cel::rules::{Extent, declare};
use orlop_cel::{Bindings, DeclType, Environment, Type, Value};
use orlop_machinery::json;
use orlop_machinery::structural::Structural;

const CASES: &str = include_str!("cases/evaluation.txt");
const SCHEMA: &str = include_str!("cases/evaluation_schema.json");
const OBJECT: &str = include_str!("cases/evaluation_object.json");

/// What upstream lets one expression cost.
const BUDGET: u64 = 1_000_000;

#[test]
fn values_and_costs_are_those_of_upstream() {
    let schema = Structural::read(&json::parse(SCHEMA.as_bytes()).unwrap()).unwrap();
    let decl = declare(&schema, Extent::Part).unwrap();
    let object = json::parse(OBJECT.as_bytes()).unwrap();
    let mut failed = Vec::new();
    let mut count = 0;
    for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expression, expected) = line.split_once(" => ").unwrap();
        count += 1;
        let actual = evaluate(&decl, &object, expression);
        if actual != expected {
            failed.push(format!("{expression}\n  expected {expected}\n  actual   {actual}"));
        }
    }
    assert!(failed.is_empty(), "{} of {count}:\n{}", failed.len(), failed.join("\n"));
}

fn evaluate(decl: &DeclType, object: &orlop_machinery::Value, expression: &str) -> String {
    let mut environment = Environment::new(Arc::new(Functions::new(library::KUBERNETES)));
    environment.require_homogeneous_literals();
    let this = environment.declare_data("self", decl);
    let d = environment.declare("d", Type::Dyn);
    let checked = match environment.check(expression) {
        Ok(checked) => checked,
        Err(issues) => return format!("issue: {issues}"),
    };
    let program = match environment.plan(&checked) {
        Ok(program) => program,
        Err(issues) => return format!("plan error: {}", issues.list[0].message),
    };
    let mut bindings = Bindings::new();
    bindings.set_json(this, object, decl);
    bindings.set(d, Value::Int(5));
    let outcome = program.evaluate(&bindings, BUDGET);
    match outcome.result {
        Ok(value) => format!("{} {}", outcome.cost, show(&value)),
        Err(error) => format!("{} error: {error}", outcome.cost),
    }
}

fn show(value: &Value<'_>) -> String {
    match value {
        Value::Uint(number) => format!("{number}u"),
        Value::Double(_) => format!("double({value})"),
        Value::String(text) => format!("{:?}", &**text),
        Value::Bytes(_) => format!("b{:?}", value.to_string()),
        Value::Duration(span) => format!("duration({span})"),
        Value::Timestamp(time) => format!("timestamp({time})"),
        Value::Optional(None) => "none".to_owned(),
        Value::Optional(Some(value)) => format!("some({})", show(value)),
        Value::Type(ty) => format!("type({})", ty.name()),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|item| show(&item.unwrap())).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(k, v)| format!("{}: {}", show(&k), show(&v.unwrap())));
            let mut entries: Vec<String> = entries.collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}
