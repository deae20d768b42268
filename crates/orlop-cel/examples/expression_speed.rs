//! How long it takes to compile and to evaluate expressions:
//! `cargo run --release -p orlop-cel --example expression_speed`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orlop_cel::decl_type::{Field, ListIdentity, Shape};
use orlop_cel::environment::Functions;
use orlop_cel::{Bindings, DeclType, Environment, library};
use orlop_machinery::json;

const OBJECT: &str = r#"{"min": 1, "max": 5, "name": "some-name",
    "names": ["alpha", "beta", "gamma"], "labels": {"app": "web", "tier": "front"},
    "ports": [{"port": 80}, {"port": 443}]}"#;

const EXPRESSIONS: &[&str] = &[
    "self.min <= self.max",
    "self.min <= self.max && self.names.all(n, n.size() < 64)",
    "self.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
    "self.names.map(n, n + '!').exists(n, n == 'beta!')",
    "has(self.labels) && self.labels.all(k, self.labels[k] != '')",
    "self.ports.all(a, self.ports.exists_one(b, a.port == b.port))",
    "quantity('1Gi').isGreaterThan(quantity('500Mi'))",
];

/// How often each is run between two looks at the clock.
const BATCH: u32 = 50;
/// How long each is measured.
const SPAN: Duration = Duration::from_millis(300);

fn main() {
    let decl = declare();
    let object = json::parse(OBJECT.as_bytes()).expect("the object is JSON");
    let mut environment = Environment::new(Arc::new(Functions::new(library::KUBERNETES)));
    let this = environment.declare_data("self", &decl);
    let mut bindings = Bindings::new();
    bindings.set_json(this, &object, &decl);
    println!("  compile  evaluate  cost");
    for expression in EXPRESSIONS {
        let compile = measure(|| drop(black_box(environment.compile(expression))));
        let program = environment.compile(expression).expect("the expression compiles");
        let cost = program.evaluate(&bindings, u64::MAX).cost;
        let evaluate = measure(|| drop(black_box(program.evaluate(&bindings, 1_000_000))));
        println!("{compile:6} ns {evaluate:6} ns {cost:5}  {expression}");
    }
}

/// Billionths of a second that something takes once. The best of many measurements: others use the
/// machine too.
fn measure(mut run: impl FnMut()) -> u128 {
    let (start, mut best) = (Instant::now(), u128::MAX);
    while start.elapsed() < SPAN {
        let batch = Instant::now();
        for _ in 0..BATCH {
            run();
        }
        best = best.min(batch.elapsed().as_nanos() / u128::from(BATCH));
    }
    best
}

fn declare() -> DeclType {
    let string = || DeclType::new(Shape::String);
    let list = |items| DeclType::new(Shape::List { items, identity: ListIdentity::Atomic });
    let port =
        DeclType::object("selfType.ports.@idx", vec![field("port", DeclType::new(Shape::Int))]);
    let fields = vec![
        field("min", DeclType::new(Shape::Int)),
        field("max", DeclType::new(Shape::Int)),
        field("name", string()),
        field("names", list(string())),
        field("labels", DeclType::new(Shape::Map { values: string() })),
        field("ports", list(port)),
    ];
    DeclType::object("selfType", fields)
}

fn field(name: &'static str, ty: DeclType) -> Field {
    Field { name: name.into(), json_name: name.into(), ty, is_required: false }
}
