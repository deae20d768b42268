//! Expressions of `compute`: CEL over the object, or over an item of a list, as `self`.
//!
//! `self` is of no declared type, since it is neither version while rules are at work; what an
//! expression makes of real values is shown on samples.

use std::sync::{Arc, LazyLock};

use orlop_cel::environment::Functions;
use orlop_cel::library::{EXTENSIONS, KUBERNETES};
use orlop_cel::value::Value as Cel;
use orlop_cel::{Bindings, DeclType, Environment, Program, Type, VariableId};
use orlop_machinery::{Map, Str, Value};

/// What one evaluation may cost: upstream's bound for one rule of validation.
const COST_MAX: u64 = 1_000_000;
/// How deep a result may be.
const DEPTH_MAX: usize = 64;

/// Functions of Kubernetes and of cel-go.
static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| {
    let libraries: Vec<_> = KUBERNETES.iter().chain(EXTENSIONS).copied().collect();
    Arc::new(Functions::new(&libraries))
});

/// An expression that can be evaluated.
#[derive(Debug)]
pub(super) struct Expression {
    program: Program,
    itself: VariableId,
}

impl Expression {
    pub(super) fn compile(text: &str) -> Result<Expression, String> {
        let mut environment = Environment::new(Arc::clone(&FUNCTIONS));
        let itself = environment.declare("self", Type::Dyn);
        let program = environment.compile(text).map_err(|issues| issues.to_string())?;
        Ok(Expression { program, itself })
    }

    /// The type of JSON that comes out, where that is known beforehand.
    pub(super) fn json_type(&self) -> Option<&'static str> {
        match self.program.result_type() {
            Type::Bool => Some("boolean"),
            Type::Int | Type::Uint => Some("integer"),
            Type::Double => Some("number"),
            Type::String | Type::Duration | Type::Timestamp => Some("string"),
            Type::List(_) => Some("array"),
            Type::Map(_) => Some("object"),
            _ => None,
        }
    }

    /// What comes out for an object or an item; null is nothing. What it costs is taken from the
    /// budget.
    pub(super) fn evaluate(&self, itself: &Value, budget: &mut u64) -> Result<Value, String> {
        let mut bindings = Bindings::new();
        bindings.set_json(self.itself, itself, DeclType::dynamic());
        let outcome = self.program.evaluate(&bindings, (*budget).min(COST_MAX));
        *budget = budget.saturating_sub(outcome.cost);
        to_json(outcome.result.map_err(|error| error.to_string())?, 0)
    }
}

fn to_json(value: Cel<'_>, depth: usize) -> Result<Value, String> {
    if depth > DEPTH_MAX {
        return Err("the result is nested too deeply".to_owned());
    }
    Ok(match value {
        Cel::Null | Cel::Optional(None) => Value::Null,
        Cel::Optional(Some(value)) => return to_json(Cel::clone(&value), depth + 1),
        Cel::Bool(truth) => Value::Bool(truth),
        Cel::Int(number) => Value::Int(number),
        Cel::Uint(number) => {
            let number = i64::try_from(number);
            Value::Int(number.map_err(|_| "the result is too large a number".to_owned())?)
        }
        Cel::Double(number) if number.is_finite() => Value::Float(number),
        Cel::String(text) => Value::from(&*text),
        Cel::List(list) => {
            let items = list.iter();
            let items =
                items.map(|item| to_json(item.map_err(|error| error.to_string())?, depth + 1));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        Cel::Map(map) => {
            let mut read = Map::new();
            for (key, value) in map.iter() {
                let Cel::String(key) = key else {
                    return Err("the keys of a result must be text".to_owned());
                };
                let value = value.map_err(|error| error.to_string())?;
                read.insert(Str::new(&*key), to_json(value, depth + 1)?);
            }
            Value::Map(read)
        }
        Cel::Preserved(json) => json.clone(),
        _ => return Err("the result is no JSON: make text of it".to_owned()),
    })
}
