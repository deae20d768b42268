//! What expressions are accepted, of which type they are, and what is said about the others, as
//! kube-apiserver 1.36 says it.
//!
//! The cases are in `cases/compilation.txt`. Texts that do not fit on a line of it, and expressions
//! that try to exhaust the compiler, are here.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use std::sync::{Arc, LazyLock};

use orlop_cel::decl_type::{Field, ListIdentity, Shape};
use orlop_cel::environment::Functions;
use orlop_cel::parser::FieldNames;
use orlop_cel::{DeclType, Environment, Type, library};

const CASES: &str = include_str!("cases/compilation.txt");
/// What any expression starts with, as messages list it.
const EXPR: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, \
                    NUM_UINT, STRING, BYTES, IDENTIFIER}";

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(environment);

#[test]
fn types_and_issues_are_those_of_upstream() {
    let cases = CASES.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let mut failed = Vec::new();
    for line in cases {
        let (expression, expected) = line.split_once(" => ").unwrap();
        let expected = expected.replace("{EXPR}", EXPR);
        let actual = compile(expression);
        if actual != expected {
            failed.push(format!("{expression}\n  expected {expected}\n  actual   {actual}"));
        }
    }
    assert!(failed.is_empty(), "{}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn issues_show_where_they_are() {
    let show = |source: &str| ENVIRONMENT.check(source).unwrap_err().to_string();
    let check = |source: &str, expected: &[&str]| {
        assert_eq!(show(source), expected.join("\n").replace("{EXPR}", EXPR), "{source}");
    };
    check(
        "1 +\n'a' +\n  self.foo",
        &[
            "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'",
            " | 1 +",
            " | ..^",
            "ERROR: <input>:3:7: undefined field 'foo'",
            " |   self.foo",
            " | ......^",
        ],
    );
    let message = "Syntax error: mismatched input ')' expecting {EXPR}";
    check("\t1 +\t)", &[&format!("ERROR: <input>:1:6: {message}"), " |  1 + )", " | .....^"]);
    // Characters that are wide have wide dots.
    check(
        "'\u{e9}' + )",
        &[&format!("ERROR: <input>:1:7: {message}"), " | '\u{e9}' + )", " | .\u{ff0e}....^"],
    );
    let recognition = "Syntax error: token recognition error at: '\u{e9}'";
    let end = "Syntax error: mismatched input '<EOF>' expecting {EXPR}";
    check(
        "\u{e9}",
        &[
            &format!("ERROR: <input>:1:1: {recognition}"),
            " | \u{e9}",
            " | \u{ff3e}",
            &format!("ERROR: <input>:1:2: {end}"),
            " | \u{e9}",
            " | \u{ff0e}^",
        ],
    );
    // A source without a line has nothing to show.
    check("", &[&format!("ERROR: <input>:1:0: {end}")]);
    check("\n", &[&format!("ERROR: <input>:2:1: {end}"), " | ", " | ^"]);
}

#[test]
fn text_may_have_several_lines() {
    assert_eq!(compile("'''a\nb'''"), "string");
    assert_eq!(compile("self.min // less\n  <= self.max"), "bool");
    assert_eq!(
        compile("'a\nb'"),
        format!(
            "! 1:1: Syntax error: token recognition error at: ''a\n' ;; \
             2:2: Syntax error: token recognition error at: '''"
        )
    );
}

#[test]
fn backquotes_are_accepted_where_they_are_turned_on() {
    let mut environment = ENVIRONMENT.clone();
    environment.set_field_names(FieldNames::Quoted);
    let types = ["self.`min`", "{'a b': 1}.`a b`", "Self{`min`: 1}.min"];
    for source in types {
        assert_eq!(*environment.check(source).unwrap().result_type(), Type::Int, "{source}");
    }
}

#[test]
fn names_are_found_in_their_container_and_around_it() {
    let mut environment = ENVIRONMENT.clone();
    environment.declare("p.q.y", Type::Int);
    environment.declare("p.x", Type::String);
    environment.set_container("p.q");
    let check = |source: &str, expected: &str| {
        let checked = environment.check(source);
        assert_eq!(checked.unwrap().result_type().to_string(), expected, "{source}");
    };
    check("y", "int");
    check("x", "string");
    check(".x", "int");
    check("self.min", "int");
    check("q.y", "int");
    let issues = environment.check("z").unwrap_err();
    assert_eq!(issues.list[0].message, "undeclared reference to 'z' (in container 'p.q')");
}

#[test]
fn nothing_exhausts_the_compiler() {
    let deep = "expression recursion limit exceeded: 250";
    let high = "max recursion depth exceeded";
    let check = |source: String, expected: &str| {
        let found = compile(&source);
        let start = &source[..source.len().min(40)];
        assert!(found.contains(expected), "{start}: {found:.200}");
    };
    for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("{1:", "}"), ("x[", "]")] {
        check(format!("{}1{}", open.repeat(251), close.repeat(251)), deep);
        check(open.repeat(50_000 / open.len()), deep);
    }
    for (start, more) in [("x", ".y"), ("1", "+1"), ("x", "[0]"), ("x", ".f()"), ("1", "<1")] {
        check(format!("{start}{}", more.repeat(251)), high);
        check(format!("{start}{}", more.repeat(20_000)), high);
    }
    check(format!("{}1", "true?1:".repeat(251)), deep);
    check(format!("{}1", "-".repeat(99_999)), "int");
    check(format!("{}true", "!".repeat(10_000)), "bool");
    check(format!("true{}", "&&true".repeat(10_000)), "bool");
    check(" ".repeat(100_001), "expression code point size exceeds limit: size: 100001");
    check("x".repeat(100_000), "undeclared reference");
    check("# ".repeat(1_000), "Syntax error: token recognition error at: '#'");
    check("a b\n".repeat(1_000), "error recovery token lookahead limit exceeded: 256");
    check("1 + ".repeat(100) + &") ".repeat(10_000), "Syntax error");
}

#[test]
fn copies_and_types_that_grow_are_bounded() {
    let chain = format!("optional.of(1){}", ".optMap(x, x)".repeat(40));
    assert!(compile(&chain).contains("expression node limit exceeded: 250000"));
    let nested = |macros: usize| format!("{}1{}", "[1].map(x, ".repeat(macros), ")".repeat(macros));
    assert!(compile(&nested(100)).starts_with("list(list("));
    assert!(compile(&nested(240)).contains("expression depth exceeds 500"));
    let copied = format!("[optional.of({})].map(y, y.optMap(z, z))", nested(150));
    assert!(compile(&copied).starts_with("list(optional_type("));
    // Each map has the type before twice.
    let doubled =
        (0..60).fold("[1]".to_owned(), |inner, _| format!("[{inner}].map(x, {{x: x}})[0]"));
    assert!(compile(&doubled).contains("types of the expression are too large"));
}

/// The type, or all issues.
fn compile(source: &str) -> String {
    match ENVIRONMENT.check(source) {
        Ok(checked) => runtime_name(checked.result_type()),
        Err(issues) => {
            let show = |issue: &orlop_cel::Issue| {
                format!("{}:{}: {}", issue.line, issue.column + 1, issue.message)
            };
            let issues: Vec<String> = issues.list.iter().map(show).collect();
            format!("! {}", issues.join(" ;; "))
        }
    }
}

/// A type as upstream's own tools print it.
fn runtime_name(ty: &Type) -> String {
    match ty {
        Type::List(item) => format!("list({})", runtime_name(item)),
        Type::Map(of) => format!("map({}, {})", runtime_name(&of.0), runtime_name(&of.1)),
        Type::Optional(inner) => format!("optional_type({})", runtime_name(inner)),
        Type::Type(inner) => match &**inner {
            Type::Type(_) => "type(type)".to_owned(),
            inner => format!("type({})", runtime_name(inner)),
        },
        ty => ty.name().to_owned(),
    }
}

fn environment() -> Environment {
    let mut environment = Environment::new(Arc::new(Functions::new(library::KUBERNETES)));
    environment.require_homogeneous_literals();
    let this = this_type();
    environment.declare_data("self", &this);
    environment.declare("oldSelf", Type::optional(this.ty()));
    environment.declare("a.b.c", Type::Int);
    environment.declare("a.b", Type::map(Type::String, Type::String));
    environment.declare("x", Type::Int);
    environment.declare("d", Type::Dyn);
    environment
}

fn this_type() -> DeclType {
    let field = |name: &str, ty: DeclType| Field {
        name: name.into(),
        json_name: name.into(),
        ty,
        is_required: false,
    };
    let list = |items| DeclType::new(Shape::List { items, identity: ListIdentity::Atomic });
    let map = |shape| DeclType::new(Shape::Map { values: DeclType::new(shape) });
    let inner = DeclType::object(
        "Inner",
        vec![field("name", DeclType::new(Shape::String)), field("port", DeclType::new(Shape::Int))],
    );
    let mut fields = vec![
        field("names", list(DeclType::new(Shape::String))),
        field("port", map(Shape::Int)),
        field("labels", map(Shape::String)),
        field("inners", list(inner.clone())),
        field("inner", inner),
        field("kept", DeclType::new(Shape::Preserved)),
    ];
    let plain = [
        ("min", Shape::Int),
        ("max", Shape::Int),
        ("ratio", Shape::Double),
        ("name", Shape::String),
        ("on", Shape::Bool),
        ("data", Shape::Bytes),
        ("when", Shape::DateTime),
        ("wait", Shape::Duration),
        ("any", Shape::Dyn),
        ("__if__", Shape::Int),
        ("namespace", Shape::String),
    ];
    fields.extend(plain.into_iter().map(|(name, shape)| field(name, DeclType::new(shape))));
    DeclType::object("Self", fields)
}
