//! Expressions that want too much: all of them end, soon, with an error.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::sync::Arc;
use std::thread;

use orlop_cel::environment::Functions;
use orlop_cel::{Bindings, Environment, library};

/// What upstream lets one expression cost.
const BUDGET: u64 = 1_000_000;
/// The stack of a worker.
const STACK_BYTES: usize = 2 << 20;

#[track_caller]
fn check(expression: &str, expect: &str) {
    assert_eq!(evaluate(expression), expect);
}

fn evaluate(expression: &str) -> String {
    let libraries = [library::KUBERNETES, library::EXTENSIONS].concat();
    let environment = Environment::new(Arc::new(Functions::new(&libraries)));
    let program = match environment.compile(expression) {
        Ok(program) => program,
        Err(issues) => return issues.list[0].message.clone(),
    };
    let outcome = program.evaluate(&Bindings::new(), BUDGET);
    assert!(outcome.cost <= 2 * BUDGET, "{}", outcome.cost);
    match outcome.result {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Names that are each made of the one before, and an expression over the last.
fn chain(first: &str, next: &str, count: usize, last: &str) -> String {
    let mut text = last.replace('@', &format!("v{count}"));
    for at in (1..=count).rev() {
        let value = next.replace('@', &format!("v{}", at - 1));
        text = format!("cel.bind(v{at}, {value}, {text})");
    }
    format!("cel.bind(v0, {first}, {text})")
}

const TOO_EXPENSIVE: &str = "operation cancelled: actual cost limit exceeded";
const TOO_LARGE: &str = "operation cancelled: value too large";

#[test]
fn loops_in_loops_end_with_the_budget() {
    let items = vec!["1"; 100].join(", ");
    let list = format!("[{items}]");
    check(
        &format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, a + b + c + d > 0))))"),
        TOO_EXPENSIVE,
    );
    check(&format!("{list}.map(a, {list}.map(b, {list}.map(c, [a, b, c]))).size()"), TOO_EXPENSIVE);
}

#[test]
fn an_error_does_not_hide_that_the_budget_is_used_up() {
    let items = vec!["1"; 1000].join(", ");
    let list = format!("[{items}]");
    let endless = format!("{list}.all(a, {list}.all(b, a + b > 0))");
    check(&format!("({endless}) || true"), TOO_EXPENSIVE);
    check(&format!("true || ({endless})"), "true");
}

#[test]
fn what_grows_by_doubling_ends() {
    check(&chain("'0123456789'", "@ + @", 40, "@.size()"), TOO_EXPENSIVE);
    check(&chain("[1, 2]", "@ + @", 40, "@.size()"), TOO_LARGE);
    check(&chain("[1]", "@.map(x, @)", 3, "@.size()"), "1");
}

#[test]
fn values_that_share_their_parts_are_not_walked_for_ever() {
    check(&chain("[1, 1]", "[@, @]", 60, "@ == @"), TOO_LARGE);
    check(&chain("[1, 1]", "[@, @]", 60, "@ in [@]"), TOO_LARGE);
}

#[test]
fn regular_expressions_that_are_made_are_counted() {
    let items = vec!["'a{1000}'"; 1000].join(", ");
    check(&format!("[{items}].all(p, !'a'.matches(p + p + p))"), TOO_LARGE);
    check("'a'.matches('(a{1000}){1000}')", "error parsing regexp: invalid repeat count: `{1000}`");
}

#[test]
fn the_deepest_expressions_run_on_a_small_stack() {
    let deep = |open: &str, middle: &str, close: &str, count: usize| {
        format!("{}{middle}{}", open.repeat(count), close.repeat(count))
    };
    let run = move || {
        for (open, middle, close) in [
            ("[", "1", "]"),
            ("-(", "1", ")"),
            ("1 + (", "1", ")"),
            ("true ? 1 : (", "1", ")"),
            ("false || (", "true", ")"),
            ("[1].map(x, ", "1", ")"),
            ("[[1]][0] + (", "[2]", ")"),
            ("{'a': ", "1", "}"),
            ("string(", "'a'", ")"),
            ("size([", "1", "])"),
        ] {
            let depth = |count| evaluate(&deep(open, middle, close, count));
            let refused = ["recursion", "nested", "recover"];
            assert!(!refused.iter().any(|word| depth(20).contains(word)), "{}", depth(20));
            let _ = (depth(100), depth(240), depth(2000));
        }
        let sum = vec!["1"; 5000].join(" + ");
        let _ = evaluate(&sum);
    };
    thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap().join().unwrap();
}
