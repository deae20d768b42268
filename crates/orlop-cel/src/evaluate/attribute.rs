//! Variables, fields and indexes.
//!
//! Reading a variable costs 1, and each step from there 1; an attribute that starts at something
//! else costs 1 for itself too. Once a step is optional, so are those after it, and what is missing
//! is none instead of an error.

use crate::cost;
use crate::error::EvalError;
use crate::plan::{Attribute, Base, Node, Qualifier, Step};
use crate::value::{List, Value};

use super::{Evaluated, Evaluation, Local};

/// What a step found.
enum Found<'a> {
    Value(Value<'a>),
    Nothing,
}

impl<'a> Evaluation<'a, '_> {
    pub(super) fn attribute(&mut self, attribute: &'a Attribute) -> Evaluated<'a> {
        let result = self.resolve_attribute(attribute);
        if let Err(error) = &result
            && !error.is_absorbable()
        {
            return result;
        }
        // A conditional has no cost of its own, and asking for presence costs only the way.
        let is_conditional = matches!(attribute.base, Base::Node(Node::Conditional(_)));
        match (is_conditional, attribute.is_test) {
            (false, false) => self.charge(cost::SELECT_AND_IDENT)?,
            (true, true) => self.cost = self.cost.saturating_sub(cost::SELECT_AND_IDENT),
            _ => {}
        }
        result
    }

    /// The value of a node that is part of an attribute: an attribute inside has no cost of its
    /// own.
    pub(super) fn resolve(&mut self, node: &'a Node) -> Evaluated<'a> {
        match node {
            Node::Attribute(attribute) => self.resolve_attribute(attribute),
            node => self.run(node),
        }
    }

    fn resolve_attribute(&mut self, attribute: &'a Attribute) -> Evaluated<'a> {
        let base = match &attribute.base {
            Base::Variable(id, name) => match self.bindings.get(*id) {
                Some(value) => value?,
                None => return Err(EvalError::new(format!("no such attribute(s): {name}"))),
            },
            Base::Local(slot) => self.read_local(*slot)?,
            Base::Node(node) => self.run(node)?,
        };
        if attribute.qualifiers.is_empty() {
            return Ok(base);
        }
        self.follow(base, attribute)
    }

    fn follow(&mut self, base: Value<'a>, attribute: &'a Attribute) -> Evaluated<'a> {
        let (mut value, mut is_optional) = match base {
            Value::Optional(Some(value)) => ((*value).clone(), true),
            Value::Optional(None) if attribute.is_test => return Ok(Value::Bool(false)),
            Value::Optional(None) => return Ok(Value::none()),
            value => (value, false),
        };
        let last = attribute.qualifiers.len() - 1;
        for (at, qualifier) in attribute.qualifiers.iter().enumerate() {
            is_optional |= qualifier.is_optional;
            let is_test = attribute.is_test && at == last;
            let found = self.step(&value, qualifier, is_optional || is_test);
            match found {
                Ok(Found::Value(found)) => {
                    self.charge(1)?;
                    value = found;
                }
                Ok(Found::Nothing) if is_test => {
                    self.charge(1)?;
                    return Ok(Value::Bool(false));
                }
                Ok(Found::Nothing) if attribute.is_test => return Ok(Value::Bool(false)),
                Ok(Found::Nothing) => return Ok(Value::none()),
                Err(error) => {
                    if error.is_absorbable() && !is_optional {
                        self.charge(1)?;
                    }
                    return Err(error);
                }
            }
        }
        match (attribute.is_test, is_optional) {
            (true, _) => Ok(Value::Bool(true)),
            (false, true) => Ok(Value::some(value)),
            (false, false) => Ok(value),
        }
    }

    /// One step; what is missing is an error unless it may be.
    fn step(
        &mut self,
        value: &Value<'a>,
        qualifier: &'a Qualifier,
        may_miss: bool,
    ) -> Result<Found<'a>, EvalError> {
        let missing = |what: &dyn std::fmt::Display| {
            if may_miss {
                return Ok(Found::Nothing);
            }
            let kind =
                if matches!(value, Value::List(_)) { "index out of bounds" } else { "no such key" };
            Err(EvalError::new(format!("{kind}: {what}")))
        };
        match &qualifier.step {
            Step::Name(name) => match value {
                Value::Map(map) => match map.get_str(name)? {
                    Some(found) => Ok(Found::Value(found)),
                    None => missing(name),
                },
                Value::List(_) => Err(unsupported_index(&Value::str(name))),
                _ => missing(name),
            },
            Step::Constant(key) => match find(value, key)? {
                Some(found) => Ok(Found::Value(found)),
                None => missing(key),
            },
            Step::Node(node) => {
                let key = self.resolve(node)?;
                match find(value, &key)? {
                    Some(found) => Ok(Found::Value(found)),
                    None => missing(&key),
                }
            }
        }
    }

    /// The value of a comprehension's variable.
    pub(super) fn read_local(&mut self, slot: usize) -> Evaluated<'a> {
        match &self.locals[slot] {
            Local::Known(value) => value.clone(),
            Local::Later(node) => {
                let node = *node;
                let value = self.run(node);
                self.locals[slot] = Local::Known(value.clone());
                value
            }
            Local::Unset => Err(EvalError::fixed("no such attribute(s): comprehension variable")),
        }
    }

    /// The same, giving it up.
    pub(super) fn take_local(&mut self, slot: usize) -> Evaluated<'a> {
        match std::mem::take(&mut self.locals[slot]) {
            Local::Known(value) => value,
            Local::Later(node) => self.run(node),
            Local::Unset => Err(EvalError::fixed("no such attribute(s): comprehension variable")),
        }
    }
}

fn find<'a>(value: &Value<'a>, key: &Value<'_>) -> Result<Option<Value<'a>>, EvalError> {
    match value {
        Value::Map(map) => map.get(key),
        Value::List(list) => item(list, key),
        _ => Ok(None),
    }
}

fn item<'a>(list: &List<'a>, index: &Value<'_>) -> Result<Option<Value<'a>>, EvalError> {
    let at = match index {
        Value::Int(index) => Some(*index),
        Value::Uint(index) => i64::try_from(*index).ok(),
        Value::Double(index) => whole(*index),
        _ => return Err(unsupported_index(index)),
    };
    let Some(at) = at else {
        return Err(EvalError::new(format!("unsupported index value {index} in list")));
    };
    usize::try_from(at).ok().and_then(|at| list.get(at)).transpose()
}

fn unsupported_index(index: &Value<'_>) -> EvalError {
    EvalError::new(format!("unsupported index type '{}' in list", index.ty().name()))
}

/// A double as an index, when it is a whole number.
fn whole(number: f64) -> Option<i64> {
    let is_small = number.abs() < 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "bounded above")]
    (number.fract() == 0.0 && is_small).then_some(number as i64)
}
