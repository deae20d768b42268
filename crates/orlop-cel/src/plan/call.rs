//! Calls: operators that have a node of their own, conversions of constants, and functions.

use crate::ast::{Expr, ExprId};
use crate::error::{EvalError, Issues};
use crate::function::{Context, Overload, Prepared};
use crate::operator;
use crate::program::Reference;
use crate::value::{List, Value, Work};

use super::{Call, Comparison, Node, Order, Planner, Qualifier, Step, qualify};

/// Functions that are called right away when their argument is constant.
const CONVERSIONS: &[&str] =
    &["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

impl Planner<'_> {
    pub(super) fn call(&mut self, id: ExprId) -> Result<Node, Issues> {
        let checked = self.checked;
        let Expr::Call { function, target, args } = checked.ast.expr(id) else {
            unreachable!("only calls come here");
        };
        let (overloads, is_qualified): (&[&'static Overload], bool) = match checked.reference(id) {
            Some(Reference::Overloads { overloads, is_qualified }) => (overloads, *is_qualified),
            _ => (&[], false),
        };
        let target = target.filter(|_| !is_qualified);
        let mut planned = Vec::with_capacity(args.len() + 1);
        for arg in target.iter().chain(args) {
            planned.push(self.node(*arg)?);
        }
        // The tree has only the last word of a qualified name.
        let name = match overloads {
            [first, ..] if is_qualified => self.environment.functions().name_of(first),
            _ => None,
        };
        let name = name.unwrap_or(function);
        match operator_node(name, planned, overloads) {
            Ok(node) => Ok(node),
            Err(planned) => self.function(id, name, planned, overloads),
        }
    }

    fn function(
        &self,
        id: ExprId,
        name: &str,
        args: Vec<Node>,
        overloads: &[&'static Overload],
    ) -> Result<Node, Issues> {
        if let ([_, _], "or", [only]) = (&args[..], name, overloads)
            && only.id == "optional_or_optional"
        {
            return Ok(Node::OptionalOr(pair(args)));
        }
        if let ([_, _], "orValue", [only]) = (&args[..], name, overloads)
            && only.id == "optional_orValue_value"
        {
            return Ok(Node::OptionalOrValue(pair(args)));
        }
        if let ([Node::Constant(value)], true) = (&args[..], CONVERSIONS.contains(&name)) {
            let mut context = Context { work: &mut Work::default(), prepared: None };
            let values = std::slice::from_ref(value);
            let result = match overloads.iter().find(|overload| overload.takes(values)) {
                Some(overload) => (overload.call)(&mut context, values),
                None => {
                    let ty = value.ty();
                    Err(EvalError::new(format!("no such overload: {name}({})", ty.name())))
                }
            };
            return result.map(Node::Constant).map_err(|error| self.issue(id, error.to_string()));
        }
        let prepared = self.prepare(id, &args, overloads)?;
        let (function, overloads) = (name.into(), overloads.to_vec());
        Ok(Node::Call(Box::new(Call { function, overloads, args, prepared })))
    }

    fn prepare(
        &self,
        id: ExprId,
        args: &[Node],
        overloads: &[&'static Overload],
    ) -> Result<Option<Prepared>, Issues> {
        let constants: Vec<Option<&Value<'_>>> = args
            .iter()
            .map(|arg| match arg {
                Node::Constant(value) => Some(value),
                _ => None,
            })
            .collect();
        // Several overloads of one function prepare the same.
        let prepare = overloads.iter().find_map(|overload| overload.prepare);
        let made = prepare.and_then(|prepare| prepare(&constants)).transpose();
        made.map_err(|error| self.issue(id, error.to_string()))
    }
}

/// The node of an operator that has one of its own; else the arguments again.
fn operator_node(
    name: &str,
    mut args: Vec<Node>,
    overloads: &[&'static Overload],
) -> Result<Node, Vec<Node>> {
    let single = match overloads {
        [only] => only.id,
        _ => "",
    };
    match (name, args.len()) {
        (operator::CONDITIONAL, 3) => Ok(Node::Conditional(Box::new(triple(args)))),
        (operator::AND, 2) => Ok(Node::And(pair(args))),
        (operator::OR, 2) => Ok(Node::Or(pair(args))),
        (operator::EQUALS, 2) => Ok(Node::Equals(pair(args))),
        (operator::NOT_EQUALS, 2) => Ok(Node::NotEquals(pair(args))),
        (operator::NOT_STRICTLY_FALSE, 1) => match args.pop() {
            Some(node) => Ok(Node::NotStrictlyFalse(Box::new(node))),
            None => Err(args),
        },
        (operator::INDEX, 2) => Ok(index(args, false)),
        (operator::OPTIONAL_INDEX | operator::OPTIONAL_SELECT, 2) => Ok(index(args, true)),
        (operator::IN, 2) => membership(args, single),
        (_, 2) => match Order::of(name) {
            Some(order) => {
                let is_text = single.ends_with("_string") || single.ends_with("_bytes");
                let operands = *pair(args);
                Ok(Node::Compare(Box::new(Comparison { operands, order, is_text })))
            }
            None => Err(args),
        },
        _ => Err(args),
    }
}

fn index(args: Vec<Node>, is_optional: bool) -> Node {
    let [operand, index] = *pair(args);
    let step = match index {
        Node::Constant(Value::String(text)) => Step::Name((&*text).into()),
        Node::Constant(value) => Step::Constant(value),
        node => Step::Node(node),
    };
    Node::Attribute(Box::new(qualify(operand, Qualifier { step, is_optional })))
}

/// Whether something is in a constant list of scalars costs nothing, and nothing is in none.
fn membership(args: Vec<Node>, single: &str) -> Result<Node, Vec<Node>> {
    let [_, Node::Constant(Value::List(list @ List::Owned(items)))] = &args[..] else {
        return Err(args);
    };
    let is_scalar = |value: &Value<'_>| {
        matches!(
            value,
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_)
        )
    };
    if single != "in_list" || !items.items.iter().all(is_scalar) {
        return Err(args);
    }
    if items.items.is_empty() {
        return Ok(Node::Constant(Value::Bool(false)));
    }
    let list = list.clone();
    let [item, _] = *pair(args);
    Ok(Node::Member(Box::new((item, list))))
}

fn pair(args: Vec<Node>) -> Box<[Node; 2]> {
    Box::new(args.try_into().expect("there are two arguments"))
}

fn triple(args: Vec<Node>) -> [Node; 3] {
    args.try_into().expect("there are three arguments")
}
