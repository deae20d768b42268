//! Comprehensions.
//!
//! The accumulator's first value is evaluated when it is read first, which makes `cel.bind` lazy.
//! An error may be an accumulator: the next step may absorb it.

use crate::error::EvalError;
use crate::plan::Fold;
use crate::value::Value;

use super::{Evaluated, Evaluation, Local};

impl<'a> Evaluation<'a, '_> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Evaluated<'a> {
        let range = self.run(&fold.range)?;
        self.locals[fold.slot] = Local::Later(&fold.initial);
        match &range {
            Value::List(list) => {
                for (at, item) in list.iter().enumerate() {
                    let index = i64::try_from(at).unwrap_or(i64::MAX);
                    let (first, second) = match (fold.has_second, item) {
                        (false, item) => (item, None),
                        (true, item) => (Ok(Value::Int(index)), Some(item)),
                    };
                    if !self.turn(fold, first, second)? {
                        break;
                    }
                }
            }
            Value::Map(map) => {
                for at in 0..map.len() {
                    let Some(key) = map.key_at(at) else { continue };
                    let second = if fold.has_second { map.value_at(at) } else { None };
                    if !self.turn(fold, Ok(key), second)? {
                        break;
                    }
                }
            }
            other => return Err(no_range(other, fold.has_second)),
        }
        let result = self.run(&fold.result);
        for local in &mut self.locals[fold.slot..fold.slot + 3] {
            *local = Local::Unset;
        }
        result
    }

    /// One item. False when the condition ends it.
    fn turn(
        &mut self,
        fold: &'a Fold,
        first: Evaluated<'a>,
        second: Option<Evaluated<'a>>,
    ) -> Result<bool, EvalError> {
        self.work.look(1)?;
        self.locals[fold.slot + 1] = Local::Known(first);
        if let Some(second) = second {
            self.locals[fold.slot + 2] = Local::Known(second);
        }
        match self.run(&fold.condition) {
            Ok(Value::Bool(false)) => return Ok(false),
            Err(error) if !error.is_absorbable() => return Err(error),
            _ => {}
        }
        let step = self.run(&fold.step);
        if let Err(error) = &step
            && !error.is_absorbable()
        {
            return step.map(|_| true);
        }
        self.locals[fold.slot] = Local::Known(step);
        Ok(true)
    }
}

fn no_range(value: &Value<'_>, has_second: bool) -> EvalError {
    let name = go_type(value);
    EvalError::new(if has_second {
        format!("unsupported comprehension range type: {name}")
    } else {
        format!("got '{name}', expected iterable type")
    })
}

/// What cel-go's type of a value is called in Go.
fn go_type(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Duration(_) => "types.Duration",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Optional(_) => "*types.Optional",
        Value::Type(_) => "*types.Type",
        _ => "ref.Val",
    }
}
