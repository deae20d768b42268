//! What several implementations of CEL make of an expression, in one way of writing it.

use std::sync::{Arc, LazyLock};

use kube_cel::KubeCelExt;
use orlop_cel::environment::Functions;
use orlop_cel::value::Map;
use orlop_cel::{Bindings, Environment, Value, library};

/// What one evaluation may cost.
const BUDGET: u64 = 10_000_000;

/// What comes of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A value, as text.
    Value(String),
    /// It is not evaluated at all.
    Refused(String),
    /// It has no value.
    Failed,
}

/// What is being tested.
pub fn ours(expression: &str) -> Outcome {
    static FUNCTIONS: LazyLock<Arc<Functions>> =
        LazyLock::new(|| Arc::new(Functions::new(library::KUBERNETES)));
    let environment = Environment::new(Arc::clone(&FUNCTIONS));
    let program = match environment.compile(expression) {
        Ok(program) => program,
        Err(issues) => return Outcome::Refused(issues.to_string()),
    };
    let outcome = program.evaluate(&Bindings::new(), BUDGET);
    match outcome.result {
        Ok(value) => Outcome::Value(show(&value)),
        Err(_) => Outcome::Failed,
    }
}

/// `cel`
pub fn cel(expression: &str) -> Outcome {
    let program = match cel::Program::compile(expression) {
        Ok(program) => program,
        Err(errors) => return Outcome::Refused(format!("{errors:?}")),
    };
    match program.execute(&cel::Context::default()) {
        Ok(value) => Outcome::Value(show_cel(&value)),
        Err(_) => Outcome::Failed,
    }
}

/// `kube-cel`, and the version of `cel` that it is built on.
pub fn kube_cel(expression: &str) -> Outcome {
    let program = match kube_cel::cel::Program::compile(expression) {
        Ok(program) => program,
        Err(errors) => return Outcome::Refused(format!("{errors:?}")),
    };
    match program.execute(&kube_cel::cel::Context::default().with_all()) {
        Ok(value) => Outcome::Value(show_kube_cel(&value)),
        Err(_) => Outcome::Failed,
    }
}

/// `cel-core`
pub fn cel_core(expression: &str) -> Outcome {
    let environment = cel_core::Env::with_standard_library().with_all_extensions();
    let compiled =
        environment.compile(expression).and_then(|checked| environment.program(&checked));
    match compiled {
        Err(error) => Outcome::Refused(format!("{error:?}")),
        Ok(program) => match program.eval_empty() {
            cel_core::Value::Error(_) => Outcome::Failed,
            value => Outcome::Value(show_cel_core(&value)),
        },
    }
}

fn show(value: &Value<'_>) -> String {
    match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Double(number) => format!("{number:?}"),
        Value::String(text) => format!("{:?}", &**text),
        Value::List(list) => {
            let items = list.iter().map(|item| show(&item.unwrap_or_default()));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Value::Map(map) => show_entries(map),
        other => format!("{other:?}"),
    }
}

fn show_entries(map: &Map<'_>) -> String {
    let entry = |(key, value): (Value<'_>, Result<Value<'_>, _>)| {
        format!("{}: {}", show(&key), show(&value.unwrap_or_default()))
    };
    sorted(map.iter().map(entry))
}

fn sorted(entries: impl Iterator<Item = String>) -> String {
    let mut entries: Vec<String> = entries.collect();
    entries.sort();
    format!("{{{}}}", entries.join(", "))
}

/// Both versions of `cel` have the same values, but of different types.
macro_rules! show_values {
    ($function:ident, $cel:path) => {
        fn $function(value: &$cel) -> String {
            use $cel as Other;
            match value {
                Other::Bool(truth) => truth.to_string(),
                Other::Int(number) => number.to_string(),
                Other::Float(number) => format!("{number:?}"),
                Other::String(text) => format!("{text:?}"),
                Other::List(items) => {
                    let items = items.iter().map($function);
                    format!("[{}]", items.collect::<Vec<_>>().join(", "))
                }
                Other::Map(map) => sorted(map.map.iter().map(|(key, value)| {
                    let key = format!("{key:?}");
                    // Keys are texts: `String("a")`.
                    let key = key.trim_start_matches("String(").trim_end_matches(')').to_owned();
                    format!("{key}: {}", $function(value))
                })),
                other => format!("{other:?}"),
            }
        }
    };
}

show_values!(show_cel, cel::Value);
show_values!(show_kube_cel, kube_cel::cel::Value);

fn show_cel_core(value: &cel_core::Value) -> String {
    use cel_core::{MapKey, Value};
    match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Double(number) => format!("{number:?}"),
        Value::String(text) => format!("{text:?}"),
        Value::List(items) => {
            format!("[{}]", items.iter().map(show_cel_core).collect::<Vec<_>>().join(", "))
        }
        Value::Map(map) => sorted(map.iter().map(|(key, value)| match key {
            MapKey::String(key) => format!("{key:?}: {}", show_cel_core(value)),
            key => format!("{key:?}: {}", show_cel_core(value)),
        })),
        other => format!("{other:?}"),
    }
}
